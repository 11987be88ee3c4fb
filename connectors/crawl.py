"""A site's crawl in this process: what is on its way through the dataflow, and when it is done.

One `Crawl` a site, shared by the three ends that Bytewax builds for it: `SiteSource` and
`ResponseSource` read it, `RequestSink` feeds it, all three on the same worker thread; the asking
happens on the event loop of the process (`connectors.visits`). What both sides touch is a deque
or is handed over with `EventLoop.call`; the counters belong to the worker thread alone.

The crawl ends by counting. `issued` entries went into the dataflow, `settled` decisions came
back out of it; when discovery has ended, both are equal and every admitted URL is answered,
nothing can follow.
"""

import asyncio
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime

from connectors.aliases import Aliases
from connectors.dataset.run import Spent
from connectors.guest import Guest
from connectors.loop import EventLoop
from connectors.revisits import Revisits
from connectors.visits import Answer, Visits
from flows import discovery, links, schema, traps, urls
from flows.operators import Decision, OnEntries, Repeats, Waiting
from flows.records import (
    Alert,
    AllDeclared,
    Entries,
    Entry,
    Failure,
    LeftOut,
    Outcome,
    Page,
    Rules,
    Sighting,
    Sightings,
    SiteEnd,
    SitemapRead,
)
from flows.remembered import SAME
from flows.settings import Settings, Site

WINDOW = 2_000
"""Entries of one site that may be on their way or waiting to be fetched before its sitemaps are
read on. Bounds memory, and leaves the fetcher always something to do."""

BATCH = 500
"""Entries, or lists of them, that a source hands over at once."""

PAGES = 16
"""Pages that a source hands over at once."""

HELD = 64
"""Answers of one process that wait to be read by the dataflow; beyond that no request starts."""

Discovered = Rules | Entry | Entries | SitemapRead | Alert | AllDeclared
Returned = Answer | Entry | Alert | SiteEnd


class Held:
    """How many answers of this process wait to be read by the dataflow."""

    def __init__(self) -> None:
        """Start with none."""
        self._count = 0
        self._lock = threading.Lock()

    def change(self, by: int) -> None:
        """Count answers in, or out."""
        with self._lock:
            self._count += by

    async def room(self) -> None:
        """Wait until there are few."""
        while self._count >= HELD:  # noqa: ASYNC110  # counted down by threads that have no loop
            await asyncio.sleep(0.02)


