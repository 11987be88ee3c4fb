"""httpx transports that connect by our egress, and take no byte of one answer for another."""

import ssl
from collections.abc import AsyncIterable, AsyncIterator

import httpcore
import httpx

from connectors.fetcher.egress import CONNECT_S, Egress, Stream

KEEP_ALIVE_S = 15.0
"""Seconds that an idle connection is kept."""

MAX_OPEN = 400
"""Connections of a process above which idle ones are closed: file descriptors are few."""


class Transports:
    """One transport for each origin: a shared one costs twice the CPU."""

    def __init__(self, tls: ssl.SSLContext, egress: Egress) -> None:
        """Take what all of them trust, and how they connect."""
        self._tls = tls
        self._egress = egress
        self._by_origin: dict[str, Transport] = {}

    async def of(self, origin: str) -> "Transport":
        """Return the transport of an origin; the least used give up their idle connections."""
        if self._egress.open >= MAX_OPEN:
            await self._make_room()
        found = self._by_origin.pop(origin, None) or Transport(self._tls, self._egress)
        self._by_origin[origin] = found
        return found

    async def aclose(self, origin: str | None = None) -> None:
        """Close the connections to one origin, or all of them."""
        for name in [origin] if origin else list(self._by_origin):
            gone = self._by_origin.pop(name, None)
            if gone:
                await gone.aclose()

    async def _make_room(self) -> None:
        for origin, held in list(self._by_origin.items()):
            if self._egress.open < MAX_OPEN:
                return
            if held.is_idle:
                await self.aclose(origin)


class Transport(httpx.AsyncBaseTransport):
    """The connections to one origin: HTTP/1.1, certificates verified, no proxies.

    A guest bounds how many there are, and each serves one request at a time, so none of the locks
    and queues of httpcore's own pool are needed; they cost half of what a small request costs.
    """

    def __init__(self, tls: ssl.SSLContext, egress: Egress) -> None:
        """Take what is trusted, and how to connect; nothing is opened yet."""
        self._tls = tls
        self._egress = egress
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way."""
        return not self._busy

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the answer as soon as its head is there; its body has to be closed.

        The extension `sent` is called when the request has left.
        """
        url = request.url
        asked = httpcore.Request(
            request.method,
            httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=b"/"),
            headers=request.headers.raw,
            extensions=request.extensions,
        )
        connection = await self._rested() or await self._connected(asked.url)
        self._busy.add(connection)
        try:
            connection.wire.sent = request.extensions.get("sent")
            got = await connection.handle_async_request(asked)
        except BaseException:
            await self._drop(connection)
            raise
        return httpx.Response(got.status, headers=got.headers, stream=_Body(self, connection, got))

    async def aclose(self) -> None:
        """Close all connections, those in use as well."""
        for connection in [*self._idle, *self._busy]:
            await self._drop(connection)
        self._idle.clear()

    async def release(self, connection: "Connection") -> None:
        """Keep a connection that has been read to its end; it is closed already if not."""
        if connection in self._busy and connection.is_idle():
            self._busy.discard(connection)
            self._idle.append(connection)
        else:
            await self._drop(connection)

    async def _drop(self, connection: "Connection") -> None:
        self._busy.discard(connection)
        await connection.aclose()

    async def _rested(self) -> "Connection | None":
        """Return the connection that was used last, and close those that may not be used again."""
        found = None
        while self._idle and found is None:
            connection = self._idle.pop()
            if connection.has_expired():
                await connection.aclose()
            else:
                found = connection
        return found

    async def _connected(self, url: httpcore.URL) -> "Connection":
        origin, host = url.origin, url.host.decode("ascii")
        stream = await self._egress.connect_tcp(host, origin.port, CONNECT_S)
        if origin.scheme == b"https":
            stream = await stream.start_tls(self._tls, host, CONNECT_S)
        return Connection(origin, stream, KEEP_ALIVE_S)


class Connection(httpcore.AsyncHTTP11Connection):
    """A connection that is over when the peer has said more than it was asked.

    Bytes after a body would be taken for the next answer. The stream below knows of those it
    holds itself; those that h11 has read already are only to be seen in h11's own buffer.
    """

    def __init__(self, origin: httpcore.Origin, stream: Stream, keep_s: float) -> None:
        """Take a stream to an origin, and for how long it may rest."""
        super().__init__(origin, stream, keep_s)
        self.wire = stream

    def has_expired(self) -> bool:
        """Return whether nothing may be asked on it any more."""
        return super().has_expired() or bool(self._h11_state.trailing_data[0])


class _Body(httpx.AsyncByteStream):
    """The body of an answer; closing it frees its connection, whatever was read of it."""

    def __init__(
        self, transport: Transport, connection: Connection, got: httpcore.Response
    ) -> None:
        self._transport = transport
        self._connection = connection
        self._got = got

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if not isinstance(self._got.stream, AsyncIterable):
            raise TypeError("the connection is asynchronous, and so are its bodies")
        async for piece in self._got.stream:
            yield piece

    async def aclose(self) -> None:
        try:
            await self._got.aclose()
        finally:
            await self._transport.release(self._connection)
