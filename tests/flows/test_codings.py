"""A content coding is undone piece by piece, within bounds, and its end is known."""

import contextlib
import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import codings


def inflated(coding: str, *parts: bytes) -> bytes:
    layers = codings.decoders(coding)
    feed = codings.chained(layers)
    out = b"".join(piece for part in parts for piece in feed(part))
    for layer in layers:
        layer.finish()
    return out


def raw(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return engine.compress(data) + engine.flush()


CODERS = {"gzip": gzip.compress, "deflate": zlib.compress, "x-deflate": raw}


@given(st.binary(max_size=5000), st.sampled_from(sorted(CODERS)), st.integers(1, 700))
def test_a_body_comes_back_however_it_is_cut(data: bytes, coding: str, step: int) -> None:
    packed = CODERS[coding](data)
    parts = [packed[at : at + step] for at in range(0, len(packed), step)]

    assert inflated(coding, *parts) == data


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "gzip, gzip"]))
def test_any_bytes_end_in_a_body_or_are_called_corrupt(data: bytes, coding: str) -> None:
    with contextlib.suppress(codings.Corrupt):
        inflated(coding, data)


@given(st.binary(min_size=20, max_size=2000), st.data())
def test_a_cut_body_never_passes_for_a_whole_one(data: bytes, draw: st.DataObject) -> None:
    for coding, pack in CODERS.items():
        packed = pack(data)
        cut = packed[: draw.draw(st.integers(2, len(packed) - 1))]

        with pytest.raises(codings.Corrupt):
            inflated(coding, cut)


def test_pieces_are_bounded() -> None:
    feed = codings.chained(codings.decoders("gzip"))

    sizes = [len(piece) for piece in feed(gzip.compress(bytes(10 << 20)))]
    assert max(sizes) <= codings.STEP
    assert sum(sizes) == 10 << 20


@pytest.mark.parametrize(
    "trail", [b"\0" * 40, b"garbage", b"\x1f", b"\x1f\x8b\x08\0\0\0\0\0\0\3\7"]
)
def test_what_trails_a_gzip_body_is_ignored(trail: bytes) -> None:
    packed = gzip.compress(b"words")

    assert inflated("gzip", packed + trail) == b"words"
    assert inflated("gzip", packed, trail, b"more garbage") == b"words"


def test_members_follow_one_another_across_parts() -> None:
    packed = gzip.compress(b"one") + gzip.compress(b"two")

    for at in range(len(packed)):
        assert inflated("gzip", packed[:at], packed[at:]) == b"onetwo"


@pytest.mark.parametrize("header", ["br", "zstd", "compress", "gzip, br", "gzip, gzip, gzip"])
def test_a_coding_that_was_not_offered_is_refused(header: str) -> None:
    with pytest.raises(codings.Unknown):
        codings.decoders(header)


@pytest.mark.parametrize("header", ["", "identity", "none", "UTF-8", " , "])
def test_no_coding_is_no_coding(header: str) -> None:
    assert codings.decoders(header) == []


def test_an_empty_body_is_empty_in_any_coding() -> None:
    assert inflated("gzip", b"") == inflated("deflate") == b""
