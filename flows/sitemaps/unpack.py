"""gzip, recognized by its first bytes: names and types of sitemaps say nothing (RFC 1952)."""

import zlib
from collections.abc import Generator, Iterator

from flows.sitemaps.faults import Faults

PIECE = 1 << 18
"""Bytes handed on at once, at most: what bounds memory, whatever a file unpacks to."""

LAYERS = 2
"""Times a file may be packed; servers that pack what is packed already exist."""

MAGIC = b"\x1f\x8b\x08"
"""The first bytes of a member that is deflated (RFC 1952 §2.3)."""

_STEP = 1 << 15
"""Bytes that are inflated between two copies of the inflater."""


class Unpacker:
    """Takes a file in any pieces, gives its unpacked bytes in small ones. Never raises.

    Members may follow each other, bytes may follow the last one. Of a damaged file everything that
    comes before the damage is given, byte for byte, however the file was cut into pieces.
    """

    def __init__(self, faults: Faults) -> None:
        """Report damage to `faults`."""
        self._layers = [_Layer(faults) for _ in range(LAYERS)]

    @property
    def whole(self) -> bool:
        """Whether nothing was damaged and no stream lacked its end; known when closed."""
        return all(layer.whole for layer in self._layers)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what can be unpacked now."""
        return self._through(0, data)

    def close(self) -> Iterator[bytes]:
        """Yield what was held back."""
        for depth, layer in enumerate(self._layers):
            for piece in layer.close():
                yield from self._through(depth + 1, piece)

    def _through(self, depth: int, data: bytes) -> Iterator[bytes]:
        if depth == len(self._layers):
            yield data
            return
        for piece in self._layers[depth].feed(data):
            yield from self._through(depth + 1, piece)


class _Layer:
    """One packing, or none."""

    def __init__(self, faults: Faults) -> None:
        self.whole = True
        self._faults = faults
        self._plain = False
        self._held = b""
        """The first bytes of a member, as long as they are too few to tell."""
        self._inflater: zlib._Decompress | None = None
        self._members = 0
        self._over = False
        """Nothing is unpacked any more: bytes after the last member, or damage."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        for at in range(0, len(data), PIECE if self._plain else _STEP):
            if self._plain:
                yield data[at : at + PIECE]
            else:
                yield from self._read(data[at : at + _STEP])
                if self._plain:
                    yield from self.feed(data[at + _STEP :])
                    return

    def close(self) -> Iterator[bytes]:
        if self._inflater is not None:
            self._damaged("the gzip stream has no end")
        elif self._held and not self._members:
            yield self._held
        self._held = b""

    def _read(self, data: bytes) -> Iterator[bytes]:
        while data and not self._over:
            if self._inflater is not None:
                data = yield from self._inflate(self._inflater, data)
                continue
            data = self._held + data
            self._held = data if len(data) < len(MAGIC) and MAGIC.startswith(data) else b""
            if self._held:
                return
            if data.startswith(MAGIC):
                self._inflater = zlib.decompressobj(wbits=31)
            elif self._members:
                self._over = True
            else:
                self._plain = True
                yield data
                return
        if data.strip(b"\0") and self.whole:  # zeros are padding
            self._faults.once("sitemap_gzip_error", "bytes after the gzip stream")

    def _inflate(self, inflater: "zlib._Decompress", data: bytes) -> Generator[bytes, None, bytes]:
        """Yield the unpacked bytes of `data`; return what does not belong to this member."""
        before, given, rest = inflater.copy(), 0, data
        try:
            while True:
                piece = inflater.decompress(rest, PIECE)
                given += len(piece)
                if piece:
                    yield piece
                rest = inflater.unconsumed_tail
                if inflater.eof or (not rest and len(piece) < PIECE):
                    break
        except zlib.error as error:
            yield from _again(before, data, given)
            self._damaged(str(error))
            return b""
        if not inflater.eof:
            return b""
        self._inflater = None
        self._members += 1
        return inflater.unused_data

    def _damaged(self, detail: str) -> None:
        self._faults.once("sitemap_gzip_error", detail)
        self._inflater = None
        self._over = True
        self.whole = False


def _again(inflater: "zlib._Decompress", data: bytes, given: int) -> Iterator[bytes]:
    """Yield what `data` gives before its damage: zlib keeps that back when it raises."""
    for at in range(len(data)):
        try:
            piece = inflater.decompress(data[at : at + 1])
        except zlib.error:
            return
        if piece[given:]:
            yield piece[given:]
        given = max(0, given - len(piece))
