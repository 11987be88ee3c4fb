"""Running text cut into sentences, a sentence into words, a word into characters."""

import re
from collections.abc import Iterator

from flows.passages.unit import Source, Unit

LEAST = 4
"""Tokens that a piece may have however little room there is; one character can be four."""
LONGER = 8
"""Characters that are tried of a long sentence, as a multiple of those that fitted before."""
LONGEST_CHARACTER = 32
"""Code points of the longest character that is kept whole."""
_MASKED = re.compile(r"(?<!`)(`++)[^`\n]++\1(?!`)|!?\[[^\[\]\n]*\]\([^()\s]*\)")
"""Inline code and links, in which no sentence ends."""
_BORDER = re.compile(r"""[.!?…]["'”’)\]*_]*\s+|[。！？][」』”’）]*|\n""")  # noqa: RUF001
_WORD = re.compile(r"\s+|[、，；：,;]")  # noqa: RUF001
_JOINERS = frozenset({0x200D, 0x20E3})
_JOINED = (range(0x0300, 0x0370), range(0xFE00, 0xFE10), range(0x1F3FB, 0x1F400))
"""Accents, variants and skin tones, which belong to the character before them."""


def cut(source: Source, start: int, end: int, room: int | None = None) -> Iterator[Unit]:
    """Yield `text[start:end]` in sentences of at most half of `room`, which is the source's."""
    most = (source.room if room is None else room) // 2
    words = source.text[start:end]
    masked = _MASKED.sub(lambda found: "x" * len(found[0]), words)
    at = 0
    for border in [*(found.end() for found in _BORDER.finditer(masked)), len(words)]:
        if border > at:
            size = source.fitting(start + at, start + border)
            if size <= most:
                yield Unit(start + at, start + border, size)
            else:
                yield from _split(source, start + at, start + border, max(LEAST, most))
            at = border


def _split(source: Source, start: int, end: int, room: int) -> Iterator[Unit]:
    """Yield a sentence in pieces of at most `room` tokens, cut at words where there are any."""
    usual = step = max(1, (end - start) * room // max(1, source.size(start, end)))
    while start < end:
        stop = min(end, start + step)
        size = source.size(start, stop)
        while size > room and stop - start > 1:
            stop = start + max(1, (stop - start) * room * 9 // (size * 10))
            size = source.size(start, stop)
        at = _word_end(source.text, start, stop) if stop < end else stop
        yield Unit(start, at, size if at == stop else source.size(start, at))
        step = min(usual, LONGER * (stop - start))  # what comes now may be dearer than the average
        start = at


def _word_end(text: str, start: int, stop: int) -> int:
    """Return the last border of words in the second half of the span, or `stop`."""
    middle = (start + stop) // 2
    cut = max((found.end() for found in _WORD.finditer(text, middle, stop)), default=stop)
    before = max(start + 1, cut - LONGEST_CHARACTER)
    whole = (at for at in range(cut, before, -1) if at == len(text) or not _is_joined(text, at))
    return next(whole, cut)


def _is_joined(text: str, at: int) -> bool:
    """Tell whether the character at `at` belongs to the one before."""
    code = ord(text[at])
    return code in _JOINERS or ord(text[at - 1]) == 0x200D or any(code in r for r in _JOINED)
