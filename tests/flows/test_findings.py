"""What a person should know of a site is told, by thresholds, and nothing else is."""

from datetime import timedelta
from typing import Any

import pytest

from flows import findings
from flows.history import Earlier, Listing, Lists
from flows.inventory import Shift
from flows.records import Alert, Severity
from flows.trust import Evidence
from tests.samples import NOON, SITE

LATER = NOON + timedelta(days=3)
ROBOTS = Listing(url=f"{SITE}/robots.txt", method="robots", kind="robots", complete=True)
RUN = Earlier(run_id="r1", told={"listed": 10, "whole": True})


def run(number: int = 1, **told: Any) -> Earlier:
    return Earlier(run_id=f"r{number}", told={"listed": 10, "whole": True} | told)


# By itself


def noticed(lists: Lists | None = None, *runs: Earlier, **told: Any) -> dict[str, Alert]:
    status, detail = told.pop("status", "complete"), told.pop("detail", None)
    now = {"status": status, "detail": detail, "outcomes": told}
    found = findings.noticed(SITE, now, lists or Lists(), runs or [RUN])
    return {alert.kind: alert for alert in found}


def test_a_site_of_which_all_is_well_is_not_talked_about() -> None:
    assert noticed(ok=90, not_modified=9, thin=9, duplicate=9, not_found=50, timeout=3) == {}


def test_the_first_complete_run_of_a_site_says_that_it_is() -> None:
    (alert,) = findings.noticed(
        SITE, {"status": "complete", "detail": None, "outcomes": {}}, Lists(), []
    )

    assert (alert.kind, alert.severity) == ("no_baseline", Severity.INFO)


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        ("rate_limited", "rate_limited_pages"),
        ("blocked", "blocked_pages"),
        ("tls_error", "tls_problem"),
    ],
)
def test_pages_that_a_site_kept_from_us_are_told_with_their_number(outcome: str, kind: str) -> None:
    found = noticed(ok=500, **{outcome: 2})

    assert list(found) == [kind]
    assert (found[kind].severity, found[kind].value) == (Severity.WARNING, 2)


def test_one_page_is_told_as_one() -> None:
    assert noticed(ok=5, blocked=1)["blocked_pages"].message.endswith(": 1 page")


def test_what_was_told_while_the_site_was_read_is_not_told_again() -> None:
    lists = Lists()
    lists.hear("blocked_pages")

    assert noticed(lists, blocked=1) == {}


def test_a_budget_that_is_used_up_says_what_it_left() -> None:
    found = noticed(status="stopped_by_budget", detail="60 s are over", budget=7, not_reached=3)

    assert found["budget_stop"].value == 10
    assert found["budget_stop"].message == "10 URLs were left out; 60 s are over"


@pytest.mark.parametrize(
    ("told", "kind", "most"),
    [
        ({"ok": 39, "thin": 5, "empty": 4, "js_required": 1}, "thin_content", 10.0),
        ({"unchanged": 200, "empty": 51}, "thin_content", 50.2),
        ({"ok": 39, "duplicate": 10}, "duplicate_content", 10.0),
    ],
    ids=["ten", "a fifth", "duplicates"],
)
def test_many_pages_without_text_or_twice_are_told(
    told: dict[str, int], kind: str, most: float
) -> None:
    found = noticed(**told)

    assert list(found) == [kind]
    assert found[kind].threshold == most


@pytest.mark.parametrize(
    "told", [{"ok": 2, "thin": 9}, {"ok": 40, "thin": 10}, {"ok": 40, "duplicate": 10}], ids=str
)
def test_a_few_such_pages_are_no_news(told: dict[str, int]) -> None:
    assert noticed(**told) == {}


@pytest.mark.parametrize(
    "told",
    [
        {"ok": 1, "soft_error": 12},
        {"login_required": 1},
        {"ok": 39, "soft_404": 5, "consent_wall": 5},
        {"unchanged": 200, "login_required": 51},
    ],
    ids=str,
)
def test_walls_in_place_of_many_pages_are_told(told: dict[str, int]) -> None:
    found = noticed(**told)

    assert list(found) == ["walled_pages"]
    alert = found["walled_pages"]
    assert alert.severity == Severity.WARNING
    assert alert.value == sum(told.values()) - told.get("ok", 0) - told.get("unchanged", 0)
    assert alert.threshold is not None
    assert alert.value > alert.threshold


