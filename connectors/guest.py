"""A site's polite client: when it may be asked, how often, and when to leave it alone."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Literal

from connectors.fetcher import PAGE, SITEMAP, Fetcher, May, Stream, Want
from connectors.seats import Room, Seat, Seats, now
from flows import politeness, responses
from flows.politeness import Pace
from flows.records import Outcome
from flows.responses import Answer, Fault, Headers

PATIENT_PAGES = 20
"""Pages of a site that are asked again at once after a server error; more means an outage."""

SLOW_AFTER = 3
"""Refusals in a row after which a site is asked more slowly."""

GIVE_UP_AFTER = 10
"""Refusals, or requests without any answer, in a row after which a site is left alone."""

GivenUp = Literal["failed_blocked", "failed_unreachable"]


class Guest:
    """Asks one site, at its pace, and takes a refusal for an answer.

    For the tasks of one asyncio loop; any number of them may ask at once, and is served in order.
    A request starts when the site's pace, its own concurrency and the fetcher's total allow it.
    Redirects are requests too. Cancelling a task ends its waits at once.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        origin: str,
        pace: Pace,
        *,
        concurrency: int = 4,
        retry_waits_s: tuple[float, ...] = (5.0, 20.0),
        headers: Headers = (),
        may: May | None = None,
        room: Room | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Take the site's origin and what its settings say.

        `may` judges redirects of pages by the site's rules; it can be set once they are known.
        `room` is awaited before each request: who reads the answers may be behind.
        """
        self.origin = origin
        self.pace = pace
        self.may = may
        self.requests = 0
        """Requests made, redirects and retries included."""
        self.bytes = 0
        """Body bytes that came over the wire."""
        self.given_up: str | None = None
        """Why the site is not asked any more, in words for people."""
        self.given_up_status: GivenUp | None = None
        """The same as the status of its end."""
        self._fetcher = fetcher
        self._headers = headers
        self._retry_waits_s = retry_waits_s
        self._jitter = jitter
        self._seats = Seats(pace, concurrency, fetcher.slots, room)
        self._patience = PATIENT_PAGES
        self._refused = 0
        self._silent = 0

    def set_crawl_delay(self, seconds: float | None) -> None:
        """Take the Crawl-delay of the site's robots.txt."""
        self.pace.set_crawl_delay(seconds)

    async def ask(
        self,
        url: str,
        want: Want = PAGE,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        once: bool = False,
    ) -> Answer:
        """Return the site's answer, after as many tries as it may have, or after one.

        A challenge in place of an answer is the fault `blocked`. What a site that was given up
        is asked for is `not_reached`, without a request.
        """
        attempt = 1
        while not self.given_up:
            async with Seat(self._seats) as seat:
                if self.given_up:
                    break
                answer = await self._fetcher.fetch(
                    url,
                    want=self._ruled(want),
                    origin=self.origin,
                    headers=self._headers,
                    etag=etag,
                    last_modified=last_modified,
                    turn=seat if self.pace.gap_s else None,
                )
            answer = self._weighed(replace(answer, attempts=attempt))
            wait_s = self._again_in(answer, attempt)
            if wait_s is None or once:
                return self._settled(answer, want)
            attempt += 1
            await asyncio.sleep(wait_s)
        return self._left_alone(url)

    @asynccontextmanager
    async def open(self, url: str, want: Want = SITEMAP) -> AsyncIterator[Stream | Fault]:
        """Give a stream as soon as its head is there, after as many tries as it may have.

        Once its head is there a stream is not asked for again: what happens to its body is in
        its `fault`.
        """
        attempt = 1
        while not self.given_up:
            async with Seat(self._seats) as seat, self._streamed(url, want, seat) as got:
                head = got if isinstance(got, Fault) else got.head
                answer = self._weighed(replace(head, attempts=attempt))
                wait_s = self._again_in(answer, attempt)
                if wait_s is None:
                    self._settled(answer, want)
                    yield answer if isinstance(answer, Fault) else got
                    return
            attempt += 1
            await asyncio.sleep(wait_s)
        yield self._left_alone(url)

    @asynccontextmanager
    async def _streamed(self, url: str, want: Want, seat: Seat) -> AsyncIterator[Stream | Fault]:
        async with self._fetcher.stream(
            url,
            want=self._ruled(want),
            origin=self.origin,
            headers=self._headers,
            turn=seat if self.pace.gap_s else None,
        ) as got:
            try:
                yield got
            finally:
                if isinstance(got, Stream):
                    self.bytes += got.answer().wire_bytes - got.head.wire_bytes

    async def aclose(self) -> None:
        """Close the connections to the site."""
        await self._fetcher.aclose(self.origin)

    def _ruled(self, want: Want) -> Want:
        return replace(want, may=self.may) if want.by_rules and self.may else want

    def _weighed(self, answer: Answer) -> Answer:
        """Count an answer; return it, or the fault that it stands for a challenge."""
        self.requests += len(answer.hops)
        self.bytes += answer.wire_bytes
        if isinstance(answer, Fault):
            return answer
        return responses.challenged(answer) or replace(answer, cleared=True)

    def _again_in(self, answer: Answer, attempt: int) -> float | None:
        """Return the seconds after which the same is asked again, or None when it is not."""
        if isinstance(answer, Fault):
            waits = politeness.CONNECTION_WAITS_S
            return waits[attempt - 1] if answer.passing and attempt <= len(waits) else None
        asked_s = answer.retry_after_s
        wait_s = politeness.retry_wait(
            answer.status, asked_s, attempt, self._retry_waits_s, self._jitter()
        )
        if wait_s is not None and politeness.is_rate_limit(answer.status, asked_s):
            self.pace.wait_until(now() + wait_s)
            return 0.0
        return wait_s if wait_s is not None and self._is_patient(attempt) else None

    def _is_patient(self, attempt: int) -> bool:
        """Return whether a page may be asked again after a server error, and count it."""
        if attempt == 1:
            self._patience -= 1
        return self._patience >= 0 or attempt > 1

    def _settled(self, answer: Answer, want: Want) -> Answer:
        """Learn from an answer that will not be asked for again.

        That there is no sitemap at a usual path does not end a row of refused pages.
        """
        refused = responses.refusal(answer)
        if refused:
            self._refused += 1
        elif want.by_rules:
            self._refused = 0
        self._silent = self._silent + 1 if responses.is_silence(answer) else 0
        self.pace.slow_down(self._refused >= SLOW_AFTER)
        if self._refused >= GIVE_UP_AFTER:
            self._give_up("failed_blocked", refused or "")
        elif self._silent >= GIVE_UP_AFTER:
            detail = answer.detail if isinstance(answer, Fault) else ""
            self._give_up("failed_unreachable", f"no answer: {detail}")
        return answer

    def _give_up(self, status: GivenUp, reason: str) -> None:
        self.given_up_status = status
        self.given_up = f"{GIVE_UP_AFTER} requests in a row came to nothing; {reason}"

    def _left_alone(self, url: str) -> Fault:
        return Fault(outcome=Outcome.NOT_REACHED, detail=self.given_up or "", url=url)
