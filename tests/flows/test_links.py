"""Guaranteed: the links of any page, absolute and canonical, each once, with what `rel` says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import links
from flows.records import Link

PAGE = "https://docs.example.org/guide/start"


def read(body: str, base: str = PAGE, charset: str | None = None) -> list[tuple[str, str]]:
    found = links.read(body.encode(), base, charset)
    return [(link.url.removeprefix("https://docs.example.org"), link.rel) for link in found]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('<a href="/x">x</a>', [("/x", "")]),
        ('<a href="x?b=1&amp;a=2#part">x</a>', [("/guide/x?b=1&a=2", "")]),
        ('<a href="?page=2">2</a>', [("/guide/start?page=2", "")]),
        ('<A HREF=" ../api/\n ">x</A>', [("/api/", "")]),
        ('<a href="HTTPS://Docs.Example.org:443/x">x</a>', [("/x", "")]),
        ('<a href="/a b/é">x</a>', [("/a%20b/%C3%A9", "")]),
        ('<a href="//other.test/x">x</a>', [("https://other.test/x", "")]),
        ('<a href="http://other.test">x</a>', [("http://other.test/", "")]),
        ('<map><area href="/x"></map>', [("/x", "")]),
        ('<a href="/\\evil.test/x">x</a>', [("https://evil.test/x", "")]),
        ('<noscript><a href="/x">x</a></noscript>', [("/x", "")]),
        ('<META HTTP-EQUIV=Refresh content="0; URL=/x">', [("/x", "refresh")]),
        ('<meta http-equiv=refresh content="600; url=/x"><meta content="0; url=/y">', []),
        ('<meta http-equiv=refresh content="0; url=start#part">', []),
        ("<a href='/x'><a href=\"/x#y\"><a href=/z>", [("/x", ""), ("/z", "")]),
        (
            '<a href="/2"><link rel=next href="/3"><a href="/1">',
            [("/2", ""), ("/3", "next"), ("/1", "")],
        ),
    ],
)
def test_links_are_absolute_canonical_and_in_order(
    body: str, expected: list[tuple[str, str]]
) -> None:
    assert read(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "",
        "\0",
        "no markup",
        "<a>x</a>",
        '<a href="">x</a>',
        '<a href="#part">x</a>',
        '<a href=" \t#">x</a>',
        '<a href="mailto:me@a.test">x</a>',
        '<a href=" JavaScript:void(0)">x</a>',
        '<a href="data:text/html,x">x</a>',
        '<a href="tel:+1">x</a>',
        '<a href="ftp://a.test/x">x</a>',
        '<a href="http://[::1">x</a>',
        '<a href="http://a.test:0/">x</a>',
        '<link rel="stylesheet" href="/x.css">',
        '<link rel="alternate stylesheet" href="/x.css">',
        '<link rel="icon" href="/x.ico">',
        '<link href="/x">',
        '<img src="/x.png"><script src="/x.js"></script>',
        '<!-- <a href="/x">x</a> -->',
    ],
)
def test_what_leads_to_no_page_is_no_link(body: str) -> None:
    assert read(body) == []


@pytest.mark.parametrize(
    ("element", "rel"),
    [
        ('<a rel="nofollow" href="/x">', "nofollow"),
        ('<a rel="UGC  NoFollow,sponsored" href="/x">', "ugc nofollow sponsored"),
        ('<a rel="noopener noreferrer external" href="/x">', ""),
        ('<a rel="next" href="/x">', "next"),
        ('<a rel="Previous" href="/x">', "prev"),
        ('<link rel="prev" href="/x">', "prev"),
        ('<link rel="Canonical" href="/x">', "canonical"),
        ('<link rel="sitemap" type="application/xml" href="/x">', "sitemap"),
        ('<link rel="alternate" hreflang="de" href="/x">', "alternate"),
        (
            '<link rel="Alternate" type="Application/RSS+XML; charset=utf-8" href="/x">',
            "alternate application/rss+xml",
        ),
    ],
)
def test_the_words_of_rel_that_count_are_kept(element: str, rel: str) -> None:
    assert read(element) == [("/x", rel)]


def test_a_url_comes_once_for_each_rel() -> None:
    body = '<a href="/x"><a href="/x#a"><a rel=nofollow href="/x"><a rel=noopener href="/x">'

    assert read(body) == [("/x", ""), ("/x", "nofollow")]


@pytest.mark.parametrize(
    ("meta", "rel"),
    [
        ('<meta name="robots" content="noindex,NOFOLLOW">', "next nofollow"),
        ('<META NAME=" Robots " CONTENT="none">', "next nofollow"),
        ('<meta name="robots" content="noindex">', "next"),
        ('<meta name="robots">', "next"),
        ('<meta name="description" content="nofollow">', "next"),
    ],
)
def test_a_page_that_asks_not_to_be_followed_says_so_of_every_link(meta: str, rel: str) -> None:
    assert read(f'<head>{meta}</head><a rel="next" href="/x">') == [("/x", rel)]


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ('<base href="/b/">', "/b/x"),
        ('<base target="_top"><base href="/b/"><base href="/c/">', "/b/x"),
        ('<base href="https://other.test/b">', "https://other.test/x"),
        ('<base href="javascript:x">', "/guide/x"),
        ('<base href="">', "/guide/x"),
    ],
)
def test_links_are_relative_to_the_base_of_the_page(base: str, expected: str) -> None:
    assert read(f'<a href="x">{base}')[0][0] == expected


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("<a href='/é'>".encode(), None),
        ("<a href='/é'>".encode(), "utf-8"),
        ("<a href='/é'>".encode("latin-1"), "ISO-8859-1"),
        ("<meta charset=latin-1><a href='/é'>".encode("latin-1"), None),
        ("<meta charset=latin-1><a href='/é'>".encode(), "utf-8"),
        ("<a href='/é'>".encode(), "no-such-charset"),
        ("<a href='/é'>".encode("utf-8-sig"), None),
        ("<a href='/é'>".encode("utf-16"), None),
    ],
    ids=["none", "header", "latin header", "latin meta", "both", "nonsense", "mark", "utf-16"],
)
def test_the_encoding_of_a_page_is_found(body: bytes, charset: str | None) -> None:
    assert links.read(body, PAGE, charset) == (Link(url="https://docs.example.org/%C3%A9"),)


def test_a_page_of_very_many_links_gives_the_first_of_them() -> None:
    body = "".join(f"<a href=/{n}>x</a>" for n in range(links.MAX_LINKS + 100))
    found = read(body)

    assert len(found) == links.MAX_LINKS
    assert found[-1] == (f"/{links.MAX_LINKS - 1}", "")


def test_a_page_without_a_url_of_its_own_still_has_absolute_links() -> None:
    assert read('<a href="/x"><a href="http://a.test/y">', base="about:blank") == [
        ("http://a.test/y", "")
    ]


def test_very_deep_pages_are_read_as_far_as_the_parser_goes() -> None:
    body = '<a href="/x">x</a>' + "<div>" * 5_000 + '<a href="/y">y</a>'

    assert ("/x", "") in read(body)


@given(st.binary(max_size=400), st.sampled_from([None, "utf-8", "utf-16", "rot13", "\0", "é"]))
def test_no_bytes_raise(body: bytes, charset: str | None) -> None:
    for page in (body, b"<a href='" + body + b"'>", b"<base href='" + body + b"'><a href=x>"):
        for link in links.read(page, PAGE, charset):
            assert link.url.startswith(("http://", "https://"))
            assert link.url.isascii()
