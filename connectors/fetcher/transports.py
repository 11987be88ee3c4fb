"""httpx transports that connect by our egress, and take no byte of one answer for another."""

import ssl

import httpcore
import httpx

from connectors.fetcher.egress import Egress

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
        self._by_origin: dict[str, httpx.AsyncHTTPTransport] = {}

    async def of(self, origin: str) -> httpx.AsyncHTTPTransport:
        """Return the transport of an origin; the least used give up their idle connections."""
        if self._egress.open >= MAX_OPEN:
            await self._make_room()
        found = self._by_origin.pop(origin, None) or transport(self._tls, self._egress)
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
            if _is_idle(held):
                await self.aclose(origin)


def _is_idle(held: httpx.AsyncHTTPTransport) -> bool:
    pool = held._pool
    return isinstance(pool, httpcore.AsyncConnectionPool) and all(
        connection.is_idle() or connection.is_closed() for connection in pool.connections
    )


def transport(tls: ssl.SSLContext, egress: Egress) -> httpx.AsyncHTTPTransport:
    """Return a transport for one origin: HTTP/1.1, certificates verified, no proxies.

    httpx takes no network backend, so its pool gives way to one that has ours.
    """
    made = httpx.AsyncHTTPTransport(verify=tls, trust_env=False)
    made._pool = _Pool(tls, egress)
    return made


class _Pool(httpcore.AsyncConnectionPool):
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
