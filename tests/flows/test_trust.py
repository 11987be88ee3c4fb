"""A `lastmod` saves requests only where it has proved right, and no longer than that."""

from collections import Counter
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from flows import rows, schema, trust
from flows.records import Change, Failure, Outcome
from flows.trust import Dates, Evidence
from tests import samples
from tests.samples import NOON, SITE

SPREAD = Dates(dated=100, fresh=1, values=Counter({NOON: 2}))
FOUND_TRUE = Evidence(kept=50, header_agrees=50)
LATER = NOON + timedelta(days=3)


def trusts(seen: Evidence, before: Evidence | None = None, dates: Dates = SPREAD) -> bool:
    told = trust.told(seen, dates, asdict(before) if before else None)
    assert told["trusted"] == (told["doubt"] is None)
    return bool(told["trusted"])


@pytest.mark.parametrize(
    "seen",
    [
        Evidence(header_agrees=10),
        Evidence(page_agrees=10),
        Evidence(followed=3, kept=20),
        Evidence(header_agrees=0, header_differs=90, page_agrees=45, page_differs=5),
    ],
    ids=["headers agree", "pages agree", "changes were told", "one of two agrees"],
)
def test_what_confirms_a_lastmod_makes_it_trusted(seen: Evidence) -> None:
    assert trusts(seen)


@pytest.mark.parametrize(
    "seen",
    [
        Evidence(kept=500),
        Evidence(followed=2, kept=20),
        Evidence(header_agrees=9),
        Evidence(header_agrees=80, header_differs=20),
    ],
    ids=["nothing moved", "two changes", "nine pages", "four fifths"],
)
def test_too_little_confirms_nothing(seen: Evidence) -> None:
    assert not trusts(seen)


@pytest.mark.parametrize(
    "dates",
    [
        Dates(dated=9, values=Counter({NOON: 1})),
        Dates(dated=100, values=Counter({NOON: 91})),
        Dates(dated=100, fresh=51, values=Counter({NOON: 1})),
    ],
    ids=["few", "all the same", "of today"],
)
def test_dates_that_cannot_be_of_the_pages_are_not_trusted(dates: Dates) -> None:
    assert not trusts(FOUND_TRUE, dates=dates)


def test_a_change_that_lastmod_missed_ends_the_trust_at_once() -> None:
    assert not trusts(Evidence(kept=5, missed=1), before=Evidence(followed=900, header_agrees=900))


def test_one_miss_in_twenty_is_forgiven() -> None:
    assert trusts(Evidence(followed=19, missed=1))
    assert not trusts(Evidence(followed=18, missed=1))


def test_dates_that_move_without_a_change_are_not_trusted() -> None:
    assert trusts(replace(FOUND_TRUE, followed=3, idle=3))
    assert not trusts(replace(FOUND_TRUE, followed=3, idle=4))
    assert trusts(replace(FOUND_TRUE, idle=4))  # too few to say


def test_trust_is_kept_by_runs_that_ask_for_nothing_and_won_back_after_a_miss() -> None:
    assert trusts(Evidence(), before=FOUND_TRUE)
    assert trusts(Evidence(kept=100), before=Evidence(followed=40, missed=2))


def test_earlier_counts_weigh_half_once_a_run_has_its_own() -> None:
    before = asdict(Evidence(followed=9, kept=30))

    few = trust.told(Evidence(kept=9), SPREAD, before)
    many = trust.told(Evidence(kept=10), SPREAD, before)

    assert (few["followed"], few["kept"]) == (9, 39)
    assert (many["followed"], many["kept"]) == (4, 25)


def test_a_site_where_lastmod_does_not_follow_the_content_is_told() -> None:
    assert trust.unreliable(Evidence(followed=4, missed=5)) == (
        "5 of 9 pages changed and kept their lastmod",
        5,
    )
    assert trust.unreliable(Evidence(followed=9, idle=10)) == (
        "10 of 19 lastmods moved without a change",
        10,
    )


