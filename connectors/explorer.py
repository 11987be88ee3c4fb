"""Finding what a site declares: robots.txt, sitemaps, start page; on the event loop."""

import logging
from datetime import UTC, datetime

from connectors.backlog import Backlog
from connectors.crawl import Crawl
from connectors.dataset import Run
from connectors.fetcher import PAGE, ROBOTS, Stream
from flows import alerts, discovery, links, responses, robots, sitemaps, urls
from flows.discovery import Candidate, Plan
from flows.records import Attribution, Entry, Exchange, Method, Outcome, Rules, SitemapRead
from flows.responses import Answer, Fault, Response

logger = logging.getLogger(__name__)

ALERT_OF = {
    Outcome.TIMEOUT: "sitemap_timeout",
    Outcome.RATE_LIMITED: "sitemap_rate_limited",
    Outcome.TOO_LARGE: "sitemap_too_large",
    Outcome.TRUNCATED: "sitemap_truncated",
    Outcome.DECODE_ERROR: "sitemap_gzip_error",
    Outcome.OFF_ORIGIN: "sitemap_cross_host",
}
"""Alert kinds of outcomes that have one of their own; others are `sitemap_http_error`."""


async def explore(crawl: Crawl, run: Run) -> None:
    """Find what a site declares and hand it to its crawl, to the end or to the first mistake."""
    try:
        await _Explorer(crawl, run).explore()
    except Exception as mistake:
        crawl.fault = mistake
    finally:
        crawl.found_all()


