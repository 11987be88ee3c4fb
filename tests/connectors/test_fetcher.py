"""A fetch ends in an answer that came whole or in a fault that says why not, whatever is served.

It is bounded in time and bytes, follows redirects one by one and never off its origin, and takes
no byte of one answer for another.
"""

import asyncio
import gzip
import ssl
import zlib
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TypeVar

import httpcore
import pytest

from connectors.fetcher import PAGE, ROBOTS, SITEMAP, Stream, Want, bodies, transports
from flows.records import Outcome
from flows.responses import Answer, Fault, Response
from tests import rawweb
from tests.rawweb import ARTICLE, Web, client, closing, endless, head, ok, serving, status, to

QUICK = replace(PAGE, deadline_s=0.4)

T = TypeVar("T")


def run(job: Callable[[], Awaitable[T]]) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(20):
            return await job()

    return asyncio.run(bounded())


def fetched(
    answers: dict[str, rawweb.Answers],
    path: str = "/",
    want: Want = PAGE,
    **more: object,
) -> tuple[Answer, Web]:
    """Fetch one path of a server, and return the answer and the server."""

    async def job() -> tuple[Answer, Web]:
        async with serving(answers) as web, client() as visitor:
            answer = await visitor.fetch(web.origin + path, want=want, origin=web.origin, **more)
            return answer, web

    return run(job)


def body_of(answer: Answer) -> bytes:
    assert isinstance(answer, Response), answer
    return answer.body


def fault_of(answer: Answer) -> Fault:
    assert isinstance(answer, Fault), answer
    return answer


def coded(data: bytes, coding: str) -> bytes:
    return ok(data, f"Content-Encoding: {coding}")


def raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return engine.compress(data) + engine.flush()


def bomb(megabytes: int) -> bytes:
    return gzip.compress(bytes(megabytes << 20), mtime=0)


# What is asked, and what is known of an answer.


def test_a_request_says_who_asks_and_offers_only_what_it_can_undo() -> None:
    _, web = fetched({"/": ok()})

    headers = web.log[0].headers
    assert headers["user-agent"] == "tester/1"
    assert headers["accept-encoding"] == "gzip, deflate"
    assert headers["host"] == web.origin.removeprefix("http://")
    assert "cookie" not in headers


def test_an_answer_carries_its_exchange() -> None:
    answer, web = fetched({"/": ok(ARTICLE, 'ETag: "v1"', "X-Robots-Tag: noindex")})

    assert isinstance(answer, Response)
    assert (answer.status, answer.url, answer.body) == (200, web.origin + "/", ARTICLE)
    assert (answer.header("etag"), answer.header("x-robots-tag")) == ('"v1"', "noindex")
    assert answer.wire_bytes == len(ARTICLE)
    assert answer.hops == (web.origin + "/",)
    assert answer.elapsed_ms > 0
    assert answer.fetched_at
    assert answer.fetched_at.tzinfo


def test_a_conditional_request_sends_its_validators_and_takes_304_for_an_answer() -> None:
    answer, web = fetched(
        {"/": head(304, 'ETag: "v1"')}, etag='"v1"', last_modified="Mon, 05 Jan 2026 10:00:00 GMT"
    )

    assert web.log[0].headers["if-none-match"] == '"v1"'
    assert web.log[0].headers["if-modified-since"] == "Mon, 05 Jan 2026 10:00:00 GMT"
    assert isinstance(answer, Response)
    assert (answer.status, answer.body) == (304, b"")


def test_a_validator_is_sent_whatever_its_letters() -> None:
    _, web = fetched({"/": ok()}, etag='"caf\u00e9"')

    assert web.log[0].headers["if-none-match"].encode("latin-1").decode() == '"caf\u00e9"'


def test_a_304_to_an_unconditional_request_is_no_answer() -> None:
    answer, _ = fetched({"/": head(304)})

    assert fault_of(answer).outcome is Outcome.HTTP_ERROR


@pytest.mark.parametrize("path", ["/a%2Fb", "/a[1]?q[]=1&r='x'", "/a|b", "/caf%C3%A9?a=%20+b"])
def test_the_target_is_sent_as_the_canonical_url_has_it(path: str) -> None:
    _, web = fetched({}, path)

    assert web.targets == [path.replace("|", "%7C")]


