"""An answer becomes a page or an outcome that says why not; what is known of it is kept."""

from datetime import UTC, datetime

import pytest

from flows import responses
from flows.records import Attribution, Entry, Failure, Link, Method, Outcome, Page
from flows.responses import Fault, Response

SITE = "https://a.test"
AT = datetime(2026, 1, 5, 10, 0, tzinfo=UTC)
HTML = b"<!doctype html><title>T</title><p>The harbour keeps a ledger of every boat.</p>"
TYPE = ("content-type", "text/html; charset=utf-8")


def entry(path: str = "/page") -> Entry:
    return Entry(site=SITE, url=SITE + path, attribution=Attribution(method=Method.ROBOTS))


def answer(
    status: int = 200,
    *headers: tuple[str, str],
    body: bytes = HTML,
    hops: tuple[str, ...] = ("/page",),
    kind: tuple[str, str] | None = TYPE,
) -> Response:
    urls = tuple(SITE + hop for hop in hops)
    sent = ((kind,) if kind else ()) + headers
    return Response(
        url=urls[-1], status=status, headers=sent, body=body, hops=urls, fetched_at=AT, wire_bytes=9
    )


def judged(given: Response | Fault, path: str = "/page", homes: tuple[str, ...] = ()) -> Outcome:
    found = responses.judge(entry(path), given, homes)
    return Outcome.OK if isinstance(found, Page) else found.outcome


def test_a_page_keeps_what_its_headers_say() -> None:
    found = responses.judge(
        entry(),
        answer(
            200,
            ("etag", '"v1"'),
            ("last-modified", "Mon, 05 Jan 2026 09:00:00 GMT"),
            ("x-robots-tag", "noindex"),
            ("x-robots-tag", "otherbot: nofollow"),
        ),
    )

    assert isinstance(found, Page)
    assert (found.body, found.charset, found.base_url) == (HTML, "utf-8", SITE + "/page")
    assert found.robots_tag == "noindex\notherbot: nofollow"
    assert found.exchange.etag == '"v1"'
    assert found.exchange.last_modified == "Mon, 05 Jan 2026 09:00:00 GMT"
    assert (found.exchange.status, found.exchange.bytes, found.exchange.fetched_at) == (200, 9, AT)


def test_a_page_without_directives_has_none() -> None:
    found = responses.judge(entry(), answer(kind=None))

    assert isinstance(found, Page)
    assert (found.charset, found.robots_tag) == (None, None)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, "ok"),
        (201, "ok"),
        (202, "ok"),
        (203, "ok"),
        (204, "empty"),
        (205, "empty"),
        (206, "http_error"),
        (300, "http_error"),
        (302, "http_error"),
        (304, "not_modified"),
        (400, "http_error"),
        (401, "auth_required"),
        (402, "http_error"),
        (403, "forbidden"),
        (404, "not_found"),
        (410, "gone"),
        (418, "http_error"),
        (429, "rate_limited"),
        (451, "unavailable_legal"),
        (500, "server_error"),
        (503, "server_error"),
        (520, "server_error"),
        (599, "server_error"),
        (999, "http_error"),
        (101, "http_error"),
    ],
)
def test_each_status_has_one_outcome(status: int, outcome: str) -> None:
    assert judged(answer(status)) == outcome


def test_a_rate_limit_keeps_what_it_asks_for() -> None:
    found = responses.judge(entry(), answer(429, ("retry-after", "86400")))

    assert isinstance(found, Failure)
    assert found.exchange
    assert found.exchange.retry_after_s == 86400
    assert judged(answer(503, ("retry-after", "30"))) is Outcome.RATE_LIMITED
    assert judged(answer(503, ("retry-after", "soon"))) is Outcome.SERVER_ERROR


def test_a_retry_after_beside_a_page_means_nothing() -> None:
    assert answer(200, ("retry-after", "30")).retry_after_s is None


@pytest.mark.parametrize(
    ("kind", "body", "outcome"),
    [
        ("application/pdf", b"%PDF-1.7", "not_html"),
        ("text/plain", HTML, "not_html"),
        ("text/html", b"%PDF-1.7", "not_html"),
        ("text/html", b'{"a": [1, 2]}', "not_html"),
        ("text/html", b"", "empty"),
        ("text/html", b" \r\n\t ", "empty"),
        (None, HTML, "ok"),
        (None, b"no markup at all", "not_html"),
        ("html", HTML, "ok"),
        ("application/xhtml+xml", HTML, "ok"),
        ("TEXT/HTML", HTML, "ok"),
    ],
)
def test_type_and_bytes_make_a_page(kind: str | None, body: bytes, outcome: str) -> None:
    said = ("content-type", kind) if kind else None

    assert judged(answer(body=body, kind=said)) == outcome