class _Explorer:
    """One site's discovery: asks, and puts what it finds into the crawl."""

    def __init__(self, crawl: Crawl, run: Run) -> None:
        self._crawl = crawl
        self._run = run
        self._site = crawl.site.origin
        self._guest = crawl.guest
        self._plan = Plan(
            site=self._site,
            max_sitemaps=crawl.settings.max_sitemaps,
            max_depth=crawl.settings.max_depth,
        )
        self._sitemaps = 0

    async def explore(self) -> None:
        """Read robots.txt, then everything that it permits."""
        if await self._robots():
            await self._committed_links()
            self._plan.declare(Method.GIVEN, self._crawl.site.sitemaps)
            await self._hints()
            await self._read_sitemaps()
            await self._start()  # not before: what declares a page says more than what links it
            self._plan.probe(self._site)
            await self._read_sitemaps()
            if self._sitemaps == 0:
                await self._tell("no_sitemap", self._site, "no sitemap was found")

    async def _tell(self, kind: str, subject: str, message: str) -> None:
        await self._crawl.put(alerts.alert(self._site, kind, subject, message))
        logger.info(message, extra={"alert": kind, "subject": subject})

    # robots.txt

    async def _robots(self) -> bool:
        """Put the site's rules first; say whether anything may be fetched (RFC 9309 §2.3)."""
        url = f"{self._site}/robots.txt"
        answer = await self._guest.ask(url, ROBOTS)
        text = await self._robots_text(url, answer)
        if text is not None:
            self._crawl.rule(robots.Rulebook(text, self._crawl.settings.product_token, url))
            for problem in self._crawl.rulebook.problems:
                await self._crawl.put(alerts.of(self._site, problem))
        await self._crawl.put(Rules(site=self._site, origin=self._site, robots=text))
        return text is not None

    async def _robots_text(self, url: str, answer: Answer) -> str | None:
        """Return the rules as text, empty when all is allowed, None when nothing is."""
        if isinstance(answer, Response) and responses.of_status(answer.status) is Outcome.OK:
            read = robots.parse(answer.body, answer.url)
            await self._put_robots(url, answer, read.text, complete=True)
            for problem in read.problems:
                await self._crawl.put(alerts.of(self._site, problem))
            self._plan.declare(Method.ROBOTS, read.sitemaps)
            return read.text
        await self._put_robots(url, answer, None, complete=False)
        kind, allows = _without_robots(answer)
        if kind:
            await self._tell(kind, url, f"robots.txt: {_why(answer)}")
        if allows:
            return ""
        self._crawl.close("failed_unreachable", f"robots.txt: {_why(answer)}")
        return None

    async def _put_robots(
        self, url: str, answer: Answer, text: str | None, *, complete: bool
    ) -> None:
        await self._crawl.put(
            SitemapRead(
                site=self._site,
                url=url,
                method=Method.ROBOTS,
                kind="robots",
                exchange=responses.exchange(answer),
                complete=complete,
                detail=_why(answer) if text is None else text,
            )
        )

    # The start page, and what an earlier start of this run knew.

    async def _committed_links(self) -> None:
        """Issue again the links of pages that were stored before this start."""
        if not self._crawl.settings.links:
            return
        for page, link in self._run.committed_links(self._site):
            for entry in discovery.entries(self._site, page, [link], depth=1):
                await self._crawl.put(entry)

    async def _hints(self) -> None:
        """Read the start page for the sitemaps that it names, and keep it for its own turn."""
        url = self._crawl.site.start_url
        if not self._crawl.rulebook.allows(url):
            return
        answer = await self._guest.ask(url, PAGE)
        if isinstance(answer, Response) and answer.status == 200:
            hints = discovery.sitemap_hints(links.read(answer.body, answer.url, None))
            self._plan.declare(Method.HTML, [h for h in hints if urls.origin(h) == self._site])
        self._crawl.keep(url, answer)

    async def _start(self) -> None:
        """Issue the start page: where links are followed, or when it is more than a home page."""
        url = self._crawl.site.start_url
        if self._crawl.settings.links or url != f"{self._site}/":
            await self._crawl.put(
                Entry(site=self._site, url=url, attribution=Attribution(method=Method.GIVEN))
            )

    # Sitemaps

    async def _read_sitemaps(self) -> None:
        while not self._crawl.closed and (candidate := self._plan.next()):
            await self._read(candidate)
            while self._plan.alerts:
                await self._crawl.put(self._plan.alerts.pop())

    async def _read(self, candidate: Candidate) -> None:
        """Read one sitemap, unless it lives where we may not go."""
        origin = urls.origin(candidate.url)
        if origin != self._site and not _may_be_elsewhere(candidate):
            await self._tell("sitemap_cross_host", candidate.url, "on another host, not read")
        elif origin == self._site and not self._crawl.rulebook.allows(candidate.url):
            if candidate.method is not Method.PROBE:
                await self._tell(
                    "sitemap_blocked_by_robots", candidate.url, "robots.txt forbids it"
                )
        else:
            guest = self._guest if origin == self._site else self._crawl.guest_of(origin or "")
            with Backlog() as backlog:
                async with guest.open(candidate.url) as got:
                    reader = await self._receive(candidate, got, backlog)
                    answer = got if isinstance(got, Fault) else got.answer()
                await self._finish(candidate, answer, reader, backlog)

    async def _receive(
        self, candidate: Candidate, got: Stream | Fault, backlog: Backlog
    ) -> sitemaps.Reader | None:
        """Take the body as fast as it comes, and read of it what there is room for."""
        if isinstance(got, Fault) or responses.of_status(got.head.status) is not Outcome.OK:
            return None
        reader = sitemaps.Reader(got.head.url, now=datetime.now(UTC))
        async for piece in got:
            backlog.put(piece)
            while self._crawl.has_room() and (data := backlog.take()):
                await self._put_all(candidate, reader.feed(data))
        return reader

    async def _finish(
        self,
        candidate: Candidate,
        answer: Answer,
        reader: sitemaps.Reader | None,
        backlog: Backlog,
    ) -> None:
        """Read what has not been read yet, and tell how the sitemap was."""
        if reader is None:
            await self._left_out(candidate, answer)
            return
        while data := backlog.take():
            await self._put_all(candidate, reader.feed(data))
        whole = isinstance(answer, Response)
        await self._put_all(candidate, reader.close(complete=whole))
        if reader.kind in (None, "html") and candidate.method in (Method.PROBE, Method.HTML):
            self._plan.was_page(candidate)
            return
        self._sitemaps += reader.kind not in (None, "html")
        await self._put_read(candidate, answer, reader)
        for problem in reader.problems:
            await self._crawl.put(alerts.of(self._site, problem))
        if isinstance(answer, Fault):
            await self._left_out(candidate, answer, reader)

    async def _put_all(
        self, candidate: Candidate, items: list[sitemaps.Declared | sitemaps.Child]
    ) -> None:
        for item in items:
            if isinstance(item, sitemaps.Child):
                self._plan.child(candidate, item.url)
            else:
                await self._crawl.put(self._entry(candidate, item))

    def _entry(self, candidate: Candidate, item: sitemaps.Declared) -> Entry:
        return Entry(
            site=self._site,
            url=item.url,
            attribution=Attribution(
                method=candidate.method, sitemap=candidate.url, depth=candidate.depth
            ),
            lastmod=item.lastmod,
            lastmod_raw=item.lastmod_raw,
            changefreq=item.changefreq,
            priority=item.priority,
            alternates=item.alternates,
        )

    async def _left_out(
        self, candidate: Candidate, answer: Answer, reader: sitemaps.Reader | None = None
    ) -> None:
        """Tell that a sitemap could not be read; a guess that was wrong is no news."""
        if candidate.method is Method.PROBE and reader is None:
            return
        if reader is None:
            await self._put_read(candidate, answer, None)
        kind = "sitemap_http_error"
        if isinstance(answer, Fault):
            kind = ALERT_OF.get(answer.outcome, kind)
        await self._tell(kind, candidate.url, _why(answer))

    async def _put_read(
        self, candidate: Candidate, answer: Answer, reader: sitemaps.Reader | None
    ) -> None:
        exchange = responses.exchange(answer)
        await self._crawl.put(
            SitemapRead(
                site=self._site,
                url=candidate.url,
                method=candidate.method,
                kind=reader.kind if reader else None,
                parent=candidate.parent,
                depth=candidate.depth,
                exchange=exchange,
                entries=reader.entries if reader else 0,
                lastmod_max=reader.lastmod_max if reader else None,
                complete=reader.complete if reader else False,
                sha256=reader.sha256 if reader else None,
                detail=None if reader else _why(answer),
            )
        )
        _log_read(candidate, exchange, reader)


