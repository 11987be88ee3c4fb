"""Guaranteed: gzip is undone whatever a file is called, and damage costs only what is damaged."""

import gzip
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.sitemaps.faults import Faults
from flows.sitemaps.unpack import PIECE, Unpacker

TEXT = b"".join(b"<url><loc>https://a.test/%d</loc></url>\n" % n for n in range(3_000))


def unpacked(data: bytes, step: int = 1 << 16) -> tuple[bytes, bool, list[str]]:
    faults = Faults("https://a.test/s.xml.gz")
    unpacker = Unpacker(faults)
    pieces = [p for at in range(0, len(data), step) for p in unpacker.feed(data[at : at + step])]
    pieces += unpacker.close()
    assert all(len(piece) <= PIECE for piece in pieces)
    return b"".join(pieces), unpacker.whole, [problem.kind for problem in faults.problems()]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(TEXT, id="not packed"),
        pytest.param(gzip.compress(TEXT), id="packed"),
        pytest.param(gzip.compress(gzip.compress(TEXT)), id="packed twice"),
        pytest.param(
            gzip.compress(TEXT[:50]) + gzip.compress(b"") + gzip.compress(TEXT[50:]),
            id="RFC 1952 §2.2 members",
        ),
        pytest.param(gzip.compress(TEXT) + bytes(512), id="padding"),
    ],
)
@pytest.mark.parametrize("step", [1, 7, 1 << 16])
def test_a_whole_file_is_unpacked_without_a_fault(data: bytes, step: int) -> None:
    assert unpacked(data, step) == (TEXT, True, [])


@pytest.mark.parametrize("step", [1, 100, 1 << 16])
def test_bytes_after_the_last_member_are_left_out(step: int) -> None:
    found, whole, kinds = unpacked(gzip.compress(TEXT) + b"junk", step)

    assert found == TEXT
    assert whole
    assert kinds == ["sitemap_gzip_error"]


@pytest.mark.parametrize("step", [1, 100, 1 << 16])
def test_a_wrong_checksum_costs_no_byte(step: int) -> None:
    data = gzip.compress(TEXT)
    found, whole, kinds = unpacked(data[:-8] + b"\0\0\0\0" + data[-4:], step)

    assert found == TEXT
    assert not whole
    assert kinds == ["sitemap_gzip_error"]


@pytest.mark.parametrize("step", [1, 100, 1 << 16])
def test_a_cut_stream_gives_what_it_held(step: int) -> None:
    data = gzip.compress(TEXT)
    found, whole, kinds = unpacked(data[: len(data) // 2], step)

    assert len(found) > len(TEXT) // 4
    assert TEXT.startswith(found)
    assert not whole
    assert kinds == ["sitemap_gzip_error"]


@pytest.mark.parametrize("data", [b"\x1f", b"\x1f\x8b", b"\x1f\x8b\x07 is no gzip", b""])
def test_a_beginning_that_only_looks_like_gzip_is_kept(data: bytes) -> None:
    assert unpacked(data, 1) == (data, True, [])


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_damage_costs_the_same_however_the_bytes_arrive(seed: int, bytes_hit: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    data = bytearray(gzip.compress(TEXT[:4_000]))
    for _ in range(bytes_hit):
        data[chance.randrange(3, len(data))] = chance.randrange(256)
    at_once = unpacked(bytes(data))

    assert unpacked(bytes(data), chance.randrange(1, 200)) == at_once
    assert unpacked(bytes(data), 1) == at_once


def test_a_bomb_comes_in_small_pieces() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    data = b"".join(packer.compress(bytes(1 << 20)) for _ in range(20)) + packer.flush()
    sizes = [len(piece) for piece in Unpacker(Faults("x")).feed(data)]

    assert sum(sizes) == 20 << 20
    assert max(sizes) <= PIECE
