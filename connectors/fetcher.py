"""The HTTP client: one fetch at a time, judged hop by hop, bounded in time, bytes and trust.

Politeness is not here: `connectors.guest` says when a request may start.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Protocol, Self

import httpcore
import httpx

from connectors.egress import CONNECT_S, Egress, NoConnection, Resolve
from flows import challenges, codings, media, urls
from flows.addresses import Network
from flows.records import Outcome
from flows.responses import Answer, Fault, Headers, Response

May = Callable[[str], Outcome | None]
"""Why a URL may not be asked for, or None when it may."""


class Turn(Protocol):
    """Whose turn a request is: told when it is on its way, asked before a redirect is followed."""

    def sent(self) -> None:
        """A request leaves now."""

    async def again(self) -> None:
        """Return when the next request may leave."""


KEEP_ALIVE_S = 15.0
"""Seconds that an idle connection is kept."""

IDLE_S = 30.0
"""Longest silence inside a streamed body."""

MAX_HEADERS = 1_000
"""Header lines of one answer; their bytes are bounded by h11, at 100 KiB."""

ASIDE_BYTES = 64 * 1024
"""Bytes that are read of a body that is no page: enough to tell who refused us."""

ASIDE_S = 5.0
"""Seconds for such a body."""

MAX_COOKIES = 30
"""Cookies that live through one chain of redirects."""

REDIRECTS = frozenset({301, 302, 303, 307, 308})

_WITHOUT_BODY = frozenset({204, 205, 304})


@dataclass(frozen=True, slots=True, kw_only=True)
class Want:
    """What a fetch is for, and so what it may cost."""

    accept: str
    types: tuple[str, ...] = ()
    """Content types of a success that are worth reading; empty: any. A missing type is read."""
    max_bytes: int
    """Bytes of a body, on the wire and inflated."""
    cut: bool = False
    """Keep the first `max_bytes` of a longer body, instead of refusing it."""
    deadline_s: float = 30.0
    """Seconds for all hops, pauses between them not counted."""
    max_hops: int = 10
    """Redirects that are followed."""
    cross_origin: bool = False
    """Follow redirects to other origins."""
    by_rules: bool = False
    """Redirects need the leave of the site's rules, where a guest knows them."""
    may: May | None = None


PAGE = Want(
    accept="text/html,application/xhtml+xml;q=0.9,*/*;q=0.1",
    types=media.HTML,
    max_bytes=8 * 1024 * 1024,
    by_rules=True,
)
"""A page: HTML, on its own origin."""

SITEMAP = Want(
    accept="application/xml,text/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5",
    max_bytes=128 * 1024 * 1024,
    deadline_s=300.0,
)
"""A sitemap: larger than the 50 MB of sitemaps.org, because sites are."""

ROBOTS = Want(
    accept="text/plain,*/*;q=0.5",
    max_bytes=512 * 1024,
    cut=True,
    max_hops=5,
    cross_origin=True,
)
"""robots.txt: 500 KiB and five redirects, to any host (RFC 9309 §2.3.1.2 and §2.5)."""


