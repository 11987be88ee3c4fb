"""A site's crawl in this process: what is known of it, what is under way, and when it is done.

One `Crawl` a site, shared by the three ends that Bytewax builds for it: `SiteSource` and
`ResponseSource` read it, `RequestSink` feeds it, all three on the same worker thread; the
fetching happens on the event loop of the process. What both sides touch is a deque or is handed
over with `EventLoop.call`; the counters belong to the worker thread alone.

The crawl ends by counting. `issued` entries went into the dataflow, `settled` decisions came
back out of it; when discovery has ended, both are equal and every admitted URL is answered,
nothing can follow.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime

from connectors.fetcher import PAGE
from connectors.guest import Guest
from connectors.loop import EventLoop
from flows import discovery, links, responses, robots, urls
from flows.operators import Decision, Repeats
from flows.records import (
    Alert,
    Entry,
    Failure,
    Outcome,
    Page,
    Rules,
    Sighting,
    SiteEnd,
    SitemapRead,
)
from flows.settings import Settings, Site

WINDOW = 2_000
"""Entries of one site that may be on their way or waiting to be fetched before its sitemaps are
read on. Bounds memory, and leaves the fetcher always something to do."""

BATCH = 500
"""Entries that a source hands over at once."""

PAGES = 16
"""Pages that a source hands over at once."""

VERIFIED = frozenset(
    {
        Outcome.SERVER_ERROR,
        Outcome.RATE_LIMITED,
        Outcome.TIMEOUT,
        Outcome.CONNECTION_ERROR,
        Outcome.TRUNCATED,
        Outcome.PROTOCOL_ERROR,
    }
)
"""Outcomes that may pass, so that their URLs are asked for once more at the end of a site."""

HELD = 64
"""Answers of one process that wait to be read by the dataflow; beyond that no request starts."""

Discovered = Rules | Entry | SitemapRead | Alert
Answer = Page | Failure
Returned = Answer | Entry | SiteEnd


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
    """The state of one site between the two ends of the loop through the Web."""

    def __init__(
        self,
        site: Site,
        settings: Settings,
        *,
        loop: EventLoop,
        guest_of: Callable[[str], Guest],
        held: "Held",
        committed: set[int],
        fetches: bool = True,
        reads: bool = True,
    ) -> None:
        """Prepare a crawl; nothing is asked before `begin`.

        `committed` are the hashes of URLs whose rows an earlier start of this run has written.
        `fetches` says whether admitted URLs are asked for, `reads` whether the pages that come
        are handed on; without it only their links are.
        """
        self.site = site
        self.settings = settings
        self.guest_of = guest_of
        """Makes a polite client of an origin: a site may keep sitemaps elsewhere."""
        self.guest = guest_of(site.origin)
        self.rulebook = robots.Rulebook.nothing()
        self.fault: BaseException | None = None
        """A mistake of ours on the event loop, raised again where Bytewax sees it."""
        self._status, self._detail = "complete", ""
        self._kept: dict[str, responses.Answer] = {}
        self._held = held
        self._loop = loop
        self._committed = committed
        self._fetches = fetches
        self._reads = reads
        self._started_at = datetime.now(UTC)
        self._thread: int | None = None
        self._found: deque[Discovered] = deque()
        self._all_found = False
        self._frontier: asyncio.Queue[Entry] = asyncio.Queue()
        self._answers: deque[Answer] = deque()
        self._doubtful: list[Failure] = []
        self._verified = settings.verify_urls == 0
        self.closed = False
        self._issued = self._settled = self._pending = 0
        self._rows = len(committed)
        self._notes = 0
        self.ended = False

    # What the worker's thread does.

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
            raise StopIteration
        self._issued += sum(isinstance(item, Entry) for item in batch)
        self._notes += sum(isinstance(item, SitemapRead | Alert) for item in batch)
        return batch

    def settle(self, decisions: Iterable[Decision]) -> None:
        """Take decisions back out of the dataflow; what is admitted is fetched."""
        for decision in decisions:
            self._settled += decision.count if isinstance(decision, Repeats) else 1
            self._notes += isinstance(decision, Sighting)
            if isinstance(decision, Entry | Failure):
                self._settle_one(decision)

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
        if not batch and self._is_quiet():
            out.extend(self._end())
        return out

    @property
    def is_due(self) -> bool:
        """Whether something of this site may come at any moment."""
        return not self._all_found or bool(self._found or self._answers or self._pending)

    @property
    def waiting(self) -> int:
        """URLs admitted and not answered yet."""
        return self._pending

    def _raise_fault(self) -> None:
        if self.fault is not None:
            raise self.fault

    def _settle_one(self, decision: Entry | Failure) -> None:
        entry = decision if isinstance(decision, Entry) else decision.entry
        if urls.hash64(entry.url) in self._committed:
            return
        self._rows += 1
        if isinstance(decision, Entry) and self._fetches:
            self._pending += 1
            self._loop.call(self._frontier.put_nowait, decision)
        elif isinstance(decision, Failure) and decision.outcome is Outcome.BUDGET:
            self._status = "stopped_by_budget"

    def _returned(self, answer: Answer) -> Iterable[Answer | Entry]:
        if isinstance(answer, Page):
            page = replace(answer, links=links.read(answer.body, answer.base_url, answer.charset))
            entries = discovery.linked(page) if self.settings.links else []
            self._issued += len(entries)
            yield from entries
            answer = page
        if self._reads:
            yield answer

    def _is_quiet(self) -> bool:
        """Whether nothing is left but answers in doubt."""
        return (
            self._all_found
            and not self._found
            and self._issued == self._settled
            and self._pending == len(self._doubtful)
        )

    def _end(self) -> Iterable[SiteEnd]:
        if self._doubtful:
            self._loop.spawn(self._verify(self._doubtful))
            self._doubtful, self._verified = [], True
            return
        self.ended = True
        self._loop.spawn(self.guest.aclose())
        yield SiteEnd(
            site=self.site.origin,
            rows=self._rows,
            notes=self._notes,
            status=self.guest.given_up_status or self._status,
            detail=self.guest.given_up or self._detail or None,
            crawl_delay_s=self.rulebook.crawl_delay_s,
            requests=self.guest.requests,
            bytes=self.guest.bytes,
            started_at=self._started_at,
            ended_at=datetime.now(UTC),
        )

    # What the event loop's thread does.

    async def put(self, item: Discovered) -> None:
        """Hand over what discovery found; waits while too much of the site is under way."""
        wait = 0.005
        while not self.has_room():
            await asyncio.sleep(wait)
            wait = min(wait * 2, 0.25)
        self._found.append(item)

    def has_room(self) -> bool:
        """Whether the site's sitemaps should be read on."""
        under_way = len(self._found) + self._issued - self._settled + self._pending
        return under_way < WINDOW or self.closed

    def rule(self, rulebook: robots.Rulebook) -> None:
        """Take the site's rules into force, for its redirects and its pace."""
        self.rulebook = rulebook
        self.guest.set_crawl_delay(rulebook.crawl_delay_s)
        self.guest.may = self._may

    def keep(self, url: str, answer: responses.Answer) -> None:
        """Keep an answer of discovery, so that the page need not be asked for again."""
        self._kept[url] = answer

    def _may(self, url: str) -> Outcome | None:
        return None if self.rulebook.allows(url) else Outcome.ROBOTS_DISALLOWED

    def found_all(self) -> None:
        """Hear that discovery has ended."""
        self._all_found = True

    async def visit(self) -> None:
        """Fetch pages off the frontier, one at a time, for ever; several of these run at once."""
        while True:
            entry = await self._frontier.get()
            answer = await self._ask(entry)
            if self._is_doubtful(answer):
                self._doubtful.append(answer)  # type: ignore[arg-type]  # a doubtful answer is a Failure
            else:
                self._answer(answer)

    def _answer(self, answer: Answer) -> None:
        self._held.change(1)
        self._answers.append(answer)

    def close(self, status: str, detail: str) -> None:
        """Ask for nothing more: what is left is `not_reached`."""
        self.closed, self._verified = True, True
        self._status, self._detail = status, detail

    async def _ask(self, entry: Entry, *, once: bool = False) -> Answer:
        if self.closed:
            return Failure(entry=entry, outcome=Outcome.NOT_REACHED, detail=self._detail)
        kept = self._kept.pop(entry.url, None)
        answer = kept or await self.guest.ask(entry.url, PAGE, once=once)
        return responses.judge(entry, answer, homes=(self.site.start_url,))

    def _is_doubtful(self, answer: Answer) -> bool:
        return (
            isinstance(answer, Failure)
            and answer.outcome in VERIFIED
            and not self._verified
            and len(self._doubtful) < self.settings.verify_urls
        )

    async def _verify(self, doubtful: list[Failure]) -> None:
        """Ask once more for what failed, slowly, and answer with what came of it."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self.settings.verify_after_s + self.settings.verify_seconds
        await asyncio.sleep(self.settings.verify_after_s)
        for failure in doubtful:
            if loop.time() < until and not self.closed:
                self._answer(_with_both(failure, await self._ask(failure.entry, once=True)))
            else:
                self._answer(
                    replace(
                        failure,
                        outcome=Outcome.COULD_NOT_VERIFY,
                        detail=f"{failure.outcome}: {failure.detail or ''}",
                    )
                )


def _with_both(first: Failure, second: Answer) -> Answer:
    """Return the second answer, a failure with the first beside it."""
    if isinstance(second, Page):
        return second
    before = f"before verification: {first.outcome}"
    detail = f"{second.detail}; {before}" if second.detail else before
    return replace(second, detail=detail)
