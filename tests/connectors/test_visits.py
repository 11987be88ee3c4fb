"""Each URL of a site is asked for, what failed once more at the end, and both answers are told."""

import asyncio
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from connectors.revisits import Revisits
from connectors.visits import Visits
from flows import remembered, robots
from flows.records import Attribution, Entry, Failure, Method, Outcome, Page
from flows.remembered import Memory
from flows.responses import Answer, Fault, Response
from flows.settings import Settings, Site

ORIGIN = "https://a.test"
SITE = Site(origin=ORIGIN, start_url=ORIGIN + "/")


def entry(path: str) -> Entry:
    return Entry(site=ORIGIN, url=ORIGIN + path, attribution=Attribution(method=Method.LINK))


def found(url: str) -> Response:
    return Response(
        url=url, status=200, headers=(("content-type", "text/html"),), body=b"<p>words</p>"
    )


def broken(url: str) -> Fault:
    return Fault(outcome=Outcome.CONNECTION_ERROR, detail="reset", url=url)


class Scripted:
    """A guest whose answers are written down: the one of each try, the last for all that follow."""

    given_up = given_up_status = None
    requests = bytes = 0

    def __init__(self, script: dict[str, list[Callable[[str], Answer]]]) -> None:
        self.script = script
        self.asked: list[tuple[str, bool]] = []
        self.may: Any = None

    async def ask(self, url: str, want: object, *, once: bool = False) -> Answer:
        tries = sum(before == url for before, _ in self.asked)
        self.asked.append((url, once))
        answers = self.script[url.removeprefix(ORIGIN)]
        return answers[min(tries, len(answers) - 1)](url)

    def set_crawl_delay(self, seconds: float | None) -> None:
        self.crawl_delay_s = seconds


def remembering(path: str) -> Memory:
    """Return what is remembered of a site of which one page is stored."""
    row = {"url": ORIGIN + path, "run_id": "r", "content_hash": "c", "settings_hash": "s"}
    pages = pa.table({name: [value] for name, value in row.items()})
    return remembered.memory(pages, [], "s")


def visited(
    guest: Scripted,
    *paths: str,
    during: Callable[[Visits], None] | None = None,
    stored: str | None = None,
    **settings: Any,
) -> dict[str, Page | Failure]:
    """Return the answers of a site of which one page may be stored, with the second ones."""
    answers: list[Page | Failure] = []
    own = Settings(**({"verify_after_s": 0.0} | settings))

    async def play() -> None:
        revisits = Revisits(remembering(stored)) if stored else None
        visits = Visits(SITE, own, lambda _: guest, answers.append, revisits)  # type: ignore[arg-type,return-value]
        for path in paths:
            visits.add(entry(path))
        worker = asyncio.ensure_future(visits.visit())
        while len(answers) + visits.doubtful < len(paths):
            await asyncio.sleep(0)
        if during:
            during(visits)
        await visits.verify()
        worker.cancel()

    asyncio.run(play())
    return {answer.entry.url.removeprefix(ORIGIN): answer for answer in answers}


def test_what_recovers_in_the_verification_round_is_a_page() -> None:
    guest = Scripted({"/a": [broken, found], "/b": [found]})

    came = visited(guest, "/a", "/b")

    assert isinstance(came["/a"], Page)
    assert isinstance(came["/b"], Page)
    assert came["/a"].exchange.before == "before verification: connection_error"
    assert came["/b"].exchange.before is None
    assert guest.asked == [(f"{ORIGIN}/a", False), (f"{ORIGIN}/b", False), (f"{ORIGIN}/a", True)]


def test_what_fails_again_tells_both_answers() -> None:
    def timeout(url: str) -> Fault:
        return Fault(outcome=Outcome.TIMEOUT, detail="30 s", url=url)

    came = visited(Scripted({"/a": [broken, timeout]}), "/a")["/a"]

    assert isinstance(came, Failure)
    assert came.outcome is Outcome.TIMEOUT
    assert came.detail is not None
    assert "connection_error" in came.detail


