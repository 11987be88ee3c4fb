"""A run's sums add up, and what does not is said in words."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from flows import rows, schema, totals
from flows.records import Failure, Method, Outcome, Reading, Severity, SiteEnd
from flows.totals import Totals
from tests import samples
from tests.samples import NOON, SITE

OTHER = "https://b.test"


def counted(*said: Reading | Failure, sites: Sequence[str] = ()) -> Totals:
    found = Totals(sites)
    urls = [rows.url(row, run_id="r", settings_hash="s") for row in said]
    stored = [row for row in said if isinstance(row, Reading)]
    found.add("urls", schema.table("urls", urls))
    found.add(
        "pages",
        schema.table("pages", [rows.page(row, run_id="r", settings_hash="s") for row in stored]),
    )
    chunks = [chunk for row in stored for chunk in rows.chunks(row, run_id="r")]
    found.add("chunks", schema.table("chunks", chunks))
    return found


def report(found: Totals, *ends: SiteEnd, ended: bool = True) -> dict[str, Any]:
    return totals.report(
        found,
        {end.site: end for end in ends},
        run_id="r",
        started_at=NOON,
        ended_at=NOON + timedelta(seconds=90) if ended else None,
        settings_hash="s",
        version="1",
    )


def test_every_url_is_in_one_sum_of_its_site_and_of_the_total() -> None:
    said = (
        samples.reading("/a"),
        samples.reading("/b", chunks=3),
        samples.failure("/c"),
        samples.failure("/d", Outcome.TIMEOUT, OTHER),
    )
    told = report(counted(*said), samples.end(3), samples.end(1, OTHER))

    assert told["sites"][SITE]["outcomes"] == {"not_found": 1, "ok": 2}
    assert told["sites"][OTHER]["outcomes"] == {"timeout": 1}
    assert told["total"]["outcomes"] == {"not_found": 1, "ok": 2, "timeout": 1}
    for part in (*told["sites"].values(), told["total"]):
        assert part["declared"] == sum(part["outcomes"].values()) == sum(part["methods"].values())
    assert (told["total"]["chunks"], told["total"]["tokens"]) == (5, 50)
    assert (told["total"]["seconds"], told["sites"][SITE]["seconds"]) == (90, 60)


def test_requests_are_those_of_the_last_start_or_of_the_rows_where_they_are_more() -> None:
    said = [samples.failure(f"/{number}") for number in range(9)]
    found = counted(*said)
    found.add("sitemaps", schema.table("sitemaps", [rows.sitemap(samples.sitemap(), run_id="r")]))

    few, many = (report(found, samples.end(rows))["sites"][SITE] for rows in (1, 20))

    assert (few["requests"], many["requests"]) == (10, 22)
    assert few["bytes"] == 1000


def test_alerts_are_counted_by_severity() -> None:
    found = Totals([SITE])
    said = [samples.alert(subject=severity, severity=severity) for severity in Severity]
    found.add("alerts", schema.table("alerts", [rows.alert(alert, run_id="r") for alert in said]))

    assert report(found, samples.end(0))["total"]["alerts"] == {"error": 1, "info": 1, "warning": 1}


def test_a_site_without_a_row_is_told_of() -> None:
    told = report(counted(sites=[SITE]), samples.end(0))

    assert told["sites"][SITE]["declared"] == 0
    assert told["status"] == "complete"


def test_a_site_without_an_end_was_interrupted() -> None:
    told = report(counted(samples.reading()))

    assert told["status"] == told["sites"][SITE]["status"] == "interrupted"


@pytest.mark.parametrize(
    ("statuses", "whole"),
    [
        (("complete", "stopped_by_budget"), "stopped_by_budget"),
        (("failed_blocked", "stopped_by_budget"), "failed_blocked"),
        (("failed_unreachable", "interrupted", "complete"), "interrupted"),
        (("failed_integrity", "interrupted"), "failed_integrity"),
    ],
)
def test_a_run_is_as_good_as_its_worst_site(statuses: tuple[str, ...], whole: str) -> None:
    assert totals.worst(statuses) == whole


def test_a_site_whose_rows_differ_from_its_count_is_broken() -> None:
    told = report(counted(samples.reading(), samples.failure()), samples.end(3))

    assert told["status"] == "failed_integrity"
    assert told["sites"][SITE]["detail"] == "3 URLs counted by the crawl but 2 rows"


def test_a_url_with_two_rows_is_broken() -> None:
    told = report(counted(samples.failure(), samples.failure()), samples.end(2))

    assert told["sites"][SITE]["detail"] == "1 distinct URLs but 2 rows"


def test_pages_and_chunks_that_are_missing_are_broken() -> None:
    found = counted(samples.reading("/a"))
    found.add(
        "urls",
        schema.table("urls", [rows.url(samples.reading("/b"), run_id="r", settings_hash="s")]),
    )

    detail = report(found, samples.end(2))["sites"][SITE]["detail"]

    assert detail == "2 stored URLs but 1 pages; 4 chunks of the stored URLs but 2 chunks"


def test_what_a_running_run_lacks_is_no_fault() -> None:
    told = report(counted(samples.reading()), samples.end(9), ended=False)

    assert (told["status"], told["ended_at"]) == ("interrupted", None)


def test_what_earlier_runs_knew_is_counted_apart() -> None:
    known = samples.failure("/left", Outcome.UNDECLARED)
    site = report(counted(samples.failure("/gone"), known))["sites"][SITE]

    assert site["declared"] == 1
    assert site["outcomes"] == {"not_found": 1, "undeclared": 1}
    assert site["methods"] == {"robots": 1}


def test_the_newest_lastmod_is_one_that_can_be_believed() -> None:
    future = replace(samples.entry("/b"), lastmod=NOON + timedelta(days=1))
    said = [samples.failure("/a"), Failure(entry=future, outcome=Outcome.DISCOVERED)]
    table = schema.table("urls", [rows.url(row, run_id="r", settings_hash="s") for row in said])
    believed, all_told = Totals(until=NOON), Totals()
    believed.add("urls", table)
    all_told.add("urls", table)

    assert report(believed)["sites"][SITE]["lastmod_max"] == NOON.isoformat()
    assert report(all_told)["sites"][SITE]["lastmod_max"] == future.lastmod.isoformat()


def test_what_lists_name_is_counted_apart_from_links() -> None:
    link = Failure(entry=samples.entry("/b", method=Method.LINK), outcome=Outcome.DISCOVERED)

    assert report(counted(samples.failure("/a"), link))["sites"][SITE]["listed"] == 1
