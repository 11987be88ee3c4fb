"""Text sitemaps: one URL a line."""

import re
from collections.abc import Iterator

from flows import urls

MAX_LINE = urls.MAX_LENGTH + 1
"""Characters of a line that are kept: one more than a URL may have."""

_ENDS = re.compile(r"\r\n|\r|\n").split
_URL = re.compile(r"https?://\S+", re.IGNORECASE).fullmatch


def are_urls(text: str) -> bool:
    """Return whether a text looks like a list of URLs: most of its lines are one."""
    lines = [line.strip() for line in _ENDS(text)]
    filled = [line for line in lines if line and not line.startswith("#")]
    return 2 * sum(_URL(line) is not None for line in filled) > len(filled)


class Lines:
    """Takes text in any pieces, gives its lines."""

    def __init__(self) -> None:
        """Begin a file."""
        self._rest: list[str] = []
        self._size = 0

    def feed(self, text: str) -> Iterator[str]:
        """Yield the lines that have an end."""
        *whole, rest = _ENDS(text)
        for line in whole:
            yield from self._line(line)
        self._keep(rest)

    def close(self, *, complete: bool) -> Iterator[str]:
        """Yield the last line; without its end it may be half a URL, unless the file is whole."""
        if complete:
            yield from self._line("")

    def _line(self, end: str) -> Iterator[str]:
        self._keep(end)
        yield "".join(self._rest).strip()
        self._rest, self._size = [], 0

    def _keep(self, text: str) -> None:
        if self._size < MAX_LINE:
            self._rest.append(text[: MAX_LINE - self._size])
            self._size += len(text)
