"""Units packed into pieces that keep the limit: as full as it lets them be, none left tiny."""

from collections.abc import Sequence
from dataclasses import dataclass

from flows import passages, tokens
from flows.outline import Section
from flows.passages.unit import LONGEST, Source, Unit

SPARSE = 16
"""Characters for each token above which tiny pieces stay apart: line ends, mostly."""
LEAST_ROOM = 8
"""Tokens that a unit may have however long the breadcrumb is."""


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


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk in the making: consecutive units under one heading path."""

    units: Sequence[Unit]
    section: Section
    lead: str
    """Text in front of the piece's own words: breadcrumb, overlap."""
    text: str
    """Nothing as long as it is not `exact`."""
    tokens: int
    exact: bool = True
    """Whether the tokens have been counted, and are not the sum of those of its parts."""


class Packer:
    """Packs the sections of one text."""

    def __init__(self, text: str, title: str | None, limits: Limits) -> None:
        """Take the text, what its page is called, and how large a piece may be."""
        self._text = text
        self._title = title
        self._limits = limits

    def pack(self, sections: Sequence[Section]) -> list[Piece]:
        """Return the pieces of a text, tiny ones joined to a neighbour under the same headings."""
        packed: list[Piece] = []
        for piece in (piece for section in sections for piece in self._packed(section)):
            joined = self._joined(packed[-1], piece) if packed else None
            if joined is None:
                packed[-1:] = [*map(self._counted, packed[-1:]), piece]
            else:
                packed[-1] = joined
        return [*packed[:-1], *map(self._counted, packed[-1:])]

    def _packed(self, section: Section) -> list[Piece]:
        """Return a section as pieces, as one where it fits."""
        start, end = section.blocks[0].start, section.blocks[-1].end
        if not self._text[start:end].strip():
            return []
        lead = self._breadcrumb(section)
        if end - start <= LONGEST * self._limits.max_tokens:
            whole = self._piece([Unit(start, end)], section, lead)
            if whole.tokens <= self._limits.max_tokens:
                return [whole]
        room = max(LEAST_ROOM, self._limits.max_tokens - self._count(lead))
        units = passages.units(Source(self._text, room, self._count), section.blocks)
        return self._balanced(self._filled(units, section, lead))

    def _filled(self, units: list[Unit], section: Section, lead: str) -> list[Piece]:
        """Return pieces filled from the left, each as full as the limit lets it be."""
        pieces: list[Piece] = []
        at = 0
        while at < len(units):
            front = lead + self._repeated(units, at)
            end = self._reach(units, at, self._count(front))
            piece = self._piece(units[at:end], section, front)
            while piece.tokens > self._limits.max_tokens and end - at > 1:
                end -= 1
                piece = self._piece(units[at:end], section, front)
            if piece.tokens > self._limits.max_tokens:
                piece = self._piece(units[at:end], section, "")
            pieces.append(piece)
            at = end
        return pieces

    def _reach(self, units: list[Unit], at: int, used: int) -> int:
        """Return how far a piece that starts at unit `at` can go, by the units' own counts."""
        used += self._count(units[at].before) + units[at].tokens
        end = at + 1
        while end < len(units):
            used += units[end].tokens
            if used + units[end].closing > self._limits.max_tokens:
                break
            end += 1
        if end < len(units) and end - at > 1 and units[end - 1].leading:
            end -= 1
        return end

    def _repeated(self, units: list[Unit], at: int) -> str:
        """Return the words before unit `at` that are repeated as overlap."""
        left, start = self._limits.overlap, at
        while start and not units[start].before:
            unit = units[start - 1]
            if unit.tokens > left or unit.heading or unit.before or unit.after:
                break
            start -= 1
            left -= unit.tokens
        return self._text[units[start].start : units[at].start] if start < at else ""

    def _balanced(self, pieces: list[Piece]) -> list[Piece]:
        """Let a last piece that is tiny take units from the one before."""
        while len(pieces) > 1 and pieces[-1].tokens < self._limits.min_tokens:
            before, last = pieces[-2:]
            unit = before.units[-1]
            if len(before.units) <= 2 or unit.heading:
                break
            moved = self._piece([unit, *last.units], last.section, self._breadcrumb(last.section))
            if moved.tokens > self._limits.max_tokens:
                break
            pieces[-2:] = [self._piece(before.units[:-1], before.section, before.lead), moved]
        return pieces

    def _joined(self, before: Piece, piece: Piece) -> Piece | None:
        """Return two neighbours as one where one is tiny and both have the same headings above."""
        tiny = piece.tokens < self._limits.min_tokens
        before = before if tiny else self._counted(before)
        tiny = tiny or before.tokens < self._limits.min_tokens
        if not tiny or before.section.path != piece.section.path:
            return None
        if piece.units[-1].end - before.units[0].start > SPARSE * self._limits.max_tokens:
            return None
        units = [*before.units, *piece.units]
        for count in (lambda piece: piece, self._counted):
            known = count(before)
            most = known.tokens + self._blank(before.units[-1]) + piece.tokens
            if most <= self._limits.max_tokens * 3 // 4:
                return Piece(units, before.section, before.lead, "", most, exact=False)
        whole = self._piece(units, before.section, before.lead)
        return whole if whole.tokens <= self._limits.max_tokens else None

    def _blank(self, unit: Unit) -> int:
        """Return the most tokens that the white space at the end of a unit can have."""
        text = self._text[unit.start : unit.end]
        return len(text) - len(text.rstrip()) + 1

    def _counted(self, piece: Piece) -> Piece:
        """Return a piece with its text and exactly its tokens."""
        return piece if piece.exact else self._piece(piece.units, piece.section, piece.lead)

    def _piece(self, units: Sequence[Unit], section: Section, lead: str) -> Piece:
        """Return consecutive units with what the first and the last one need, and its tokens."""
        first, last = units[0], units[-1]
        own = self._text[first.start : last.end].strip("\r\n").rstrip()
        text = f"{lead}{first.before}{own}{last.after}"
        return Piece(units, section, lead, text, self._count(text))

    def _breadcrumb(self, section: Section) -> str:
        """Return the line that says where a passage stands, or nothing."""
        if not self._limits.breadcrumb:
            return ""
        known = self._title is None or self._title in section.path
        line = " > ".join(section.path if known else (str(self._title), *section.path))
        fits = line and self._count(line) <= self._limits.max_tokens // 4
        return f"{line}\n\n" if fits else ""

    def _count(self, text: str) -> int:
        return tokens.count(text, self._limits.encoding) if text else 0
