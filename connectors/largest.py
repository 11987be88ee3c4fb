"""Large pages: read one at a time, and their memory given back.

Reading a page takes some fifty times its bytes. Two of several megabytes at once would decide what
a machine has to hold for a whole run.
"""

import ctypes
import gc
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Generic, TypeVar

from flows.records import Page

LARGE = 2 << 20
"""Bytes of a body from which a page is read alone."""

LITTERING = 512 << 10
"""Bytes of a body from which it is worth the time to give back what its reading took."""

T = TypeVar("T")


def is_large(page: Page) -> bool:
    """Return whether a page is read alone."""
    return len(page.body) >= LARGE


def give_back(page: Page) -> None:
    """Give the system what a page took; the allocator of glibc keeps it otherwise."""
    if len(page.body) >= LITTERING:
        trim()


def trim() -> None:
    """Give the system what nobody uses any more."""
    gc.collect()
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim:
        malloc_trim(0)


class OneAtATime(Generic[T]):
    """Hands pages on to be read, each when the one before it is done."""

    def __init__(self, read: Callable[[Page], "Future[T]"]) -> None:
        """Take what starts the reading of a page."""
        self._read = read
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Page, Future[T]]] = deque()
        self._closed = False

    def submit(self, page: Page) -> "Future[T]":
        """Return what will come of a page; it fares as if it had been read at once."""
        promised: Future[T] = Future()
        with self._lock:
            self._waiting.append((page, promised))
            is_first = len(self._waiting) == 1
        if is_first:
            self._start()
        return promised

    def close(self) -> None:
        """Start nothing more."""
        self._closed = True

    def _start(self) -> None:
        page, _ = self._waiting[0]
        self._read(page).add_done_callback(self._done)

    def _done(self, came: "Future[T]") -> None:
        with self._lock:
            _, promised = self._waiting.popleft()
            more = bool(self._waiting) and not self._closed
        _pass_on(came, promised)
        if more:
            self._start()


def _pass_on(came: "Future[T]", promised: "Future[T]") -> None:
    why = CancelledError() if came.cancelled() else came.exception()
    if why:
        promised.set_exception(why)
    else:
        promised.set_result(came.result())
