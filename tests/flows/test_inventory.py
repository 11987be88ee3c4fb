"""Declared URLs against earlier runs: each has one change, and only what a list named can go."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from flows import inventory, rows, schema
from flows.inventory import Shift
from flows.records import Change, Entry, Failure, Method, Outcome
from tests import samples
from tests.samples import NOON, SITE

OTHER = "https://b.test"
NONE = inventory.pairs(())
LATER = NOON + timedelta(days=3)


def found(
    path: str,
    lastmod: datetime | None = NOON,
    *,
    site: str = SITE,
    outcome: Outcome = Outcome.DISCOVERED,
    method: Method = Method.ROBOTS,
) -> Failure:
    entry: Entry = replace(samples.entry(path, site, method), lastmod=lastmod)
    return Failure(entry=entry, outcome=outcome)


def table(*said: Failure, run: str = "r", **columns: Any) -> pa.Table:
    told = [rows.url(row, run_id=run, settings_hash="s") | columns for row in said]
    return schema.table("urls", told)


def changes(told: pa.Table) -> dict[str, str | None]:
    found = told.select(["site", "url", "change"]).to_pylist()
    return {row["url"].removeprefix(row["site"]): row["change"] for row in found}


def test_a_url_is_new_updated_or_unchanged_by_its_lastmod() -> None:
    known = table(found("/same"), found("/moved"), found("/none", None), found("/lost"))
    now = table(
        found("/same"),
        found("/moved", LATER),
        found("/none", None),
        found("/lost", None),
        found("/fresh"),
    )

    told = changes(inventory.compare(now, known, [SITE]))

    assert told == {
        "/same": "unchanged",
        "/moved": "updated",
        "/none": "unchanged",
        "/lost": "unchanged",
        "/fresh": "new",
    }


def test_a_lastmod_that_is_stated_for_the_first_time_is_an_update() -> None:
    told = inventory.compare(table(found("/a")), table(found("/a", None)), [SITE])

    assert changes(told) == {"/a": "updated"}


def test_only_discovered_urls_of_compared_sites_are_told_a_change() -> None:
    now = table(
        found("/refused", outcome=Outcome.ROBOTS_DISALLOWED),
        found("/a", site=OTHER),
        found("/a"),
    )

    told = inventory.compare(now, table(), [SITE])

    assert told["change"].to_pylist() == [None, None, "new"]
    assert told.schema == schema.SCHEMAS["urls"]


def test_what_an_earlier_run_refused_or_saw_removed_is_new() -> None:
    known = pa.concat_tables(
        [
            table(found("/refused", outcome=Outcome.ROBOTS_DISALLOWED)),
            table(found("/failed", outcome=Outcome.SERVER_ERROR), attempts=2),
            table(found("/elsewhere", outcome=Outcome.OFF_ORIGIN), attempts=1),
            table(found("/gone", outcome=Outcome.NOT_FOUND), attempts=2, change=Change.REMOVED),
            table(found("/left", outcome=Outcome.UNDECLARED), change=Change.REMOVED),
        ]
    )
    paths = ("/refused", "/failed", "/elsewhere", "/gone", "/left")

    told = changes(inventory.compare(table(*map(found, paths)), known, [SITE]))

    assert [told[path] for path in paths] == ["new", "unchanged", "unchanged", "new", "new"]


def test_the_newest_of_several_runs_has_the_word() -> None:
    newer = table(found("/a", LATER), found("/b", outcome=Outcome.UNDECLARED))
    older = table(found("/a"), found("/b"), found("/c"))

    known = inventory.newest(pa.concat_tables([newer, older]))
    told = changes(inventory.compare(table(*map(found, ("/a", "/b", "/c"))), known, [SITE]))

    assert known["url"].to_pylist() == [f"{SITE}/{path}" for path in "abc"]
    assert told == {"/a": "updated", "/b": "new", "/c": "unchanged"}


def test_what_has_no_row_now_is_undeclared_with_its_old_attribution() -> None:
    gone = inventory.undeclared(
        table(found("/kept"), found("/refused", outcome=Outcome.ROBOTS_DISALLOWED)),
        table(found("/kept"), found("/refused"), found("/gone"), run="before"),
        [SITE],
        NONE,
    )
    (row,) = inventory.signed(gone, run_id="now", settings_hash="new").to_pylist()

    assert row["url"] == f"{SITE}/gone"
    assert (row["outcome"], row["change"]) == ("undeclared", "removed")
    assert (row["run_id"], row["settings_hash"]) == ("now", "new")
    assert (row["method"], row["sitemaps"]) == ("robots", [f"{SITE}/sitemap.xml"])
    assert row["lastmod"] == NOON
    assert row["attempts"] is None


def test_nothing_is_undeclared_that_only_a_link_named_or_of_another_site() -> None:
    known = table(found("/linked", method=Method.LINK), found("/a", site=OTHER))

    assert inventory.undeclared(table(), known, [SITE], NONE).num_rows == 0


def test_nothing_is_undeclared_that_a_list_named_which_was_not_read_again() -> None:
    known = pa.concat_tables(
        [
            table(found("/both"), sitemaps=[f"{SITE}/sitemap.xml", f"{SITE}/old.xml"]),
            table(found("/gone")),
        ]
    )

    unproved = inventory.pairs([(SITE, f"{SITE}/old.xml"), (OTHER, f"{SITE}/sitemap.xml")])
    gone = inventory.undeclared(table(), known, [SITE], unproved)

    assert gone["url"].to_pylist() == [f"{SITE}/gone"]


PATHS = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([None, NOON, LATER]))


@given(before=PATHS, now=PATHS)
def test_old_and_new_add_up(
    before: dict[str, datetime | None], now: dict[str, datetime | None]
) -> None:
    rows_now = table(*(found(path, lastmod) for path, lastmod in now.items()))
    known = table(*(found(path, lastmod) for path, lastmod in before.items()))

    told = inventory.compare(rows_now, known, [SITE])["change"].to_pylist()
    gone = inventory.undeclared(rows_now, known, [SITE], NONE)

    assert told.count("new") == len(set(now) - set(before))
    assert gone.num_rows == len(set(before) - set(now))
    assert told.count("updated") == sum(
        now[path] is not None and now[path] != before[path] for path in set(now) & set(before)
    )
    assert None not in told


def test_a_shift_counts_what_both_runs_date_and_what_is_dated_back() -> None:
    known = table(found("/a", LATER), found("/b"), found("/none", None), found("/gone", LATER))
    now = table(found("/a", NOON), found("/b", LATER), found("/none"), found("/new"))

    told = inventory.shifts(now, known, until=LATER)

    assert told == {SITE: Shift(both=2, back=1, before=LATER, now=LATER)}


def test_a_lastmod_that_lay_in_the_future_is_not_compared() -> None:
    told = inventory.shifts(table(found("/a", NOON)), table(found("/a", LATER)), until=NOON)

    assert told == {}


def test_shifts_of_two_parts_are_one() -> None:
    shift = Shift(both=2, back=1, before=LATER, now=NOON)
    shift.add(Shift(both=1, before=NOON, now=LATER))
    shift.add(Shift())

    assert shift == Shift(both=3, back=1, before=LATER, now=LATER)
