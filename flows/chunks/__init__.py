"""Cut documents at their headings into passages that stand alone.

A chunk knows the headings above it, its exact span in the Markdown and its own number of tokens.
Fences and tables are cut between lines and rows only, and what a piece needs to be read (the
opening fence, the header row) is repeated in its text.
"""

from collections import Counter
from hashlib import blake2b
from itertools import takewhile

from flows import outline
from flows.chunks import anchors
from flows.chunks.packing import Limits, Packer, Piece
from flows.records import Chunk, Document

__all__ = ["Limits", "cut"]


def cut(document: Document, limits: Limits) -> tuple[Chunk, ...]:
    """Return the chunks of a document in page order; none for a document without words.

    Every word of the Markdown lies in the span of exactly one chunk, no text has more than
    `limits.max_tokens` tokens, and the same passage of the same page keeps its id when the page
    around it changes.
    """
    sections = list(outline.sections(document.markdown))
    named = anchors.of(document, sections)
    pieces = Packer(document.markdown, document.title, limits).pack(sections)
    seen: Counter[str] = Counter()
    chunks: list[Chunk] = []
    for index, piece in enumerate(pieces):
        ordinal = seen[piece.text]
        seen[piece.text] += 1
        heading = _heading(piece)
        start, end = _span(document.markdown, piece)
        chunks.append(
            Chunk(
                chunk_id=_identity(document, piece.text, ordinal),
                chunk_index=index,
                text=piece.text,
                heading_path=piece.section.path,
                anchor=None if heading is None else named[heading],
                token_count=piece.tokens,
                start=start,
                end=end,
            )
        )
    return tuple(chunks)


def _heading(piece: Piece) -> int | None:
    """Return which heading of the document a piece starts with, or else stands under."""
    section = piece.section
    if section.position < 0:
        return None
    if piece.units[0].start > section.blocks[0].start:
        return section.position
    heads = takewhile(lambda block: block.kind == "heading", section.blocks)
    return section.position - len(list(heads)) + 1


def _span(text: str, piece: Piece) -> tuple[int, int]:
    """Return the span of a piece without the blank lines around it."""
    start, end = piece.units[0].start, piece.units[-1].end
    while start < end and text[start] in "\r\n":
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _identity(document: Document, text: str, ordinal: int) -> str:
    """Return the id of a passage: page and words, and which one where a page repeats itself."""
    key = f"{document.url}\0{text}\0{ordinal}" if ordinal else f"{document.url}\0{text}"
    return blake2b(key.encode("utf-8", "replace"), digest_size=16).hexdigest()