class Stream:
    """An answer whose body is still arriving.

    Iterating yields the inflated body once, in pieces. It never raises for what the server does:
    the iteration ends, and `fault` says why the body is not whole, or is None when it is.
    """

    def __init__(self, head: Response, trip: "_Trip", got: httpx.Response) -> None:
        """Take the head of an answer, and where its body comes from."""
        self.head = head
        """Status, URL and headers; a body only where it is no success, and then its beginning."""
        self.fault: Fault | None = None
        self._trip = trip
        self._got = got

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the body of a success; there is nothing to read in other answers."""
        if not self._got.is_success:
            return
        with self._trip.caught() as stopped:
            async for piece in self._trip.pieces(self._got, self._trip.want.max_bytes, paused=True):
                yield piece
        self.fault = stopped.fault

    async def aclose(self) -> None:
        """Let go of the connection, and of what has not been read."""
        await self._got.aclose()

    def answer(self) -> Answer:
        """Return what is known of the exchange now: after the iteration, all of it."""
        return self.fault or self._trip.response(self._got)


class Fetcher:
    """Fetches URLs over HTTP/1.1, for the tasks of one asyncio loop.

    Connections go where `connectors.egress` permits, certificates are always verified, proxies
    and credentials of the environment are ignored. There is one small pool of connections for
    each origin: a shared one costs twice the CPU.
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
        self._egress = Egress(allow_networks, resolve)
        self._tls = tls or httpx.create_ssl_context(trust_env=False)
        self._transports: dict[str, httpx.AsyncHTTPTransport] = {}

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
        gone = [origin] if origin else list(self._transports)
        for name in gone:
            transport = self._transports.pop(name, None)
            if transport:
                await transport.aclose()

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
        trip = _Trip(self, url, want, origin, _conditional(headers, etag, last_modified), turn)
        with trip.caught() as stopped:
            async with asyncio.timeout(want.deadline_s) as limit:
                got = await self._follow(trip, limit)
                try:
                    return trip.response(got, await trip.body(got))
                finally:
                    await got.aclose()
        return stopped.answer

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
        trip = _Trip(self, url, want, origin, headers, turn)
        opened: Stream | None = None
        with trip.caught() as stopped:
            async with asyncio.timeout(want.deadline_s) as limit:
                opened = await self._opened(trip, limit)
        if opened is None:
            yield stopped.answer
            return
        try:
            yield opened
        finally:
            await opened.aclose()

    async def _opened(self, trip: "_Trip", limit: asyncio.Timeout) -> Stream:
        got = await self._follow(trip, limit)
        try:
            body = b"" if got.is_success else await trip.aside(got)
        except BaseException:
            await got.aclose()
            raise
        return Stream(trip.response(got, body), trip, got)

    async def _follow(self, trip: "_Trip", limit: asyncio.Timeout) -> httpx.Response:
        """Return the answer at the end of the redirects, its body unread."""
        while True:
            trip.judge()
            got = await self._transport(trip.url).handle_async_request(trip.request())
            try:
                onward = trip.arrived(got)
                if onward is None:
                    return got
                await trip.aside(got)
            except BaseException:
                await got.aclose()
                raise
            await got.aclose()
            if trip.turn:
                trip.paused_s += await _uncounted(trip.turn.again(), limit)
            trip.url = onward

    def _transport(self, url: str) -> httpx.AsyncHTTPTransport:
        origin = urls.origin(url) or url
        transport = self._transports.get(origin)
        if transport is None:
            transport = httpx.AsyncHTTPTransport(verify=self._tls, trust_env=False)
            # httpx takes no network backend, so its pool gives way to one that has ours.
            transport._pool = _Pool(self._tls, self._egress)
            self._transports[origin] = transport
        return transport


class _Stop(Exception):  # noqa: N818  # it ends a trip, and is no error
    def __init__(self, outcome: Outcome, detail: str) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.detail = detail


class _Stopped:
    """What `_Trip.caught` caught."""

    fault: Fault | None = None

    @property
    def answer(self) -> Fault:
        if self.fault is None:
            raise RuntimeError("a fetch ended with neither an answer nor a fault")
        return self.fault


