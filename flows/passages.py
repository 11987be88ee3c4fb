"""Where a long section may be cut: units that stay whole, and what each needs when cut off.

A unit is a paragraph, a list item, a line of code, a row of a table; one that is too large for a
chunk falls apart into sentences, then words, then characters.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flows.outline import Block

Count = Callable[[str], int]
"""Tokens of a text."""


@dataclass(slots=True)
class Unit:
    """`text[start:end]`, which stays together."""

    start: int
    end: int
    tokens: int = 0
    before: str = ""
    """What a text that starts here has to repeat: an opening fence, a table's header."""
    after: str = ""
    """What a text that ends here has to add: a closing fence."""
    closing: int = 0
    """Tokens of `after`."""
    heading: bool = False
    leading: bool = False
    """Whether it announces what follows ("such as:") and should not be a text's last words."""


_FENCE = re.compile(r"([ \t>]*)(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)*([ \t>]*)(`{3,}|~{3,})")
_MASKED = re.compile(r"(`+)[^`\n]+\1|!?\[[^\[\]\n]*\]\([^()\s]*\)")
_BORDER = re.compile(r"""[.!?…]["'”’)\]*_]*\s+|[。！？][」』”’）]*|\n""")  # noqa: RUF001
_WORD = re.compile(r"\s+|[、，；：,;]")  # noqa: RUF001
_LINE = re.compile(r"[^\n]*\n?")


def units(text: str, blocks: list[Block], room: int, count: Count) -> list[Unit]:
    """Return the units of a section, in order; headings are part of the unit that follows them.

    No unit has more than `room` tokens, what it must repeat included, except where `room` is too
    small for what must be repeated.
    """
    found: list[Unit] = []
    heads: list[Block] = []
    for block in blocks:
        if block.kind == "heading":
            heads.append(block)
            continue
        parts = list(_parts(text, block, room, count))
        found.extend(_headed(text, heads, parts, room, count))
        heads = []
    if heads:
        found.extend(_pieces(text, heads[0].start, heads[-1].end, room, count))
    return found


def _headed(
    text: str, heads: list[Block], parts: list[Unit], room: int, count: Count
) -> list[Unit]:
    """Return `parts` with the headings before them in the first one."""
    if not heads or not parts:
        return parts
    first = parts[0]
    size = count(text[heads[0].start : first.end])
    if size + first.closing <= room:
        first.start, first.tokens, first.heading = heads[0].start, size, True
        return parts
    lead = list(_pieces(text, heads[0].start, heads[-1].end, room, count))
    return [*lead, *parts]


def _parts(text: str, block: Block, room: int, count: Count) -> Iterator[Unit]:
    """Yield a block as one unit where that fits, else as the units within it."""
    pending = [block]
    while pending:
        part = pending.pop()
        size = count(text[part.start : part.end])
        if size <= room // 2 or (size <= room and part.kind in ("fence", "table", "item")):
            leading = part.kind == "text" and _announces(text[part.start : part.end])
            yield Unit(part.start, part.end, size, leading=leading)
        elif part.kind == "fence":
            yield from _fenced(text, part, room, count)
        elif part.kind == "table":
            yield from _rows(text, part, room, count)
        elif part.children:
            pending.extend(part.children[::-1])
        elif part.kind == "lines":
            yield from _lines(text, part, room, count)
        else:
            yield from _pieces(text, part.start, part.end, room, count)


def _announces(text: str) -> bool:
    """Tell whether a paragraph announces what follows it."""
    return text.rstrip().endswith((":", "\uff1a"))


def _fenced(text: str, block: Block, room: int, count: Count) -> Iterator[Unit]:
    """Yield the lines of a fence; the fence itself stays with the line beside it."""
    lines = [(m.start(), m.end()) for m in _LINE.finditer(text, block.start, block.end) if m[0]]
    opening = text[lines[0][0] : lines[0][1]].rstrip()
    found = _FENCE.match(opening)
    if found is None:
        yield from _lines(text, block, room, count)
        return
    prefix = re.sub(r"[^>\s]", " ", opening[: found.start(3)])
    before = f"{prefix}{opening[found.start(3) :]}\n"
    closer = next(
        (n for n in range(len(lines) - 1, 0, -1) if _closes(text, lines[n], found[3])), len(lines)
    )
    after = f"\n{prefix}{found[3]}"
    yield from _framed(text, lines, (closer, before, after), room, count)


def _closes(text: str, line: tuple[int, int], mark: str) -> bool:
    """Tell whether a line is a closing fence of `mark`."""
    words = text[line[0] : line[1]].strip(" \t\r\n>")
    return len(words) >= len(mark) and set(words) == {mark[0]}


