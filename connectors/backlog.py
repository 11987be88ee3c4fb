"""Bytes that came faster than they may be read: first in, first out, on disk when they are many."""

import tempfile
from types import TracebackType
from typing import Self

IN_MEMORY = 4 << 20
"""Bytes held in memory before a temporary file takes over."""

PIECE = 1 << 16
"""Bytes taken out at once."""


class Backlog:
    """Lets a sitemap arrive at the speed of the network and be read at the speed of the crawl."""

    def __init__(self) -> None:
        """Start empty."""
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  # closed by __exit__
        self._written = 0
        self._read = 0

    def __enter__(self) -> Self:
        """Return the backlog itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Forget what is left."""
        self._file.close()

    def put(self, data: bytes) -> None:
        """Add bytes at the end."""
        self._file.seek(self._written)
        self._written += self._file.write(data)

    def take(self) -> bytes:
        """Return the next bytes, nothing when there are none."""
        self._file.seek(self._read)
        data = self._file.read(PIECE)
        self._read += len(data)
        return data
