"""Only a run that read every list may call a URL gone, and a run knows with which to compare."""

from datetime import timedelta
from typing import Any

import pytest

from flows import history
from flows.history import Earlier, Listing, Lists
from tests.samples import NOON, SITE

ROBOTS = Listing(url=f"{SITE}/robots.txt", method="robots", kind="robots", complete=True)
LATER = NOON + timedelta(days=3)


def listing(path: str, method: str = "robots", **more: Any) -> Listing:
    told = {"kind": "urlset", "entries": 3, "complete": True, "status": 200} | more
    return Listing(url=SITE + path, method=method, **told)


def lists(*read: Listing, hidden: tuple[str, ...] = ()) -> Lists:
    found = Lists()
    for one in read:
        found.take(one)
    for kind in hidden:
        found.hear(kind)
    return found


def run(number: int = 1, **told: Any) -> Earlier:
    return Earlier(run_id=f"r{number}", told={"listed": 10, "whole": True} | told)


# Whole


@pytest.mark.parametrize("status", [404, 410], ids=str)
def test_a_site_without_robots_is_whole(status: int) -> None:
    robots = Listing(url=ROBOTS.url, method="robots", kind="robots", status=status)

    assert lists(robots, listing("/a.xml", "probe")).whole


@pytest.mark.parametrize("status", [None, 401, 403, 429, 500], ids=str)
def test_a_site_whose_robots_could_not_be_read_is_not_whole(status: int | None) -> None:
    robots = Listing(url=ROBOTS.url, method="robots", kind="robots", status=status)

    assert not lists(robots, listing("/a.xml")).whole


def test_a_list_that_was_not_read_to_its_end_makes_a_site_not_whole() -> None:
    assert not lists(ROBOTS, listing("/a.xml"), listing("/b.xml", complete=False)).whole


def test_what_is_said_last_of_a_list_holds() -> None:
    assert lists(ROBOTS, listing("/a.xml", complete=False), listing("/a.xml")).whole


@pytest.mark.parametrize(
    "kind",
    [
        "robots_not_text",
        "sitemap_cross_host",
        "sitemap_blocked_by_robots",
        "sitemap_too_deep",
        "sitemap_budget",
        "crawl_budget",
    ],
)
def test_lists_that_leave_no_row_make_a_site_not_whole(kind: str) -> None:
    assert not lists(ROBOTS, listing("/a.xml"), hidden=(kind,)).whole


def test_oddities_that_cost_no_entry_leave_a_site_whole() -> None:
    assert lists(ROBOTS, listing("/a.xml"), hidden=("loc_relative", "sitemap_cycle")).whole


# Proof


def test_a_list_that_was_read_again_has_spoken() -> None:
    assert not history.unproved(lists(ROBOTS, listing("/a.xml")), [ROBOTS, listing("/a.xml")])


def test_a_list_that_is_empty_now_proves_nothing() -> None:
    now = lists(ROBOTS, listing("/a.xml", entries=0), listing("/b.xml"))

    assert history.unproved(now, [ROBOTS, listing("/a.xml")]) == {f"{SITE}/a.xml"}


def test_a_list_that_robots_names_no_more_is_gone() -> None:
    assert not history.unproved(lists(ROBOTS, listing("/b.xml")), [ROBOTS, listing("/a.xml")])


def test_nothing_is_gone_where_no_list_names_anything_now() -> None:
    assert history.unproved(lists(ROBOTS), [ROBOTS, listing("/a.xml")]) == {f"{SITE}/a.xml"}


def test_nothing_is_gone_by_a_robots_that_is_missing_now() -> None:
    missing = Listing(url=ROBOTS.url, method="robots", kind="robots", status=404)
    now = lists(missing, listing("/b.xml", "probe"))

    assert history.unproved(now, [ROBOTS, listing("/a.xml")]) == {f"{SITE}/a.xml"}


@pytest.mark.parametrize("method", ["probe", "html", "given", "llms"])
def test_a_guess_that_finds_nothing_today_proves_nothing(method: str) -> None:
    now = lists(ROBOTS, listing("/b.xml"))

    assert history.unproved(now, [ROBOTS, listing("/a.xml", method)]) == {f"{SITE}/a.xml"}


def test_a_child_is_gone_when_its_index_was_read_again() -> None:
    child = listing("/old.xml", "probe", parent=f"{SITE}/index.xml")
    before = [ROBOTS, listing("/index.xml", "probe", kind="index"), child]

    assert not history.unproved(lists(ROBOTS, before[1], listing("/new.xml")), before)
    assert history.unproved(lists(ROBOTS, listing("/new.xml")), before) == {
        f"{SITE}/index.xml",
        f"{SITE}/old.xml",
    }


def test_a_list_is_known_by_where_it_was_read_as_well() -> None:
    before = listing("/a.xml", "probe", final_url=f"{SITE}/b.xml")
    again = listing("/c.xml", final_url=f"{SITE}/b.xml")

    assert history.unproved(lists(ROBOTS, listing("/x.xml")), [before]) == {
        f"{SITE}/a.xml",
        f"{SITE}/b.xml",
    }
    assert history.unproved(lists(ROBOTS, again), [before]) == {f"{SITE}/a.xml"}


def test_in_a_run_of_several_starts_a_guess_is_no_proof() -> None:
    now = lists(ROBOTS, listing("/a.xml"), listing("/b.xml", "probe"))
    now.resumed = True

    assert history.unproved(now, [ROBOTS, *now.by_url.values()]) == {f"{SITE}/b.xml"}


def test_parents_in_a_circle_end() -> None:
    one = listing("/a.xml", parent=f"{SITE}/b.xml")
    other = listing("/b.xml", parent=f"{SITE}/a.xml")

    assert len(history.unproved(lists(ROBOTS, listing("/c.xml")), [one, other])) == 2


# Earlier runs


def report(number: int, **sites: str) -> dict[str, Any]:
    told = {site: {"status": status} for site, status in sites.items()}
    return {"run_id": f"r{number}", "sites": told}


def test_each_site_has_its_own_complete_runs_the_newest_first() -> None:
    reports = [
        report(5, a="complete", b="failed_blocked"),
        report(4, a="stopped_by_budget"),
        report(3, a="complete", b="complete"),
        report(2, a="complete"),
        report(1, a="complete"),
    ]

    found = history.earlier(reports, ["a", "b", "c"])

    assert {site: [run.run_id for run in runs] for site, runs in found.items()} == {
        "a": ["r5", "r3", "r2"],
        "b": ["r3"],
        "c": [],
    }


def test_urls_are_known_back_to_the_last_run_that_read_every_list() -> None:
    outage, whole = run(3, whole=False), run(2)

    assert history.baseline([outage, whole, run(1)]) == [outage, whole]
    assert history.baseline([whole, run(1)]) == [whole]
    assert history.baseline([outage, outage]) == [outage, outage]
    assert history.baseline([]) == []
