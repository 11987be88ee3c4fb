"""The live outlet of `flows.ingest`: a page is searchable seconds after it was fetched."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from connectors import indexing, stores
from connectors.dataset import locks
from connectors.embedders import Embedder
from connectors.indexing import Pages, reports
from connectors.indexing.rounds import Rounds
from flows import steps
from flows.settings.index import IndexSettings

WAITING: Final = 32
"""Batches of pages that may wait to be embedded; what comes on top of them is done when its site
ends. Each is what the dataset committed at once: 64 pages or 4 MB of text."""
POLL_S: Final = 0.2
"""How often we look whether the other processes of a cluster are done."""

logger = logging.getLogger(__name__)


class Outlet:
    """Follows what a run commits, from a thread of its own.

    * *Guarantee*: when a site is published, store and corpus are compared and made the same;
      when the run is complete, once more for all sites. What a kill left undone the next
      `flows.index`, or the next run, does.
    * *Limits*: the run never waits for a vector. At most 32 batches wait; pages beyond them are
      written when their site ends.
    * *Cost*: one write of the store for each commit of the dataset.
    """

    def __init__(
        self, out: Path, settings: IndexSettings, embedder: Embedder | None = None
    ) -> None:
        """Open the store; ValueError in one line when it, or its embedder, is not to be had."""
        self._out = out
        self._settings = settings
        self._place = reports.place(out, settings)
        self._place.parent.mkdir(parents=True, exist_ok=True)
        self._lock = locks.Lock(self._place.with_suffix(".lock"))
        if not self._lock.take(wait=False, shared=True):
            where = stores.shown(indexing.address(out, settings))
            raise ValueError(f"flows.index is writing to {where}")
        self._index = indexing.open_index(out, settings, embedder)
        self._rounds = Rounds(index=self._index)
        self._report = reports.begin(self._place, self._index, settings, out)
        self._jobs: deque[Pages | str | None] = deque()
        self._batches = 0
        self._changed = threading.Condition()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._live, name="index", daemon=True)
        self._thread.start()

    def stored(self, chunks: pa.Table) -> None:
        """Take chunks of pages that the dataset has just committed; returns at once."""
        for pages in _pages(chunks):
            with self._changed:
                if self._batches < WAITING:
                    self._batches += 1
                    self._put(pages)
                else:
                    logger.debug("pages wait for the end of their site", extra={"site": pages.site})

    def published(self, site: str) -> None:
        """Note that the corpus of a site is what the store has to be; returns at once."""
        with self._changed:
            self._put(site)

    def end(self, stop: Callable[[], bool], *, last: bool = True) -> dict[str, Any] | None:
        """Wait until all is written, and return the report; None when `stop` says so before.

        The `last` process of a cluster waits for the others, compares all sites, and has the
        report.
        """
        with self._changed:
            self._put(None)
        while self._thread.is_alive() and not stop():
            self._thread.join(POLL_S)
        while last and not stop() and not self._lock.take(wait=False):
            self._over.wait(POLL_S)
        if last and not stop():
            self._bring(None, stop)
        report = self._told() if last and not stop() else None
        self.close()
        return report

    def close(self) -> None:
        """Let go of the store as it is."""
        self._over.set()
        with self._changed:
            self._changed.notify()
        self._thread.join(POLL_S)
        self._index.store.close()
        self._lock.release()

    def _put(self, job: Pages | str | None) -> None:
        self._jobs.append(job)
        self._changed.notify()

    def _live(self) -> None:
        while not self._over.is_set():
            with self._changed:
                while not self._jobs and not self._over.is_set():
                    self._changed.wait()
                if self._over.is_set():
                    return
                job = self._jobs.popleft()
                self._batches -= isinstance(job, Pages)
            if job is None:
                return
            if isinstance(job, Pages):
                self._rounds.out += 1
                self._do(job)
            else:
                self._bring([job], self._over.is_set)

    def _bring(self, only: Iterable[str] | None, stop: Callable[[], bool]) -> None:
        """Bring sites in step with the corpus; a fault leaves it to a later attempt."""
        self._rounds.fault = None
        for pages in self._rounds.work(only, stop):
            if pages is not None:
                self._do(pages)

    def _do(self, pages: Pages) -> None:
        made = self._index.embed(pages)
        with self._alone():
            self._rounds.done(made)
        if self._rounds.fault is not None:
            logger.error("the index falls behind", extra={"why": self._rounds.fault})

    def _alone(self) -> AbstractContextManager[None]:
        """Be the only process that writes, where a store takes one at a time."""
        if self._index.store.capabilities.writers > 1:
            return nullcontext()
        return locks.locked(self._place.with_suffix(".writing"))

    def _told(self) -> dict[str, Any]:
        rounds = self._rounds
        return reports.end(self._place, self._report, rounds.tally, rounds.sites, rounds.fault)


def _pages(chunks: pa.Table) -> Iterator[Pages]:
    """Yield the pages of each site in a table of chunks."""
    sites = chunks["site"]
    for site in steps.texts(sites.unique()):
        rows = chunks.filter(steps.pc.equal(sites, site))
        yield Pages(site=site, urls=tuple(steps.texts(rows["url"].unique())), rows=rows)
