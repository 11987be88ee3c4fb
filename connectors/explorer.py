"""Finding what a site declares: robots.txt, sitemaps, start page; on the event loop."""

import logging
from dataclasses import replace

from connectors.backlog import Backlog
from connectors.crawl import Crawl
from connectors.dataset import Run
from connectors.fetcher import PAGE, ROBOTS
from connectors.reading import Reading, why
from flows import alerts, discovery, links, llms, responses, robots, urls
from flows.discovery import Candidate, Plan
from flows.politeness import CRAWL_DELAY_CEILING_S
from flows.records import (
    AllDeclared,
    Attribution,
    Columns,
    Declared,
    Entries,
    Entry,
    Link,
    Method,
    Outcome,
    Rules,
    SitemapRead,
)
from flows.responses import Answer, Fault, Response

logger = logging.getLogger(__name__)

LLMS = replace(ROBOTS, types=("text/plain", "text/markdown"), cross_origin=False)
"""llms.txt: a list of pages in Markdown, of the size of a robots.txt."""


async def explore(crawl: Crawl, run: Run) -> None:
    """Find what a site declares and hand it to its crawl, to the end or to the first mistake."""
    try:
        await crawl.visits.closing(_Explorer(crawl, run).explore())
    except Exception as mistake:
        crawl.fault = mistake
    finally:
        crawl.found_all()