@pytest.mark.parametrize("told", [{"ok": 9, "soft_404": 9}, {"ok": 41, "soft_error": 10}], ids=str)
def test_a_few_walls_are_no_news(told: dict[str, int]) -> None:
    assert noticed(**told) == {}


@pytest.mark.parametrize(
    ("had", "severity"), [(40, Severity.WARNING), (41, Severity.ERROR)], ids=["half", "less"]
)
def test_walls_before_most_of_what_was_stored_are_an_error(had: int, severity: Severity) -> None:
    earlier = run(outcomes={"ok": had - 10, "not_modified": 10})

    assert noticed(None, earlier, ok=20, login_required=30)["walled_pages"].severity == severity


# Sitemaps that robots.txt names


def listing(path: str, method: str = "robots", **more: Any) -> Listing:
    told = {"kind": "urlset", "entries": 3, "complete": True, "status": 200} | more
    return Listing(url=SITE + path, method=method, **told)


def lists(*read: Listing) -> Lists:
    found = Lists()
    for one in (ROBOTS, *read):
        found.take(one)
    return found


DEAD = listing("/old.xml", entries=0, complete=False, status=404, kind=None)
FROZEN = listing("/old.xml", lastmod_max=NOON)
ALIVE = listing("/new.xml", "probe", lastmod_max=NOON + timedelta(days=31))


@pytest.mark.parametrize(
    ("read", "word"),
    [
        ((DEAD, ALIVE), "dead"),
        ((listing("/old.xml", entries=0), ALIVE), "dead"),
        ((FROZEN, ALIVE), "frozen"),
        (
            (
                listing("/old.xml", kind="index"),
                listing("/part.xml", parent=f"{SITE}/old.xml", lastmod_max=NOON),
                ALIVE,
            ),
            "frozen",
        ),
    ],
    ids=["missing", "empty", "old dates", "old dates below"],
)
def test_a_pointer_to_a_dead_or_frozen_map_beside_a_living_one_is_told(
    read: tuple[Listing, ...], word: str
) -> None:
    found = noticed(lists(*read))

    assert list(found) == ["stale_pointer"]
    assert found["stale_pointer"].subject == f"{SITE}/old.xml"
    assert f"is {word}; {SITE}/new.xml is alive" in found["stale_pointer"].message


@pytest.mark.parametrize(
    "read",
    [
        (DEAD,),
        (FROZEN, listing("/new.xml", "probe", lastmod_max=NOON + timedelta(days=30))),
        (FROZEN, listing("/new.xml", "probe")),
        (DEAD, listing("/feed.xml", "html", kind="rss")),
        (DEAD, listing("/new.xml", "probe", complete=False)),
        (DEAD, listing("/new.xml")),
        (listing("/old.xml", lastmod_max=NOON, final_url=ALIVE.url), ALIVE),
    ],
    ids=["alone", "30 days", "no dates", "a feed", "half", "named as well", "leads there"],
)
def test_other_pointers_are_not(read: tuple[Listing, ...]) -> None:
    assert "stale_pointer" not in noticed(lists(*read))


# Beside earlier runs


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (Evidence(kept=100, missed=5), {"lastmod_unreliable"}),
        (Evidence(idle=10), {"lastmod_unreliable"}),
        (Evidence(kept=100, followed=5, missed=4), set()),
    ],
    ids=["changes without dates", "dates without changes", "mostly right"],
)
def test_a_lastmod_that_does_not_follow_the_content_is_told(seen: Evidence, told: set[str]) -> None:
    now = {"listed": 10, "whole": True}

    assert {one.kind for one in findings.compared(SITE, now, [RUN], None, NOON, seen)} == told
    assert findings.compared(SITE, now, [], None, NOON, seen) == []


