"""Markdown that a server offers is stored as it is, but for links, front matter and comments."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import content, links, offers, ready, responses
from flows.records import Document, Failure, Offer, Outcome, Page
from flows.responses import Response
from tests.documents import PROSE, URL, article, page

TEXT = f"# Harbour\n\n{PROSE * 4}"


def offer(text: str | bytes, *, is_alternate: bool = False) -> Offer:
    body = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return Offer(body=body, url=URL, is_alternate=is_alternate)


def negotiated(text: str, robots_tag: str | None = None) -> Document | Failure:
    return content.extract(replace(page(text, robots_tag=robots_tag), offer=offer(text)))


def alternate(html: str, text: str = TEXT) -> Document | Failure:
    return content.extract(replace(page(html), offer=offer(text, is_alternate=True)))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[a](b)", "[a](https://a.test/docs/b)"),
        ("![a](/b.png 'c')", "![a](https://a.test/b.png 'c')"),
        ("[a](<b>)", "[a](<https://a.test/docs/b>)"),
        ("[a](x_(y))", "[a](https://a.test/docs/x_(y))"),
        ("[a](#b)", f"[a]({URL}#b)"),
        ("[1]: ../b 'c'", "[1]: https://a.test/b 'c'"),
        ('<a href="b">c</a>', '<a href="https://a.test/docs/b">c</a>'),
        ("[a](https://b.test/c)", "[a](https://b.test/c)"),
        ("[a](mailto:a@b.test)", "[a](mailto:a@b.test)"),
        ("`[a](b)`", "`[a](b)`"),
        ("``[a](b) ` ``", "``[a](b) ` ``"),
    ],
)
def test_links_are_made_absolute_where_they_are_links(line: str, expected: str) -> None:
    assert ready.read(offer(f"x\n\n{line}"))[0] == f"x\n\n{expected}"


@pytest.mark.parametrize("mark", ["```", "~~~~", "> ```", "- ```"])
def test_fenced_code_is_left_as_it_is(mark: str) -> None:
    text = f"{mark} md\n[a](b) <!-- c -->\n{mark[mark.find('`') if '`' in mark else 0 :]}"

    assert ready.read(offer(text))[0] == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\ntitle: T\n---\nwords", "words"),
        ('+++\ntitle = "T"\n+++\n\nwords', "words"),
        ("---\nwords", "---\nwords"),
        ("one<!-- two --> three", "one three"),
        ("one\n\n<!-- two\n[x](y)\n-->\nthree", "one\n\nthree"),
        ("\ufeffone\r\ntwo\r\n\r\n", "one\ntwo"),
    ],
)
def test_what_no_reader_sees_is_left_out(text: str, expected: str) -> None:
    assert ready.read(offer(text))[0] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("words\n\n## The *second* [one](b)\n", "The second one"),
        ("---\ntitle: 'Front'\n---\n# First", "First"),
        ("---\ntitle: 'Front'\n---\nwords", "Front"),
        ("```\n# no\n```\n", None),
    ],
)
def test_the_title_is_the_first_heading(text: str, expected: str | None) -> None:
    assert ready.read(offer(text))[1] == expected


def test_markdown_in_place_of_html_is_stored_with_its_title_and_language() -> None:
    document = negotiated(f"{TEXT}\n\n[more](/more)")

    assert isinstance(document, Document)
    assert document.markdown == f"{TEXT}\n\n[more](https://a.test/more)"
    assert (document.title, document.lang, document.extraction) == ("Harbour", "en", "negotiated")


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("# 404: Page not found\n\nThe page you asked for does not exist.", Outcome.SOFT_404),
        (
            "# Sign in\n\nPlease sign in to continue.\n\n<input type=password>",
            Outcome.LOGIN_REQUIRED,
        ),
        ("---\ntitle: T\n---\n<!-- nothing -->", Outcome.EMPTY),
        ("# Hi", Outcome.THIN),
    ],
)
def test_markdown_is_judged_as_html_is(text: str, outcome: Outcome) -> None:
    failure = negotiated(text)

    assert isinstance(failure, Failure)
    assert failure.outcome is outcome


def test_a_robots_header_counts_for_markdown() -> None:
    failure = negotiated(TEXT, "noindex")

    assert isinstance(failure, Failure)
    assert failure.outcome is Outcome.NOINDEX


def test_an_alternate_takes_the_place_of_the_text_alone() -> None:
    document = alternate(article(head='<meta name="author" content="Ann">', attributes="lang=nl"))

    assert isinstance(document, Document)
    assert (document.markdown, document.extraction) == (TEXT.rstrip(), "alternate")
    assert (document.lang, document.author) == ("nl", "Ann")


def test_an_alternate_stands_in_for_an_empty_shell() -> None:
    shell = "<html><title>App</title><body><div id=root></div><script src=a.js></script></body>"

    assert isinstance(alternate(shell), Document)


@pytest.mark.parametrize(
    ("html", "outcome"),
    [
        ("<title>Page not found</title><h1>404</h1><p>Not found.</p>", Outcome.SOFT_404),
        (article(head='<meta name="robots" content="noindex">'), Outcome.NOINDEX),
    ],
)
def test_an_alternate_does_not_hide_what_html_says(html: str, outcome: Outcome) -> None:
    failure = alternate(html)

    assert isinstance(failure, Failure)
    assert failure.outcome is outcome


def test_an_alternate_without_words_is_none() -> None:
    failure = alternate(article(), "<!-- -->")

    assert isinstance(failure, Document)
    assert failure.extraction == "node"


@pytest.mark.parametrize(
    ("kind", "body", "taken"),
    [
        ("text/markdown; charset=utf-8", b"# T", True),
        ("text/x-markdown", b"<p align=center>T</p>", True),
        ("text/markdown", b"<!doctype html><title>T</title>", False),
        ("text/html", b"# T", False),
        ("text/markdown", b" ", False),
    ],
)
def test_markdown_is_what_type_and_bytes_say(kind: str, body: bytes, *, taken: bool) -> None:
    answer = Response(url=URL, status=200, headers=(("content-type", kind),), body=body)

    assert (responses.offered(answer) is not None) is taken


def test_the_links_of_markdown_are_those_of_its_text() -> None:
    text = (
        "[a](b) <https://a.test/c> `[d](e)`\n\n[f]: /g\n\n```\n[h](i)\n```\n[a](b#x) [m](mailto:x)"
    )
    found = links.of(replace(page(text), offer=offer(text)))

    assert [link.url for link in found] == [f"https://a.test{p}" for p in ("/docs/b", "/c", "/g")]


def test_html_says_where_it_is_to_be_had_as_markdown() -> None:
    head = '<link rel="alternate" type="text/markdown" href="../page.md">'
    rss = '<link rel="alternate" type="application/rss+xml" href="/feed">text/markdown'

    assert links.alternate(page(article(head=head))) == "https://a.test/page.md"
    assert links.alternate(page(article(head=rss))) is None


@given(st.text(max_size=300), st.booleans())
def test_any_markdown_is_a_document_or_a_failure(text: str, is_alternate: bool) -> None:
    asked: Page = replace(page(article()), offer=offer(text, is_alternate=is_alternate))

    assert isinstance(content.extract(asked), Document | Failure)


@pytest.mark.parametrize("unit", ["](", "`a ", "<!--", "<!-- -->", "[" + "a" * 300, "```\n~~~\n"])
def test_links_of_degenerate_text_are_found_in_linear_time(unit: str) -> None:
    assert sum(1 for _ in offers.links(offer(unit * (300_000 // len(unit))))) < 300_000
