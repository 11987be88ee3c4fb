"""Guaranteed: no bytes raise, no cut of the bytes changes an entry, and memory stays flat."""

import gzip
import tracemalloc
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flows import sitemaps, urls
from flows.records import Columns
from flows.sitemaps import plain
from flows.sitemaps.plain import Plain

URL = "https://docs.example.org/maps/all.xml"

BITS = [
    "<urlset>",
    '<urlset xmlns="x" xmlns:s="x" xmlns:image="i">',
    "</urlset>",
    "<sitemapindex>",
    "<sitemap><loc>/a.xml</loc></sitemap>",
    "<s:urlset>",
    "<s:url>",
    "<s:loc>/s</s:loc>",
    "</s:url>",
    "<url>",
    "</url>",
    "<loc>",
    "</loc>",
    "<loc>/1</loc>",
    "<url><loc>https://docs.example.org/2</loc></url>",
    "<url><lastmod>2024</lastmod><loc>/3?a&amp;b&c</loc><priority>0.5</priority></url>",
    "<url><loc>/4</loc><image:image><image:loc>/i</image:loc></image:image></url>",
    '<url><loc>/5</loc><x:link rel="alternate" hreflang="de" href="/de"/></url>',
    "<![CDATA[",
    "/6&",
    "]]>",
    "<!--",
    "-->",
    "<?xml version='1.0' encoding='latin-1'?>",
    "<?",
    "?>",
    "<!DOCTYPE u [<!ENTITY e 'x'>]>",
    "&e;",
    "&eacute;",
    "<rss><channel><item><link>/7</link>",
    "</item>",
    "<feed><entry><link href='/8'/></entry>",
    "<html>",
    "<b>",
    "<br />",
    "<",
    ">",
    "&",
    '"',
    "é",
    "\x00",
    "\n",
    "https://docs.example.org/9\n",
    "words \r\n",
]
"""What sitemaps are made of, and what spoils them."""

ENTRIES = [
    f"<url>{entry}</url>\n"
    for entry in (
        "<loc>https://docs.example.org/%d</loc>",
        "<loc>https://docs.example.org/%d</loc><lastmod>2024-05-06</lastmod>",
        "<lastmod>2024-05-06</lastmod><loc>https://docs.example.org/%d</loc>",
        "<loc>https://docs.example.org/%d</loc>\n<priority>0.7</priority> ",
        "<loc>https://docs.example.org/%d</loc><lastmod>2024</lastmod><lastmod>2025</lastmod>",
        "<loc>https://docs.example.org/%d</loc><lastmod>soon</lastmod><priority>2</priority>",
        "<loc>https://docs.example.org/%d?a=1&amp;b</loc>",
        "<loc>https://other.example.org/%d#top</loc>",
        "<loc> https://docs.example.org/%d\nhttps://docs.example.org/x</loc>",
        "<loc>/%d</loc>",
        "<x:image>a</x:image><loc>https://docs.example.org/%d</loc>",
        "<loc></loc><lastmod>%d</lastmod>",
        "<name>a</name><loc>https://docs.example.org/%d</loc>",
        "%d",
    )
]
"""Entries that follow each other, alike or not."""

FILES = st.lists(st.sampled_from(BITS), max_size=25).map("".join)
ENCODED = st.tuples(
    FILES, st.sampled_from(["utf-8", "utf-8", "utf-16", "latin-1", "utf-8-sig"])
).map(lambda file: file[0].encode(file[1], "replace"))
DATA = ENCODED | ENCODED.map(gzip.compress) | st.binary(max_size=200)


def read(pieces: list[bytes], *, skim: bool = True) -> tuple[object, ...]:
    """Return everything that a reader finds."""
    reader = sitemaps.Reader(URL)
    if not skim:
        # Comments keep the quick way from being taken.
        pieces = [
            b"".join(pieces)
            .replace(b"<url>", b"<url><!---->")
            .replace(b"<s:url>", b"<s:url><!---->")
        ]
    found = [entry for piece in pieces for entry in reader.feed(piece)]
    found += reader.close()
    kinds = {problem.kind for problem in reader.problems}
    return found, reader.kind, reader.complete, reader.entries, reader.lastmod_max, kinds


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(ends)]


@given(DATA, st.lists(st.integers(0, 10_000), max_size=8))
def test_any_cut_of_the_bytes_gives_the_same(data: bytes, places: list[int]) -> None:
    assert read(cut(data, places)) == read([data])


@given(DATA)
def test_bytes_one_by_one_give_the_same(data: bytes) -> None:
    assert read([data[at : at + 1] for at in range(len(data))]) == read([data])


@given(FILES.map(str.encode))
def test_plain_entries_are_what_their_tags_say(data: bytes) -> None:
    read_quickly = read([data])
    if b"<!" not in data and b"<?" not in data and read_quickly[1] != "text":
        assert read([data], skim=False) == read_quickly


@given(st.lists(st.tuples(st.sampled_from(ENTRIES), st.integers(1, 9)), max_size=8))
def test_runs_of_entries_are_what_their_tags_say(runs: list[tuple[str, int]]) -> None:
    entries = (entry for entry, times in runs for _ in range(times))
    data = "".join(entry % number for number, entry in enumerate(entries))
    whole = f"<urlset xmlns:x='y'>\n{data}</urlset>".encode()

    assert read([whole]) == read([whole], skim=False)


