"""A hostile page costs itself and at most one process; every other page is read."""

import threading
from collections.abc import Iterator

import pytest

from connectors.extractors import AHEAD, Extractors, Manner, read
from connectors.largest import LARGE
from flows.records import (
    Attribution,
    Entry,
    Exchange,
    Failure,
    Link,
    Method,
    Outcome,
    Page,
    Reading,
)
from flows.settings import Settings
from tests import hostile_reading

SITE = "https://a.test"
HTML = b"<html><body><main><h1>Title</h1><p>%s</p></main></body></html>" % (b"Some words. " * 40)


def page(body: bytes, path: str = "/") -> Page:
    at = Attribution(method=Method.LINK)
    return Page(
        entry=Entry(site=SITE, url=SITE + path, attribution=at),
        exchange=Exchange(status=200, final_url=SITE + path),
        body=body,
        links=(Link(url=SITE + "/other"),),
    )


@pytest.fixture
def stopping() -> threading.Event:
    return threading.Event()


@pytest.fixture
def hostile(stopping: threading.Event) -> Iterator[Extractors]:
    pool = Extractors(Settings(extract_seconds=1.0), 2, stopping, hostile_reading.read)
    yield pool
    stopping.set()
    pool.close()


@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        (b"stall", Outcome.TIMEOUT),
        (b"die", Outcome.PARSE_ERROR),
        (b"swell", Outcome.PARSE_ERROR),
        (b"fail", Outcome.PARSE_ERROR),
    ],
    ids=["stalls", "kills its process", "takes too much memory", "raises"],
)
def test_a_hostile_page_is_an_outcome_and_the_others_are_read(
    hostile: Extractors, word: bytes, outcome: Outcome
) -> None:
    bodies = [b"good 1", b"good 2", word + b" page", b"good 3", b"good 4", b"good 5"]

    tasks = [hostile.submit(page(body, f"/{n}")) for n, body in enumerate(bodies)]
    came = [task.result() for task in tasks]

    failed = came.pop(2)
    assert isinstance(failed, Failure)
    assert failed.outcome is outcome
    assert failed.entry.url == f"{SITE}/2"
    assert failed.links
    assert [r.document.markdown for r in came if isinstance(r, Reading)] == [
        "good 1", "good 2", "good 3", "good 4", "good 5",
    ]  # fmt: skip


def test_handing_over_blocks_while_enough_pages_wait(
    hostile: Extractors, stopping: threading.Event
) -> None:
    room = 2 * (1 + AHEAD)
    tasks = [hostile.submit(page(b"stall", f"/{n}")) for n in range(room)]
    more = threading.Thread(target=hostile.submit, args=(page(b"good"),))
    more.start()
    more.join(0.3)
    was_blocked = more.is_alive()
    stopping.set()
    more.join(10)

    assert was_blocked
    assert not more.is_alive()
    assert not any(task.result() for task in tasks if not task.done())


def test_large_pages_are_read_one_at_a_time_and_keep_no_small_one_waiting(
    hostile: Extractors,
) -> None:
    big = b" " + bytes(LARGE)
    first = hostile.submit(page(b"stall" + big))
    second = hostile.submit(page(b"good" + big))
    small = hostile.submit(page(b"good"))

    came = small.result()
    waited = not second.done()
    failed = first.result()

    assert isinstance(came, Reading)
    assert waited
    assert isinstance(failed, Failure)
    assert failed.outcome is Outcome.TIMEOUT
    assert isinstance(second.result(), Reading)


def test_what_a_process_reads_comes_back_with_its_links(stopping: threading.Event) -> None:
    pool = Extractors(Settings(keep_html=True), 1, stopping)
    try:
        reading = pool.submit(page(HTML)).result()
    finally:
        stopping.set()
        pool.close()

    assert isinstance(reading, Reading)
    assert reading.document.title == "Title"
    assert reading.chunks
    assert reading.links == page(b"").links
    assert reading.html == HTML


def test_reading_gives_a_failure_where_there_is_nothing_to_read() -> None:
    came = read(page(b"<html></html>"), Manner.of(Settings()))

    assert isinstance(came, Failure)
