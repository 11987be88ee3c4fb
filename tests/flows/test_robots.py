"""Guaranteed: robots.txt is understood however it is written, and no file makes a verdict dear."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import robots

URL = "https://docs.example.org/robots.txt"
NAME = "Gatherer"


def kinds(read: robots.Robots | robots.Rulebook) -> list[str]:
    return [problem.kind for problem in read.problems]


def allows(text: str, path: str, name: str = NAME) -> bool:
    read = robots.parse(text.encode(), URL)
    return robots.Rulebook(read.text, name).allows("https://docs.example.org" + path)


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        pytest.param("", "/x", True, id="RFC 9309 §2.2.1 an empty file"),
        pytest.param("User-agent: *\nDisallow: /x", "/x", False, id="RFC 9309 §2.2.1 group of all"),
        pytest.param("USER-agent: gATHERER\ndisALLOW: /x", "/x", False, id="RFC 9309 §2.2.1 case"),
        pytest.param(
            "User-agent: *\nDisallow: /\n\nUser-agent: Gatherer\nDisallow: /x\n",
            "/y",
            True,
            id="RFC 9309 §2.2.1 its own group instead of that of all",
        ),
        pytest.param(
            "User-agent: Gatherer\nDisallow:\n\nUser-agent: *\nDisallow: /\n",
            "/y",
            True,
            id="RFC 9309 §2.2.2 an empty rule forbids nothing",
        ),
        pytest.param(
            "User-agent: Gatherer\nDisallow: /a\n\nUser-agent: Other\nDisallow: /b\n\n"
            "User-agent: gatherer\nDisallow: /c\n",
            "/c",
            False,
            id="RFC 9309 §2.2.1 groups of one name are joined",
        ),
        pytest.param(
            "User-agent: Other\nUser-agent: Gatherer\n\nDisallow: /x\n",
            "/x",
            False,
            id="RFC 9309 §2.1 one group for several names",
        ),
        pytest.param(
            "User-agent: Gatherer\nDisallow: /x\nUser-agent: Other\nDisallow: /y\n",
            "/y",
            True,
            id="RFC 9309 §2.1 a name after a rule begins a group",
        ),
        pytest.param(
            "User-agent: Gatherer-Images\nDisallow: /\n",
            "/x",
            True,
            id="RFC 9309 §2.2.1 a longer name is another",
        ),
        pytest.param(
            "User-agent: Gather\nDisallow: /\n",
            "/x",
            True,
            id="RFC 9309 §2.2.1 a shorter name is another",
        ),
        pytest.param(
            "User-agent: Gatherer/2.1 (x)\nDisallow: /\n",
            "/x",
            False,
            id="a version after the name",
        ),
        pytest.param("Disallow: /\n", "/x", True, id="RFC 9309 §2.1 a rule without a group"),
        pytest.param(
            "User-agent: Gatherer\nSitemap: /s.xml\nHost: x\nUser-agent: Other\nDisallow: /x\n",
            "/x",
            False,
            id="RFC 9309 §2.2.4 other records do not end the names",
        ),
        pytest.param(
            "User-agent: Gatherer\nCrawl-delay: 1\nUser-agent: Other\nDisallow: /x\n",
            "/x",
            True,
            id="a crawl delay does",
        ),
        pytest.param(
            "User-agent: *\nNoindex: /x\nClean-param: s\nDisallow: /y\n",
            "/y",
            False,
            id="RFC 9309 §2.2.4 unknown records",
        ),
        pytest.param(
            " \tUser-agent:*# all\n  Disallow:\t/x # no\n",
            "/x",
            False,
            id="RFC 9309 §2.2 space and comments",
        ),
        pytest.param("User-agent: *\rDisallow: /x\r", "/x", False, id="RFC 9309 §2.2 line end CR"),
        pytest.param(
            "User-agent: *\r\nDisallow: /x", "/x", False, id="RFC 9309 §2.2 line end CRLF"
        ),
        pytest.param(
            "User-agent: *\nDisallow: /a\u2028b\x85c\x0cd\nDisallow: /x\n",
            "/b",
            True,
            id="RFC 9309 §2.2 no other line end",
        ),
        pytest.param("User agent *\nDissallow /x\n", "/x", False, id="slips of the pen"),
        pytest.param(
            "User-agent: *\nDisallow: https://docs.example.org/x\n", "/x", False, id="a whole URL"
        ),
        pytest.param("User-agent: *\nDisallow: /a b\n", "/a%20b", False, id="a space in a rule"),
        pytest.param("User-agent: *\nDisallow: /\n", "", False, id="RFC 9309 §2.2.2 no path"),
        pytest.param("User-agent: *\nDisallow: /\n", "?q", False, id="RFC 9309 §2.2.2 query alone"),
        pytest.param(
            "User-agent: *\nDisallow: /\n", "/robots.txt", True, id="RFC 9309 §2.2.2 itself"
        ),
        pytest.param("User-agent: *\nDisallow: /\n", "/robots.txt.bak", False, id="but no other"),
    ],
)
def test_the_group_of_the_product_token_decides(text: str, path: str, allowed: bool) -> None:
    assert allows(text, path) is allowed


def test_a_token_may_be_given_with_its_version() -> None:
    text = "User-agent: Gatherer\nDisallow: /x\n"

    assert not allows(text, "/x", "gatherer/1.0 (+https://example.org/)")
    assert allows(text, "/x", "+https://example.org/")


def test_a_url_that_is_none_is_not_allowed() -> None:
    assert not robots.Rulebook("", NAME).allows("mailto:me@example.org")


def test_unreachable_robots_allow_nothing_but_themselves() -> None:
    rules = robots.Rulebook.nothing()

    assert not rules.allows("https://docs.example.org/")
    assert rules.allows("https://docs.example.org/robots.txt")


@pytest.mark.parametrize(
    ("lines", "delay", "problems"),
    [
        (["Crawl-delay: 0.5"], 0.5, []),
        (["Crawl-delay: 10 # s"], 10.0, []),
        (["crawldelay: .5"], 0.5, []),
        (["Crawl-delay: 0"], 0.0, []),
        (["Crawl-delay: 5", "Crawl-delay: 7"], 7.0, []),
        (["Crawl-delay: 5", "Crawl-delay: soon"], 5.0, ["crawl_delay_invalid"]),
        (["Crawl-delay: 1,5"], None, ["crawl_delay_invalid"]),
        (["Crawl-delay: -1"], None, ["crawl_delay_invalid"]),
        (["Crawl-delay: nan"], None, ["crawl_delay_invalid"]),
        (["Crawl-delay: ٣"], None, ["crawl_delay_invalid"]),
        (["Crawl-delay:"], None, ["crawl_delay_invalid"]),
        (["Disallow: /"], None, []),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_crawl_delay_is_a_number_of_seconds_or_a_problem(
    lines: list[str], delay: float | None, problems: list[str]
) -> None:
    rules = robots.Rulebook("\n".join(["User-agent: *", *lines]), NAME, URL)

    assert rules.crawl_delay_s == delay
    assert kinds(rules) == problems
    assert all(problem.subject == URL for problem in rules.problems)


def test_a_crawl_delay_for_another_crawler_is_not_ours() -> None:
    text = "User-agent: Slow\nCrawl-delay: 30\n\nUser-agent: *\nDisallow: /x\n"

    assert robots.Rulebook(text, NAME).crawl_delay_s is None


@pytest.mark.parametrize(
    ("text", "signal", "allowed"),
    [
        ("User-agent: *\nAllow: /", None, None),
        ("User-agent: *\nContent-Signal: search=yes, ai-train=no", "search=yes, ai-train=no", None),
        ("User-agent: *\nContent-signal: ai-input=no", "ai-input=no", False),
        (
            "User-agent: *\nContent-Signal: AI-Input = Yes,search=no",
            "AI-Input = Yes,search=no",
            True,
        ),
        (
            "User-agent: *\nContent-Signal: ai-input=yes\nContent-Signal: ai-input=no",
            "ai-input=yes, ai-input=no",
            False,
        ),
        ("User-agent: Other\nContent-Signal: ai-input=no\nAllow: /\nUser-agent: *\n", None, None),
    ],
    ids=["none", "silent", "no", "yes", "both", "other group"],
)
def test_content_signals_are_recorded(text: str, signal: str | None, allowed: bool | None) -> None:
    rules = robots.Rulebook(text, NAME)

    assert rules.content_signal == signal
    assert rules.ai_input_allowed is allowed
    assert rules.allows("https://docs.example.org/x")


@pytest.mark.parametrize(
    ("text", "sitemaps", "problems"),
    [
        ("Sitemap: https://docs.example.org/a.xml", ["https://docs.example.org/a.xml"], []),
        ("sitemap:https://other.example.org:443/a", ["https://other.example.org/a"], []),
        ("SITEMAP : http://docs.example.org", ["http://docs.example.org/"], []),
        ("Sitemap: /a.xml", ["https://docs.example.org/a.xml"], ["robots_sitemap_relative"]),
        ("Sitemap: a.xml # x", ["https://docs.example.org/a.xml"], ["robots_sitemap_relative"]),
        (
            "Sitemap: docs.example.org/a.xml",
            ["https://docs.example.org/a.xml"],
            ["robots_sitemap_relative"],
        ),
        ("Sitemap: ftp://docs.example.org/a.xml", [], ["loc_invalid"]),
        ("Sitemap:", [], []),
        (
            "Sitemap: https://a.test/1  https://a.test/2\nSitemap: https://a.test/1",
            ["https://a.test/1", "https://a.test/2"],
            [],
        ),
        ("User-agent: x\nDisallow: /\nSitemap: https://a.test/1", ["https://a.test/1"], []),
    ],
    ids=["whole", "port", "space", "path", "file", "host", "scheme", "none", "two", "in a group"],
)
def test_sitemap_lines_are_absolute_or_a_problem(
    text: str, sitemaps: list[str], problems: list[str]
) -> None:
    read = robots.parse(text.encode(), URL)

    assert list(read.sitemaps) == sitemaps
    assert kinds(read) == problems


@pytest.mark.parametrize("mark", [codecs.BOM_UTF8, b""], ids=["with mark", "without"])
def test_a_byte_order_mark_is_no_part_of_the_first_line(mark: bytes) -> None:
    read = robots.parse(mark + b"Sitemap: https://a.test/s\nUser-agent: *\nDisallow: /x\n", URL)

    assert read.sitemaps == ("https://a.test/s",)
    assert read.text.startswith("Sitemap")
    assert not read.problems


def test_utf_16_with_its_mark_is_read() -> None:
    read = robots.parse("User-agent: *\nDisallow: /x\n".encode("utf-16"), URL)

    assert not robots.Rulebook(read.text, NAME).allows("https://docs.example.org/x")


def test_bytes_that_are_not_utf_8_cost_only_their_own_line() -> None:
    read = robots.parse(b"# \xff\xfe\nUser-agent: *\nDisallow: /caf\xe9\nDisallow: /x\n", URL)

    assert not robots.Rulebook(read.text, NAME).allows("https://docs.example.org/x")


def test_reading_stops_at_500_kib_between_two_lines() -> None:
    head = b"User-agent: *\nDisallow: /x\nSitemap: /s\n"
    filler = b"# " + b"f" * 98 + b"\r\n"
    data = head + filler * (robots.MAX_BYTES // len(filler) + 1) + b"Disallow: /late\n"
    read = robots.parse(data, URL)

    assert "robots_too_large" in kinds(read)
    assert read.sitemaps == ("https://docs.example.org/s",)
    assert robots.MAX_BYTES - 2 * len(filler) < len(data[: robots.MAX_BYTES]) <= robots.MAX_BYTES
    assert read.text.endswith("f\n")
    assert "late" not in read.text


def test_the_last_whole_line_within_500_kib_counts_and_the_cut_one_does_not() -> None:
    rule = b"Disallow: /xyz"
    head = b"User-agent: *\n" + b"#" * (robots.MAX_BYTES - 14 - 1 - 10) + b"\n"
    cut = robots.parse(head + rule, URL)

    assert len(head) == robots.MAX_BYTES - 10
    assert robots.Rulebook(cut.text, NAME).allows("https://docs.example.org/x")


@pytest.mark.parametrize(
    "page",
    [
        "<!doctype html><html><body>\nUser-agent: *\nDisallow: /\n</body></html>",
        "\n <HTML><pre>\nUser-agent: *\nDisallow: /\n</pre>",
        "<div>Not found</div>",
        "<?xml version='1.0'?><Error/>",
    ],
)
def test_a_web_page_forbids_nothing_and_is_a_problem(page: str) -> None:
    read = robots.parse(page.encode(), URL)

    assert kinds(read) == ["robots_not_text"]
    assert read.text == ""
    assert robots.Rulebook(read.text, NAME).allows("https://docs.example.org/x")


def test_rules_below_a_printed_warning_count() -> None:
    read = robots.parse(b"<br />\n<b>Warning</b>\nUser-agent: *\nDisallow: /x\n", URL)

    assert kinds(read) == ["robots_not_text"]
    assert not robots.Rulebook(read.text, NAME).allows("https://docs.example.org/x")


def test_more_wildcards_than_are_kept_are_a_problem() -> None:
    rules = ["Disallow: /early", *(f"Disallow: /*n{n}x*$" for n in range(robots.MAX_WILDCARDS))]
    book = robots.Rulebook("\n".join(["User-agent: *", *rules, "Disallow: /late"]), NAME, URL)

    assert kinds(book) == ["robots_too_large"]
    assert not book.allows("https://docs.example.org/early")
    assert not book.allows("https://docs.example.org/late")
    assert not book.allows("https://docs.example.org/an0xb")
    assert book.allows(f"https://docs.example.org/n{robots.MAX_WILDCARDS - 1}x")


def test_equal_rules_count_once() -> None:
    line = "Disallow: /*a*b\n"
    book = robots.Rulebook("User-agent: *\n" + line * robots.MAX_WILDCARDS, NAME)

    assert not book.problems
    assert not book.allows("https://docs.example.org/ab")


@given(
    st.binary(max_size=300)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))
)
def test_any_bytes_are_read_without_an_error(data: bytes) -> None:
    read = robots.parse(b"User-agent: *\n" + data, URL)

    assert robots.Rulebook(read.text, NAME).allows("https://docs.example.org/robots.txt")
