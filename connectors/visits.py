"""The asking of one site: its guests, its frontier, and a second look at what failed.

All of it happens on the event loop of the process; other threads hand work over with
`EventLoop.call`.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from http import HTTPStatus
from typing import Any, TypeVar

from connectors.fetcher import MARKDOWN, PAGE
from connectors.guest import Guest
from connectors.revisits import Revisits
from flows import links, responses, robots
from flows.politeness import MAX_RETRY_AFTER_S
from flows.records import Entry, Failure, Offer, Outcome, Page
from flows.remembered import is_gone
from flows.settings import Settings, Site

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

Answer = Page | Failure
T = TypeVar("T")


class Visits:
    """Asks for what the frontier holds, one answer for each URL."""

    def __init__(
        self,
        site: Site,
        settings: Settings,
        guest_of: Callable[[str], Guest],
        answer: Callable[[Answer], None],
        revisits: Revisits | None = None,
    ) -> None:
        """Prepare; nothing is asked before `visit` runs. `answer` takes what comes back.

        Pages that `revisits` knows are asked for on the condition that they have changed.
        """
        self.closed = False
        """Whether nothing more is asked for in this run."""
        self.status: str | None = None
        """Why the site was closed; None while it is not."""
        self.detail: str | None = None
        self.rulebook = robots.Rulebook.nothing()
        self._site = site
        self._settings = settings
        self._guest_of = guest_of
        self._guests: dict[str, Guest] = {}
        self._origin = site.origin
        self._answer = answer
        self._frontier: asyncio.Queue[Entry] = asyncio.Queue()
        self._kept: dict[str, responses.Answer] = {}
        self._doubtful: list[Failure] = []
        self._missing: list[Failure] = []
        self._verified = settings.verify_urls == 0
        self._revisits = revisits
        self._asking: set[asyncio.Task[Any]] = set()

    @property
    def guest(self) -> Guest:
        """The polite client of the origin at which the site's pages live."""
        return self.guest_at(self._origin)

    @property
    def requests(self) -> int:
        """Requests made, those to hosts that keep the site's sitemaps included."""
        return sum(guest.requests for guest in self._guests.copy().values())

    @property
    def bytes(self) -> int:
        """Body bytes that came over the wire."""
        return sum(guest.bytes for guest in self._guests.copy().values())

    @property
    def doubtful(self) -> int:
        """URLs whose answer is held back until the site's last page has come."""
        return len(self._doubtful) + len(self._missing)

    def guest_at(self, origin: str) -> Guest:
        """Return the client of an origin: a site may keep sitemaps elsewhere."""
        if origin not in self._guests:
            self._guests[origin] = self._guest_of(origin)
        return self._guests[origin]

    def move(self, origin: str) -> None:
        """Take another origin for the site's: its rules and its pace begin anew."""
        self._origin = origin

    def rule(self, rulebook: robots.Rulebook) -> None:
        """Take the site's rules into force, for its redirects and its pace."""
        self.rulebook = rulebook
        self.guest.set_crawl_delay(rulebook.crawl_delay_s)
        self.guest.may = self._may

    def keep(self, url: str, answer: responses.Answer) -> None:
        """Keep an answer of discovery, so that the page need not be asked for again."""
        self._kept[url] = answer

    def add(self, entry: Entry) -> None:
        """Put a URL on the frontier."""
        self._frontier.put_nowait(entry)

    async def visit(self) -> None:
        """Ask for URLs of the frontier, one at a time, for ever; several of these run at once."""
        while True:
            entry = await self._frontier.get()
            answer = await self._ask(entry)
            if isinstance(answer, Failure) and self._is_doubtful(answer):
                self._doubtful.append(answer)
            elif isinstance(answer, Failure) and self._is_unproved(answer):
                self._missing.append(answer)
            else:
                self._answer(answer)

    def close(self, status: str, detail: str) -> None:
        """Ask for nothing more, nor wait for what was asked: what is left is `not_reached`."""
        self.closed, self._verified = True, True
        self.status, self.detail = status, detail
        for task in self._asking - {asyncio.current_task()}:  # discovery may close its own site
            task.cancel()

    async def closing(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Return what comes of some asking, or None when the site is closed before that."""
        task = asyncio.ensure_future(work)
        self._asking.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if self.closed and task.cancelled():
                return None
            raise
        finally:
            self._asking.discard(task)

    async def verify(self) -> None:
        """Ask once more for what failed, slowly, and answer with what came of it."""
        doubtful, self._doubtful, self._verified = self._doubtful, [], True
        missing, self._missing = self._missing, []
        loop = asyncio.get_running_loop()
        until = loop.time() + self._settings.verify_after_s + self._settings.verify_seconds
        await asyncio.sleep(self._settings.verify_after_s)
        for failure in doubtful:
            in_time = loop.time() < until and not self.closed
            self._answer(await self._again(failure) if in_time else _unverified(failure))
        for failure in missing:  # what is not asked in time is proved by the next run
            in_time = loop.time() < until and not self.closed
            self._answer(await self._again(failure) if in_time else failure)

    async def aclose(self) -> None:
        """Close the connections to the site."""
        for guest in self._guests.values():
            await guest.aclose()

    async def _again(self, first: Failure) -> Answer:
        """Return the second answer, which tells of the first one too."""
        second = _with_attempts(await self._ask(first.entry, once=True), first)
        before = f"before verification: {first.outcome}"
        if isinstance(second, Page):
            return replace(second, exchange=replace(second.exchange, before=before))
        detail = f"{second.detail}; {before}" if second.detail else before
        return replace(second, detail=detail, confirmed=is_gone(first) and is_gone(second))

    async def _ask(self, entry: Entry, *, once: bool = False) -> Answer:
        known = self._revisits
        if known is None:
            return await self._asked(entry, once=once)
        if not once and not self.closed and (instead := await known.instead(entry)):
            return instead
        answer = known.weighed(await self._asked(entry, once=once, **known.condition(entry.url)))
        return answer or known.weighed(await self._asked(entry, once=once)) or _unknown(entry)

    async def _asked(self, entry: Entry, *, once: bool, **condition: str | None) -> Answer:
        answer = self._kept.pop(entry.url, None)
        if answer is None and not self.closed:
            want = MARKDOWN if self._settings.markdown else PAGE
            answer = await self.closing(self.guest.ask(entry.url, want, once=once, **condition))
        if answer is None:
            return Failure(entry=entry, outcome=Outcome.NOT_REACHED, detail=self.detail)
        judged = responses.judge(entry, answer, homes=(self._site.start_url,))
        if isinstance(judged, Page) and self._settings.markdown:
            return replace(judged, offer=judged.offer or await self._alternate(judged))
        return judged

    async def _alternate(self, page: Page) -> Offer | None:
        """Return what a page says is the same as Markdown, where it is and may be asked for."""
        url = links.alternate(page)
        if url is None or self.closed or self._may(url) is not None:
            return None
        answer = await self.closing(self.guest.ask(url, MARKDOWN, once=True))
        if not isinstance(answer, responses.Response) or answer.status != HTTPStatus.OK:
            return None
        return responses.offered(answer, is_alternate=True)

    def _is_doubtful(self, failure: Failure) -> bool:
        room = len(self._doubtful) < self._settings.verify_urls
        rest_s = failure.exchange.retry_after_s if failure.exchange else None
        in_time = (rest_s or 0.0) <= MAX_RETRY_AFTER_S  # a site that asked for more is left alone
        return failure.outcome in VERIFIED and room and in_time and not self._verified

    def _is_unproved(self, failure: Failure) -> bool:
        """Say whether a stored page has to say once more that it is gone."""
        known = self._revisits
        return known is not None and known.doubts(failure) and not self._verified

    def _may(self, url: str) -> Outcome | None:
        return None if self.rulebook.allows(url) else Outcome.ROBOTS_DISALLOWED


def _with_attempts(second: Answer, first: Failure) -> Answer:
    """Return the second answer, the requests of the first counted as well."""
    if second.exchange is None or first.exchange is None:
        return second
    attempts = first.exchange.attempts + second.exchange.attempts
    return replace(second, exchange=replace(second.exchange, attempts=attempts))


def _unknown(entry: Entry) -> Failure:
    """Return the failure of a site that answers "as before" to a question without a condition."""
    return Failure(entry=entry, outcome=Outcome.HTTP_ERROR, detail="status 304 without a condition")


def _unverified(failure: Failure) -> Failure:
    detail = f"{failure.outcome}: {failure.detail or ''}"
    return replace(failure, outcome=Outcome.COULD_NOT_VERIFY, detail=detail)