def kinds(now: dict[str, Any], *runs: Earlier, shift: Shift | None = None) -> set[str]:
    told = {"listed": 10, "whole": True} | now
    return {alert.kind for alert in findings.compared(SITE, told, runs, shift, NOON)}


@pytest.mark.parametrize(
    ("had", "have", "told"),
    [
        (4000, 61, {"url_count_drop"}),
        (100, 50, set()),
        (100, 49, {"url_count_drop"}),
        (39, 19, {"url_count_drop"}),
        (30, 11, set()),
        (40, 0, {"url_count_drop"}),
        (50, 150, set()),
        (50, 151, {"url_count_jump"}),
        (10, 109, set()),
        (10, 110, {"url_count_jump"}),
        (0, 500, set()),
    ],
)
def test_far_fewer_or_far_more_urls_are_told(had: int, have: int, told: set[str]) -> None:
    assert kinds({"listed": have}, run(listed=had)) == told


def test_the_count_after_an_outage_is_compared_with_the_one_before_it() -> None:
    outage = run(2, listed=0, whole=False)

    assert kinds({"listed": 4000}, outage, run(1, listed=4000)) == set()


def test_a_drop_is_an_error_that_names_its_numbers() -> None:
    (alert,) = findings.compared(SITE, {"listed": 61}, [run(listed=4000)], None, NOON)

    assert (alert.severity, alert.value, alert.threshold) == (Severity.ERROR, 61, 2000)
    assert alert.message == "61 URLs are listed, 4,000 were in run r1"


def test_without_an_earlier_run_nothing_is_told() -> None:
    now = {"listed": 0, "lastmod_max": "2001-01-01T00:00:00+00:00", "changes": {"new": 9}}

    assert kinds(now, shift=Shift(both=1, back=1)) == set()


def test_reports_of_an_older_version_are_no_alert() -> None:
    assert kinds({"listed": 1}, Earlier(run_id="r1", told={"status": "complete"})) == set()


FRESH = {"lastmod_max": NOON.isoformat(), "changes": {"new": 1}}
STILL = {"lastmod_max": NOON.isoformat(), "changes": {"unchanged": 9, "removed": 1}}


@pytest.mark.parametrize(
    ("now", "last", "first", "told"),
    [
        (FRESH, FRESH, STILL, {"lastmod_frozen"}),
        (FRESH, STILL, FRESH, set()),
        (STILL, FRESH, FRESH, set()),
        (FRESH | {"lastmod_max": LATER.isoformat()}, FRESH, FRESH, set()),
        (FRESH, FRESH, FRESH | {"lastmod_max": None}, set()),
    ],
    ids=["came twice", "came once", "only went", "moved", "none before"],
)
def test_a_lastmod_is_frozen_when_pages_come_twice_without_it(
    now: dict[str, Any], last: dict[str, Any], first: dict[str, Any], told: set[str]
) -> None:
    assert kinds(now, run(2, **last), run(1, **first)) == told
    assert kinds(now, run(2, **last)) == set()


def test_an_old_lastmod_is_told_when_pages_come() -> None:
    old = (NOON - timedelta(days=366)).isoformat()

    assert kinds({"lastmod_max": old, "changes": {"new": 1}}, run()) == {"lastmod_stalled"}
    assert kinds({"lastmod_max": old, "changes": {"updated": 1}}, run()) == set()
    assert kinds(FRESH, run()) == set()


@pytest.mark.parametrize(
    ("shift", "told"),
    [
        (Shift(both=50, back=1, before=LATER, now=NOON), {"lastmod_backwards"}),
        (Shift(both=50, back=5, before=LATER, now=LATER), {"lastmod_backwards"}),
        (Shift(both=50, back=4, before=LATER, now=LATER), set()),
        (Shift(both=50, back=0, before=LATER, now=NOON), set()),
        (Shift(), set()),
    ],
    ids=["the newest", "many", "a few", "by less than a day", "none"],
)
def test_a_lastmod_that_goes_back_is_told(shift: Shift, told: set[str]) -> None:
    assert kinds({}, run(), shift=shift) == told
    assert kinds({"whole": False}, run(), shift=shift) == set()