def test_environment_proxies_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")

    answer, _ = fetched({"/": ok()})

    assert body_of(answer) == ARTICLE


# Redirects.


def test_redirects_are_followed_and_recorded_hop_by_hop() -> None:
    answer, web = fetched(
        {"/": to("/a/b", 301), "/a/b": to("../c#part", 307), "/c": to("?q=1", 308), "/c?q=1": ok()}
    )

    assert body_of(answer) == ARTICLE
    assert web.targets == ["/", "/a/b", "/c", "/c?q=1"]
    assert answer.hops == tuple(web.origin + target for target in web.targets)
    assert answer.url == web.origin + "/c?q=1"


def test_redirects_share_one_connection() -> None:
    _, web = fetched({"/": to("/a"), "/a": to("/b"), "/b": ok()})

    assert web.connections == 1


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ({"/": to("/")}, Outcome.REDIRECT_LOOP),
        ({"/": to("/a"), "/a": to("/")}, Outcome.REDIRECT_LOOP),
        ({f"/{n or ''}": to(f"/{n + 1}") for n in range(30)}, Outcome.TOO_MANY_REDIRECTS),
        ({"/": to("http://127.0.0.1:9/")}, Outcome.OFF_ORIGIN),
        ({"/": to("//example.org/")}, Outcome.OFF_ORIGIN),
        ({"/": to("http://169.254.169.254/latest/meta-data/")}, Outcome.OFF_ORIGIN),
        ({"/": to("file:///etc/passwd")}, Outcome.INVALID_URL),
        ({"/": to("data:text/html,<p>words")}, Outcome.INVALID_URL),
        ({"/": to("http://[::1")}, Outcome.INVALID_URL),
        ({"/": to("http://127.0.0.1:99999/")}, Outcome.INVALID_URL),
    ],
    ids=["self", "two", "chain", "port", "host", "metadata", "file", "data", "bracket", "number"],
)
def test_a_redirect_that_leads_nowhere_is_a_fault(
    answers: dict[str, rawweb.Answers], outcome: Outcome
) -> None:
    answer, web = fetched(answers)

    assert fault_of(answer).outcome is outcome
    assert fault_of(answer).status in {302, None}
    assert len(web.log) <= PAGE.max_hops + 1


@pytest.mark.parametrize("location", ["", "Location:"], ids=["none", "empty"])
def test_a_redirect_without_a_target_is_an_answer_of_its_status(location: str) -> None:
    answer, _ = fetched({"/": status(302, *filter(None, [location]))})

    assert isinstance(answer, Response)
    assert answer.status == 302


def test_a_redirect_needs_the_leave_of_the_rules() -> None:
    def may(url: str) -> Outcome | None:
        return Outcome.ROBOTS_DISALLOWED if "/private" in url else None

    answer, web = fetched({"/": to("/private/x")}, want=replace(PAGE, may=may))

    assert fault_of(answer).outcome is Outcome.ROBOTS_DISALLOWED
    assert web.targets == ["/"]


def test_cookies_live_through_a_chain_and_no_longer() -> None:
    gate = to("/", 302, "Set-Cookie: gate=1; Path=/; HttpOnly")

    async def job() -> tuple[Answer, Web]:
        async with serving({"/": [gate, ok()]}) as web, client() as visitor:
            answer = await visitor.fetch(web.origin + "/", want=PAGE, origin=web.origin)
            await visitor.fetch(web.origin + "/", want=PAGE, origin=web.origin)
            return answer, web

    answer, web = run(job)
    assert body_of(answer) == ARTICLE
    assert [asked.headers.get("cookie") for asked in web.log] == [None, "gate=1", None]


def test_another_origin_gets_neither_cookies_nor_the_headers_of_the_site() -> None:
    async def job() -> Web:
        async with serving({"/robots.txt": ok(b"")}) as other:
            there = to(other.origin + "/robots.txt", 302, "Set-Cookie: a=1")
            async with serving({"/robots.txt": there}) as web, client() as visitor:
                answer = await visitor.fetch(
                    web.origin + "/robots.txt",
                    want=ROBOTS,
                    origin=web.origin,
                    headers=(("Authorization", "secret"),),
                )
                assert web.log[0].headers["authorization"] == "secret"
                assert answer.url == other.origin + "/robots.txt"
            return other

    asked = run(job).log[0].headers
    assert "authorization" not in asked
    assert "cookie" not in asked


