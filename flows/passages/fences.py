"""Fenced code cut between its lines, the fence and its language repeated."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from flows.outline import Block
from flows.passages import lines, sentences
from flows.passages.unit import Source, Unit

SPARE = 4
"""A fence is repeated where it leaves this part of the room for code."""
_OPENING = re.compile(r"([ \t>]*)(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)*([ \t>]*)(`{3,}|~{3,})")


@dataclass(slots=True)
class _Fence:
    """The fence around a block of code, as a piece of it has to repeat it."""

    before: str
    after: str
    closing: int
    """Tokens of `after`."""
    room: int
    """Tokens left for code."""


def cut(source: Source, block: Block) -> Iterator[Unit]:
    """Yield the lines of a fence; the fence itself stays with the line beside it."""
    spans = lines.spans(source.text, block.start, block.end)
    opening = source.text[slice(*spans[0])].rstrip()
    found = _OPENING.match(opening)
    if found is None:
        yield from lines.cut(source, block)
        return
    prefix = re.sub(r"[^>\s]", " ", opening[: found.start(3)])
    before, after = f"{prefix}{opening[found.start(3) :]}\n", f"\n{prefix}{found[3]}"
    closing = source.count(after)
    fence = _Fence(before, after, closing, source.room - source.count(before) - closing)
    if fence.room < source.room // SPARE:
        yield from lines.cut(source, block)
        return
    last = _closer(source.text, spans, found[3]) - 1
    for number in range(1, last + 1):
        start, end = spans[number]
        whole = (
            spans[0][0] if number == 1 else start,
            spans[-1][1] if number == last else end,
        )
        yield from _line(source, fence, (start, end), whole)


def _closer(text: str, spans: list[tuple[int, int]], mark: str) -> int:
    """Return which line closes a fence of `mark`; the one after the last where none does."""
    for number in range(len(spans) - 1, 0, -1):
        words = text[slice(*spans[number])].strip(" \t\r\n>")
        if len(words) >= len(mark) and set(words) == {mark[0]}:
            return number
    return len(spans)


def _line(
    source: Source, fence: _Fence, line: tuple[int, int], whole: tuple[int, int]
) -> Iterator[Unit]:
    """Yield a line of code, in pieces where it is too long; `whole`: with the fence beside it."""
    first, last = whole[0] < line[0], whole[1] > line[1]
    size = source.size(*whole)
    if size <= fence.room:
        pieces = [Unit(*whole, size)]
    else:
        pieces = list(sentences.cut(source, *line, fence.room))
        pieces[0].start, pieces[-1].end = whole[0], whole[1]
    for number, piece in enumerate(pieces):
        ends = last and number == len(pieces) - 1
        piece.tokens = source.size(piece.start, piece.end) if len(pieces) > 1 else size
        piece.before = "" if first and number == 0 else fence.before
        piece.after, piece.closing = ("", 0) if ends else (fence.after, fence.closing)
        yield piece
