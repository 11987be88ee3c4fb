"""The way out: connections to judged addresses only, and to nothing else.

A host name is resolved once for each connection. Every address of the answer is judged, and the
connection goes to a judged address, not to the name: a second answer of the name server has no
say. An address of a redirect, of a sitemap or of a typed URL passes here like any other.
"""

import asyncio
import ipaddress
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, cast

import httpcore

from connectors.fetcher.faults import Stop
from flows import addresses
from flows.addresses import Network
from flows.records import Outcome

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""From a host name to its addresses, best first; raises OSError when there is none."""

CONNECT_S = 10.0
"""Seconds for one connection, all its addresses and the TLS handshake included."""

MAX_ADDRESSES = 4
"""Addresses of one host that are tried."""

OPT_IN = "networks of one's own can be named in INGEST_ALLOW_NETWORKS"
"""What to tell people whose address is refused."""

MAX_UNREAD = 256 * 1024
"""Bytes received and not yet read, above which the peer has to wait."""


class NoConnection(Stop):
    """Why there is no connection: denied, no such name, nobody there, no trust."""


class Egress(httpcore.AsyncNetworkBackend):
    """Connects to what `flows.addresses` permits, on the running asyncio loop."""

    def __init__(self, allowed: Sequence[Network] = (), resolve: Resolve | None = None) -> None:
        """Take the networks that may be reached although they are not public."""
        self._allowed = tuple(allowed)
        self._resolve = resolve or system_addresses
        self.open = 0
        """Connections that are open now."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  # the signature is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> "Stream":
        """Return a stream to the first permitted address of `host` that answers."""
        try:
            async with asyncio.timeout(timeout or CONNECT_S):
                return await self._connect(await self._permitted(host), port)
        except TimeoutError:
            raise NoConnection(Outcome.TIMEOUT, "no connection in time", passing=True) from None

    async def _permitted(self, host: str) -> list[str]:
        try:
            found = await self._resolve(host)
        except OSError as error:
            passing = error.errno == socket.EAI_AGAIN
            raise NoConnection(Outcome.DNS_ERROR, str(error), passing=passing) from None
        refused = [addresses.refusal(address, self._allowed) for address in found]
        permitted = [address for address, why in zip(found, refused, strict=True) if not why]
        if not permitted:
            reasons = ", ".join(f"{a} is {why}" for a, why in zip(found, refused, strict=True))
            raise NoConnection(
                Outcome.POLICY_DENIED, f"{reasons}; {OPT_IN}" if found else "no address"
            )
        return permitted[:MAX_ADDRESSES]

    async def _connect(self, permitted: list[str], port: int) -> "Stream":
        loop = asyncio.get_running_loop()
        last: OSError | None = None
        for address in permitted:
            try:
                async with asyncio.timeout(CONNECT_S / len(permitted)):
                    transport, pipe = await loop.create_connection(self._pipe, address, port)
            except OSError as error:  # TimeoutError is one
                last = error
            else:
                return Stream(transport, pipe)
        if isinstance(last, TimeoutError):
            raise last
        raise NoConnection(Outcome.CONNECTION_ERROR, str(last), passing=True) from None

    def _pipe(self) -> "_Pipe":
        return _Pipe(self._count)

    def _count(self, by: int) -> None:
        self.open += by


