"""A pool of killable extraction processes: a hostile page costs itself and one process."""

import gc
import multiprocessing
import resource
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from multiprocessing import resource_tracker

from pebble import CONSTS, ProcessExpired, ProcessFuture, ProcessPool

from connectors import largest
from flows.records import Chunk, Document, Failure, Outcome, Page, Reading
from flows.settings import Settings

MEMORY = 3 << 30
"""Bytes of address space of one extraction process; a page that wants more is a `parse_error`."""

COLLECTED = (50_000, 20, 20)
"""Objects after which unused cycles are looked for: a page is many objects and hardly a cycle."""

CLOSING_S = 3.0
"""Seconds in which the processes are ended and their semaphores given back."""

AHEAD = 2
"""Pages that wait for each process, so that none is ever idle."""


Read = tuple[Document, tuple[Chunk, ...]] | Failure


@dataclass(frozen=True, slots=True)
class Manner:
    """How pages are read: what each extraction process needs of the settings."""

    max_tokens: int
    overlap: int
    encoding: str
    obeys_signals: bool = True

    @classmethod
    def of(cls, settings: Settings) -> "Manner":
        """Return what the settings say."""
        return cls(
            max_tokens=settings.chunk_tokens,
            overlap=settings.chunk_overlap,
            encoding=settings.encoding,
            obeys_signals=settings.ai_signals == "obey",
        )


def read(page: Page, manner: Manner) -> Read:
    """Return a page's document and chunks, or the failure that says why there are none."""
    # Trafilatura and its kin cost a second and 60 MB: only extraction processes pay for them.
    from flows import chunks, content, neighbours  # noqa: PLC0415

    document = content.extract(page, encoding=manner.encoding, obeys_signals=manner.obeys_signals)
    largest.give_back(page)  # the tree, before the parts of its Markdown take as much again
    if not isinstance(document, Document):
        return document
    limits = chunks.Limits(
        max_tokens=manner.max_tokens, overlap=manner.overlap, encoding=manner.encoding
    )
    signed = replace(document, minhash=neighbours.signature(document.markdown))
    return signed, chunks.cut(document, limits)


class Extractors:
    """Extraction processes of this machine, shared by all workers of this process.

    *Guarantee*: every page comes back, as what was read or as a failure; a page that takes too
    long is a `timeout`, one that takes its process down a `parse_error`, and neither takes
    another page with it. *Limits*: `AHEAD` pages wait for each process; `submit` blocks beyond
    that, which holds the stream up. Large pages are read one at a time (`connectors.largest`).
    """

    def __init__(
        self,
        settings: Settings,
        workers: int,
        stopping: threading.Event,
        read: Callable[[Page, Manner], Read] = read,
    ) -> None:
        """Take what the settings say; the processes start with `start`, or the first page.

        `read` is what they do with a page: a function of a module, which can be named to them.
        """
        self.keeps_html = settings.keep_html
        self._read = read
        self._manner = Manner.of(settings)
        self._deadline_s = settings.extract_seconds
        self._workers = workers
        self._stopping = stopping
        self._room = threading.Semaphore(workers * (1 + AHEAD))
        self._lock = threading.Lock()
        self._pool: ProcessPool | None = None
        self._warming: list[ProcessFuture[None]] = []
        self._large = largest.OneAtATime(self.schedule)

    def start(self) -> None:
        """Start the processes, so that they are warm when the first page comes."""
        with self._lock, suppress(RuntimeError):  # it is tried again with the first page
            self._pool = self._pool or self._started()

    def is_warm(self) -> bool:
        """Whether the processes have loaded what they need, or have failed to."""
        return all(future.done() for future in self._warming)

    def submit(self, page: Page) -> "Extraction":
        """Have a page read; blocks while enough pages wait already."""
        while not self._room.acquire(timeout=0.1):
            if self._stopping.is_set():
                return Extraction(self, page, None)
        read = self._large.submit if largest.is_large(page) else self.schedule
        future = read(page)
        future.add_done_callback(lambda _: self._room.release())
        return Extraction(self, page, future)

    def schedule(self, page: Page) -> "Future[Read]":
        """Give a page to the pool, to a new one when a fault has broken the old."""
        with self._lock:
            try:
                return self._schedule(page)
            except RuntimeError:
                self._pool = None
                return self._schedule(page)

    def close(self) -> None:
        """End the processes."""
        self._large.close()
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.stop()  # type: ignore[no-untyped-call]
            ending = threading.Thread(target=pool.join, daemon=True)
            ending.start()
            ending.join(CLOSING_S)

    @property
    def stopping(self) -> bool:
        """Whether the run is being stopped."""
        return self._stopping.is_set()

    def _schedule(self, page: Page) -> "ProcessFuture[Read]":
        bare = replace(page, links=())  # they stay here, and need not travel
        self._pool = self._pool or self._started()
        return self._pool.schedule(
            _read, args=(self._read, bare, self._manner), timeout=self._deadline_s
        )

    def _started(self) -> ProcessPool:
        # Neither fork (threads run here) nor spawn (a second of imports for each process).
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["flows.content", "flows.chunks", __name__])
        pool = ProcessPool(max_workers=self._workers, initializer=bound, context=context)
        with _deaf():
            warming = [pool.schedule(_warm, args=(self._manner,)) for _ in range(self._workers)]
        self._warming = warming
        return pool


