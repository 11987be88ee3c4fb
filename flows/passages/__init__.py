"""Where a long section may be cut: units that stay whole, and what each needs when cut off.

A unit is a paragraph, a list item, a line of code, a row of a table; one that is too large for a
chunk falls apart into sentences, then words, then characters.
"""

from collections.abc import Iterator, Sequence

from flows.outline import Block
from flows.passages import fences, lines, rows, sentences
from flows.passages.unit import Source, Unit

WHOLE = frozenset({"fence", "table", "item"})
"""Blocks that are a unit as long as they fit; others only up to half of what fits."""
_FRAMED = frozenset("`~|")
"""Characters of what cannot be cut as sentences: fences, rows of tables."""


def units(source: Source, blocks: Sequence[Block]) -> list[Unit]:
    """Return the units of a section, in order; headings are part of the unit that follows them.

    No unit has more than `source.room` tokens, what it must repeat included, except where that is
    too little for what must be repeated.
    """
    found: list[Unit] = []
    heads: list[Block] = []
    for block in blocks:
        if block.kind == "heading":
            heads.append(block)
        else:
            found.extend(_headed(source, heads, list(_parts(source, block))))
            heads = []
    if heads:
        found.extend(sentences.cut(source, heads[0].start, heads[-1].end))
    return found


def _headed(source: Source, heads: list[Block], parts: list[Unit]) -> list[Unit]:
    """Return `parts` with the headings before them in the first one, or in the start of it."""
    if not heads or not parts:
        return parts
    start, first = heads[0].start, parts[0]
    size = source.size(start, first.end)
    if size + first.closing <= source.room:
        first.start, first.tokens, first.heading = start, size, True
        return parts
    if _FRAMED.isdisjoint(source.text[first.start : first.end]):
        return [*sentences.cut(source, start, first.end), *parts[1:]]
    return [*sentences.cut(source, start, heads[-1].end), *parts]


def _parts(source: Source, block: Block) -> Iterator[Unit]:
    """Yield a block as one unit where that fits, else as the units within it."""
    pending = [block]
    while pending:
        part = pending.pop()
        size = source.fitting(part.start, part.end)
        if size <= source.room // 2 or (size <= source.room and part.kind in WHOLE):
            leading = part.kind == "text" and _announces(source.text[part.start : part.end])
            yield Unit(part.start, part.end, size, leading=leading)
        elif part.kind in _CUTS:
            yield from _CUTS[part.kind](source, part)
        elif part.children:
            pending.extend(part.children[::-1])
        else:
            yield from sentences.cut(source, part.start, part.end)


_CUTS = {"fence": fences.cut, "table": rows.cut, "lines": lines.cut}


def _announces(text: str) -> bool:
    """Tell whether a paragraph announces what follows it."""
    return text.rstrip().endswith((":", "\uff1a"))
