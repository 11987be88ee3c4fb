"""Tables cut between their rows, the header row repeated."""

from collections.abc import Iterator

from flows.outline import Block
from flows.passages import lines, sentences
from flows.passages.unit import Source, Unit

SPARE = 16
"""Tokens that a repeated header has to leave for a row."""


def cut(source: Source, block: Block) -> Iterator[Unit]:
    """Yield the rows of a table; the header stays with the first one and is repeated."""
    text = source.text
    spans = [s for s in lines.spans(text, block.start, block.end) if text[slice(*s)].strip()]
    start = spans[0][0]
    if len(spans) == 2:
        yield from sentences.cut(source, start, spans[1][1])
        return
    headers = [(header, source.count(header)) for header in _headers(source, spans)]
    for number, (row, end) in enumerate(spans[2:]):
        first = start if number == 0 else row
        size = source.size(first, end)
        fitting = (header for header, tokens in headers if size + tokens <= source.room)
        before = "" if number == 0 else next(fitting, None)
        if before is not None and size <= source.room:
            yield Unit(first, end, size, before)
            continue
        before, taken = headers[0]
        for position, piece in enumerate(sentences.cut(source, first, end, source.room - taken)):
            piece.before = before if number or position else ""
            yield piece


def _headers(source: Source, spans: list[tuple[int, int]]) -> list[str]:
    """Return what a cut table may repeat, the best first: names and rule, or less of the rule."""
    names, rule = source.text[slice(*spans[0])], source.text[slice(*spans[1])]
    short = f"|{'-|' * max(1, names.count('|') - 1)}\n"
    found = [names + rule, names + short, names]
    return [h for h in found if source.count(h) < source.room - SPARE] or [""]
