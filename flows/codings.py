"""Content codings of HTTP: gzip and deflate, undone as the bytes arrive and within a bound."""

import zlib
from collections.abc import Callable, Generator, Iterator

OFFERED = "gzip, deflate"
"""Accept-Encoding: only what this module undoes."""

STEP = 64 * 1024
"""Most bytes that one step of inflation yields."""

MAX_LAYERS = 2
"""Codings one over the other that are undone."""

_AS_IS = frozenset({"", "identity", "none", "utf-8", "8bit", "binary"})
"""What servers write into Content-Encoding when there is none."""

_GZIP = b"\x1f\x8b"


class Corrupt(ValueError):  # noqa: N818  # it says what the bytes are
    """The bytes are not what their coding says."""


class Cut(Corrupt):
    """The bytes end before their coding does."""


class Unknown(ValueError):  # noqa: N818  # it says what the coding is
    """A coding that nobody offered."""


class Plain:
    """No coding: what goes in comes out."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield `data`."""
        yield data

    def finish(self) -> None:
        """Do nothing: any end is a good end."""


class Inflated:
    """gzip or deflate, in steps of at most `STEP` bytes.

    gzip: members follow one another, and what follows the last one is ignored. deflate: with the
    zlib wrapper of RFC 9110 §8.4.1.2, or without it, as many servers send it. A body that says
    gzip and is plain passes as it is.
    """

    def __init__(self, coding: str) -> None:
        """Take `gzip` or `deflate`."""
        self._gzip = coding == "gzip"
        self._engine: zlib._Decompress | None = None
        self._head = b""
        self._plain = False
        self._over = False
        self._members = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what `data` adds; raise `Corrupt` when it is not what it says."""
        if self._plain:
            yield data
            return
        data = self._head + data
        while data and not self._over:
            if self._engine is None and not self._begin(data):
                if self._plain:
                    yield data
                return
            self._head = b""
            data = yield from self._inflate(data)

    def finish(self) -> None:
        """Raise `Cut` unless the coding has come to its own end."""
        if self._engine is not None or (self._head and not self._members):
            raise Cut("the body ends inside its content coding")

    def _begin(self, data: bytes) -> bool:
        """Choose how to read on; False when there is nothing to inflate, or not yet."""
        if len(data) < len(_GZIP):
            self._head = data
            return False
        if self._members and not (self._gzip and data.startswith(_GZIP)):
            self._over = True
            return False
        if self._gzip and not data.startswith(_GZIP):
            self._plain = True
            return False
        self._engine = zlib.decompressobj(zlib.MAX_WBITS | 16 if self._gzip else _bits(data))
        return True

    def _inflate(self, data: bytes) -> Generator[bytes, None, bytes]:
        engine = self._engine
        if engine is None:
            return b""
        while True:
            try:
                piece = engine.decompress(data, STEP)
            except zlib.error as error:
                if self._members:  # trailing bytes that only look like another member
                    self._engine, self._over = None, True
                    return b""
                raise Corrupt(str(error)) from None
            if piece:
                yield piece
            if engine.eof:
                self._engine = None
                self._members += 1
                return engine.unused_data
            data = engine.unconsumed_tail
            if not data and len(piece) < STEP:
                return b""


Decoder = Plain | Inflated


def decoders(content_encoding: str) -> list[Decoder]:
    """Return what undoes a Content-Encoding, outermost first; raise `Unknown` for other codings.

    >>> [type(d).__name__ for d in decoders("x-gzip")]
    ['Inflated']
    >>> decoders("identity")
    []
    """
    names = [name.strip().lower().removeprefix("x-") for name in content_encoding.split(",")]
    coded = [name for name in names if name not in _AS_IS]
    for name in coded:
        if name not in {"gzip", "deflate"}:
            raise Unknown(f"Content-Encoding {name[:40]} was not offered")
    if len(coded) > MAX_LAYERS:
        raise Unknown(f"{len(coded)} content codings, one over the other")
    return [Inflated(name) for name in reversed(coded)]


def chained(layers: list[Decoder]) -> Callable[[bytes], Iterator[bytes]]:
    """Return a function that passes bytes through all layers."""

    def feed(data: bytes, at: int = 0) -> Iterator[bytes]:
        if at == len(layers):
            yield data
            return
        for piece in layers[at].feed(data):
            yield from feed(piece, at + 1)

    return feed


def _bits(data: bytes) -> int:
    """Return zlib's window bits for a deflate body: with the wrapper of RFC 1950, or without."""
    wrapped = data[0] & 0x0F == 8 and data[0] >> 4 <= 7 and (data[0] << 8 | data[1]) % 31 == 0
    return zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS
