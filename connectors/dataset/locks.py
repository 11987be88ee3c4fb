"""Locks between processes, which end with the one that holds them."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Lock:
    """A file that one process at a time holds; a process that dies lets go of it.

    The lock belongs to the process (`fcntl.lockf`): children that it forks do not inherit it, so
    an extraction process that outlives us does not keep the next run out.
    """

    def __init__(self, path: Path) -> None:
        """Name the lock; nothing is opened."""
        self._path = path
        self._handle: int | None = None

    def take(self, *, wait: bool = False, shared: bool = False) -> bool:
        """Take the lock; False when another process has it and we do not wait.

        A shared lock leaves others out who want it for themselves; who shares it may take it.
        """
        handle = self._handle or os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            fcntl.lockf(handle, kind | (0 if wait else fcntl.LOCK_NB))
        except OSError as error:
            if handle != self._handle:
                os.close(handle)
            if error.errno in {errno.EACCES, errno.EAGAIN}:
                return False
            raise
        self._handle = handle
        return True

    def share(self) -> None:
        """Let others share the lock, which we have."""
        if self._handle is not None:
            fcntl.lockf(self._handle, fcntl.LOCK_SH)

    def note(self, words: str) -> None:
        """Write into the file of the lock, which we have."""
        if self._handle is not None:
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, words.encode(), 0)

    def noted(self) -> str:
        """Return what its holder has written; only for who does not have it."""
        return self._path.read_text(encoding="utf-8")

    def release(self) -> None:
        """Let go of the lock, if we have it."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock at `path` for the length of a block, waiting for it if need be."""
    lock = Lock(path)
    lock.take(wait=True)
    try:
        yield
    finally:
        lock.release()
