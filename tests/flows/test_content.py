"""A page becomes a document that knows itself, or a failure that says why; never an exception."""

from datetime import UTC, datetime
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import content, tokens
from flows.records import Document, Failure, Outcome
from tests.documents import PROSE, URL, article, page


def document(html: str, **said: str) -> Document:
    found = content.extract(page(html, **said))
    assert isinstance(found, Document), found
    return found


def failure(html: str | bytes, **said: str) -> Failure:
    found = content.extract(page(html, **said))
    assert isinstance(found, Failure), found
    return found


def test_a_document_has_what_the_page_says() -> None:
    head = (
        '<meta name="description" content="About boats."><link rel="canonical" href="/boats">'
        '<meta name="author" content="Ada Quist"><meta property="og:title" content="Boats">'
        '<meta property="article:published_time" content="2024-05-01T12:00:00+02:00">'
        '<meta property="product:price:amount" content="5.00">'
    )
    found = document(article(head=head))

    assert found.url == URL
    assert found.canonical_url == "https://a.test/boats"
    assert (found.title, found.description, found.lang) == ("Boats", "About boats.", "en")
    assert found.author == "Ada Quist"
    assert found.published_at == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert [str(price.amount) for price in found.prices] == ["5.00"]


def test_a_document_is_counted_and_hashed() -> None:
    html = article()
    found = document(html)
    digest = blake2b(found.markdown.encode(), digest_size=16).hexdigest()

    assert found.content_hash == digest
    assert found.tokens == tokens.count(found.markdown, "cl100k_base")
    assert found.html_bytes == len(html)
    assert found.html_tokens == tokens.count(html, "cl100k_base")


def test_chrome_around_the_text_is_left_out() -> None:
    found = document(article())

    assert found.markdown.startswith(f"# Harbour\n\n{PROSE[:40]}")
    assert "Imprint" not in found.markdown
    assert "Home" not in found.markdown


def test_links_are_relative_to_the_base_of_the_page() -> None:
    head = '<base href="https://b.test/x/">'
    found = document(article('<p>Read <a href="y">more of it</a> there.</p>', head=head))

    assert "[more of it](https://b.test/x/y)" in found.markdown


@pytest.mark.parametrize(
    ("head", "header", "outcome"),
    [
        ('<meta name="robots" content="NOINDEX, follow">', None, Outcome.NOINDEX),
        ('<meta name="robots" content="none">', None, Outcome.NOINDEX),
        ("", "noindex", Outcome.NOINDEX),
        ("", "index\nnoarchive, none", Outcome.NOINDEX),
        ('<meta http-equiv="refresh" content="0; url=/new">', None, Outcome.OK),
        ('<meta name="robots" content="nofollow">', None, Outcome.OK),
        ("", "otherbot: noindex, nofollow", Outcome.OK),
        ("", "unavailable_after: 25 Jun 2099 15:00:00 GMT", Outcome.OK),
    ],
)
def test_directives_decide_what_is_kept(head: str, header: str | None, outcome: Outcome) -> None:
    found = content.extract(page(article(head=head), robots_tag=header))

    assert (found.outcome if isinstance(found, Failure) else Outcome.OK) is outcome


@pytest.mark.parametrize(
    ("html", "outcome"),
    [
        ("", Outcome.EMPTY),
        (" \n ", Outcome.EMPTY),
        ("<!-- nothing -->", Outcome.EMPTY),
        ("<html><body><script>x()</script></body></html>", Outcome.JS_REQUIRED),
        ("<html><body><p>Hello there</p></body></html>", Outcome.THIN),
        ("<title>404 Not Found</title><h1>Page not found</h1><p>Sorry.", Outcome.SOFT_404),
        (
            "<title>Log in</title><h1>Log in</h1><form><input type=password></form>",
            Outcome.LOGIN_REQUIRED,
        ),
        (
            "<meta http-equiv=refresh content='0;url=/n'><p>Moved <a href=/n>here</a>.",
            Outcome.META_REFRESH,
        ),
        ("<div>" * 5_000 + "deep", Outcome.PARSE_ERROR),
    ],
    ids=["none", "blank", "comment", "script", "thin", "soft 404", "sign-in", "refresh", "deep"],
)
def test_a_page_without_content_is_a_failure_with_its_reason(html: str, outcome: Outcome) -> None:
    assert failure(html).outcome is outcome


NOTICE = "<h1>We'll be right back</h1><p>We are down for scheduled maintenance, and back soon.</p>"


@pytest.mark.parametrize(
    ("title", "body", "outcome"),
    [
        ("Scheduled maintenance", NOTICE, Outcome.SOFT_ERROR),
        ("Page not found", "<h1>Page not found</h1><p>Sorry.", Outcome.SOFT_404),
        ("Sign in", "<h1>Sign in</h1><form><input type=password></form>", Outcome.LOGIN_REQUIRED),
        ("App", "<div id=root></div><script src=a.js></script>", Outcome.JS_REQUIRED),
    ],
)
@pytest.mark.parametrize("asks", ["noindex", "noai"])
def test_what_a_wall_asks_for_is_not_the_word_of_the_page(
    title: str, body: str, outcome: Outcome, asks: str
) -> None:
    head = f"<title>{title}</title><meta name=robots content={asks}>"

    assert failure(f"<html><head>{head}</head><body>{body}</body></html>").outcome is outcome


def test_a_failure_names_the_canonical_url() -> None:
    head = '<meta name="robots" content="noindex"><link rel="canonical" href="/boats">'

    assert failure(article(head=head)).canonical_url == "https://a.test/boats"


def test_a_short_page_with_code_is_no_thin_page() -> None:
    found = document("<html><body><main><h1>Run</h1><pre>make all</pre></main></body></html>")

    assert "make all" in found.markdown


def test_a_page_is_read_in_the_characters_its_header_names() -> None:
    body = article("<p>Журнал порта ведёт запись каждой лодки.</p>").encode("cp1251")
    found = content.extract(page(body, charset="windows-1251"))

    assert isinstance(found, Document)
    assert "Журнал порта ведёт запись каждой лодки." in found.markdown


def test_characters_that_cannot_be_written_do_not_come_out() -> None:
    found = document(article("<p>half &#xD800; of a \0 pair &#x1F600; here</p>"))

    found.markdown.encode("utf-8")
    assert "\0" not in found.markdown
    assert "😀" in found.markdown


def test_text_that_only_json_ld_holds_is_taken_from_trafilatura() -> None:
    data = f'{{"@type": "Article", "articleBody": "{PROSE * 9}"}}'
    found = document(
        f'<html><head><title>T</title><script type="application/ld+json">{data}</script></head>'
        "<body><div id=app></div></body></html>"
    )

    assert found.extraction == "trafilatura"
    assert PROSE.strip() in found.markdown


@given(st.binary(max_size=2_000))
def test_whatever_bytes_come_something_is_returned(body: bytes) -> None:
    assert isinstance(content.extract(page(body)), Document | Failure)


MARKUP = st.sampled_from(
    "<p> <div> <table> <tr> <td> <ul> <li> <pre> <a> </div> </p> <h1> <article> <!-- --> "  # noqa: SIM905
    "<![CDATA[ &#xD800; <script> </script> <meta/charset=utf-7> <base/href=:> words".split()
)


@given(st.lists(MARKUP, max_size=40).map("".join))
def test_whatever_markup_comes_something_is_returned(html: str) -> None:
    assert isinstance(content.extract(page(html)), Document | Failure)
