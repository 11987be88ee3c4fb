"""Lines of a text, for what is cut between them."""

import re
from collections.abc import Iterator

from flows.outline import Block
from flows.passages import sentences
from flows.passages.unit import Source, Unit

_LINE = re.compile(r"[^\n]*\n?")


def spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the lines of `text[start:end]`, each with its line end."""
    return [found.span() for found in _LINE.finditer(text, start, end) if found[0]]


def cut(source: Source, block: Block) -> Iterator[Unit]:
    """Yield the lines of a block that has nothing to repeat."""
    for start, end in spans(source.text, block.start, block.end):
        size = source.size(start, end)
        if size <= source.room // 2:
            yield Unit(start, end, size)
        else:
            yield from sentences.cut(source, start, end)
