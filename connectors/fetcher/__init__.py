"""The HTTP client: one fetch at a time, judged hop by hop, bounded in time, bytes and trust.

Politeness is not here: `connectors.guest` says when a request may start.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self

import httpx

from connectors.fetcher.egress import Egress, Resolve
from connectors.fetcher.transports import Transports
from connectors.fetcher.trips import Errand, Trip, Turn
from connectors.fetcher.wants import MARKDOWN, PAGE, ROBOTS, SITEMAP, May, Want
from flows.addresses import Network
from flows.responses import Answer, Fault, Headers, Response

__all__ = ["MARKDOWN", "PAGE", "ROBOTS", "SITEMAP", "Fetcher", "May", "Stream", "Turn", "Want"]


class Stream:
    """An answer whose body is still arriving.

    Iterating yields the inflated body once, in pieces. It never raises for what the server does:
    the iteration ends, and `fault` says why the body is not whole, or is None when it is.
    """

    def __init__(self, trip: Trip, got: httpx.Response, beginning: bytes) -> None:
        """Take an answer, and the beginning of its body where it is no success."""
        self.head: Response = trip.response(beginning)
        """Status, URL and headers; a body only where it is no success, and then its beginning."""
        self._trip = trip
        self._got = got

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the body of a success; there is nothing to read in other answers."""
        if not self._trip.is_success:
            return
        want = self._trip.errand.want
        with self._trip.caught():
            async for piece in self._trip.body.pieces(want.max_bytes, want.cut, want.deadline_s):
                yield piece

    @property
    def fault(self) -> Fault | None:
        """Why the body is not whole, once the iteration has ended."""
        return self._trip.fault

    async def aclose(self) -> None:
        """Let go of the connection, and of what has not been read."""
        await self._got.aclose()

    def answer(self) -> Answer:
        """Return what is known of the exchange now: after the iteration, all of it."""
        return self.fault or self._trip.response()


class Fetcher:
    """Fetches URLs over HTTP/1.1, for the tasks of one asyncio loop.

    Connections go where `connectors.fetcher.egress` permits, certificates are always verified,
    proxies and credentials of the environment are ignored.
    """

    def __init__(
        self,
        user_agent: str,
        allow_networks: Sequence[Network] = (),
        total_concurrency: int = 64,
        *,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Take the user agent, networks opted in, and the requests in flight at any time.

        `tls` replaces the trust in the public certificate authorities, by another trust.
        """
        self.user_agent = user_agent
        self.slots = asyncio.Semaphore(total_concurrency)
        """Held by a guest while it fetches."""
        self._transports = Transports(
            tls or httpx.create_ssl_context(trust_env=False), Egress(allow_networks, resolve)
        )

    async def __aenter__(self) -> Self:
        """Return the fetcher itself."""
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close all connections."""
        await self.aclose()

    async def aclose(self, origin: str | None = None) -> None:
        """Close the connections to one origin, or all of them."""
        await self._transports.aclose(origin)

    async def fetch(
        self,
        url: str,
        *,
        want: Want,
        origin: str,
        headers: Headers = (),
        etag: str | None = None,
        last_modified: str | None = None,
        turn: Turn | None = None,
    ) -> Answer:
        """Return the answer to a request for `url`, or the fault that there was.

        `headers` go to `origin` alone. With `etag` or `last_modified` the request is conditional,
        and a 304 is an answer like others.
        """
        known = (("If-None-Match", etag), ("If-Modified-Since", last_modified))
        headers += tuple((name, value) for name, value in known if value)
        trip = self._trip(url, want, origin, headers, turn)
        with trip.caught():
            async with asyncio.timeout(want.deadline_s) as limit:
                got = await self._follow(trip, limit)
                try:
                    return trip.response(await trip.read())
                finally:
                    await got.aclose()
        return _faulty(trip)

    @asynccontextmanager
    async def stream(
        self,
        url: str,
        *,
        want: Want,
        origin: str,
        headers: Headers = (),
        turn: Turn | None = None,
    ) -> AsyncIterator[Stream | Fault]:
        """Give the answer as soon as its head is there, to read the body while it arrives.

        The deadline counts until the head is there, and then again while the body is waited for;
        what the reader takes for itself is not counted.
        """
        trip = self._trip(url, want, origin, headers, turn)
        opened: Stream | None = None
        with trip.caught():
            async with asyncio.timeout(want.deadline_s) as limit:
                opened = await self._opened(trip, limit)
        if opened is None:
            yield _faulty(trip)
            return
        try:
            yield opened
        finally:
            await opened.aclose()

    def _trip(self, url: str, want: Want, origin: str, headers: Headers, turn: Turn | None) -> Trip:
        return Trip(
            Errand(
                url=url,
                want=want,
                origin=origin,
                user_agent=self.user_agent,
                headers=headers,
                turn=turn,
            )
        )

    async def _opened(self, trip: Trip, limit: asyncio.Timeout) -> Stream:
        got = await self._follow(trip, limit)
        try:
            return Stream(trip, got, b"" if trip.is_success else await trip.body.beginning())
        except BaseException:
            await got.aclose()
            raise

    async def _follow(self, trip: Trip, limit: asyncio.Timeout) -> httpx.Response:
        """Return the answer at the end of the redirects, its body unread."""
        while True:
            trip.judge()
            request, way = trip.request(), await self._transports.of(trip.here or "")
            got = await way.handle_async_request(request)
            try:
                onward = trip.arrived(got)
                if onward is None:
                    return got
                await trip.body.beginning()  # read, so that its connection serves the next hop
            except BaseException:
                await got.aclose()
                raise
            await got.aclose()
            if trip.errand.turn:
                trip.paused_s += await _uncounted(trip.errand.turn.again(), limit)
            trip.url = onward


async def _uncounted(pause: Awaitable[None], limit: asyncio.Timeout) -> float:
    """Await a pause of ours that does not count against the deadline; return its seconds."""
    loop = asyncio.get_running_loop()
    end, before = limit.when(), loop.time()
    limit.reschedule(None)
    await pause
    paused_s = loop.time() - before
    limit.reschedule(None if end is None else end + paused_s)
    return paused_s


def _faulty(trip: Trip) -> Fault:
    if trip.fault is None:
        raise RuntimeError("a fetch ended with neither an answer nor a fault")
    return trip.fault