# Bodies.


@pytest.mark.parametrize(
    ("sent", "body"),
    [
        (coded(gzip.compress(ARTICLE), "gzip"), ARTICLE),
        (coded(gzip.compress(ARTICLE), "X-GZIP"), ARTICLE),
        (coded(zlib.compress(ARTICLE), "deflate"), ARTICLE),
        (coded(raw_deflate(ARTICLE), "deflate"), ARTICLE),
        (coded(gzip.compress(ARTICLE) + b"\0\0trailing", "gzip"), ARTICLE),
        (coded(gzip.compress(ARTICLE[:9]) + gzip.compress(ARTICLE[9:]), "gzip"), ARTICLE),
        (coded(gzip.compress(gzip.compress(ARTICLE)), "gzip, gzip"), ARTICLE),
        (coded(ARTICLE, "gzip"), ARTICLE),
        (coded(ARTICLE, "identity"), ARTICLE),
        (coded(ARTICLE, "UTF-8"), ARTICLE),
        (head(200, "Transfer-Encoding: chunked") + b"3\r\n<p>\r\n1;x=y\r\na\r\n0\r\n\r\n", b"<p>a"),
        (
            head(200, "Content-Length: 999999999", "Transfer-Encoding: chunked")
            + b"3\r\n<p>\r\n0\r\n\r\n",
            b"<p>",
        ),
        (head(103, "Link: </s.css>; rel=preload") + ok(), ARTICLE),
        (b"HTTP/1.1 200 OK\nContent-Length: 3\n\n<p>", b"<p>"),
    ],
    ids=[
        "gzip", "x-gzip", "deflate", "raw deflate", "trailing bytes", "two members", "twice",
        "plain called gzip", "identity", "a charset for a coding", "chunked", "chunks and a length",
        "early hints", "bare line ends",
    ],
)  # fmt: skip
def test_a_body_is_read_as_it_was_meant(sent: bytes, body: bytes) -> None:
    answer, _ = fetched({"/": sent})

    assert body_of(answer) == body


CHUNKED = head(200, "Transfer-Encoding: chunked")
NOTHING = gzip.compress(b"") * 4096


@pytest.mark.parametrize(
    ("play", "outcome", "passing"),
    [
        pytest.param(closing(ok()[:-9]), "truncated", True, id="cut"),
        pytest.param(closing(CHUNKED + b"3\r\n<p>\r\n"), "truncated", True, id="cut chunks"),
        pytest.param(coded(gzip.compress(ARTICLE)[:-9], "gzip"), "truncated", False, id="cut gzip"),
        pytest.param(
            coded(zlib.compress(ARTICLE)[:-9], "deflate"), "truncated", False, id="cut deflate"
        ),
        pytest.param(
            coded(b"\x1f\x8b\x08\0\0\0\0\0\0\xff\7", "gzip"), "decode_error", False, id="no gzip"
        ),
        pytest.param(coded(b"anything", "br"), "decode_error", False, id="brotli"),
        pytest.param(coded(b"any", "gzip, gzip, gzip"), "decode_error", False, id="three codings"),
        pytest.param(coded(bomb(16), "gzip"), "too_large", False, id="bomb"),
        pytest.param(
            coded(gzip.compress(bomb(16)), "gzip, gzip"), "too_large", False, id="bomb in a bomb"
        ),
        pytest.param(head(200, "Content-Length: 100000000"), "too_large", False, id="declared"),
        pytest.param(endless(head(200), bytes(1 << 18)), "too_large", False, id="endless"),
        pytest.param(
            endless(head(200, "Content-Encoding: gzip"), NOTHING), "too_large", False, id="hollow"
        ),
        pytest.param(
            endless(b"HTTP/1.1 200 OK\r\n", b"X-A: a\r\n" * 999),
            "headers_too_large",
            False,
            id="endless head",
        ),
        pytest.param(
            ok(ARTICLE, *(f"X-{n}: v" for n in range(1500))),
            "headers_too_large",
            False,
            id="many headers",
        ),
        pytest.param(
            endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", 0.02), "timeout", False, id="dripping head"
        ),
        pytest.param(
            endless(head(200, "Content-Length: 9999"), b".", 0.02),
            "timeout",
            False,
            id="dripping body",
        ),
        pytest.param(endless(b"", head(102), 0.02), "timeout", False, id="dripping hints"),
        pytest.param(rawweb.silent, "timeout", False, id="silence"),
        pytest.param(rawweb.reset, "connection_error", True, id="reset"),
        pytest.param(closing(b""), "connection_error", True, id="closed"),
        pytest.param(closing(b"HTTP/1.1 200 OK\r\nCon"), "connection_error", True, id="cut head"),
        pytest.param(closing(b"SSH-2.0-OpenSSH\r\n\r\n"), "protocol_error", False, id="ssh"),
        pytest.param(
            head(200, "Content-Length: 3", "Content-Length: 4") + b"<p>a",
            "protocol_error",
            False,
            id="two lengths",
        ),
    ],
)
def test_a_body_that_is_no_page_ends_within_its_bounds(
    play: rawweb.Answers, outcome: str, passing: bool
) -> None:
    answer, _ = fetched({"/": play}, want=QUICK if outcome == "timeout" else PAGE)

    assert (fault_of(answer).outcome.value, fault_of(answer).passing) == (outcome, passing)


