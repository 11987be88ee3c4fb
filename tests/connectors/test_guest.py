"""A site is asked at its pace, again only where that may help, and left alone when it refuses."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TypeVar

import pytest

from connectors import guest as guests
from connectors.fetcher import PAGE, Stream
from connectors.guest import Guest
from flows import politeness
from flows.politeness import Pace
from flows.records import Outcome
from flows.responses import Answer, Fault, Response
from tests import rawweb
from tests.rawweb import ARTICLE, Answers, Web, client, head, ok, serving, status, to

CHALLENGE = status(403, "cf-mitigated: challenge")
T = TypeVar("T")


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(politeness, "BACK_OFF_S", 0.02)
    monkeypatch.setattr(politeness, "CONNECTION_WAITS_S", (0.01, 0.02))
    monkeypatch.setattr(politeness, "SLOW_GAP_S", 0.03)


class Noted(Pace):
    """A pace that keeps the instants at which requests left."""

    def __init__(self, rate: float) -> None:
        """Take the rate."""
        super().__init__(rate)
        self.instants: list[float] = []

    def started(self, now: float) -> None:
        self.instants.append(now)
        super().started(now)


def visit(
    answers: dict[str, Answers],
    job: Callable[[Guest, Web], Awaitable[T]],
    rate: float = 0.0,
    total: int = 64,
    **settings: object,
) -> T:
    """Let a job ask a site that gives these answers."""

    async def within() -> T:
        async with (
            asyncio.timeout(20),
            serving(answers) as web,
            client(total_concurrency=total) as fetcher,
        ):
            more = {"retry_waits_s": (0.01, 0.02), **settings}
            guest = Guest(fetcher, web.origin, Pace(rate), **more)  # type: ignore[arg-type]  # by name
            return await job(guest, web)

    return asyncio.run(within())


def asked(answers: dict[str, Answers], path: str = "/", **settings: object) -> tuple[Answer, Web]:
    async def job(guest: Guest, web: Web) -> tuple[Answer, Web]:
        return await guest.ask(web.origin + path), web

    return visit(answers, job, **settings)  # type: ignore[arg-type]  # by name


def gaps(web: Web) -> list[float]:
    return [after.at - before.at for before, after in itertools.pairwise(web.log)]


# Pace.


def test_gaps_hold_at_the_server_redirects_included() -> None:
    async def job(guest: Guest, web: Web) -> Web:
        await asyncio.gather(*(guest.ask(f"{web.origin}/{n}") for n in range(4)))
        return web

    web = visit({f"/{n}": to(f"/{n}/end") for n in range(4)}, job, rate=12.5)
    assert len(web.log) == 8
    assert min(gaps(web)) >= 0.06  # 0.08, and what a busy machine takes from it


def test_a_slow_connection_does_not_let_the_next_request_catch_up() -> None:
    async def job(guest: Guest, web: Web) -> Web:
        slow = guest._fetcher._transports._egress
        connect, first = slow.connect_tcp, [0.15, 0.0, 0.0]

        async def late(*given: object, **named: object) -> object:
            await asyncio.sleep(first.pop(0) if first else 0.0)
            return await connect(*given, **named)  # type: ignore[arg-type]  # passed on

        slow.connect_tcp = late  # type: ignore[method-assign,assignment]  # a slow network
        await asyncio.gather(*(guest.ask(f"{web.origin}/{n}") for n in range(3)))
        return web

    web = visit({}, job, rate=10)
    assert min(gaps(web)) >= 0.075  # 0.1, and what a busy machine takes from it


def test_a_crawl_delay_read_from_robots_txt_takes_effect() -> None:
    async def job(guest: Guest, web: Web) -> Web:
        await guest.ask(web.origin + "/a")
        guest.set_crawl_delay(0.2)
        await guest.ask(web.origin + "/b")
        return web

    assert gaps(visit({}, job, rate=100))[0] >= 0.18


def test_no_more_requests_are_in_flight_than_allowed() -> None:
    flying, most = [0], [0]

    async def play(wire: rawweb.Wire) -> None:
        flying[0] += 1
        most[0] = max(most[0], flying[0])
        await asyncio.sleep(0.02)
        flying[0] -= 1
        await wire.send(ok())

    async def job(guest: Guest, web: Web) -> list[Answer]:
        return await asyncio.gather(*(guest.ask(f"{web.origin}/{n}") for n in range(12)))

    answers: dict[str, Answers] = {f"/{n}": play for n in range(12)}
    assert all(isinstance(answer, Response) for answer in visit(answers, job, concurrency=3))
    assert most == [3]

    most[0] = 0
    visit(answers, job, concurrency=8, total=2)
    assert most == [2]


def test_hundreds_of_sites_go_on_at_once_each_at_its_own_pace() -> None:
    async def job() -> list[Noted]:
        async with AsyncExitStack() as stack, client() as fetcher:
            webs = [await stack.enter_async_context(serving({})) for _ in range(200)]
            paces = [Noted(rate) for _ in range(100) for rate in (2, 4)]
            pages = [
                guest.ask(f"{guest.origin}/{n}")
                for guest in (Guest(fetcher, w.origin, p) for w, p in zip(webs, paces, strict=True))
                for n in range(3)
            ]
            async with asyncio.timeout(15):  # 200 sites one after the other: 150 s
                await asyncio.gather(*pages)
            return paces

    for pace in asyncio.run(job()):
        assert len(pace.instants) == 3
        between = [after - before for before, after in itertools.pairwise(pace.instants)]
        assert min(between) >= 0.95 * pace.gap_s


def test_a_request_waits_until_there_is_room_for_its_answer() -> None:
    room = asyncio.Event()

    async def job(guest: Guest, web: Web) -> tuple[int, Answer]:
        task = asyncio.create_task(guest.ask(web.origin + "/"))
        await asyncio.sleep(0.05)
        before = len(web.log)
        room.set()
        return before, await task

    before, answer = visit({"/": ok()}, job, room=room.wait)
    assert before == 0
    assert isinstance(answer, Response)


# Trying again.


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410, 418, 451, 501])
def test_a_final_answer_is_asked_for_once(code: int) -> None:
    answer, web = asked({"/": status(code)})

    assert (answer.status, answer.attempts, len(web.log)) == (code, 1, 1)


def test_a_server_error_is_asked_again_after_the_waits_of_the_settings() -> None:
    answer, web = asked({"/": [status(500), status(502), ok()]})
    broken, again = asked({"/": status(520)})

    assert (answer.status, answer.attempts, len(web.log)) == (200, 3, 3)
    assert gaps(web)[0] >= 0.01
    assert gaps(web)[1] >= 0.02
    assert (broken.status, broken.attempts, len(again.log)) == (520, 3, 3)


def test_patience_with_server_errors_ends_after_some_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guests, "PATIENT_PAGES", 2)

    async def job(guest: Guest, web: Web) -> list[int]:
        return [(await guest.ask(f"{web.origin}/{n}")).attempts for n in range(4)]

    assert visit({f"/{n}": status(500) for n in range(4)}, job) == [3, 3, 1, 1]


@pytest.mark.parametrize("play", [rawweb.reset, rawweb.closing(b""), rawweb.closing(ok()[:-5])])
def test_a_broken_connection_is_tried_three_times(play: rawweb.Play) -> None:
    answer, web = asked({"/": play})
    mended, _ = asked({"/": [play, play, ok()]})

    assert isinstance(answer, Fault)
    assert (answer.attempts, len(web.log)) == (3, 3)
    assert isinstance(mended, Response)
    assert (mended.body, mended.attempts) == (ARTICLE, 3)


def test_what_would_not_change_is_not_tried_again() -> None:
    answer, web = asked({"/": ok(b"x", "Content-Encoding: br")})

    assert isinstance(answer, Fault)
    assert (answer.outcome, answer.attempts, len(web.log)) == (Outcome.DECODE_ERROR, 1, 1)


def test_a_rate_limit_holds_the_whole_site_back_for_at_least_what_it_asks() -> None:
    async def job(guest: Guest, web: Web) -> tuple[Answer, list[float], Web]:
        limited = asyncio.create_task(guest.ask(web.origin + "/a"))
        await asyncio.sleep(0.1)
        other = asyncio.create_task(guest.ask(web.origin + "/b"))
        await asyncio.gather(limited, other)
        return limited.result(), gaps(web), web

    limit = status(429, "Retry-After: 1")
    answer, waited, web = visit({"/a": [limit, ok()], "/b": ok()}, job)
    assert (answer.status, answer.attempts) == (200, 2)
    assert waited[0] >= 1.0
    assert len(web.log) == 3


@pytest.mark.parametrize(
    "limit",
    [status(429), status(429, "Retry-After: soon"), status(503, "Retry-After: 0")],
    ids=["plain", "nonsense", "unavailable"],
)
def test_a_rate_limit_is_tried_three_times(limit: bytes) -> None:
    answer, web = asked({"/": limit})

    assert (answer.attempts, len(web.log)) == (3, 3)
    assert min(gaps(web)) >= 0.02


def test_an_absurd_retry_after_is_not_waited_for_and_is_kept() -> None:
    answer, web = asked({"/": status(429, "Retry-After: 86400")})

    assert (answer.retry_after_s, answer.attempts, len(web.log)) == (86400.0, 1, 1)


def test_the_verification_asks_once() -> None:
    async def job(guest: Guest, web: Web) -> int:
        await guest.ask(web.origin + "/", once=True)
        return len(web.log)

    assert visit({"/": status(500)}, job) == 1


def test_requests_and_bytes_are_counted() -> None:
    async def job(guest: Guest, web: Web) -> tuple[int, int]:
        await guest.ask(web.origin + "/a")
        await guest.ask(web.origin + "/c")
        await guest.ask("http://elsewhere.test/")
        return guest.requests, guest.bytes

    answers: dict[str, Answers] = {"/a": to("/b"), "/b": ok(), "/c": [status(500), ok()]}
    assert visit(answers, job) == (4, 2 * len(ARTICLE) + 2 * len(b"no"))


# Refusals.


def test_a_challenge_is_a_fault_that_names_its_provider_and_is_not_asked_again() -> None:
    answer, web = asked({"/": status(429, "x-vercel-mitigated: challenge")})

    assert isinstance(answer, Fault)
    assert (answer.outcome, answer.provider) == (Outcome.BLOCKED, "vercel")
    assert (answer.status, len(web.log)) == (429, 1)


def paths(web: Web, count: int) -> list[str]:
    return [f"{web.origin}/{n}" for n in range(count)]


def test_a_site_that_refuses_three_times_is_asked_more_slowly_until_it_answers() -> None:
    async def job(guest: Guest, web: Web) -> list[float]:
        seen = []
        for url in paths(web, 5):
            await guest.ask(url)
            seen.append(guest.pace.gap_s)
        return seen

    answers: dict[str, Answers] = {f"/{n}": CHALLENGE for n in range(4)} | {"/4": ok()}
    assert visit(answers, job) == [0.0, 0.0, 0.03, 0.03, 0.0]


def test_a_site_that_refuses_ten_times_is_left_alone() -> None:
    async def job(guest: Guest, web: Web) -> tuple[Guest, Web, list[Answer]]:
        return guest, web, [await guest.ask(url) for url in paths(web, 12)]

    guest, web, answers = visit({f"/{n}": CHALLENGE for n in range(12)}, job)
    assert len(web.log) == 10
    assert [a.outcome for a in answers if isinstance(a, Fault)][9:] == [
        Outcome.BLOCKED,
        Outcome.NOT_REACHED,
        Outcome.NOT_REACHED,
    ]
    assert guest.given_up_status == "failed_blocked"
    assert "cloudflare" in (guest.given_up or "")
    assert "owner" in (guest.given_up or "")


def test_a_site_whose_every_page_is_rate_limited_is_left_alone() -> None:
    async def job(guest: Guest, web: Web) -> Guest:
        for url in paths(web, 10):
            await guest.ask(url)
        return guest

    limits: dict[str, Answers] = {f"/{n}": status(429, "Retry-After: 999") for n in range(10)}
    assert visit(limits, job).given_up_status == "failed_blocked"


def test_a_site_that_never_answers_is_left_alone() -> None:
    async def job(guest: Guest, web: Web) -> tuple[Guest, int]:
        for url in paths(web, 11):
            await guest.ask(url, replace(PAGE, deadline_s=0.05))
        return guest, len(web.log)

    guest, requests = visit({f"/{n}": rawweb.silent for n in range(11)}, job)
    assert guest.given_up_status == "failed_unreachable"
    assert requests == 10


@pytest.mark.parametrize("good", [ok(), status(404), status(403)], ids=["page", "404", "403"])
def test_any_answer_of_the_site_itself_ends_a_row_of_refusals(good: bytes) -> None:
    async def job(guest: Guest, web: Web) -> Guest:
        for url in paths(web, 19):
            await guest.ask(url)
        return guest

    answers: dict[str, Answers] = {f"/{n}": CHALLENGE for n in range(19)} | {"/9": good}
    assert visit(answers, job).given_up is None


def test_that_there_is_no_sitemap_ends_no_row_of_refusals() -> None:
    async def job(guest: Guest, web: Web) -> Guest:
        for url in paths(web, 10):
            await guest.ask(url)
            async with guest.open(web.origin + "/sitemap.xml"):
                pass
        return guest

    answers: dict[str, Answers] = {f"/{n}": CHALLENGE for n in range(10)}
    assert visit(answers, job).given_up_status == "failed_blocked"


# Streams.


def test_a_stream_is_polite_and_tried_again_before_its_first_byte() -> None:
    async def job(guest: Guest, web: Web) -> tuple[bytes, Stream, Guest, Web]:
        async with guest.open(web.origin + "/map.xml") as got:
            assert isinstance(got, Stream)
            return b"".join([piece async for piece in got]), got, guest, web

    answers: dict[str, Answers] = {"/map.xml": [status(503), rawweb.reset, ok(b"<urlset/>")]}
    body, got, guest, web = visit(answers, job)
    assert (body, got.fault) == (b"<urlset/>", None)
    assert (guest.requests, len(web.log)) == (3, 3)
    assert guest.bytes == len(b"<urlset/>") + len(b"no")


def test_a_stream_that_breaks_later_is_not_asked_for_again() -> None:
    async def job(guest: Guest, web: Web) -> tuple[Stream, int]:
        async with guest.open(web.origin + "/") as got:
            assert isinstance(got, Stream)
            async for _ in got:
                pass
            return got, len(web.log)

    got, requests = visit({"/": rawweb.closing(head(200, "Content-Length: 9") + b"<u")}, job)
    assert got.fault
    assert (got.fault.outcome, requests) == (Outcome.TRUNCATED, 1)


def test_a_challenge_in_place_of_a_stream_is_a_fault() -> None:
    async def job(guest: Guest, web: Web) -> object:
        async with guest.open(web.origin + "/") as got:
            return got

    got = visit({"/": CHALLENGE}, job)
    assert isinstance(got, Fault)
    assert got.provider == "cloudflare"


def test_the_error_of_a_stream_is_its_head() -> None:
    async def job(guest: Guest, web: Web) -> object:
        async with guest.open(web.origin + "/") as got:
            return got

    got = visit({"/": status(404)}, job)
    assert isinstance(got, Stream)
    assert got.head.status == 404


# Stopping.


@pytest.mark.parametrize(
    "answers",
    [
        {"/": status(429, "Retry-After: 100")},
        {"/": status(500)},
        {"/": rawweb.silent},
    ],
    ids=["resting", "waiting", "asking"],
)
def test_a_stop_ends_every_wait_at_once_and_leaves_no_place_taken(
    answers: dict[str, Answers],
) -> None:
    async def job(guest: Guest, web: Web) -> float:
        tasks = [asyncio.create_task(guest.ask(web.origin + "/")) for _ in range(8)]
        await asyncio.sleep(0.1)
        loop = asyncio.get_running_loop()
        before = loop.time()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert not guest._seats.turn.locked()
        assert guest._seats.places._value == 4
        assert guest._fetcher.slots._value == 64
        return loop.time() - before

    assert visit(answers, job, rate=100, retry_waits_s=(100.0,)) < 1
