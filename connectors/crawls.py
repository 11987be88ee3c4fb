"""The crawls of this process: one for each site whose partitions Bytewax builds here."""

import asyncio
import threading
from collections.abc import Callable, Mapping

from connectors.crawl import Crawl, Held
from connectors.dataset import Run
from connectors.explorer import explore
from connectors.fetcher import Fetcher
from connectors.guest import Guest
from connectors.loop import EventLoop
from connectors.revisits import Revisits
from flows.politeness import Pace
from flows.settings import Settings, Site


class Crawls:
    """Makes a site's crawl when its first end is built, and lends it to the others.

    Workers of one process build their partitions from several threads at once, hence the lock.
    """

    def __init__(
        self,
        settings: Settings,
        run: Run,
        stopping: threading.Event,
        *,
        fetches: bool = True,
        reads: bool = True,
        is_ready: Callable[[], bool] = lambda: True,
        starts: Mapping[str, float] | None = None,
        on_fault: Callable[[OSError], None] | None = None,
    ) -> None:
        """Serve the sites of the settings; nothing runs before the first crawl is asked for.

        No page is asked for before `is_ready`: it would only wait to be read. `starts` says after
        how many seconds a site starts. `on_fault` is told of a file or a disk that fails us, which
        else ends the dataflow with a traceback.
        """
        self._settings = settings
        self._run = run
        self._stopping = stopping
        self._fetches = fetches
        self._reads = reads
        self._is_ready = is_ready
        self._starts = starts or {}
        self._on_fault = on_fault
        self._sites: dict[str, Site] = {s.origin: s for s in settings.sites}
        self._order = {origin: at for at, origin in enumerate(sorted(self._sites))}
        self._crawls: dict[str, Crawl] = {}
        self._lock = threading.Lock()
        self._loop: EventLoop | None = None
        self._held = Held()
        self._fetcher = Fetcher(
            settings.user_agent, settings.allow_networks, settings.total_concurrency
        )

    def __len__(self) -> int:
        """Return how many sites there are, in all processes together."""
        return len(self._sites)

    @property
    def stopping(self) -> bool:
        """Whether the run is to end as if every site had."""
        return self._stopping.is_set()

    def sites(self) -> list[str]:
        """Return the origins, the parts of the three ends."""
        return list(self._order)

    def index(self, origin: str) -> int:
        """Return the place of an origin in the sorted parts."""
        return self._order[origin]

    def here(self) -> list[Crawl]:
        """Return the crawls that this process has."""
        with self._lock:
            return list(self._crawls.values())

    def close(self) -> None:
        """Let go of all connections, and of the thread that kept them."""
        if self._loop is not None:
            self._loop.close()

    def of(self, origin: str) -> Crawl:
        """Return the crawl of a site, begun when it is asked for the first time."""
        with self._lock:
            if origin not in self._crawls:
                try:
                    self._crawls[origin] = self._begun(self._sites[origin])
                except OSError as why:
                    self._fail(why)
                    raise
            return self._crawls[origin]

    def _begun(self, site: Site) -> Crawl:
        self._loop = self._loop or EventLoop()
        crawl = Crawl(
            site,
            self._settings,
            loop=self._loop,
            guest_of=lambda origin: self._guest(site, origin),
            held=self._held,
            committed=self._run.committed_urls(site.origin),
            spent=self._run.spent(site.origin),
            revisits=self._revisits(site.origin),
            unread=self._run.unread(site.origin) if self._reads else (),
            fetches=self._fetches,
            reads=self._reads,
        )
        self._loop.call_after(self._starts.get(site.origin, 0.0), self._start, self._loop, crawl)
        return crawl

    def _start(self, loop: EventLoop, crawl: Crawl) -> None:
        crawl.begin()
        loop.spawn(self._explore(crawl))
        if self._settings.max_seconds:
            said = ("stopped_by_budget", f"{self._settings.max_seconds:g} s are over")
            loop.call_after(self._settings.max_seconds, crawl.visits.close, *said)
        for _ in range(self._settings.concurrency):
            loop.spawn(self._visit(crawl))

    def _revisits(self, site: str) -> Revisits | None:
        """Return what is known of a site's pages; None when none are to be stored."""
        if not self._reads:
            return None
        return Revisits(
            self._run.memory(site),
            recheck_days=self._settings.recheck_days,
            kept=lambda url: None if self._settings.markdown else self._run.kept(site, url),
        )

    async def _explore(self, crawl: Crawl) -> None:
        await explore(crawl, self._run)
        if isinstance(crawl.fault, OSError):
            self._fail(crawl.fault)

    def _fail(self, why: OSError) -> None:
        if self._on_fault is not None:
            self._on_fault(why)

    async def _visit(self, crawl: Crawl) -> None:
        while not self._is_ready():  # noqa: ASYNC110  # its processes know no loop
            await asyncio.sleep(0.02)
        await crawl.visits.visit()

    def _guest(self, site: Site, origin: str) -> Guest:
        rate = self._settings.rate if site.rate is None else site.rate
        return Guest(
            self._fetcher,
            origin,
            Pace(rate),
            concurrency=self._settings.concurrency,
            retry_waits_s=self._settings.retry_waits_s,
            headers=site.headers if origin == site.origin else (),
            room=self._held.room,
        )
