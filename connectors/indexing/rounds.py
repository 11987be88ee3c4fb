"""Compare, write what differs, and compare again, until store and corpus are the same."""

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from connectors.dataset.files import DamagedError
from connectors.indexing import Index, Pages
from connectors.indexing.reports import Tally, fingerprints
from connectors.stores import StoreError
from flows.steps import Difference

ROUNDS: Final = 3
"""How often what differs is written; the first time is the work, the others are repairs."""
TIDY_AFTER: Final = 64
"""Batches written, after which the store is tidied."""


@dataclass(kw_only=True)
class Rounds:
    """The work on an index: a source takes it from here, a sink gives it back done.

    Both ends are used by one thread at a time.
    """

    index: Index
    every: bool = False
    """Write each page once, whether it differs or not."""
    tally: Tally = field(default_factory=Tally)
    sites: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What the last comparison found, by site."""
    out: int = 0
    """Batches taken and not given back."""
    ended: bool = False
    """True once nothing more is to be done."""
    fault: str | None = None
    """What keeps the store from becoming the corpus; nothing more is handed out then."""

    def work(
        self, only: Iterable[str] | None = None, stop: Callable[[], bool] = bool
    ) -> Iterator[Pages | None]:
        """Yield batches to embed and write; None while the last of them are still under way.

        `only` names the sites to look at; without it all of the corpus and the store are, and the
        store is tidied at the end.
        """
        for number in range(ROUNDS + 1):
            differ = yield from self._round(number, only, stop)
            while self.out:
                yield None
            if number and differ:
                self.tally.repaired += differ
            if not differ or self.fault or stop():
                break
        if only is None:
            self._finish()

    def done(self, pages: Pages) -> None:
        """Write a batch that has its vectors, and count it."""
        self.out -= 1
        if pages.fault is not None:
            self.fault = pages.fault
            self.tally.faults += len(pages.urls)
            return
        try:
            self.index.write(pages)
            self._count(pages)
        except StoreError as why:
            self.fault = str(why)

    def _finish(self) -> None:
        """Leave the store fit for searches."""
        try:
            if self.tally.written or self.tally.removed:
                self.index.store.tidy(done=True)
        except StoreError as why:
            self.fault = str(why)
        self.ended = True

    def _round(
        self, number: int, only: Iterable[str] | None, stop: Callable[[], bool]
    ) -> Generator[Pages | None, None, int]:
        """Hand out what differs, and return how many pages that are; the last round only looks."""
        try:
            return (yield from self._look(number, only, stop))
        except (StoreError, DamagedError) as why:
            self.fault = str(why)
            return 0

    def _look(
        self, number: int, only: Iterable[str] | None, stop: Callable[[], bool]
    ) -> Generator[Pages | None, None, int]:
        prints = fingerprints(self.index.corpus)
        total = 0
        if only is None:
            self.sites = {}
        for site in sorted(only) if only is not None else self.index.sites():
            found = self.index.difference(site, every=self.every and not number)
            self._tell(site, prints.get(site), found.pages, found.chunks, len(found))
            total += len(found)
            if number < ROUNDS:
                yield from self._site(site, found, stop)
            if self.fault or stop():
                break
        return total

    def _site(
        self, site: str, found: Difference, stop: Callable[[], bool]
    ) -> Iterator[Pages | None]:
        """Hand out what differs in a site; what is gone last: its vectors may be of use before."""
        for batches in (self.index.batches(site, found), self.index.gone(site, found)):
            for pages in batches:
                if self.fault or stop():
                    return
                self.out += 1
                yield pages
            while self.out:
                yield None

    def _tell(self, site: str, print_: str | None, pages: int, chunks: int, differ: int) -> None:
        if print_ is None and not differ:
            self.sites.pop(site, None)
            return
        told = {"fingerprint": print_, "pages": pages, "chunks": chunks, "differ": differ}
        self.sites[site] = told

    def _count(self, pages: Pages) -> None:
        tally = self.tally
        if pages.rows is None:
            tally.removed += len(pages.urls)
        else:
            tally.written += len(pages.urls)
            tally.chunks += pages.rows.num_rows
        tally.embedded += pages.embedded
        tally.reused += pages.reused
        tally.batches += 1
        if tally.batches % TIDY_AFTER == 0:
            self.index.store.tidy(done=False)
