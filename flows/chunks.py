"""Cut a document at its headings into passages that stand alone.

A chunk knows the headings above it, its exact span in the Markdown and its own number of tokens.
Fences and tables are cut between lines and rows only, and what a piece needs to be read (the
opening fence, the header row) is repeated in its text.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

from flows import outline, passages, tokens
from flows.passages import Unit
from flows.records import Chunk, Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How large a chunk may be."""

    max_tokens: int = 512
    """Most tokens of a chunk's text, repeated lines and breadcrumb included."""
    overlap: int = 0
    """Most tokens repeated from the chunk before, under the same heading."""
    encoding: str = "cl100k_base"
    min_tokens: int = 32
    """A smaller chunk is joined to its neighbour under the same heading where it fits."""
    breadcrumb: bool = False
    """Whether the text starts with a line that names the title and the headings above."""


@dataclass(slots=True)
class _Piece:
    """A chunk in the making: consecutive units under one heading path."""

    units: list[Unit]
    section: outline.Section
    lead: str = ""
    """Text in front of the piece's own words: breadcrumb, overlap."""
    tokens: int = 0


def cut(document: Document, limits: Limits) -> tuple[Chunk, ...]:
    """Return the chunks of a document in page order; none for a document without words.

    Every word of the Markdown lies in the span of exactly one chunk, no text has more than
    `limits.max_tokens` tokens, and the same passage of the same page keeps its id when the page
    around it changes.
    """
    cutter = _Cutter(document, limits)
    sections = list(outline.sections(document.markdown))
    pieces = cutter.joined([piece for section in sections for piece in cutter.pack(section)])
    return tuple(_chunks(document, cutter, pieces, _anchors(document, sections)))


class _Cutter:
    """Packs the units of one document."""

    def __init__(self, document: Document, limits: Limits) -> None:
        self.text = document.markdown
        self.title = document.title
        self.limits = limits

    def count(self, text: str) -> int:
        """Return the tokens of `text`."""
        return tokens.count(text, self.limits.encoding)

    def written(self, units: list[Unit], lead: str = "") -> str:
        """Return the text of consecutive units, with what the first and the last one need."""
        first, last = units[0], units[-1]
        own = self.text[first.start : last.end].strip("\r\n").rstrip()
        return f"{lead}{first.before}{own}{last.after}"

    def pack(self, section: outline.Section) -> list[_Piece]:
        """Return the section as pieces that keep the limit, the whole section where it does."""
        lead = self.breadcrumb(section)
        whole = Unit(section.blocks[0].start, section.blocks[-1].end)
        if not self.text[whole.start : whole.end].strip():
            return []
        piece = self.measured([whole], section, lead)
        if piece.tokens <= self.limits.max_tokens:
            return [piece]
        room = max(8, self.limits.max_tokens - self.count(lead))
        units = passages.units(self.text, section.blocks, room, self.count)
        return self.balanced(self.filled(units, section, lead))

    def measured(self, units: list[Unit], section: outline.Section, lead: str) -> _Piece:
        """Return a piece with its tokens counted."""
        return _Piece(units, section, lead, self.count(self.written(units, lead)))

    def filled(self, units: list[Unit], section: outline.Section, lead: str) -> list[_Piece]:
        """Return pieces filled from the left, each as full as the limit lets it be."""
        pieces: list[_Piece] = []
        at = 0
        while at < len(units):
            front = lead + self.repeated(units, at) if at else lead
            end = self.reach(units, at, self.count(front))
            piece = self.measured(units[at:end], section, front)
            while piece.tokens > self.limits.max_tokens and end - at > 1:
                end -= 1
                piece = self.measured(units[at:end], section, front)
            if piece.tokens > self.limits.max_tokens:
                piece = self.measured(units[at:end], section, "")
            pieces.append(piece)
            at = end
        return pieces

    def reach(self, units: list[Unit], at: int, used: int) -> int:
        """Return how far a piece that starts at unit `at` can go, by the units' own counts."""
        used += self.count(units[at].before) + units[at].tokens
        end = at + 1
        while end < len(units):
            used += units[end].tokens
            if used + units[end].closing > self.limits.max_tokens:
                break
            end += 1
        if end < len(units) and end - at > 1 and units[end - 1].leading:
            end -= 1
        return end

    def repeated(self, units: list[Unit], at: int) -> str:
        """Return the words before unit `at` that are repeated as overlap."""
        left, start = self.limits.overlap, at
        while start and not units[start].before and not units[start - 1].after:
            if units[start - 1].tokens > left or units[start - 1].heading:
                break
            start -= 1
            left -= units[start].tokens
        return self.text[units[start].start : units[at].start] if start < at else ""

    def breadcrumb(self, section: outline.Section) -> str:
        """Return the line that says where a passage stands, or nothing."""
        if not self.limits.breadcrumb:
            return ""
        above = [self.title, *section.path] if self.title not in section.path else section.path
        line = " > ".join(part for part in above if part)
        fits = line and self.count(line) <= self.limits.max_tokens // 4
        return f"{line}\n\n" if fits else ""

    def balanced(self, pieces: list[_Piece]) -> list[_Piece]:
        """Let a last piece that is tiny take units from the one before."""
        while len(pieces) > 1 and pieces[-1].tokens < self.limits.min_tokens:
            before, last = pieces[-2:]
            if len(before.units) < 3:
                break
            moved = self.measured(
                [before.units[-1], *last.units], last.section, last.section and ""
            )
            if moved.tokens > self.limits.max_tokens or before.units[-1].heading:
                break
            pieces[-2:] = [self.measured(before.units[:-1], before.section, before.lead), moved]
        return pieces

    def joined(self, pieces: list[_Piece]) -> list[_Piece]:
        """Join tiny pieces to a neighbour under the same heading path where both fit."""
        kept: list[_Piece] = []
        for piece in pieces:
            if kept and self.belongs(kept[-1], piece):
                whole = self.measured(kept[-1].units + piece.units, kept[-1].section, kept[-1].lead)
                if whole.tokens <= self.limits.max_tokens:
                    kept[-1] = whole
                    continue
            kept.append(piece)
        return kept

    def belongs(self, before: _Piece, piece: _Piece) -> bool:
        """Tell whether one of two neighbours is tiny and both have the same headings above."""
        tiny = min(before.tokens, piece.tokens) < self.limits.min_tokens
        return tiny and before.section.path == piece.section.path