class _Explorer:
    """One site's discovery: asks, and puts what it finds into the crawl."""

    def __init__(self, crawl: Crawl, run: Run) -> None:
        self._crawl = crawl
        self._run = run
        self._visits = crawl.visits
        self._site = crawl.site.origin
        self._plan = Plan(
            site=self._site,
            max_sitemaps=crawl.settings.max_sitemaps,
            max_depth=crawl.settings.max_depth,
            max_pages=crawl.settings.page_budget(crawl.site),
        )
        self._origin = crawl.site.origin
        """Where the site's pages live; `site` stays its name when that is elsewhere."""
        self._start_url = crawl.site.start_url
        self._sitemaps = 0
        self._relinked: set[int] = set()

    async def explore(self) -> None:
        """Read robots.txt, then everything that it permits."""
        text = await self._robots()
        home = await self._home() if text is not None else None
        if home is not None and (onward := await self._moved(home)):
            text = await self._move(onward)
            home = await self._home() if text is not None else None
        spent = self._crawl.spent
        rules = Rules(site=self._site, origin=self._origin, robots=text, spent=spent)
        await self._crawl.put(rules)
        if text is None:
            return
        await self._committed_links()
        self._plan.declare(Method.GIVEN, self._crawl.site.sitemaps)
        self._hints(home)
        await self._read_sitemaps()
        if not self._plan.is_covered:
            await self._llms()
        await self._start()  # not before: what declares a page says more than what links it
        self._plan.probe(self._origin)
        await self._read_sitemaps()
        if self._plan.over_limit:
            said = f"{self._plan.over_limit} sitemaps hold more than others may read"
            await self._tell("sitemap_over_limit", self._site, said)
        if self._sitemaps == 0 and not self._visits.closed:
            await self._tell("no_sitemap", self._site, "no sitemap was found")
        await self._crawl.put(AllDeclared(site=self._site))
        await self._inventory()

    async def _tell(self, kind: str, subject: str, message: str) -> None:
        await self._crawl.put(alerts.alert(self._site, kind, subject, message))
        logger.info(message, extra={"alert": kind, "subject": subject})

    # robots.txt

    async def _robots(self) -> str | None:
        """Return the site's rules, in force from here on; None when nothing may be fetched.

        Source: RFC 9309 §2.3.
        """
        url = f"{self._origin}/robots.txt"
        answer = await self._visits.guest.ask(url, ROBOTS)
        text = await self._robots_text(url, answer)
        if text is not None:
            self._visits.rule(robots.Rulebook(text, self._crawl.settings.product_token, url))
            for problem in self._visits.rulebook.problems:
                await self._crawl.put(alerts.of(self._site, problem))
            await self._tell_long_delay(url)
        return text

    async def _tell_long_delay(self, url: str) -> None:
        asked, most = self._visits.rulebook.crawl_delay_s or 0.0, CRAWL_DELAY_CEILING_S
        if asked > most:
            said = f"Crawl-delay {asked:g} s is not waited for; {most:g} s are"
            await self._tell("crawl_delay_invalid", url, said)

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
        if isinstance(answer, Fault) and answer.outcome is Outcome.TLS_ERROR:
            await self._tell("tls_problem", url, answer.detail)
        if kind:
            await self._tell(kind, url, f"robots.txt: {why(answer)}")
        if allows:
            return ""
        blocked = isinstance(answer, Fault) and answer.outcome is Outcome.BLOCKED
        status = "failed_blocked" if blocked else "failed_unreachable"
        self._visits.close(status, f"robots.txt: {why(answer)}")
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

    async def _home(self) -> Answer | None:
        """Return the start page, kept for its own turn; None when it may not be asked for."""
        if not self._visits.rulebook.allows(self._start_url):
            return None
        answer = await self._visits.guest.ask(self._start_url, PAGE)
        self._visits.keep(self._start_url, answer)
        if isinstance(answer, Fault) and answer.outcome is Outcome.BLOCKED:
            self._visits.close("failed_blocked", answer.detail)
            await self._tell("blocked_pages", self._start_url, answer.detail)
        return answer

    async def _moved(self, home: Answer) -> str | None:
        """Return where the start page redirects to, if that is this site under another spelling.

        Other scheme, with or without `www.`: the same name, and so the same site.
        """
        if not isinstance(home, Fault) or home.outcome is not Outcome.OFF_ORIGIN:
            return None
        origin = urls.origin(home.url)
        if origin and urls.same_name(self._origin, origin):
            return home.url
        message = f"the start page redirects to {home.url}, another site: it is not followed"
        await self._tell("origin_moved", self._site, message)
        return None

    async def _move(self, start_url: str) -> str | None:
        """Take the site to where its start page redirects to; return the rules there."""
        origin = urls.origin(start_url) or self._origin
        message = f"{self._origin} redirects to {origin}, which is read in its place"
        await self._tell("origin_moved", self._site, message)
        self._origin, self._start_url = origin, start_url
        self._visits.move(origin)
        return await self._robots()

    def _hints(self, home: Answer | None) -> None:
        """Plan to read the sitemaps that the start page names."""
        if isinstance(home, Response) and home.status == 200:
            hints = discovery.sitemap_hints(links.read(home.body, home.url, None))
            own = [hint for hint in hints if urls.origin(hint) == self._origin]
            self._plan.declare(Method.HTML, own)

    async def _start(self) -> None:
        """Issue the start page: where links are followed, or when it is more than a home page."""
        if self._crawl.settings.links or self._start_url != f"{self._origin}/":
            await self._put_given(self._start_url)
        for url in self._crawl.site.starts:
            await self._put_given(url)

    async def _put_given(self, url: str) -> None:
        at = Attribution(method=Method.GIVEN)
        await self._crawl.put(Entry(site=self._site, url=url, attribution=at))

    async def _llms(self) -> None:
        """Issue the pages that the site lists for language models, in `/llms.txt`."""
        url = f"{self._origin}/llms.txt"
        if not self._visits.rulebook.allows(url) or self._visits.closed:
            return
        answer = await self._visits.guest.ask(url, LLMS)
        if not isinstance(answer, Response) or answer.status != 200:
            return
        listed = llms.read(answer.body, answer.url)
        if not listed:
            return
        at = Attribution(method=Method.LLMS, sitemap=url)
        pages = Columns.of(map(Declared, listed))
        await self._crawl.put(Entries(site=self._site, attribution=at, declared=pages))
        await self._crawl.put(
            SitemapRead(
                site=self._site,
                url=url,
                method=Method.LLMS,
                kind="text",
                exchange=responses.exchange(answer),
                entries=len(listed),
                complete=True,
            )
        )

    # What is stored already

    async def _inventory(self) -> None:
        """Issue what only stored pages name, and at last the stored pages that nobody names.

        What is not read again still links what it linked. Nobody names a page when all others
        have been asked for.
        """
        known = self._crawl.revisits
        if known is None or known.is_new:
            return
        await self._stored_links()
        for url in known.urls():
            at = Attribution(method=Method.INVENTORY)
            await self._crawl.put(Entry(site=self._site, url=url, attribution=at))
        await self._stored_links()

    async def _stored_links(self) -> None:
        """Issue the links of stored pages that are not read again, until that brings no more."""
        await self._crawl.calm()
        while self._crawl.settings.links and (unread := self._crawl.take_unread()):
            for page, found in self._run.stored_links(self._site, unread):
                await self._relink(page, found)
            await self._crawl.calm()

    async def _relink(self, page: str, found: list[Link]) -> None:
        depth = self._crawl.revisits.depth(page) if self._crawl.revisits else 1
        for entry in discovery.entries(self._site, page, found, depth):
            key = urls.hash64(entry.url)
            if key not in self._relinked:
                self._relinked.add(key)
                await self._crawl.put(entry)

    # Sitemaps

    async def _read_sitemaps(self) -> None:
        while not self._visits.closed and (candidate := self._plan.next()):
            if await self._may_read(candidate):
                await self._read(candidate)
        while self._plan.alerts:
            await self._crawl.put(self._plan.alerts.pop())

    async def _may_read(self, candidate: Candidate) -> bool:
        """Say whether a sitemap lives where we may go; a guess that does not is no news."""
        if urls.origin(candidate.url) != self._origin:
            if candidate.parent is None and candidate.method in (Method.ROBOTS, Method.GIVEN):
                return True
            await self._tell("sitemap_cross_host", candidate.url, "on another host, not read")
            return False
        if self._visits.rulebook.allows(candidate.url):
            return True
        if candidate.method is not Method.PROBE:
            await self._tell("sitemap_blocked_by_robots", candidate.url, "robots.txt forbids it")
        return False

    async def _read(self, candidate: Candidate) -> None:
        guest = self._visits.guest_at(urls.origin(candidate.url) or self._origin)
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