def test_a_huge_declared_body_is_not_downloaded() -> None:
    sent: list[rawweb.Wire] = []

    async def play(wire: rawweb.Wire) -> None:
        sent.append(wire)
        await endless(head(200, "Content-Length: 1000000000"), bytes(65536))(wire)

    fetched({"/": play})

    assert sent[0].sent < 16 << 20


@pytest.mark.parametrize("kind", ["image/png", "application/pdf", "application/json; a=b"])
def test_a_body_that_its_type_rules_out_is_not_downloaded(kind: str) -> None:
    wires: list[rawweb.Wire] = []

    async def play(wire: rawweb.Wire) -> None:
        wires.append(wire)
        await endless(head(200, f"Content-Type: {kind}"), bytes(65536))(wire)

    answer, _ = fetched({"/": play})

    assert fault_of(answer).outcome is Outcome.NOT_HTML
    assert fault_of(answer).status == 200
    assert wires[0].sent < 16 << 20


@pytest.mark.parametrize("kind", ["TEXT/HTML;CHARSET=x", "application/xhtml+xml", "html", "*/*"])
def test_html_and_what_names_no_type_are_read(kind: str) -> None:
    answer, _ = fetched({"/": ok(kind=kind)})

    assert body_of(answer) == ARTICLE


def test_of_an_error_only_the_beginning_is_read_and_its_status_stands() -> None:
    answer, _ = fetched({"/": endless(head(404), b"<p>words</p>" * 999)})
    cut, _ = fetched({"/": closing(head(500, "Content-Length: 99") + b"<p>")})
    odd, _ = fetched({"/": status(403, "Content-Encoding: br")})

    assert isinstance(answer, Response)
    assert (answer.status, len(answer.body)) == (404, bodies.BEGINNING_BYTES)
    assert isinstance(cut, Response)
    assert (cut.status, cut.body) == (500, b"<p>")
    assert isinstance(odd, Response)
    assert odd.status == 403


def test_robots_txt_is_cut_where_others_are_refused() -> None:
    long = b"Disallow: /a\n" * 60_000
    answer, _ = fetched({"/robots.txt": ok(long, kind="text/plain")}, "/robots.txt", ROBOTS)
    packed = ok(gzip.compress(long), "Content-Encoding: gzip")
    inflated, _ = fetched({"/robots.txt": packed}, "/robots.txt", ROBOTS)

    assert body_of(answer) == long[: ROBOTS.max_bytes]
    assert body_of(inflated) == long[: ROBOTS.max_bytes]


def test_headers_are_text_whatever_their_bytes() -> None:
    sent = ok()[: -len(ARTICLE)].replace(
        b"\r\n\r\n", b"\r\nX-Owner: caf\xe9\r\nX-Name: \xc3\xa9\r\n\r\n"
    )
    answer, _ = fetched({"/": sent + ARTICLE})

    assert (answer.header("x-owner"), answer.header("x-name")) == ("café", "é")


# Connections.

POISON = ok(b"<p>poison: the answer to a question nobody asked</p>")