@given(DATA, st.integers(0, 10_000))
@example(b"https://docs.example.org/9\n/6&", 27)
def test_a_cut_file_gives_a_beginning_of_what_the_whole_one_gives(data: bytes, place: int) -> None:
    whole, part = sitemaps.Reader(URL), sitemaps.Reader(URL)
    entries = [*whole.feed(data), *whole.close(complete=False)]
    found = [*part.feed(data[: place % (len(data) + 1)]), *part.close(complete=False)]

    # Whether a few lines are a list is for most of them to say, and the beginning has but some.
    assert found == entries[: len(found)] or (whole.kind, part.kind) == (None, "text")
    assert not part.complete


@given(st.binary(max_size=2_000))
def test_no_bytes_raise(data: bytes) -> None:
    for packed in (data, gzip.compress(data), b"<urlset><url><loc>" + data):
        read([packed])


def pieces(entries: int) -> Iterator[bytes]:
    yield b"<urlset>"
    for number in range(entries):
        yield b"<url><loc>https://docs.example.org/%d</loc><lastmod>2024</lastmod></url>" % number
    yield b"</urlset>"


def peak(entries: int) -> int:
    reader = sitemaps.Reader(URL)
    tracemalloc.start()
    try:
        count = sum(len(reader.feed(piece)) for piece in pieces(entries)) + len(reader.close())
        return tracemalloc.get_traced_memory()[1] if count == entries else 0
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_entries() -> None:
    few, many = peak(1_000), peak(20_000)

    assert 0 < many < few + 200_000  # the file has 1.4 MB; other threads take some meanwhile


def many(found: list[sitemaps.Found]) -> int:
    return sum(len(one.url) if isinstance(one, Columns) else 1 for one in found)


def test_entries_of_a_small_packed_piece_can_be_taken_some_at_a_time() -> None:
    data = gzip.compress(b"".join(pieces(60_000)))
    reader = sitemaps.Reader(URL)
    tracemalloc.start()
    try:
        count = sum(map(many, reader.stream(data)))
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert count + len(reader.close()) == 60_000
    assert used < 6_000_000


@pytest.mark.parametrize(
    "spoiled",
    [
        pytest.param(b"<a>" * 30_000, id="nesting"),
        pytest.param(b"<" * 80_000, id="angles"),
        pytest.param(b"<a b='" * 50_000, id="quotes"),
        pytest.param(b"<" + b"x" * 300_000, id="a name"),
        pytest.param(b"<a b='" + b"x" * 300_000, id="an attribute"),
        pytest.param(b"<!--" + b"- " * 150_000, id="a comment"),
        pytest.param(b"<url><loc>" + b"&" * 300_000, id="ampersands"),
        pytest.param(b"<url><loc>" + b"<!---->" * 50_000, id="empty comments"),
        pytest.param(b"\xe9" * 300_000, id="stray bytes"),
        pytest.param(b"</x>" * 30_000, id="end tags"),
    ],
)
def test_what_never_ends_is_not_kept(spoiled: bytes) -> None:
    reader = sitemaps.Reader(URL)
    reader.feed(b"<urlset><url><loc>/1</loc></url>")
    tracemalloc.start()
    try:
        for at in range(0, len(spoiled), 4_096):
            reader.feed(spoiled[at : at + 4_096])
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()

    assert held < 200_000
    assert not reader.complete


@pytest.mark.parametrize("between", ["<!-- -->", "< ", "<a/>", "<url id='1'/>"])
def test_what_stands_between_plain_entries_is_not_looked_at_again_and_again(between: str) -> None:
    text = "".join(f"<url><loc>http://a.test/{n}</loc></url>{between}" for n in range(2_000))
    quick = Plain("")
    looked, every = [0], quick._all

    def counted(*where: object) -> list[tuple[str, ...]]:
        found: list[tuple[str, ...]] = every(*where)
        looked[0] += len(found)
        return found

    quick._all = counted
    at = read_entries = 0
    while at < len(text):
        run = quick.entries(text, at)
        read_entries += len(run.whole) if run else 0
        at += sum(map(len, run.whole)) if run else len(between)

    assert read_entries == 2_000
    assert looked[0] < 2 * read_entries


@pytest.mark.parametrize(
    ("begin", "entry"),
    [
        pytest.param("<urlset>", "<url><loc>http://a{0}.test/</loc></url><a/>", id="origins"),
        pytest.param(
            "",
            "<a{0}:urlset><a{0}:url><a{0}:loc>http://a.test/</a{0}:loc></a{0}:url></a{0}:urlset>",
            id="prefixes of roots",
        ),
    ],
)
def test_no_expression_is_made_for_each_entry(begin: str, entry: str) -> None:
    def made() -> int:
        return plain._expressions.cache_info().misses + urls._lines_of.cache_info().misses

    before, reader = made(), sitemaps.Reader(URL)
    text = begin + "".join(map(entry.format, range(300)))
    found = [*reader.feed(text.encode()), *reader.close()]

    assert len(found) == 300
    assert made() - before <= 3


def test_roots_of_one_prefix_are_all_read_quickly() -> None:
    reader = sitemaps.Reader(URL)
    entries = "<url><loc>http://a.test/</loc></url>" * 100
    (found,) = reader.stream(f"<urlset>{entries}</urlset><urlset>{entries}</urlset>".encode())

    assert all(isinstance(some, Columns) for some in found)
    assert sum(len(some.url) for some in found if isinstance(some, Columns)) == 200
