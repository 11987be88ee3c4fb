"""The body of an answer: read once, inflated, within bounds, and known to be whole."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import httpx

from connectors.fetcher.faults import CAUGHT, Stop
from flows import codings
from flows.records import Outcome

BEGINNING_BYTES = 64 * 1024
"""Bytes that are read of a body that is no page: enough to tell who refused us."""

BEGINNING_S = 5.0
"""Seconds for such a body."""

PATIENCE_S = 30.0
"""Seconds that a streamed body is waited for, whatever its speed."""

SLOWEST = 1024
"""Bytes that earn one more second: a large file may take minutes, a trickle may not."""


class Body:
    """What follows the head of an answer."""

    def __init__(self, got: httpx.Response) -> None:
        """Take an answer whose body is unread."""
        self.wire_bytes = 0
        """Bytes that came over the wire so far."""
        self._got = got
        # RFC 9112 §6.3: chunks overrule a length.
        chunked = "transfer-encoding" in got.headers
        self._length = "" if chunked else got.headers.get("content-length", "")
        self._coding = got.headers.get("content-encoding", "")

    async def whole(self, most: int, cut: bool) -> bytes:
        """Return the body, which may have `most` bytes, or be `cut` there; see `pieces`."""
        return b"".join([piece async for piece in self.pieces(most, cut)])

    async def pieces(
        self, most: int, cut: bool, waiting_s: float | None = None
    ) -> AsyncIterator[bytes]:
        """Yield the inflated body; raise what `faults` knows when it is not whole.

        `most` bounds the bytes on the wire and the inflated ones, `waiting_s` the seconds of
        waiting for them: those that the reader takes for itself are not counted.
        """
        if not cut and self._length.isdecimal() and int(self._length[:18]) > most:
            raise Stop(Outcome.TOO_LARGE, f"Content-Length {self._length[:18]}")
        layers = codings.decoders(self._coding)
        inflated = codings.chained(layers)
        total = 0
        async for raw in self._raw(waiting_s):
            for piece in inflated(raw):
                total += len(piece)
                yield piece[: most - total] if total > most else piece
                if total > most:
                    break
            if max(total, self.wire_bytes) > most:
                if cut:
                    return
                raise Stop(Outcome.TOO_LARGE, f"more than {most} bytes")
        for layer in layers:
            layer.finish()

    async def beginning(self) -> bytes:
        """Return the beginning of the body, as far as it comes in time and can be read."""
        kept = bytearray()
        with suppress(*CAUGHT):
            async with asyncio.timeout(BEGINNING_S):
                inflated = codings.chained(codings.decoders(self._coding))
                async for raw in self._raw(None):
                    for piece in inflated(raw):
                        kept += piece
                        if len(kept) > BEGINNING_BYTES:
                            return bytes(kept[:BEGINNING_BYTES])
        return bytes(kept)

    async def _raw(self, waiting_s: float | None) -> AsyncIterator[bytes]:
        if not isinstance(self._got.stream, httpx.AsyncByteStream):
            raise TypeError("the transport is asynchronous, and so are its bodies")
        loop = asyncio.get_running_loop()
        chunks = aiter(self._got.stream)
        waited_s = 0.0
        while True:
            before = loop.time()
            earned_s = PATIENCE_S + self.wire_bytes / SLOWEST
            left_s = None if waiting_s is None else min(waiting_s, earned_s) - waited_s
            async with asyncio.timeout(left_s):
                chunk = await anext(chunks, None)
            waited_s += loop.time() - before
            if chunk is None:
                return
            self.wire_bytes += len(chunk)
            yield chunk