def test_a_page_that_is_not_there_is_not_asked_for_again() -> None:
    guest = Scripted({"/a": [lambda url: Response(url=url, status=404)]})

    came = visited(guest, "/a")["/a"]

    assert isinstance(came, Failure)
    assert came.outcome is Outcome.NOT_FOUND
    assert len(guest.asked) == 1


def missing(url: str) -> Answer:
    return Response(url=url, status=404)


@pytest.mark.parametrize(
    ("script", "outcome", "confirmed", "requests"),
    [
        ([missing], Outcome.NOT_FOUND, True, 2),
        ([missing, broken], Outcome.CONNECTION_ERROR, False, 2),
    ],
    ids=["gone again", "no answer the second time"],
)
def test_a_stored_page_that_is_missing_is_asked_for_once_more(
    script: list[Callable[[str], Answer]], outcome: Outcome, confirmed: bool, requests: int
) -> None:
    guest = Scripted({"/a": script})

    came = visited(guest, "/a", stored="/a")["/a"]

    assert isinstance(came, Failure)
    assert (came.outcome, came.confirmed, len(guest.asked)) == (outcome, confirmed, requests)


def test_a_stored_page_that_is_there_the_second_time_is_a_page() -> None:
    assert isinstance(visited(Scripted({"/a": [missing, found]}), "/a", stored="/a")["/a"], Page)


@pytest.mark.parametrize("setting", [{"verify_urls": 0}, {"verify_seconds": 0.0}], ids=str)
def test_a_page_that_is_not_asked_for_twice_is_not_proved_to_be_gone(
    setting: dict[str, float],
) -> None:
    came = visited(Scripted({"/a": [missing]}), "/a", stored="/a", **setting)["/a"]

    assert isinstance(came, Failure)
    assert (came.outcome, came.confirmed) == (Outcome.NOT_FOUND, False)


def test_the_round_is_bounded_in_urls_and_seconds() -> None:
    few = visited(Scripted({p: [broken] for p in ("/a", "/b")}), "/a", "/b", verify_urls=1)
    late = visited(Scripted({"/a": [broken]}), "/a", verify_seconds=0.0)

    assert [a.outcome for a in few.values() if isinstance(a, Failure)] == [
        Outcome.CONNECTION_ERROR,
        Outcome.CONNECTION_ERROR,
    ]
    assert isinstance(late["/a"], Failure)
    assert late["/a"].outcome is Outcome.COULD_NOT_VERIFY
    assert late["/a"].detail == "connection_error: reset"


def test_a_closed_site_is_asked_for_nothing_more() -> None:
    guest = Scripted({"/a": [broken]})

    came = visited(guest, "/a", during=lambda visits: visits.close("stopped_by_budget", "1 s"))

    assert isinstance(came["/a"], Failure)
    assert came["/a"].outcome is Outcome.COULD_NOT_VERIFY
    assert len(guest.asked) == 1


def test_a_kept_answer_is_used_once_in_place_of_a_request() -> None:
    guest = Scripted({"/": [found]})
    answers: list[Page | Failure] = []

    async def play() -> None:
        visits = Visits(SITE, Settings(), lambda _: guest, answers.append)  # type: ignore[arg-type,return-value]
        visits.keep(ORIGIN + "/", found(ORIGIN + "/"))
        visits.add(entry("/"))
        worker = asyncio.ensure_future(visits.visit())
        while not answers:
            await asyncio.sleep(0)
        worker.cancel()

    asyncio.run(play())

    assert isinstance(answers[0], Page)
    assert guest.asked == []


def test_the_rules_of_a_site_judge_its_redirects_and_set_its_pace() -> None:
    guest = Scripted({})
    visits = Visits(SITE, Settings(), lambda _: guest, lambda _: None)  # type: ignore[arg-type,return-value]
    rules = robots.Rulebook("User-agent: *\nDisallow: /no/\nCrawl-delay: 3\n", "sitewax")

    visits.rule(rules)

    assert guest.may(f"{ORIGIN}/no/x") is Outcome.ROBOTS_DISALLOWED
    assert guest.may(f"{ORIGIN}/yes") is None
    assert guest.crawl_delay_s == 3
