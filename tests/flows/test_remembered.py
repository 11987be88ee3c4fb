"""A stored page rests on the newest answer that found it as it is, and on no other."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from flows import remembered, schema
from flows.records import Page
from flows.remembered import Memory
from flows.urls import hash64
from tests import samples
from tests.samples import NOON, SITE

URL = f"{SITE}/a"
DAY_S = 86_400.0


def stored(**more: Any) -> pa.Table:
    row = {"url": URL, "run_id": "r1", "content_hash": "c0ffee", "settings_hash": "s"} | more
    return schema.columns("pages", pa.table({k: [v] for k, v in row.items()}), remembered.OF_PAGES)


def answered(run_id: str, outcome: str = "ok", etag: str | None = None, **more: Any) -> pa.Table:
    row = {"run_id": run_id, "url": URL, "outcome": outcome, "etag": etag, "fetched_at": NOON}
    wanted = ("run_id", "url", "outcome", *remembered.ANSWER)
    return schema.columns("urls", pa.table({k: [v] for k, v in (row | more).items()}), wanted)


def memory(*runs: pa.Table, page: pa.Table | None = None, **more: Any) -> Memory:
    return remembered.memory(stored() if page is None else page, runs, "s", **more)


def test_a_page_rests_on_the_newest_answer_after_which_it_is_stored_as_it_is() -> None:
    failed, same, first = (
        answered("r3", "server_error", "3"),
        answered("r2", "not_modified", "2"),
        answered("r1", "ok", "1"),
    )

    was = memory(failed, same, first).of(URL)

    assert was is not None
    assert (was.etag, was.is_current, was.is_missing) == ("2", True, False)


def test_an_answer_that_is_older_than_what_is_stored_says_nothing_of_it() -> None:
    was = memory(answered("r1", "ok", "1"), page=stored(run_id="r2")).of(URL)

    assert was is not None
    assert (was.etag, was.fetched_at) == (None, None)


def test_a_page_without_any_answer_is_known_all_the_same() -> None:
    known = memory()

    assert known.of(URL) is not None
    assert known.of(f"{SITE}/b") is None
    assert (len(known), list(known.urls())) == (1, [URL])
    assert known.contents() == {hash64("c0ffee"): URL}


@pytest.mark.parametrize("settings", ["other", None])
def test_a_page_of_other_settings_is_not_current(settings: str | None) -> None:
    was = memory(answered("r1"), page=stored(settings_hash=settings)).of(URL)

    assert was is not None
    assert not was.is_current


@pytest.mark.parametrize(
    ("newest", "missing", "leaving"),
    [
        ("not_found", True, True),
        ("gone", True, True),
        ("noindex", False, True),
        ("ok", False, False),
    ],
)
def test_what_the_last_run_said_of_a_page_is_known(
    newest: str, missing: bool, leaving: bool
) -> None:
    was = memory(answered("r2", newest), answered("r1")).of(URL)

    assert was is not None
    assert (was.is_missing, was.was_leaving) == (missing, leaving)


def test_a_run_that_did_not_ask_for_a_page_does_not_hide_what_the_one_before_found() -> None:
    other = answered("r2", url=f"{SITE}/b")
    was = memory(other, answered("r1", "not_found")).of(URL)

    assert was is not None
    assert was.is_missing


def unmoved(
    known: Memory, lastmod: datetime | None = NOON - timedelta(days=9), after_s: float = 60.0
) -> bool:
    return known.is_unmoved(URL, lastmod, NOON + timedelta(seconds=after_s), recheck_s=DAY_S)


def test_a_trusted_lastmod_that_has_not_moved_is_reason_enough_not_to_ask() -> None:
    answer = answered("r1", lastmod=NOON - timedelta(days=9))

    assert unmoved(memory(answer, trusts_lastmod=True))
    assert not unmoved(memory(answer, trusts_lastmod=False))
    assert not unmoved(memory(answer, trusts_lastmod=True), NOON - timedelta(days=8))
    assert not unmoved(memory(answer, trusts_lastmod=True), NOON - timedelta(days=10))
    assert not unmoved(memory(answer, trusts_lastmod=True), None)


def test_a_page_may_not_be_left_alone_for_ever() -> None:
    known = memory(answered("r1", lastmod=NOON - timedelta(days=9)), trusts_lastmod=True)

    assert unmoved(known, after_s=DAY_S - 1)
    assert not unmoved(known, after_s=2 * DAY_S)


@pytest.mark.parametrize(
    ("answer", "page"),
    [
        (answered("r1", lastmod=NOON), stored()),
        (answered("r1"), stored()),
        (answered("r1", lastmod=NOON - timedelta(days=9)), stored(settings_hash="other")),
        (answered("r1", "timeout", lastmod=NOON - timedelta(days=9)), stored()),
    ],
    ids=["it was not over", "none before", "other settings", "not known to be as stored"],
)
def test_a_lastmod_that_says_nothing_of_what_is_stored_is_no_reason(
    answer: pa.Table, page: pa.Table
) -> None:
    known = memory(answer, page=page, trusts_lastmod=True)
    lastmod = answer["lastmod"][0].as_py() or NOON

    assert not unmoved(known, lastmod)


def test_a_fingerprint_is_of_all_that_decides_what_is_read() -> None:
    read = samples.reading()
    page = Page(entry=read.entry, exchange=read.exchange, body=b"<p>words</p>", charset="utf-8")
    others = (
        replace(page, body=b"<p>Words</p>"),
        replace(page, charset="latin-1"),
        replace(page, robots_tag="noindex"),
        replace(page, exchange=replace(page.exchange, final_url=f"{SITE}/other")),
    )

    assert len({remembered.fingerprint(one) for one in (page, *others)}) == 5
    later = replace(page, exchange=replace(page.exchange, fetched_at=None, etag=None))
    assert remembered.fingerprint(later) == remembered.fingerprint(page)