def _log_read(candidate: Candidate, exchange: Exchange, reader: sitemaps.Reader | None) -> None:
    logger.info(
        "sitemap read" if reader else "sitemap not read",
        extra={
            "sitemap": candidate.url,
            "status": exchange.status,
            "entries": reader.entries if reader else 0,
            "method": candidate.method.value,
        },
    )


def _may_be_elsewhere(candidate: Candidate) -> bool:
    """Whether somebody with a say over the site named a sitemap of another host."""
    return candidate.parent is None and candidate.method in (Method.ROBOTS, Method.GIVEN)


def _without_robots(answer: Answer) -> tuple[str | None, bool]:
    """Return the alert kind that a missing robots.txt makes, and whether all is allowed then.

    Source: RFC 9309 §2.3.1.3 (4xx: no rules), §2.3.1.4 (5xx and no answer: full disallow).
    """
    if isinstance(answer, Fault):
        if answer.outcome in (Outcome.REDIRECT_LOOP, Outcome.TOO_MANY_REDIRECTS):
            return "robots_redirect_loop", True
        limited = answer.outcome is Outcome.RATE_LIMITED
        return ("robots_rate_limited" if limited else "robots_unreachable"), False
    outcome = responses.of_status(answer.status)
    if outcome is Outcome.RATE_LIMITED:
        return "robots_rate_limited", False
    if outcome is Outcome.SERVER_ERROR:
        return "robots_unreachable", False
    return ("robots_forbidden" if answer.status in (401, 403) else None), True


def _why(answer: Answer) -> str:
    if isinstance(answer, Fault):
        return f"{answer.outcome}: {answer.detail}"
    return f"status {answer.status}"
