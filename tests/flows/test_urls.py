"""Guaranteed: every spelling of an address has one canonical form; junk has none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import urls

BASE = "https://docs.example.org/guide/start?page=2"

LETTERS = st.text(st.sampled_from("htps:/@[]?#%.\\ aZ09-_~eé日\u200b\t&='\"<>|^`{}(80)*,;+!$"))
"""Text that looks like a URL more often than chance would have it."""


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param(
            "HTTP://DOCS.Example.ORG/P",
            "http://docs.example.org/P",
            id="RFC 3986 §6.2.2.1 scheme and host fold, the path does not",
        ),
        pytest.param(
            "http://a.test/%7euser/%c3%a9/%2f",
            "http://a.test/~user/%C3%A9/%2F",
            id="RFC 3986 §6.2.2.2 unreserved decoded, hex in capitals, reserved kept",
        ),
        pytest.param(
            "http://a.test/b/./c/../../d/.",
            "http://a.test/d/",
            id="RFC 3986 §6.2.2.3 dot segments",
        ),
        pytest.param(
            "http://a.test/b/%2e%2E/c", "http://a.test/c", id="RFC 3986 §6.2.2.3 encoded dots"
        ),
        pytest.param(
            "http://a.test/../../b", "http://a.test/b", id="RFC 3986 §5.4.2 above the root"
        ),
        pytest.param("http://a.test//b//c", "http://a.test//b//c", id="empty segments count"),
        pytest.param("http://a.test:80", "http://a.test/", id="RFC 3986 §6.2.3 default port"),
        pytest.param("https://a.test:0443/", "https://a.test/", id="a port is a number"),
        pytest.param("https://a.test:80/", "https://a.test:80/", id="the other scheme's port"),
        pytest.param("https://a.test:/", "https://a.test/", id="RFC 3986 §6.2.3 empty port"),
        pytest.param("http://a.test?q", "http://a.test/?q", id="no path before a query"),
        pytest.param("http://a.test/?", "http://a.test/?", id="an empty query is a query"),
        pytest.param("http://a.test/b#c?d", "http://a.test/b", id="RFC 9110 §4.2.5 fragment"),
        pytest.param(
            "http://a.test/?b=2&a=1&a=&c", "http://a.test/?b=2&a=1&a=&c", id="query order is kept"
        ),
        pytest.param("http://a.test/?a[]=1", "http://a.test/?a[]=1", id="brackets as browsers do"),
        pytest.param(
            'http://a.test/it\'s?x="y z"|<{',
            "http://a.test/it's?x=%22y%20z%22%7C%3C%7B",
            id="illegal characters are encoded",
        ),
        pytest.param("http://a.test/100%", "http://a.test/100%25", id="a percent sign alone"),
        pytest.param("http://a.test/%%341", "http://a.test/%2541", id="a percent sign in front"),
        pytest.param("http://a.test/%zz", "http://a.test/%25zz", id="an escape that is none"),
        pytest.param(
            "http://a.test/straße/日本?ä",
            "http://a.test/stra%C3%9Fe/%E6%97%A5%E6%9C%AC?%C3%A4",
            id="RFC 3987 §3.1 letters as UTF-8",
        ),
        pytest.param("http://a.test/\ud800", "http://a.test/%3F", id="a lone surrogate"),
        pytest.param("http://bücher.test/", "http://xn--bcher-kva.test/", id="RFC 5891 §4.4 IDN"),
        pytest.param("http://Straße.test/", "http://xn--strae-oqa.test/", id="UTS 46 sharp s"),
        pytest.param("http://☃.test/", "http://xn--n3h.test/", id="a symbol as a name"),
        pytest.param(
            "http://\uff41\u3002test/", "http://a.test/", id="UTS 46 wide letters and dots"
        ),
        pytest.param("http://xn--n3h.test/", "http://xn--n3h.test/", id="an A-label stays"),
        pytest.param("http://my_host.test/", "http://my_host.test/", id="an underscore in a name"),
        pytest.param(
            "http://%61.test/", "http://a.test/", id="RFC 3986 §3.2.2 an escape in a name"
        ),
        pytest.param("http://[0:0:0::1]:80/", "http://[::1]/", id="RFC 5952 §4.2 IPv6 short form"),
        pytest.param("http://[2001:DB8::1]:81/", "http://[2001:db8::1]:81/", id="IPv6 and port"),
        pytest.param("http://me:pw@a.test/b", "http://a.test/b", id="RFC 9110 §4.2.4 no userinfo"),
        pytest.param("http://a.test@b.test/", "http://b.test/", id="a host posing as userinfo"),
        pytest.param(" \ufeff\n http://a.test/b \u200b", "http://a.test/b", id="space at the ends"),
        pytest.param("http://a.t\nest/b\t/c", "http://a.test/b/c", id="line ends inside"),
        pytest.param("http:\\\\a.test\\b?c\\d", "http://a.test/b?c%5Cd", id="backslashes"),
    ],
)
def test_one_address_has_one_spelling(url: str, expected: str) -> None:
    assert urls.canonical(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "   ",
        "page.html",
        "/page",
        "//a.test/",
        "mailto:me@a.test",
        "javascript:void(0)",
        "data:text/plain,x",
        "ftp://a.test/",
        "file:///etc/hosts",
        "a.test:8080/x",
        "http:",
        "http://",
        "http:///p",
        "http:/p",
        "http:p",
        "http://?q",
        "http://me@/",
        "http://a.test:0/",
        "http://a.test:65536/",
        "http://a.test:1a/",
        "http://a.test:-1/",
        "http://a.test:²/",
        "http://a.test:" + "9" * 5000,
        "http://[::1",
        "http://[::1%25lo]/",
        "http://[v1.x]/",
        "http://a..test/",
        "http://.test/",
        "http://a b.test/",
        "http://a%2Fb.test/",
        "http://%FF.test/",
        "http://a℀b.test/",
        "http://" + "a" * 64 + ".test/",
        "http://" + "a.test." * 40 + "x/",
        "http://a.test/" + "x" * urls.MAX_LENGTH,
        "http://a.test/" + "日" * (urls.MAX_LENGTH // 4),
    ],
    ids=lambda url: url[:24] or "nothing",
)
def test_what_is_no_http_url_has_no_canonical_form(url: str) -> None:
    assert urls.canonical(url) is None


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("", BASE),
        ("#part", BASE),
        ("?page=3", "https://docs.example.org/guide/start?page=3"),
        ("next", "https://docs.example.org/guide/next"),
        ("./next#x", "https://docs.example.org/guide/next"),
        ("../api/", "https://docs.example.org/api/"),
        ("../../../up", "https://docs.example.org/up"),
        ("/root?q", "https://docs.example.org/root?q"),
        ("//other.test", "https://other.test/"),
        ("\\\\other.test\\x", "https://other.test/x"),
        ("http://other.test/x", "http://other.test/x"),
        (" a b ", "https://docs.example.org/guide/a%20b"),
        ("a:b", None),
        ("./a:b", "https://docs.example.org/guide/a:b"),
    ],
)
def test_a_reference_is_resolved_as_rfc_3986_section_5_says(
    reference: str, expected: str | None
) -> None:
    assert urls.canonical(reference, BASE) == expected


def test_a_base_that_is_no_url_resolves_nothing() -> None:
    assert urls.canonical("/x", base="about:blank") is None
    assert urls.canonical("http://a.test/x", base="about:blank") == "http://a.test/x"


def test_a_url_of_8_kb_is_kept() -> None:
    url = "https://a.test/" + "k" * 8192

    assert urls.canonical(url) == url


@given(LETTERS | st.text())
def test_canonical_is_idempotent_and_never_raises(text: str) -> None:
    once = urls.canonical(text, BASE)

    assert once is None or urls.canonical(once) == once


@given(LETTERS.map("http://a.test/".__add__) | LETTERS.map("hTTps://".__add__))
def test_the_quick_path_and_the_long_one_agree(text: str) -> None:
    once = urls.canonical(text)

    # A space in front keeps the quick path from seeing what is canonical already.
    assert once is None or urls.canonical(" " + once) == once


SOME = st.sampled_from(
    ["http://a.test/", "http://a.test/b?c=%20", "http://b.test/", "http://a.test/\nhttp://a.test/"]
)


@given(st.lists(SOME | LETTERS.map("http://a.test/".__add__), max_size=4), st.booleans())
def test_texts_are_canonical_together_when_each_is(texts: list[str], are_many: bool) -> None:
    several = ["http://a.test/"] * (urls.MANY if are_many else 0) + texts
    together = urls.are_canonical(several)

    assert together is all(urls.are_canonical([text]) for text in several)
    assert not together or [urls.canonical(text) for text in several] == several


@given(LETTERS.map("http://a.test/".__add__))
def test_a_canonical_url_is_ascii_without_fragment_and_stays_on_its_host(text: str) -> None:
    once = urls.canonical(text)

    assert once is not None
    assert once.isascii()
    assert "#" not in once
    assert not any(c.isspace() for c in once)
    assert urls.origin(once) == "http://a.test"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://docs.example.org/a?b", "https://docs.example.org"),
        ("https://docs.example.org", "https://docs.example.org"),
        ("HTTPS://me@Docs.Example.org:443?x", "https://docs.example.org"),
        ("http://docs.example.org:8080/", "http://docs.example.org:8080"),
        ("http://[::1]:8080/x", "http://[::1]:8080"),
        ("ftp://docs.example.org/", None),
        ("", None),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, expected: str | None) -> None:
    assert urls.origin(url) == expected


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("https://example.org", True),
        ("http://example.org", True),
        ("http://www.example.org", True),
        ("https://www.www.example.org", False),
        ("https://example.org:8443", False),
        ("https://docs.example.org", False),
        ("https://example.com", False),
    ],
)
def test_only_scheme_and_www_may_differ_within_one_name(other: str, same: bool) -> None:
    assert urls.same_name("https://example.org", other) is same
    assert urls.same_name(other, "https://example.org") is same


def test_www_itself_is_a_name() -> None:
    assert not urls.same_name("http://www.test", "http://test")


def test_a_hash_is_64_bits_and_the_same_on_every_machine() -> None:
    assert urls.hash64("https://example.org/") == 7_982_605_172_991_246_264
    assert urls.hash64("\ud800") < 2**64