class _Trip:
    """One fetch on its way: where it is, what it has seen, what it has cost."""

    def __init__(
        self,
        fetcher: Fetcher,
        url: str,
        want: Want,
        origin: str,
        headers: Headers,
        turn: Turn | None,
    ) -> None:
        self.url = url
        self.want = want
        self.turn = turn
        self.wire_bytes = 0
        self.paused_s = 0.0
        """Seconds in which nothing was asked for, because of the site's pace."""
        self._origin = origin
        self._here: str | None = None
        """The origin of `url`."""
        self._agent = fetcher.user_agent
        self._own = headers
        self._hops: list[str] = []
        self._seen: set[tuple[str, str]] = set()
        self._cookies: dict[str, dict[str, str]] = {}
        self._status: int | None = None
        self._headers: Headers = ()
        self._in_body = False
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._fetched_at: datetime | None = None

    def judge(self) -> None:
        """Stop before a request that must not be made."""
        canonical = urls.canonical(self.url)
        if canonical is None:
            raise _Stop(Outcome.INVALID_URL, "no http address")
        self.url, self._here = canonical, urls.origin(canonical)
        if not self.want.cross_origin and self._here != self._origin:
            raise _Stop(Outcome.OFF_ORIGIN, f"{self._here} is another origin")
        if self._hops:
            self._judge_hop()
        self._seen.add((canonical, self._cookie()))
        self._hops.append(canonical)

    def _judge_hop(self) -> None:
        if (self.url, self._cookie()) in self._seen:
            raise _Stop(Outcome.REDIRECT_LOOP, "redirected to where it came from")
        if len(self._hops) > self.want.max_hops:
            raise _Stop(Outcome.TOO_MANY_REDIRECTS, f"more than {self.want.max_hops} redirects")
        refused = self.want.may(self.url) if self.want.may else None
        if refused:
            raise _Stop(refused, f"redirected to {self.url}")

    def request(self) -> httpx.Request:
        self._status, self._headers, self._in_body = None, (), False
        headers = [
            ("User-Agent", self._agent),
            ("Accept", self.want.accept),
            ("Accept-Encoding", codings.OFFERED),
        ]
        if self._here == self._origin:
            headers += self._own
        if self._cookie():
            headers.append(("Cookie", self._cookie()))
        target = self.url[len(self._here or "") :].encode("ascii")
        timeouts = {"connect": CONNECT_S, "read": IDLE_S}
        extensions: dict[str, object] = {"target": target, "timeout": timeouts}
        if self.turn:
            extensions["trace"] = self._traced
        try:
            return httpx.Request("GET", self.url, headers=headers, extensions=extensions)
        except httpx.InvalidURL as error:
            raise _Stop(Outcome.INVALID_URL, str(error)) from None

    async def _traced(self, event: str, info: dict[str, object]) -> None:
        if event == "http11.send_request_headers.started" and self.turn:
            self.turn.sent()

    def arrived(self, got: httpx.Response) -> str | None:
        """Take the head of an answer; return where it redirects to, or None."""
        self._in_body = True
        self._fetched_at = datetime.now(UTC)
        self._status = got.status_code
        if len(got.headers.raw) > MAX_HEADERS:
            raise _Stop(Outcome.HEADERS_TOO_LARGE, f"{len(got.headers.raw)} header lines")
        self._headers = tuple((_text(k).lower(), _text(v)) for k, v in got.headers.raw)
        self._take_cookies()
        location = self._header("location")
        if got.status_code not in REDIRECTS or not location:
            return None
        onward = urls.canonical(location, base=self.url)
        if onward is None:
            raise _Stop(Outcome.INVALID_URL, f"redirected to {location[:200]}")
        return onward

    async def body(self, got: httpx.Response) -> bytes:
        """Return the body of the last answer: whole for a success, the beginning of others."""
        if got.status_code == 304 and not _is_conditional(self._own):
            raise _Stop(Outcome.HTTP_ERROR, "status 304, and nothing was known")
        if got.status_code in _WITHOUT_BODY:
            return b""
        if not got.is_success or challenges.by_header(self._headers):
            return await self.aside(got)
        said = media.essence(self._header("content-type"))
        if self.want.types and said and said not in self.want.types:
            raise _Stop(Outcome.NOT_HTML, said)
        return b"".join([piece async for piece in self.pieces(got, self.want.max_bytes)])

    async def pieces(
        self, got: httpx.Response, most: int, paused: bool = False
    ) -> AsyncIterator[bytes]:
        """Yield the inflated body, which may have `most` bytes on the wire and inflated."""
        length = self._header("content-length") or ""
        if not self.want.cut and length.isdecimal() and int(length[:18]) > most:
            raise _Stop(Outcome.TOO_LARGE, f"Content-Length {length[:18]}")
        layers = codings.decoders(self._header("content-encoding") or "")
        inflated = codings.chained(layers)
        start, total = self.wire_bytes, 0
        async for raw in self._raw(got, paused):
            for piece in inflated(raw):
                total += len(piece)
                if total > most:
                    yield piece[: most - total]
                    self._too_large(most)
                    return
                yield piece
            if self.wire_bytes - start > most:
                self._too_large(most)
                return
        for layer in layers:
            layer.finish()

    async def _raw(self, got: httpx.Response, paused: bool) -> AsyncIterator[bytes]:
        """Yield the body as it comes; with `paused`, only waiting counts against the deadline."""
        if not isinstance(got.stream, httpx.AsyncByteStream):
            raise TypeError("the transport is asynchronous, and so are its bodies")
        left = self.want.deadline_s
        chunks = aiter(got.stream)
        while True:
            before = self._loop.time()
            async with asyncio.timeout(left if paused else None):
                chunk = await anext(chunks, None)
            left -= self._loop.time() - before
            if chunk is None:
                return
            self.wire_bytes += len(chunk)
            yield chunk

    async def aside(self, got: httpx.Response) -> bytes:
        """Return the beginning of a body that is no page, as far as it can be read."""
        kept = bytearray()
        with suppress(TimeoutError, httpx.TransportError, codings.Corrupt, codings.Unknown):
            async with asyncio.timeout(ASIDE_S):
                inflated = codings.chained(codings.decoders(self._header("content-encoding") or ""))
                async for raw in self._raw(got, paused=False):
                    for piece in inflated(raw):
                        kept += piece
                        if len(kept) > ASIDE_BYTES:
                            return bytes(kept[:ASIDE_BYTES])
        return bytes(kept)

    def _too_large(self, most: int) -> None:
        if not self.want.cut:
            raise _Stop(Outcome.TOO_LARGE, f"more than {most} bytes")

    @contextmanager
    def caught(self) -> Iterator[_Stopped]:
        """Turn whatever a server does into a fault."""
        stopped = _Stopped()
        try:
            yield stopped
        except _Stop as stop:
            stopped.fault = self._fault(stop.outcome, stop.detail)
        except NoConnection as none:
            stopped.fault = self._fault(none.outcome, none.detail, none.passing)
        except (TimeoutError, httpx.TimeoutException):
            stopped.fault = self._fault(Outcome.TIMEOUT, f"no end in {self.want.deadline_s:g} s")
        except codings.Cut as error:
            stopped.fault = self._fault(Outcome.TRUNCATED, str(error))
        except (codings.Corrupt, codings.Unknown) as error:
            stopped.fault = self._fault(Outcome.DECODE_ERROR, str(error))
        except httpx.TransportError as error:
            stopped.fault = self._fault(*_reason(error, self._in_body))

    def _fault(self, outcome: Outcome, detail: str, passing: bool = False) -> Fault:
        return Fault(
            outcome=outcome,
            detail=detail,
            passing=passing,
            url=self.url,
            status=self._status,
            headers=self._headers,
            wire_bytes=self.wire_bytes,
            elapsed_ms=self._elapsed_ms(),
            hops=tuple(self._hops),
            fetched_at=self._fetched_at,
        )

    def response(self, got: httpx.Response, body: bytes = b"") -> Response:
        return Response(
            url=self.url,
            status=got.status_code,
            headers=self._headers,
            body=body,
            wire_bytes=self.wire_bytes,
            elapsed_ms=self._elapsed_ms(),
            hops=tuple(self._hops),
            fetched_at=self._fetched_at,
        )

    def _elapsed_ms(self) -> float:
        return round((self._loop.time() - self._started - self.paused_s) * 1000, 3)

    def _header(self, name: str) -> str | None:
        return next((value for key, value in self._headers if key == name), None)

    def _cookie(self) -> str:
        jar = self._cookies.get(self._here or "")
        return "; ".join(f"{name}={value}" for name, value in jar.items()) if jar else ""

    def _take_cookies(self) -> None:
        """Keep what a gate sets, for the next hops to the same origin (RFC 6265, its gist)."""
        for line in (value for key, value in self._headers if key == "set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            jar = self._cookies.setdefault(self._here or "", {})
            if name.strip() and len(line) <= 4096 and len(jar) < MAX_COOKIES and line.isascii():
                jar[name.strip()] = value.strip()


class _Pool(httpcore.AsyncConnectionPool):
    """A pool that connects by our egress, and drops connections that hold unasked bytes."""

    def __init__(self, tls: ssl.SSLContext, egress: Egress) -> None:
        super().__init__(
            ssl_context=tls,
            max_connections=None,  # a guest bounds its requests
            keepalive_expiry=KEEP_ALIVE_S,
            network_backend=egress,
        )
        self._tls = tls
        self._egress = egress

    def create_connection(self, origin: httpcore.Origin) -> httpcore.AsyncConnectionInterface:
        return _Connection(
            origin,
            ssl_context=self._tls,
            keepalive_expiry=KEEP_ALIVE_S,
            network_backend=self._egress,
        )


class _Connection(httpcore.AsyncHTTPConnection):
    """A connection that is over when the peer has said more than it was asked.

    Bytes after a body would be taken for the next answer. The stream below knows of those it
    holds itself; those that h11 has read already are only to be seen in h11's own buffer.
    """

    def has_expired(self) -> bool:
        return super().has_expired() or (self.is_idle() and self._holds_unasked_bytes())

    def _holds_unasked_bytes(self) -> bool:
        inner = self._connection
        return isinstance(inner, httpcore.AsyncHTTP11Connection) and bool(
            inner._h11_state.trailing_data[0]
        )


async def _uncounted(pause: Awaitable[None], limit: asyncio.Timeout) -> float:
    """Await a pause of ours that does not count against the deadline; return its seconds."""
    loop = asyncio.get_running_loop()
    end, before = limit.when(), loop.time()
    limit.reschedule(None)
    await pause
    paused_s = loop.time() - before
    limit.reschedule(None if end is None else end + paused_s)
    return paused_s


def _conditional(headers: Headers, etag: str | None, last_modified: str | None) -> Headers:
    """Return headers with what makes a request conditional (RFC 9110 §13.1.2 and §13.1.3)."""
    more = (("If-None-Match", etag), ("If-Modified-Since", last_modified))
    return headers + tuple((name, value) for name, value in more if value)


def _is_conditional(headers: Headers) -> bool:
    return any(name.lower().startswith("if-") for name, _ in headers)


def _reason(error: httpx.TransportError, in_body: bool) -> tuple[Outcome, str, bool]:
    """Return outcome, detail and whether it may pass, of a connection that failed."""
    text = str(error)
    if isinstance(error, httpx.NetworkError):
        outcome = Outcome.TRUNCATED if in_body else Outcome.CONNECTION_ERROR
        return outcome, text or "connection lost", True
    if "too long" in text:
        return Outcome.HEADERS_TOO_LARGE, text, False
    if "closed connection" in text or "disconnected" in text:
        return (Outcome.TRUNCATED if in_body else Outcome.CONNECTION_ERROR), text, True
    return Outcome.PROTOCOL_ERROR, text[:300], False


def _text(raw: bytes) -> str:
    """Return a header as text: UTF-8 where it is that, else Latin-1 (RFC 9110 §5.5)."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