def padded(total: int) -> bytes:
    """Return a whole answer of exactly `total` bytes."""
    start = len(head(200, "Content-Type: text/html", f"Content-Length: {total}"))
    body = b"a" * (total - start)
    short = head(200, "Content-Type: text/html", f"Content-Length: {len(body):0{len(str(total))}}")
    return short + body


@pytest.mark.parametrize(
    "first",
    [ok(), padded(65_536), padded(131_072), ok(b""), status(404)],
    ids=["one read", "at the end of a read", "of two reads", "empty", "error"],
)
def test_no_byte_of_one_answer_is_taken_for_another(first: bytes) -> None:
    async def job() -> list[Answer]:
        async with (
            serving({"/": first + POISON, "/b": ok()}) as web,
            client() as visitor,
        ):
            return [
                await visitor.fetch(web.origin + path, want=PAGE, origin=web.origin)
                for path in ("/", "/b", "/", "/b")
            ]

    answers = run(job)
    assert [b"poison" in answer.body for answer in answers if isinstance(answer, Response)] == [
        False
    ] * 4
    assert body_of(answers[1]) == body_of(answers[3]) == ARTICLE


def test_what_comes_after_an_answer_ends_the_connection() -> None:
    async def late(wire: rawweb.Wire) -> None:
        await wire.send(ok())
        await asyncio.sleep(0.05)
        await wire.send(POISON)

    async def job() -> tuple[Answer, Web]:
        async with (
            serving({"/": late, "/b": ok()}) as web,
            client() as visitor,
        ):
            await visitor.fetch(web.origin + "/", want=PAGE, origin=web.origin)
            await asyncio.sleep(0.15)
            return await visitor.fetch(web.origin + "/b", want=PAGE, origin=web.origin), web

    answer, web = run(job)
    assert body_of(answer) == ARTICLE
    assert web.connections == 2


def test_a_connection_that_the_server_closed_is_not_asked_on() -> None:
    async def job() -> Web:
        async with serving({"/": closing(ok())}) as web, client() as visitor:
            for _ in range(3):
                answer = await visitor.fetch(web.origin + "/", want=PAGE, origin=web.origin)
                assert body_of(answer) == ARTICLE
                await asyncio.sleep(0.02)
            return web

    assert run(job).connections == 3


def test_connections_are_kept_and_let_go_by_origin() -> None:
    async def job() -> Web:
        async with serving({"/": ok()}) as web, client() as visitor:
            for _ in range(3):
                await visitor.fetch(web.origin + "/", want=PAGE, origin=web.origin)
            await visitor.aclose(web.origin)
            await visitor.fetch(web.origin + "/", want=PAGE, origin=web.origin)
            return web

    assert [asked.connection for asked in run(job).log] == [1, 1, 1, 2]


def test_a_connection_that_rested_too_long_is_closed_and_not_asked_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transports, "KEEP_ALIVE_S", 0.0)

    async def job() -> tuple[Web, int]:
        async with serving({"/": ok()}) as web, client() as visitor:
            for _ in range(3):
                await visitor.fetch(web.origin + "/", want=PAGE, origin=web.origin)
                await asyncio.sleep(0.01)
            return web, visitor._transports._egress.open

    web, left_open = run(job)
    assert (web.connections, left_open) == (3, 1)


def test_closing_an_origin_ends_what_is_under_way_and_leaves_nothing_open() -> None:
    async def job() -> tuple[Answer, int]:
        letters = endless(head(200, "Content-Type: text/html"), b"a", 0.005)
        async with serving({"/": letters}) as web, client() as visitor:
            fetch = visitor.fetch(web.origin + "/", want=PAGE, origin=web.origin)
            task = asyncio.create_task(fetch)
            await asyncio.sleep(0.05)
            await visitor.aclose(web.origin)
            return await task, visitor._transports._egress.open

    answer, left_open = run(job)
    assert fault_of(answer).outcome is Outcome.TRUNCATED
    assert left_open == 0


