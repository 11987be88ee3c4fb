"""Large pages are read one after the other, and fare as if each had been read at once."""

from concurrent.futures import CancelledError, Future

import pytest

from connectors import largest
from connectors.largest import OneAtATime
from flows.records import Page
from tests.connectors.test_extractors import page


class Reader:
    """Starts to read pages, and waits to be told what came of them."""

    def __init__(self) -> None:
        self.started: list[tuple[Page, Future[str]]] = []

    def read(self, page_: Page) -> "Future[str]":
        future: Future[str] = Future()
        self.started.append((page_, future))
        return future


def test_a_page_is_started_when_the_one_before_it_is_done() -> None:
    reader = Reader()
    pages = OneAtATime(reader.read)

    promised = [pages.submit(page(b"x", f"/{n}")) for n in range(3)]
    at_first = len(reader.started)
    reader.started[0][1].set_result("first")
    then = [asked.entry.url[-2:] for asked, _ in reader.started]

    assert at_first == 1
    assert then == ["/0", "/1"]
    assert promised[0].result(0) == "first"
    assert not promised[1].done()


def test_what_fails_or_is_cancelled_is_passed_on_and_the_next_is_started() -> None:
    reader = Reader()
    pages = OneAtATime(reader.read)
    promised = [pages.submit(page(b"x")) for _ in range(3)]

    reader.started[0][1].set_exception(TimeoutError("too long"))
    reader.started[1][1].cancel()
    reader.started[2][1].set_result("third")

    with pytest.raises(TimeoutError, match="too long"):
        promised[0].result(0)
    with pytest.raises(CancelledError):
        promised[1].result(0)
    assert promised[2].result(0) == "third"


def test_nothing_more_is_started_after_the_close() -> None:
    reader = Reader()
    pages = OneAtATime(reader.read)
    for _ in range(2):
        pages.submit(page(b"x"))

    pages.close()
    reader.started[0][1].cancel()

    assert len(reader.started) == 1


@pytest.mark.parametrize(("size", "large"), [(largest.LARGE - 1, False), (largest.LARGE, True)])
def test_large_is_told_by_the_bytes_of_the_body(size: int, large: bool) -> None:
    assert largest.is_large(page(bytes(size))) is large
    largest.give_back(page(bytes(size)))
