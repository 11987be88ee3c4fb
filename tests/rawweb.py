"""A web server on loopback that answers in raw bytes, so that it can misbehave in any way.

It lives in the loop of the test, and ends with its block.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from connectors.fetcher import Fetcher

LOOPBACK = (ip_network("127.0.0.1/32"),)

NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trust in no authority: made once, because the usual trust takes its time to load."""

CERTIFICATE = Path(__file__).parent / "data" / "loopback.pem"
"""A throw-away certificate for 127.0.0.1 and localhost, with its key, signed by itself."""

ARTICLE = b"<!doctype html><title>A ledger</title><p>The harbour keeps a ledger of every boat.</p>"


def client(**more: Any) -> Fetcher:  # whatever a fetcher takes
    """Return a fetcher that may reach the servers of this module."""
    return Fetcher("tester/1", **{"allow_networks": LOOPBACK, "tls": NOBODY} | more)


class Wire:
    """The server's end of a connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take both directions of a connection."""
        self._reader = reader
        self._writer = writer
        self.sent = 0

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        self.sent += len(data)
        await self._writer.drain()

    async def silence(self) -> None:
        """Say nothing more, until the client goes away."""
        while await self._reader.read(1024):
            pass

    def close(self) -> None:
        self._writer.close()

    def reset(self) -> None:
        self._writer.transport.abort()


Play = Callable[[Wire], Awaitable[None]]
Answers = bytes | Play | Sequence[bytes | Play]
"""Raw bytes, something to do, or one of these for each request, the last one repeating."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as the server saw it."""

    target: str
    headers: Mapping[str, str]
    connection: int
    at: float


@dataclass
class Web:
    """What runs: where it is, what it answers, what it has been asked."""

    answers: dict[str, Answers]
    origin: str = ""
    port: int = 0
    log: list[Asked] = field(default_factory=list)
    connections: int = 0
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def targets(self) -> list[str]:
        return [asked.target for asked in self.log]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task:
            self.tasks.add(task)
        self.connections += 1
        number = self.connections
        try:
            while not writer.is_closing():
                await self._answer(number, reader, Wire(reader, writer))
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went away, or the block has ended
        finally:
            writer.close()

    async def _answer(self, number: int, reader: asyncio.StreamReader, wire: Wire) -> None:
        first, *rest = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in rest if line)
        }
        target = first.split(" ")[1]
        asked = sum(earlier.target == target for earlier in self.log)
        self.log.append(Asked(target, headers, number, asyncio.get_running_loop().time()))
        plays = self.answers.get(target, status(404))
        play = plays if isinstance(plays, bytes) or callable(plays) else plays[: asked + 1][-1]
        await (wire.send(play) if isinstance(play, bytes) else play(wire))


@asynccontextmanager
async def serving(
    answers: dict[str, Answers], address: str = "127.0.0.1", tls: bool = False
) -> AsyncIterator[Web]:
    """Serve until the block ends."""
    web = Web(answers)
    context = None
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
    server = await asyncio.start_server(web.serve, address, 0, ssl=context, limit=1 << 20)
    web.port = server.sockets[0].getsockname()[1]
    web.origin = f"{'https' if tls else 'http'}://{address}:{web.port}"
    try:
        yield web
    finally:
        server.close()
        for task in web.tasks:
            task.cancel()
        await asyncio.gather(*web.tasks, return_exceptions=True)
        await asyncio.sleep(0)


def head(code: int, *headers: str) -> bytes:
    """Return the head of an answer, its headers as they stand."""
    return "\r\n".join([f"HTTP/1.1 {code} Test", *headers, "", ""]).encode("latin-1")


def ok(body: bytes = ARTICLE, *headers: str, kind: str = "text/html; charset=utf-8") -> bytes:
    """Return a whole answer with a body."""
    return head(200, f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers) + body


def status(code: int, *headers: str, body: bytes = b"no") -> bytes:
    """Return a whole answer of any status."""
    return head(code, "Content-Type: text/html", f"Content-Length: {len(body)}", *headers) + body


def to(location: str, code: int = 302, *headers: str) -> bytes:
    """Return a redirect."""
    return status(code, f"Location: {location}", *headers)


def closing(data: bytes) -> Play:
    """Send bytes and close."""

    async def play(wire: Wire) -> None:
        await wire.send(data)
        wire.close()

    return play


async def reset(wire: Wire) -> None:
    """Break the connection."""
    wire.reset()


async def silent(wire: Wire) -> None:
    """Answer nothing."""
    await wire.silence()


def endless(start: bytes, again: bytes, every_s: float = 0.0) -> Play:
    """Send something for ever."""

    async def play(wire: Wire) -> None:
        await wire.send(start)
        while True:
            await wire.send(again)
            await asyncio.sleep(every_s)

    return play