def test_idle_connections_make_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transports, "MAX_OPEN", 3)

    async def job() -> tuple[int, int, bool]:
        async with AsyncExitStack() as stack, client() as visitor:
            webs = [
                await stack.enter_async_context(serving({"/": ok(), "/slow": rawweb.silent}))
                for _ in range(6)
            ]
            first = webs[0].origin
            slow = asyncio.create_task(visitor.fetch(first + "/slow", want=PAGE, origin=first))
            await asyncio.sleep(0.05)
            for _ in range(2):
                for web in webs[1:]:
                    await visitor.fetch(web.origin + "/", want=PAGE, origin=web.origin)
            held = visitor._transports._egress.open
            untouched = slow.done()
            slow.cancel()
            await asyncio.gather(slow, return_exceptions=True)
            await visitor.aclose()
            await asyncio.sleep(0)
            return held, visitor._transports._egress.open, untouched

    held, left, untouched = run(job)
    assert held <= 4
    assert left == 0
    assert not untouched


def test_the_private_attribute_that_the_fetcher_depends_on_is_there() -> None:
    connection = httpcore.AsyncHTTP11Connection(
        httpcore.Origin(b"http", b"a.test", 80), httpcore.AsyncMockStream([])
    )

    assert connection._h11_state.trailing_data == (b"", False)


def test_a_certificate_that_nobody_trusts_ends_the_fetch_before_the_request() -> None:
    async def job() -> tuple[Answer, Web, int]:
        async with serving({"/": ok()}, tls=True) as web, client(tls=None) as visitor:
            answer = await visitor.fetch(web.origin + "/", want=PAGE, origin=web.origin)
            return answer, web, visitor._transports._egress.open

    answer, web, left_open = run(job)
    assert fault_of(answer).outcome is Outcome.TLS_ERROR
    assert "self-signed" in fault_of(answer).detail
    assert (web.log, left_open) == ([], 0)


def test_a_trusted_certificate_is_read_over_tls() -> None:
    trust = ssl.create_default_context(cafile=str(rawweb.CERTIFICATE))

    async def job() -> list[Answer]:
        async with (
            serving({"/": ok(), "/big": ok(bytes(900_000))}, tls=True) as web,
            client(tls=trust) as visitor,
        ):
            return [
                await visitor.fetch(web.origin + path, want=PAGE, origin=web.origin)
                for path in ("/", "/big", "/")
            ]

    bodies = [len(body_of(answer)) for answer in run(job)]
    assert bodies == [len(ARTICLE), 900_000, len(ARTICLE)]


def test_tls_spoken_to_a_plain_server_is_a_fault() -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(status(400))
        writer.close()

    async def job() -> Answer:
        server = await asyncio.start_server(refuse, "127.0.0.1", 0)
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server, client() as visitor:
            return await visitor.fetch(url + "/", want=PAGE, origin=url)

    assert fault_of(run(job)).outcome in {Outcome.TLS_ERROR, Outcome.CONNECTION_ERROR}


def test_a_server_that_never_shakes_hands_is_a_fault_in_time() -> None:
    async def job() -> Answer:
        async with serving({}) as web, client() as visitor:
            url = web.origin.replace("http:", "https:")
            return await visitor.fetch(url + "/", want=QUICK, origin=url)

    assert fault_of(run(job)).outcome is Outcome.TIMEOUT


def test_a_cancelled_fetch_ends_at_once_and_closes_its_connection() -> None:
    async def job() -> tuple[float, Answer]:
        async with serving({"/": rawweb.silent, "/b": ok()}) as web, client() as c:
            task = asyncio.create_task(c.fetch(web.origin + "/", want=PAGE, origin=web.origin))
            await asyncio.sleep(0.05)
            loop = asyncio.get_running_loop()
            before = loop.time()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            took = loop.time() - before
            return took, await c.fetch(web.origin + "/b", want=PAGE, origin=web.origin)

    took, after = run(job)
    assert took < 1
    assert body_of(after) == ARTICLE


# Streams.


def streamed(answers: dict[str, rawweb.Answers], want: Want = SITEMAP) -> tuple[bytes, Stream]:
    async def job() -> tuple[bytes, Stream]:
        async with (
            serving(answers) as web,
            client() as visitor,
            visitor.stream(web.origin + "/", want=want, origin=web.origin) as got,
        ):
            assert isinstance(got, Stream)
            return b"".join([piece async for piece in got]), got

    return run(job)