@contextmanager
def _deaf() -> Iterator[None]:
    """Start processes that no signal reaches but SIGKILL.

    A terminal sends Ctrl-C, a service manager SIGTERM to all processes of a group: a page whose
    process died of it would be a page that cannot be read. They end with their main process.
    """
    resource_tracker.ensure_running()  # or it is started within, and takes the mask off again
    CONSTS.term_timeout = 0.1
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(slots=True)
class Extraction:
    """A page under way in an extraction process."""

    pool: Extractors
    page: Page
    future: "Future[Read] | None"
    retried: bool = field(default=False)

    def done(self) -> bool:
        """Say whether the page has been read, or given up."""
        return self.future is None or self.future.done()

    def result(self) -> Reading | Failure | None:
        """Return what was read, waiting for it; None when the run was stopped before."""
        if self.future is None or (self.pool.stopping and not self.future.done()):
            return None
        try:
            return self._assembled(self.future.result())
        except TimeoutError:
            return self._failed(Outcome.TIMEOUT, "extraction took too long")
        except ProcessExpired as why:
            return self._failed(Outcome.PARSE_ERROR, f"extraction process died ({why.exitcode})")
        except MemoryError:
            return self._failed(Outcome.PARSE_ERROR, "extraction took too much memory")
        except (CancelledError, BrokenProcessPool):
            return self._again()
        except Exception as why:  # whatever a page does to a parser is that page's outcome
            return self._failed(Outcome.PARSE_ERROR, f"{type(why).__name__}: {why}"[:300])

    def _assembled(self, came: Read) -> Reading | Failure:
        largest.give_back(self.page)  # here its bytes were packed, and its Markdown unpacked
        if isinstance(came, Failure):
            return replace(came, links=self.page.links)
        document, chunks = came
        return Reading(
            entry=self.page.entry,
            exchange=self.page.exchange,
            document=document,
            chunks=chunks,
            links=self.page.links,
            html=self.page.body if self.pool.keeps_html and not self.page.offer else None,
        )

    def _again(self) -> Reading | Failure | None:
        """Read the page once more: the pool broke, and not by this page's doing."""
        if self.retried:
            return self._failed(Outcome.PARSE_ERROR, "extraction pool broke twice")
        self.retried = True
        self.future = self.pool.schedule(self.page)
        return self.result()

    def _failed(self, outcome: Outcome, detail: str) -> Failure:
        return Failure(
            entry=self.page.entry,
            outcome=outcome,
            detail=detail,
            exchange=self.page.exchange,
            links=self.page.links,
        )


def _read(read: Callable[[Page, Manner], Read], page: Page, manner: Manner) -> Read:
    """Read a page in an extraction process, and leave little behind."""
    came = read(page, manner)
    largest.give_back(page)
    return came


def bound() -> None:
    """Make ready the process that this is called in for reading pages."""
    gc.set_threshold(*COLLECTED)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _warm(manner: Manner) -> None:
    """Load what the first page would wait for: libraries and the table of tokens."""
    from flows import content, tokens  # noqa: F401, PLC0415  # only extraction processes pay

    tokens.count("warm", manner.encoding)