def _framed(
    text: str, lines: list[tuple[int, int]], frame: tuple[int, str, str], room: int, count: Count
) -> Iterator[Unit]:
    """Yield a unit for each line of code, each closed and opened again where it is cut."""
    closer, before, after = frame
    closing = count(after)
    left = room - count(before) - closing
    for number in range(1, closer):
        start, end = lines[number]
        start = lines[0][0] if number == 1 else start
        last = number == closer - 1
        end = lines[-1][1] if last else end
        size = count(text[start:end])
        again, tail = ("" if number == 1 else before), ("" if last else after)
        if size <= left:
            yield Unit(start, end, size, again, tail, 0 if last else closing)
            continue
        pieces = list(_pieces(text, lines[number][0], lines[number][1], left, count))
        for position, piece in enumerate(pieces):
            first, final = position == 0, position == len(pieces) - 1
            piece.before = again if first else before
            piece.after, piece.closing = (
                (tail, 0 if last else closing) if final else (after, closing)
            )
            if first:
                piece.start = start
            if final:
                piece.end = end
            piece.tokens = count(text[piece.start : piece.end])
            yield piece


def _rows(text: str, block: Block, room: int, count: Count) -> Iterator[Unit]:
    """Yield the rows of a table; the header stays with the first one and is repeated."""
    lines = [
        (m.start(), m.end()) for m in _LINE.finditer(text, block.start, block.end) if m[0].strip()
    ]
    before = text[lines[0][0] : lines[1][1]]
    header = count(before)
    if header > room // 2:
        columns = text[lines[0][0] : lines[0][1]].count("|")
        before = text[lines[0][0] : lines[0][1]] + "|" + "-|" * max(1, columns - 1) + "\n"
        header = count(before)
    before, left = (before, room - header) if header < room - 16 else ("", room)
    start = lines[0][0]
    for number, (row, end) in enumerate(lines[2:]):
        again = before if number else ""
        size = count(text[start:end]) if not number else count(text[row:end])
        if size <= (left if number else room):
            yield Unit(row if number else start, end, size, again)
            continue
        for position, piece in enumerate(_pieces(text, row if number else start, end, left, count)):
            piece.before = before if number or position else ""
            yield piece
    if len(lines) == 2:
        yield from _pieces(text, start, lines[1][1], room, count)


def _lines(text: str, block: Block, room: int, count: Count) -> Iterator[Unit]:
    """Yield the lines of a block that has no frame to repeat."""
    for found in _LINE.finditer(text, block.start, block.end):
        if found[0]:
            size = count(found[0])
            if size <= room // 2:
                yield Unit(found.start(), found.end(), size)
            else:
                yield from _pieces(text, found.start(), found.end(), room, count)


def _pieces(text: str, start: int, end: int, room: int, count: Count) -> Iterator[Unit]:
    """Yield `text[start:end]` in sentences; one too long is cut at words, then characters."""
    words = text[start:end]
    masked = _MASKED.sub(lambda found: "x" * len(found[0]), words)
    at = 0
    for border in [*(found.end() for found in _BORDER.finditer(masked)), len(words)]:
        if border > at:
            size = count(words[at:border])
            if size <= room // 2:
                yield Unit(start + at, start + border, size)
            else:
                yield from _split(text, start + at, start + border, room // 2, count)
            at = border


def _split(text: str, start: int, end: int, room: int, count: Count) -> Iterator[Unit]:
    """Yield a sentence in pieces of at most `room` tokens, cut at words where there are any."""
    room = max(4, room)
    step = max(1, (end - start) * room // max(1, count(text[start:end])))
    while start < end:
        stop = min(end, start + step)
        size = count(text[start:stop])
        while size > room and stop - start > 1:
            stop = start + max(1, (stop - start) * room * 9 // (size * 10))
            size = count(text[start:stop])
        if stop < end:
            cut = _word_end(text, start, stop)
            size, stop = (count(text[start:cut]), cut) if cut != stop else (size, stop)
        yield Unit(start, stop, size)
        start = stop


def _word_end(text: str, start: int, stop: int) -> int:
    """Return the last border of words in the second half of the span, or `stop`."""
    middle = (start + stop) // 2
    cut = max((found.end() for found in _WORD.finditer(text, middle, stop)), default=stop)
    while cut < len(text) and cut > start + 1 and _joins(text[cut]):
        cut -= 1
    return cut


def _joins(character: str) -> bool:
    """Tell whether a character belongs to the one before: accents, joiners, skin tones."""
    code = ord(character)
    return (
        code in (0x200D, 0x20E3)
        or 0xFE00 <= code <= 0xFE0F
        or 0x0300 <= code <= 0x036F
        or 0x1F3FB <= code <= 0x1F3FF
    )
