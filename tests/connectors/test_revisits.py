"""What is stored is asked for no more than it must be, and an answer is taken for what it says."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from connectors.revisits import Revisits
from flows import remembered, schema
from flows.records import Entry, Exchange, Failure, Outcome, Page
from tests import samples
from tests.samples import NOON, SITE

URL = f"{SITE}/a"
LASTMOD = NOON - timedelta(days=9)
SETTINGS = "s"
ENTRY = replace(samples.entry("/a"), lastmod=LASTMOD)
PAGE = Page(
    entry=ENTRY,
    exchange=Exchange(status=200, final_url=URL, content_type="text/html"),
    body=b"<p>words</p>",
    charset="utf-8",
)
ANSWER = {
    "etag": '"1"',
    "last_modified": "Wed, 01 May 2024 12:00:00 GMT",
    "final_url": URL,
    "content_type": "text/html; charset=utf-8",
    "fetched_at": NOON,
    "lastmod": LASTMOD,
    "fingerprint": remembered.fingerprint(PAGE),
}


def known(
    settings: str = SETTINGS,
    *,
    outcome: str = "ok",
    trusted: bool = True,
    now: datetime = NOON + timedelta(hours=1),
    kept: bytes | None = None,
    **answer: Any,
) -> Revisits:
    page = {"url": [URL], "run_id": ["r1"], "content_hash": ["c"], "settings_hash": [settings]}
    row = {"url": URL, "run_id": "r1", "outcome": outcome} | ANSWER | answer
    wanted = ("url", "run_id", "outcome", *remembered.ANSWER)
    run = schema.columns("urls", pa.table({name: [value] for name, value in row.items()}), wanted)
    memory = remembered.memory(pa.table(page), [run], SETTINGS, trusts_lastmod=trusted)
    return Revisits(memory, recheck_days=7, kept=lambda _: kept, now=lambda: now)


def instead(revisits: Revisits, entry: Entry = ENTRY) -> Page | Failure | None:
    return asyncio.run(revisits.instead(entry))


def test_a_page_whose_trusted_lastmod_has_not_moved_is_not_asked_for() -> None:
    answer = instead(known())

    assert isinstance(answer, Failure)
    assert answer.outcome is Outcome.UNCHANGED
    assert answer.exchange is not None
    assert (answer.exchange.attempts, answer.exchange.status) == (0, None)
    kept = ("etag", "last_modified", "final_url", "fetched_at", "fingerprint")
    assert {name: getattr(answer.exchange, name) for name in kept} == {
        name: ANSWER[name] for name in kept
    }


@pytest.mark.parametrize(
    ("revisits", "entry"),
    [
        (known(trusted=False), ENTRY),
        (known(now=NOON + timedelta(days=14)), ENTRY),
        (known(), replace(ENTRY, lastmod=NOON)),
        (known(), replace(ENTRY, lastmod=None)),
        (known(), samples.entry("/b")),
        (Revisits(remembered.Memory()), ENTRY),
    ],
    ids=["not trusted", "too long ago", "moved", "no date", "not stored", "first run"],
)
def test_every_other_page_is(revisits: Revisits, entry: Entry) -> None:
    assert instead(revisits, entry) is None


def test_a_page_of_other_settings_is_made_from_the_html_that_was_kept() -> None:
    answer = instead(known("other", kept=b"<p>kept</p>"))

    assert isinstance(answer, Page)
    assert (answer.body, answer.charset) == (b"<p>kept</p>", "utf-8")
    assert (answer.exchange.attempts, answer.exchange.fetched_at) == (0, NOON)


@pytest.mark.parametrize(
    ("revisits", "entry"),
    [
        (known("other"), ENTRY),
        (known("other", kept=b"<p>"), replace(ENTRY, lastmod=NOON)),
        (known("other", kept=b"<p>", outcome="server_error"), ENTRY),
    ],
    ids=["nothing kept", "lastmod moved", "answer unknown"],
)
def test_a_page_of_other_settings_is_asked_for_without_a_condition_else(
    revisits: Revisits, entry: Entry
) -> None:
    assert instead(revisits, entry) is None
    assert revisits.condition(URL) == {}


def test_a_condition_is_made_of_what_the_last_answer_had() -> None:
    assert known().condition(URL) == {"etag": '"1"', "last_modified": ANSWER["last_modified"]}
    assert known(etag=None, last_modified=None).condition(URL) == {}
    assert known().condition(f"{SITE}/b") == {}


def test_not_modified_keeps_what_the_answer_does_not_repeat() -> None:
    answered = Exchange(status=304, final_url=URL, etag='"2"')
    answer = known().weighed(Failure(entry=ENTRY, outcome=Outcome.NOT_MODIFIED, exchange=answered))

    assert isinstance(answer, Failure)
    assert answer.exchange is not None
    assert answer.exchange.etag == '"2"'
    assert answer.exchange.last_modified == ANSWER["last_modified"]
    assert answer.exchange.fingerprint == ANSWER["fingerprint"]


def test_not_modified_from_another_address_has_to_be_asked_for_anew() -> None:
    answered = Exchange(status=304, final_url=f"{SITE}/b")
    failure = Failure(entry=ENTRY, outcome=Outcome.NOT_MODIFIED, exchange=answered)

    assert known().weighed(failure) is None
    assert known(final_url=f"{SITE}/b").weighed(failure) is not None


def test_the_same_bytes_are_not_read_again() -> None:
    answer = known().weighed(PAGE)

    assert isinstance(answer, Failure)
    assert answer.outcome is Outcome.UNCHANGED


@pytest.mark.parametrize(
    ("revisits", "page"),
    [
        (known(), replace(PAGE, body=b"<p>other words</p>")),
        (known(), replace(PAGE, robots_tag="noindex")),
        (known("other"), PAGE),
        (known(fingerprint=None), PAGE),
    ],
    ids=["other bytes", "other headers", "other settings", "not known"],
)
def test_every_other_page_is_read_and_gets_its_fingerprint(revisits: Revisits, page: Page) -> None:
    answer = revisits.weighed(page)

    assert isinstance(answer, Page)
    assert answer.exchange.fingerprint == remembered.fingerprint(page)


def test_a_stored_page_has_to_say_twice_that_it_is_gone() -> None:
    gone = replace(samples.failure("/a"), outcome=Outcome.GONE)

    assert known().doubts(gone)
    assert not known().doubts(replace(gone, confirmed=True))
    assert not known().doubts(samples.failure("/b"))
    assert not known().doubts(replace(gone, outcome=Outcome.SERVER_ERROR))


def test_what_was_gone_in_the_run_before_is_so_for_the_second_time() -> None:
    gone = known(outcome="not_found").weighed(samples.failure("/a"))

    assert isinstance(gone, Failure)
    assert gone.confirmed


@pytest.mark.parametrize(
    ("moved", "before", "has_moved"),
    [(True, URL, True), (True, None, True), (False, URL, False), (True, f"{SITE}/b", False)],
    ids=["for good", "address not known", "for now", "as before"],
)
def test_a_page_moves_by_a_redirect_for_good(
    moved: bool, before: str | None, has_moved: bool
) -> None:
    page = replace(PAGE, moved=moved, exchange=replace(PAGE.exchange, final_url=f"{SITE}/b"))

    assert known(final_url=before).has_moved(page) is has_moved