def _chunks(
    document: Document, cutter: _Cutter, pieces: list[_Piece], anchors: list[str]
) -> Iterator[Chunk]:
    """Yield the finished chunks."""
    seen: Counter[str] = Counter()
    for index, piece in enumerate(pieces):
        text = cutter.written(piece.units, piece.lead)
        start, end = _span(document.markdown, piece.units[0].start, piece.units[-1].end)
        position = piece.section.position
        yield Chunk(
            chunk_id=_identity(document.url, text, seen[text]),
            chunk_index=index,
            text=text,
            heading_path=piece.section.path,
            anchor=anchors[position] if 0 <= position < len(anchors) else None,
            token_count=piece.tokens,
            start=start,
            end=end,
        )
        seen[text] += 1


def _span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without the blank lines around it."""
    while start < end and text[start] in "\r\n":
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _identity(url: str, text: str, ordinal: int) -> str:
    """Return the id of a passage: page and words, and which one where a page repeats itself."""
    key = f"{url}\0{text}\0{ordinal}" if ordinal else f"{url}\0{text}"
    return blake2b(key.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _anchors(document: Document, sections: list[outline.Section]) -> list[str]:
    """Return an anchor for each heading, in order and unique: the page's own, else a slug."""
    own = iter(document.anchors)
    title, anchor = next(own, ("", ""))
    taken: set[str] = {anchor for _, anchor in document.anchors}
    given: list[str] = []
    for block in (b for section in sections for b in section.blocks if b.kind == "heading"):
        if anchor and title == block.title and anchor not in given:
            given.append(anchor)
            title, anchor = next(own, ("", ""))
        else:
            given.append(_slug(block.title, taken))
    return given


def _slug(title: str, taken: set[str]) -> str:
    """Return the anchor that GitHub would give a heading, made unique as it does."""
    base = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") or "section"
    slug, number = base, 0
    while slug in taken:
        number += 1
        slug = f"{base}-{number}"
    taken.add(slug)
    return slug