class Crawl:
    """The counters and buffers of one site between the two ends of the loop through the Web."""

    def __init__(
        self,
        site: Site,
        settings: Settings,
        *,
        loop: EventLoop,
        guest_of: Callable[[str], Guest],
        held: Held,
        committed: set[int],
        spent: Spent = Spent(),  # noqa: B008  # a constant
        revisits: Revisits | None = None,
        unread: Iterable[int] = (),
        fetches: bool = True,
        reads: bool = True,
    ) -> None:
        """Prepare a crawl; nothing is asked yet.

        `committed` are the hashes of URLs whose rows an earlier start of this run has written,
        `spent` is what they have used of the page budget,
        `revisits` knows the pages that are stored; those that are `unread` have a row already
        and were not read for it.
        `fetches` says whether admitted URLs are asked for, `reads` whether the pages that come
        are handed on; without it only their links are.
        """
        self.site = site
        self.settings = settings
        self.revisits = revisits
        self.visits = Visits(site, settings, guest_of, self._take, revisits)
        self.fault: BaseException | None = None
        """A mistake of ours on the event loop, raised again where Bytewax sees it."""
        self.ended = False
        self._held = held
        self._loop = loop
        self.spent = spent.pages
        """Pages of the budget that earlier starts of this run have used."""
        self._committed = committed
        self._fetches = fetches
        self._reads = reads
        self._started_at = datetime.now(UTC)
        self._has_begun = False
        self._thread: int | None = None
        self._found: deque[Discovered] = deque()
        self._all_found = False
        self._answers: deque[Answer] = deque()
        self._issued = self._settled = self._pending = 0
        self._added = self._taken = 0
        """Entries that discovery has handed over, and those of them that went into the dataflow;
        each counted by the one thread that it happens on."""
        self._rows = len(committed)
        self._aliases = Aliases(committed)
        self._notes = 0
        self._over_budget = spent.is_over
        self._waiting = 0
        self._trapped: Counter[str] = Counter()
        self._said_all = False
        self._verifying = False
        self._unread = set(unread)
        self._calm: asyncio.Event | None = None

    # What the worker's thread does.

    def begin(self) -> None:
        """Start the clock of the site: its exploration begins."""
        self._started_at = datetime.now(UTC)
        self._has_begun = True

    def attach(self) -> None:
        """Check that all ends of the site live on one thread, as equal lists of parts promise."""
        here = threading.get_ident()
        if self._thread not in (None, here):
            raise RuntimeError(f"the ends of {self.site.origin} were built on two workers")
        self._thread = here

    def discovered(self) -> list[Discovered]:
        """Return what discovery has found since; raises StopIteration when it has found all."""
        self._raise_fault()
        over = self._all_found
        batch = [self._found.popleft() for _ in range(min(BATCH, len(self._found)))]
        if not batch and over:
            if self._said_all:
                raise StopIteration
            self._said_all = True
            return [AllDeclared(site=self.site.origin)]
        self._said_all |= any(isinstance(item, AllDeclared) for item in batch)
        entries = sum(map(_count, batch))
        self._issued += entries
        self._taken += entries
        self._notes += sum(isinstance(item, SitemapRead | Alert) for item in batch)
        return [part for item in batch for part in self._apart(item)]

    def settle(self, decisions: Iterable[Decision]) -> None:
        """Take decisions back out of the dataflow; what is admitted is fetched."""
        for decision in decisions:
            if isinstance(decision, Waiting):
                self._waiting += decision.change
            elif isinstance(decision, Repeats):
                self._settled += decision.count
            else:
                count = len(_entries_of(decision))
                self._settled += count
                if isinstance(decision, Sighting | Sightings):
                    self._notes += count
                else:
                    self._settle(decision)

    def answered(self) -> list[Returned]:
        """Return what came back from the Web, links as entries; ends with the site's `SiteEnd`.

        Raises StopIteration when that has been returned.
        """
        if self.ended:
            raise StopIteration
        self._raise_fault()
        batch = [self._answers.popleft() for _ in range(min(PAGES, len(self._answers)))]
        self._pending -= len(batch)
        self._held.change(-len(batch))
        out: list[Returned] = [item for answer in batch for item in self._returned(answer)]
        all_found, calm = self._all_found, self._calm  # before looking: what is found comes first
        if not batch and self._is_calm():
            if all_found:
                out.extend(self._end())
            elif calm is not None:
                self._loop.call(calm.set)
        return out

    @property
    def is_due(self) -> bool:
        """Whether something of this site may come at any moment."""
        finding = self._has_begun and not self._all_found and self._calm is None
        return finding or bool(self._found or self._answers or self._pending)

    @property
    def waiting(self) -> int:
        """URLs admitted and not answered yet."""
        return self._pending

    def _raise_fault(self) -> None:
        if self.fault is not None:
            raise self.fault

    def _settle(self, decision: Entry | Entries | Failure | LeftOut) -> None:
        """Count the rows that will come of a decision; what it admits is asked for."""
        entries = _entries_of(decision)
        self._rows += len(entries)
        if isinstance(decision, Failure | LeftOut):
            trap = decision.trap if isinstance(decision, Failure) else None
            if trap:
                self._trapped[trap] += 1
            elif decision.outcome is Outcome.BUDGET:
                self._over_budget = True
        elif self._fetches:
            self._pending += len(entries)
            for entry in entries:
                self._aliases.know(entry.url)
                self._loop.call(self.visits.add, entry)

    def _apart(self, item: Discovered) -> Iterable[Discovered]:
        """Yield something found, apart what has its row from an earlier start of this run."""
        if isinstance(item, Entry):
            yield self._marked(item)
        elif isinstance(item, Entries) and self._committed:
            known = list(map(self._has_row, item.declared.url))
            new = item.where([not had for had in known])
            yield from filter(len, (new, replace(item.where(known), has_row=True)))
        else:
            yield item

    def _marked(self, entry: Entry) -> Entry:
        had = bool(self._committed) and self._has_row(entry.url)
        return replace(entry, has_row=True) if had else entry

    def _has_row(self, url: str) -> bool:
        return urls.hash64(schema.clean(url)) in self._committed

    def _returned(self, answer: Answer) -> Iterable[Answer | Entry]:
        if isinstance(answer, Page) and self._reads and self._aliases.hold(answer):
            self._pending += 1
            if self.revisits is not None and self.revisits.has_moved(answer):
                self._issued += 1
                yield self._marked(discovery.moved(answer))
        else:
            yield from self._handed_over(answer)

    def _handed_over(self, answer: Answer) -> Iterable[Answer | Entry]:
        if isinstance(answer, Page):
            answer = replace(answer, links=links.of(answer))
        elif answer.outcome in SAME:
            self._unread.add(urls.hash64(answer.entry.url))
        entries = discovery.linked(answer) if self.settings.links else []
        self._issued += len(entries)
        yield from map(self._marked, entries)
        if self._reads:
            yield answer

    def _is_calm(self) -> bool:
        """Whether nothing is under way but answers in doubt."""
        return (
            not self._found
            and self._issued == self._settled
            and self._pending == self.visits.doubtful + len(self._aliases)
        )

    def _end(self) -> Iterable[Returned]:
        if self.visits.doubtful:
            if not self._verifying:
                self._loop.spawn(self.visits.verify())
            self._verifying = True
            return
        if self._aliases:
            self._pending -= len(self._aliases)
            for answer in self._aliases.release():
                yield from self._handed_over(answer)
            return
        self.ended = True
        self._loop.spawn(self.visits.aclose())
        guest, visits = self.visits.guest, self.visits
        if self._trapped:
            self._notes += 1
            yield traps.alert(self.site.origin, self._trapped)
        budget = "stopped_by_budget" if self._over_budget else "complete"
        yield SiteEnd(
            site=self.site.origin,
            rows=self._rows,
            notes=self._notes,
            status=guest.given_up_status or visits.status or budget,
            detail=guest.given_up or visits.detail,
            crawl_delay_s=visits.rulebook.crawl_delay_s,
            requests=visits.requests,
            bytes=visits.bytes,
            started_at=self._started_at,
            ended_at=datetime.now(UTC),
        )

    # What the event loop's thread does.

    def add(self, item: Discovered) -> None:
        """Hand over what discovery found."""
        self._added += _count(item)
        self._found.append(item)

    async def put(self, item: Discovered) -> None:
        """Hand over what discovery found, when there is room."""
        await self.room()
        self.add(item)

    async def room(self) -> None:
        """Wait while too much of the site is under way."""
        wait = 0.005
        while not self.has_room():
            await asyncio.sleep(wait)
            wait = min(wait * 2, 0.25)

    def has_room(self) -> bool:
        """Whether the site's sitemaps should be read on."""
        in_flow = self._issued - self._settled - self._waiting
        under_way = self._added - self._taken + in_flow + self._pending
        return under_way < WINDOW or self.visits.closed

    async def calm(self) -> None:
        """Wait until every URL found so far is answered, or its answer in doubt."""
        self._calm = asyncio.Event()
        await self._calm.wait()
        self._calm = None

    def take_unread(self) -> set[int]:
        """Return `hash64` of the stored pages that were not read again, since the last call.

        To be called when the site is calm: else another thread is adding to them.
        """
        unread, self._unread = self._unread, set()
        return unread

    def found_all(self) -> None:
        """Hear that discovery has ended."""
        self._all_found = True

    def _take(self, answer: Answer) -> None:
        self._held.change(1)
        self._answers.append(answer)


def _count(item: Discovered) -> int:
    """Return how many entries something discovered is."""
    return len(item) if isinstance(item, Entries) else isinstance(item, Entry)


def _entries_of(decision: OnEntries) -> Entries | list[Entry]:
    """Return the entries that a decision is about."""
    if isinstance(decision, Entries):
        return decision
    if isinstance(decision, LeftOut | Sightings):
        return decision.entries
    return [decision if isinstance(decision, Entry) else decision.entry]