class Stream(httpcore.AsyncNetworkStream):
    """One connection as httpcore wants it."""

    def __init__(self, transport: asyncio.Transport, pipe: "_Pipe") -> None:
        """Take a connected transport and its protocol."""
        self.sent: Callable[[], None] | None = None
        """Called once, when something has been sent: a site's clock starts there, not before."""
        self._transport = transport
        self._pipe = pipe

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """Return at most `max_bytes`, or nothing at the end of what the peer sends."""
        pipe = self._pipe
        if not pipe.unread and not pipe.ended:
            try:
                async with asyncio.timeout(timeout):
                    await pipe.arrival()
            except TimeoutError:
                raise httpcore.ReadTimeout("the server fell silent") from None
        if not pipe.unread and pipe.broken:
            raise httpcore.ReadError(str(pipe.broken) or "connection lost") from pipe.broken
        return pipe.take(max_bytes)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Hand `buffer` to the connection; a request of ours fits into what the loop buffers."""
        if not buffer:
            return
        if self._pipe.ended or self._pipe.unread:
            # Said between the choice of this connection and its use: nothing to be asked on.
            raise NoConnection(Outcome.CONNECTION_ERROR, "the server had closed it", passing=True)
        self._transport.write(buffer)
        if self.sent:
            self.sent()
            self.sent = None

    async def aclose(self) -> None:
        """Drop the connection at once: what a server still sends is of no use to us."""
        # Who still reads here must not take our going for the end of what was sent.
        self._pipe.broken = ConnectionAbortedError("we have closed it")
        self._transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> "Stream":
        """Return the same connection inside TLS, its certificate verified for `server_hostname`."""
        loop = asyncio.get_running_loop()
        self._pipe.unread.clear()  # said in the clear, so not by whom we are going to trust
        try:
            async with asyncio.timeout(timeout or CONNECT_S):
                self._transport = await self._secured(loop, ssl_context, server_hostname)
        except TimeoutError:
            raise NoConnection(Outcome.TIMEOUT, "no TLS handshake", passing=True) from None
        except ssl.SSLError as error:
            raise _distrust(error) from None
        except OSError as error:
            detail = str(error) or "connection lost in the TLS handshake"
            raise NoConnection(Outcome.CONNECTION_ERROR, detail, passing=True) from None
        return self

    async def _secured(
        self,
        loop: asyncio.AbstractEventLoop,
        context: ssl.SSLContext,
        host: str | None,
    ) -> asyncio.Transport:
        try:
            secured = await loop.start_tls(
                self._transport, self._pipe, context, server_hostname=host
            )
        except BaseException:
            self._transport.abort()
            self._pipe.connection_lost(None)  # asyncio tells it only what comes after a handshake
            raise
        self._pipe.transport = cast("asyncio.Transport", secured)
        return self._pipe.transport

    def get_extra_info(self, info: str) -> object:
        """Answer what httpcore asks before it uses a connection again.

        `is_readable` means that nothing may be asked on it any more: it ended, or the peer said
        something that nobody had asked for.
        """
        if info == "is_readable":
            return self._pipe.ended or bool(self._pipe.unread)
        if info == "server_addr":
            return self._transport.get_extra_info("peername")
        return self._transport.get_extra_info(info)


class _Pipe(asyncio.Protocol):
    """What a peer has sent and nobody has read."""

    def __init__(self, count: Callable[[int], None]) -> None:
        self.unread = bytearray()
        self.ended = False
        self.broken: Exception | None = None
        self.transport: asyncio.Transport | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._held = False
        self._count = count
        self._connected = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._connected = True
        self._count(1)

    def data_received(self, data: bytes) -> None:
        self.unread += data
        if len(self.unread) > MAX_UNREAD and self.transport and not self._held:
            self._held = True
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self.ended = True
        self._wake()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended = True
        self.broken = exc or self.broken
        if self._connected:
            self._connected = False
            self._count(-1)
        self._wake()

    async def arrival(self) -> None:
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            await self._waiting
        finally:
            self._waiting = None

    def take(self, most: int) -> bytes:
        data = bytes(self.unread[:most])
        del self.unread[:most]
        if self._held and self.transport and not self.ended and len(self.unread) <= MAX_UNREAD // 2:
            self._held = False
            self.transport.resume_reading()
        return data

    def _wake(self) -> None:
        if self._waiting and not self._waiting.done():
            self._waiting.set_result(None)


def _distrust(error: ssl.SSLError) -> NoConnection:
    if isinstance(error, ssl.SSLCertVerificationError):
        return NoConnection(Outcome.TLS_ERROR, error.verify_message)
    return NoConnection(Outcome.TLS_ERROR, error.reason or str(error))


async def system_addresses(host: str) -> list[str]:
    """Return the addresses that the system's resolver knows for `host`, best first.

    Asked on a thread of its own that nobody waits for at the end of the process: a lookup cannot
    be cancelled, and a name server that is down must not hold up a stop.
    """
    if _is_literal(host):
        return [host]
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()

    def settle(found: list[str] | None, error: OSError | None) -> None:
        if not answer.done():
            answer.set_exception(error) if error else answer.set_result(found or [])

    def look_up() -> None:
        found, error = _look_up(host)
        with suppress(RuntimeError):  # the loop has ended in the meantime
            loop.call_soon_threadsafe(settle, found, error)

    threading.Thread(target=look_up, name=f"resolve {host}", daemon=True).start()
    return await answer


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _look_up(host: str) -> tuple[list[str] | None, OSError | None]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        return None, error
    except UnicodeError:  # a label that no name server can be asked for
        return None, socket.gaierror(socket.EAI_NONAME, "no host name")
    return list(dict.fromkeys(str(entry[4][0]) for entry in found)), None