def test_the_first_content_type_counts_and_any_of_them_may_name_the_charset() -> None:
    given = answer(
        200, ("content-type", "text/html; charset=x"), kind=("content-type", "text/html")
    )
    found = responses.judge(entry(), given)

    assert isinstance(found, Page)
    assert found.charset == "x"


def test_a_challenge_is_blocked_whatever_its_status() -> None:
    found = responses.judge(entry(), answer(200, ("cf-mitigated", "challenge")))

    assert isinstance(found, Failure)
    assert found.outcome is Outcome.BLOCKED
    assert found.exchange
    assert found.exchange.provider == "cloudflare"
    assert "owner" in (found.detail or "")


@pytest.mark.parametrize(
    ("asked", "got", "outcome"),
    [
        ("/old-page", "/", "redirected_home"),
        ("/index.html", "/", "ok"),
        ("/home", "/", "ok"),
        ("/", "/", "ok"),
        ("/?utm_source=x", "/", "ok"),
        ("/old-page", "/new-page", "ok"),
        ("/old-page", "/?p=7", "ok"),
        ("/old-page", "/en/", "redirected_home"),
        ("/en/old", "/en", "ok"),
    ],
)
def test_a_redirect_to_the_home_page_is_not_the_page(asked: str, got: str, outcome: str) -> None:
    given = answer(hops=(asked, got))

    assert judged(given, asked, homes=(SITE + "/en/",)) == outcome


LOGIN = b"<form method=post><input name=u><input name=p type=password></form>"


@pytest.mark.parametrize(
    ("asked", "got", "body", "outcome"),
    [
        ("/page", "/login?next=%2Fpage", HTML, "login_required"),
        ("/page", "/users/sign_in", LOGIN, "login_required"),
        ("/page", "/wp-login.php?redirect_to=x", HTML, "login_required"),
        ("/page", "/accounts/login/", LOGIN, "login_required"),
        ("/page", "/docs/login", HTML, "ok"),
        ("/auth/old", "/auth/login", LOGIN, "ok"),
        ("/page", "/blog/logging-in", LOGIN, "ok"),
    ],
)
def test_a_redirect_to_a_sign_in_is_no_page(
    asked: str, got: str, body: bytes, outcome: str
) -> None:
    assert judged(answer(body=body, hops=(asked, got)), asked) == outcome


def test_a_refresh_header_sends_on_from_a_stub_and_not_from_an_article() -> None:
    refresh = ("refresh", "0; url=/new")

    assert judged(answer(200, refresh)) is Outcome.META_REFRESH
    assert judged(answer(200, refresh, body=HTML * 60)) is Outcome.OK
    assert judged(answer(200, ("refresh", "300; url=/new"))) is Outcome.OK
    assert judged(answer(200, ("refresh", "5"))) is Outcome.OK


@pytest.mark.parametrize(
    ("target", "links"),
    [("/new", (Link(url="https://a.test/new", rel="refresh"),)), ("http://[", ())],
    ids=["page", "nowhere"],
)
def test_where_a_refresh_header_sends_on_is_a_link(target: str, links: tuple[Link, ...]) -> None:
    came = responses.judge(entry(), answer(200, ("refresh", f"0; url={target}")))

    assert isinstance(came, Failure)
    assert came.links == links


def test_a_chain_that_comes_back_is_the_page() -> None:
    assert judged(answer(hops=("/page", "/gate", "/page"))) is Outcome.OK


def test_a_fault_becomes_a_failure_with_all_that_is_known() -> None:
    fault = Fault(
        outcome=Outcome.TRUNCATED,
        detail="cut",
        url=SITE + "/b",
        status=200,
        headers=(TYPE, ("etag", '"v1"')),
        wire_bytes=7,
        elapsed_ms=1.5,
        hops=(SITE + "/page", SITE + "/b"),
        fetched_at=AT,
        attempts=3,
    )
    found = responses.judge(entry(), fault)

    assert isinstance(found, Failure)
    assert (found.outcome, found.detail) == (Outcome.TRUNCATED, "cut")
    assert found.exchange
    assert (found.exchange.final_url, found.exchange.status) == (SITE + "/b", 200)
    assert (found.exchange.bytes, found.exchange.attempts) == (7, 3)
    assert found.exchange.content_type == TYPE[1]


def test_the_attempts_of_an_exchange_may_be_told() -> None:
    assert responses.exchange(answer(), attempts=4).attempts == 4
    assert responses.exchange(answer()).attempts == 1