@pytest.mark.parametrize(
    "seen", [Evidence(missed=4), Evidence(idle=9), Evidence(followed=5, missed=5, idle=5)], ids=str
)
def test_few_exceptions_are_no_news(seen: Evidence) -> None:
    assert trust.unreliable(seen) is None


@pytest.mark.parametrize(
    ("lastmod", "hours", "is_over"),
    [
        (datetime(2024, 5, 1, tzinfo=UTC), 23, False),
        (datetime(2024, 5, 1, tzinfo=UTC), 24, True),
        (datetime(2024, 5, 1, 12, tzinfo=UTC), 0, False),
        (datetime(2024, 5, 1, 12, tzinfo=UTC), 1, True),
        (datetime(2024, 5, 1, 12, tzinfo=UTC), -5, False),
    ],
    ids=["in the day", "after the day", "in the second", "after the second", "in the future"],
)
def test_a_page_may_change_again_while_its_lastmod_lasts(
    lastmod: datetime, hours: int, is_over: bool
) -> None:
    assert trust.is_over(lastmod, lastmod + timedelta(hours=hours)) is is_over


# What rows tell


def told(
    path: str,
    lastmod: datetime | None = NOON,
    change: Change | None = Change.UNCHANGED,
    *,
    settings: str = "s",
    **more: Any,
) -> schema.Row:
    read = samples.reading(path)
    row = replace(read, entry=replace(read.entry, lastmod=lastmod))
    outcome = Outcome.OK if change is Change.UPDATED else Outcome.UNCHANGED
    made = rows.url(row, run_id="r", settings_hash=settings, outcome=outcome, change=change)
    return made | more


def table(*found: schema.Row) -> pa.Table:
    return schema.table("urls", list(found))


def test_moves_and_changes_are_counted_apart() -> None:
    before = table(*(told(f"/{name}") for name in "abcde"))
    now = table(
        told("/a", LATER, Change.UPDATED),
        told("/b", LATER),
        told("/c"),
        told("/d", NOON, Change.UPDATED),
        told("/e", None),
        told("/f", LATER, Change.UPDATED),
    )

    assert trust.compared(now, before) == {
        SITE: Evidence(followed=1, idle=1, kept=1, missed=1),
    }


def test_what_was_not_asked_for_or_failed_or_had_other_settings_says_nothing() -> None:
    before = table(told("/a"), told("/b", outcome=Outcome.TIMEOUT), told("/c", settings="other"))
    failed = Failure(entry=samples.entry("/d"), outcome=Outcome.NOT_FOUND)
    now = table(
        told("/a", attempts=0),
        told("/b"),
        told("/c"),
        rows.url(failed, run_id="r", settings_hash="s"),
    )

    assert trust.compared(now, before) == {}


def test_headers_and_pages_are_compared_with_the_list() -> None:
    near = told("/a", last_modified="Thu, 02 May 2024 12:00:00 GMT")
    far = told("/b", last_modified="Thu, 02 May 2024 12:00:01 GMT")
    odd = told("/c", last_modified="yesterday")
    page = rows.page(samples.reading("/a"), run_id="r", settings_hash="s")
    pages = [page | {"modified_at": when} for when in (NOON, LATER, None)]

    assert trust.by_header(table(near, far, odd)) == {
        SITE: Evidence(header_agrees=1, header_differs=1)
    }
    assert trust.by_page(schema.table("pages", pages)) == {
        SITE: Evidence(page_agrees=1, page_differs=1)
    }


def test_dates_of_the_day_of_the_run_and_the_most_frequent_one_are_counted() -> None:
    moments = [NOON, NOON, NOON - timedelta(hours=23), NOON - timedelta(days=2), None]
    found = trust.dates(table(*(told(f"/{at}", when) for at, when in enumerate(moments))), NOON)

    assert found == {SITE: Dates(dated=4, fresh=3, values=Counter({NOON: 2}))}