def test_a_stream_gives_the_body_while_it_arrives() -> None:
    async def job() -> tuple[list[bytes], Stream]:
        first_was_read = asyncio.Event()

        async def slowly(wire: rawweb.Wire) -> None:
            await wire.send(head(200, "Content-Length: 6") + b"one")
            await first_was_read.wait()
            await wire.send(b"two")

        read: list[bytes] = []
        async with (
            serving({"/": slowly}) as web,
            client() as visitor,
            visitor.stream(web.origin + "/", want=SITEMAP, origin=web.origin) as got,
        ):
            assert isinstance(got, Stream)
            async for piece in got:
                read += [piece]
                first_was_read.set()
            return read, got

    read, got = run(job)
    assert read == [b"one", b"two"]
    assert got.fault is None
    assert got.answer().wire_bytes == 6


def test_a_stream_is_inflated_in_bounded_pieces() -> None:
    body, got = streamed({"/": coded(bomb(4), "gzip")})

    assert len(body) == 4 << 20
    assert got.fault is None
    assert got.answer().wire_bytes < 65_536


@pytest.mark.parametrize(
    ("play", "want", "outcome"),
    [
        (closing(head(200, "Content-Length: 9") + b"<urlset"), SITEMAP, Outcome.TRUNCATED),
        (coded(bomb(2), "gzip"), replace(SITEMAP, max_bytes=1 << 20), Outcome.TOO_LARGE),
        (coded(gzip.compress(ARTICLE)[:-9], "gzip"), SITEMAP, Outcome.TRUNCATED),
        (coded(b"x", "br"), SITEMAP, Outcome.DECODE_ERROR),
        (
            endless(head(200, "Content-Length: 9999"), b".", 0.02),
            replace(SITEMAP, deadline_s=0.3),
            Outcome.TIMEOUT,
        ),
    ],
    ids=["cut", "too large", "cut gzip", "brotli", "dripping"],
)
def test_a_stream_that_breaks_ends_and_says_why(
    play: rawweb.Answers, want: Want, outcome: Outcome
) -> None:
    _, got = streamed({"/": play}, want)

    assert got.fault
    assert got.fault.outcome is outcome
    assert got.answer() is got.fault
    assert got.head.status == 200


def test_a_trickle_ends_a_stream_long_before_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "PATIENCE_S", 0.3)
    trickle = endless(head(200, "Content-Length: 9999"), b".", 0.02)

    _, got = streamed({"/": trickle}, SITEMAP)

    assert got.fault
    assert got.fault.outcome is Outcome.TIMEOUT


def test_a_reader_that_takes_its_time_costs_a_stream_nothing() -> None:
    async def job() -> tuple[int, Stream]:
        size = 0
        body = head(200, "Content-Length: 3000000") + bytes(3_000_000)
        want = replace(SITEMAP, deadline_s=0.5)
        async with (
            serving({"/": body}) as web,
            client() as visitor,
            visitor.stream(web.origin + "/", want=want, origin=web.origin) as got,
        ):
            assert isinstance(got, Stream)
            async for piece in got:
                size += len(piece)
                await asyncio.sleep(0.02)
            return size, got

    size, got = run(job)
    assert (size, got.fault) == (3_000_000, None)


def test_a_stream_of_an_error_has_the_beginning_of_its_body_and_nothing_to_read() -> None:
    body, got = streamed({"/": status(403, body=b"refused")})

    assert body == b""
    assert (got.head.status, got.head.body) == (403, b"refused")


def test_a_stream_left_early_frees_its_connection() -> None:
    async def job() -> Answer:
        play = endless(head(200), bytes(65536))
        async with serving({"/": play, "/b": ok()}) as web, client() as visitor:
            async with visitor.stream(web.origin + "/", want=SITEMAP, origin=web.origin) as got:
                assert isinstance(got, Stream)
                async for _ in got:
                    break
            return await visitor.fetch(web.origin + "/b", want=PAGE, origin=web.origin)

    assert body_of(run(job)) == ARTICLE


def test_a_stream_that_cannot_start_is_a_fault() -> None:
    async def job() -> object:
        async with (
            serving({"/": to("//a.test/")}) as web,
            client() as visitor,
            visitor.stream(web.origin + "/", want=SITEMAP, origin=web.origin) as got,
        ):
            return got

    got = run(job)
    assert isinstance(got, Fault)
    assert got.outcome is Outcome.OFF_ORIGIN
