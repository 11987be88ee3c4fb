"""Finding what a site declares: robots.txt, sitemaps, start page; on the event loop."""

import logging

from connectors.backlog import Backlog
from connectors.crawl import Crawl
from connectors.dataset import Run
from connectors.fetcher import PAGE, ROBOTS
from connectors.reading import Reading, why
from flows import alerts, discovery, links, responses, robots, urls
from flows.discovery import Candidate, Plan
from flows.records import Attribution, Entry, Method, Outcome, Rules, SitemapRead
from flows.responses import Answer, Fault, Response

logger = logging.getLogger(__name__)


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
        self._plan = Plan(
            site=self._site,
            max_sitemaps=crawl.settings.max_sitemaps,
            max_depth=crawl.settings.max_depth,
        )
        self._sitemaps = 0

    async def explore(self) -> None:
        """Read robots.txt, then everything that it permits."""
        if not await self._robots():
            return
        await self._committed_links()
        self._plan.declare(Method.GIVEN, self._crawl.site.sitemaps)
        await self._hints()
        await self._read_sitemaps()
        await self._start()  # not before: what declares a page says more than what links it
        self._plan.probe(self._site)
        await self._read_sitemaps()
        if self._sitemaps == 0 and not self._crawl.closed:
            await self._tell("no_sitemap", self._site, "no sitemap was found")

    async def _tell(self, kind: str, subject: str, message: str) -> None:
        await self._crawl.put(alerts.alert(self._site, kind, subject, message))
        logger.info(message, extra={"alert": kind, "subject": subject})

    # robots.txt

    async def _robots(self) -> bool:
        """Put the site's rules first; say whether anything may be fetched (RFC 9309 §2.3)."""
        url = f"{self._site}/robots.txt"
        answer = await self._crawl.guest.ask(url, ROBOTS)
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
            await self._put_robots(url, answer, read.text)
            for problem in read.problems:
                await self._crawl.put(alerts.of(self._site, problem))
            self._plan.declare(Method.ROBOTS, read.sitemaps)
            return read.text
        await self._put_robots(url, answer, None)
        kind, allows = without_robots(answer)
        if kind:
            await self._tell(kind, url, f"robots.txt: {why(answer)}")
        if allows:
            return ""
        self._crawl.close("failed_unreachable", f"robots.txt: {why(answer)}")
        return None

    async def _put_robots(self, url: str, answer: Answer, text: str | None) -> None:
        row = SitemapRead(
            site=self._site,
            url=url,
            method=Method.ROBOTS,
            kind="robots",
            exchange=responses.exchange(answer),
            complete=text is not None,
            detail=why(answer) if text is None else text,
        )
        await self._crawl.put(row)

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
        answer = await self._crawl.guest.ask(url, PAGE)
        if isinstance(answer, Response) and answer.status == 200:
            hints = discovery.sitemap_hints(links.read(answer.body, answer.url, None))
            self._plan.declare(Method.HTML, [h for h in hints if urls.origin(h) == self._site])
        self._crawl.keep(url, answer)

    async def _start(self) -> None:
        """Issue the start page: where links are followed, or when it is more than a home page."""
        url = self._crawl.site.start_url
        if self._crawl.settings.links or url != f"{self._site}/":
            at = Attribution(method=Method.GIVEN)
            await self._crawl.put(Entry(site=self._site, url=url, attribution=at))

    # Sitemaps

    async def _read_sitemaps(self) -> None:
        while not self._crawl.closed and (candidate := self._plan.next()):
            if await self._may_read(candidate):
                await self._read(candidate)
            while self._plan.alerts:
                await self._crawl.put(self._plan.alerts.pop())

    async def _may_read(self, candidate: Candidate) -> bool:
        """Say whether a sitemap lives where we may go; a guess that does not is no news."""
        origin = urls.origin(candidate.url)
        if origin != self._site:
            if candidate.parent is None and candidate.method in (Method.ROBOTS, Method.GIVEN):
                return True
            await self._tell("sitemap_cross_host", candidate.url, "on another host, not read")
            return False
        if self._crawl.rulebook.allows(candidate.url):
            return True
        if candidate.method is not Method.PROBE:
            await self._tell("sitemap_blocked_by_robots", candidate.url, "robots.txt forbids it")
        return False

    async def _read(self, candidate: Candidate) -> None:
        origin = urls.origin(candidate.url) or self._site
        guest = self._crawl.guest if origin == self._site else self._crawl.guest_of(origin)
        reading = Reading(self._crawl, self._plan, candidate)
        with Backlog() as backlog:
            async with guest.open(candidate.url) as got:
                await reading.take(got, backlog)
                answer = got if isinstance(got, Fault) else got.answer()
            self._sitemaps += await reading.finish(answer, backlog)


def without_robots(answer: Answer) -> tuple[str | None, bool]:
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
