"""No text is lost when pages move, are doubled or go, in whatever order their site answers."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from connectors.dataset import Dataset, Run
from connectors.standing import MOST_HELD, Decided, Standing
from flows.records import Failure, Outcome, Reading
from tests import samples
from tests.connectors.test_completion import write
from tests.samples import SITE

TEXT = "# Page\n\nThe same words at two addresses.\n"
GONE = replace(samples.failure("/old"), confirmed=True)
MOVED = Failure(
    entry=samples.entry("/old"),
    outcome=Outcome.DUPLICATE,
    duplicate_of=f"{SITE}/new",
    confirmed=True,
    exchange=replace(samples.reading("/old").exchange, final_url=f"{SITE}/new"),
)
SAME = replace(samples.failure("/old"), outcome=Outcome.NOT_MODIFIED)
BUSY = replace(samples.failure("/old"), outcome=Outcome.SERVER_ERROR)
OLD = samples.reading("/old", TEXT)
NEW = samples.reading("/new", TEXT)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a run over a site of which one page is stored."""
    write(tmp_path, samples.reading("/old", TEXT), samples.end(1), flow="ingest")
    return Dataset(tmp_path).open_run("s", "1", plan=f"ingest {SITE}")


def decided(
    run: Run, *took: Failure | Reading, status: str = "complete", max_removed: float = 1.0
) -> dict[str, tuple[str, str | None]]:
    standing = Standing(run, SITE, max_removed)
    found: list[Decided] = [one for row in took for one in standing.take(row)]
    found += standing.end(samples.end(len(took), status=status))
    assert len(found) == len(took)
    return {one.row.entry.url.removeprefix(SITE): (one.outcome, one.change) for one in found}


@pytest.mark.parametrize("took", list(permutations([MOVED, NEW])), ids=["old first", "new first"])
def test_a_page_that_moved_is_stored_at_its_new_address(
    took: tuple[Failure | Reading, ...], run: Run
) -> None:
    assert decided(run, *took) == {"/old": ("duplicate", "removed"), "/new": ("ok", "new")}


@pytest.mark.parametrize("took", list(permutations([GONE, NEW])), ids=["old first", "new first"])
def test_a_page_that_came_back_elsewhere_is_stored_there(
    took: tuple[Failure | Reading, ...], run: Run
) -> None:
    assert decided(run, *took) == {"/old": ("not_found", "removed"), "/new": ("ok", "new")}


@pytest.mark.parametrize("old", [SAME, BUSY, OLD], ids=["same", "busy", "read"])
@pytest.mark.parametrize("old_first", [True, False], ids=["old first", "new first"])
def test_a_second_address_of_a_page_that_stays_is_its_duplicate(
    old: Failure | Reading, old_first: bool, run: Run
) -> None:
    found = decided(run, *((old, NEW) if old_first else (NEW, old)))

    assert found["/new"] == ("duplicate", None)
    assert found["/old"][1] in ("unchanged", None)


@pytest.mark.parametrize("old_first", [True, False], ids=["old first", "new first"])
def test_content_that_left_its_address_is_stored_at_the_other(old_first: bool, run: Run) -> None:
    old = samples.reading("/old", "# Other words\n")

    found = decided(run, *((old, NEW) if old_first else (NEW, old)))

    assert found == {"/old": ("ok", "updated"), "/new": ("ok", "new")}


RING = [f"# Page\n\nText number {number} of the ring.\n" for number in range(3)]


def ringed(folder: Path, pages: int) -> tuple[Run, list[Reading]]:
    """Return a run over pages that are stored, and the pages, each with the text of the next."""
    was = [samples.reading(f"/{number}", RING[number]) for number in range(pages)]
    write(folder, *was, samples.end(pages), flow="ingest")
    now = [samples.reading(f"/{number}", RING[(number + 1) % pages]) for number in range(pages)]
    return Dataset(folder).open_run("s", "1", plan=f"ingest {SITE}"), now


@pytest.mark.parametrize(
    "order", [*permutations(range(2)), *permutations(range(3))], ids=lambda order: f"{order}"
)
def test_pages_that_exchange_their_texts_are_updated(
    order: tuple[int, ...], tmp_path: Path
) -> None:
    run, now = ringed(tmp_path, len(order))

    found = decided(run, *(now[number] for number in order))

    assert found == {f"/{number}": ("ok", "updated") for number in order}


def test_what_a_page_had_before_the_run_was_killed_is_free_for_another(tmp_path: Path) -> None:
    _, now = ringed(tmp_path, 2)
    write(tmp_path, samples.reading("/1", "# New\n"), flow="ingest")
    again = Dataset(tmp_path).open_run("s", "1", plan=f"ingest {SITE}")

    assert decided(again, now[0]) == {"/0": ("ok", "updated")}


LEFT_OUT = [Outcome.SERVER_ERROR, Outcome.NOINDEX, Outcome.SOFT_ERROR, Outcome.NOT_FOUND]


@pytest.mark.parametrize("outcome", LEFT_OUT, ids=str)
@pytest.mark.parametrize("redirect_first", [True, False], ids=["redirect first", "target first"])
def test_what_leads_to_a_page_that_is_not_stored_is_what_that_is_and_stays(
    outcome: Outcome, redirect_first: bool, run: Run
) -> None:
    target = replace(samples.failure("/new"), outcome=outcome)

    found = decided(run, *((MOVED, target) if redirect_first else (target, MOVED)))

    assert found["/old"] == (outcome, None)


@pytest.mark.parametrize("confirmed", [True, False], ids=["for good", "for now"])
def test_pages_that_all_lead_to_a_notice_keep_their_text(confirmed: bool, tmp_path: Path) -> None:
    was = [samples.reading(f"/{number}", f"# {number}\n") for number in range(3)]
    write(tmp_path, *was, samples.end(3), flow="ingest")
    run = Dataset(tmp_path).open_run("s", "1", plan=f"ingest {SITE}")
    notice = replace(samples.failure("/0"), outcome=Outcome.SOFT_ERROR)
    others = [replace(moved(number, "/0"), confirmed=confirmed) for number in (1, 2)]

    found = decided(run, notice, *others)

    assert found == {f"/{number}": ("soft_error", None) for number in range(3)}


def test_what_leads_to_a_duplicate_is_one_of_the_page_that_holds_the_content(run: Run) -> None:
    lead = replace(MOVED, entry=samples.entry("/lead"))
    standing = Standing(run, SITE, 1.0)

    rows = [SAME, NEW, lead]
    found = [one for row in rows for one in standing.take(row)]
    found += standing.end(samples.end(3))

    assert {one.row.entry.url: one.duplicate_of for one in found} == {
        f"{SITE}/old": None,
        f"{SITE}/new": f"{SITE}/old",
        f"{SITE}/lead": f"{SITE}/old",
    }


@pytest.mark.parametrize("redirect_first", [True, False], ids=["redirect first", "target first"])
def test_what_leads_to_its_own_text_for_now_is_unchanged(redirect_first: bool, run: Run) -> None:
    for_now = replace(MOVED, confirmed=False)

    found = decided(run, *((for_now, NEW) if redirect_first else (NEW, for_now)))

    assert found == {"/old": ("unchanged", "unchanged"), "/new": ("duplicate", None)}


def test_what_an_earlier_start_left_out_is_no_page_to_lead_to(run: Run, tmp_path: Path) -> None:
    target = replace(samples.failure("/new"), outcome=Outcome.NOINDEX)
    write(tmp_path, target, flow="ingest")
    again = Dataset(tmp_path).open_run("s", "1", plan=f"ingest {SITE}")

    assert again.id == run.id
    assert decided(again, MOVED) == {"/old": ("noindex", None)}


@pytest.mark.parametrize("status", ["failed_blocked", "failed_unreachable"])
def test_a_site_that_was_given_up_loses_no_page(status: str, run: Run) -> None:
    assert decided(run, GONE, status=status) == {"/old": ("not_found", None)}


def test_what_was_never_stored_is_not_removed(run: Run) -> None:
    never = replace(samples.failure("/never"), confirmed=True)

    assert decided(run, never) == {"/never": ("not_found", None)}


def test_pages_that_wait_for_another_are_bounded(run: Run) -> None:
    doubles = [samples.reading(f"/{number}", TEXT) for number in range(MOST_HELD + 2)]
    standing = Standing(run, SITE, 1.0)

    at_once = [one.outcome for double in doubles for one in standing.take(double)]
    at_end = [one.outcome for one in standing.end(samples.end(len(doubles)))]

    assert at_once == ["ok", "duplicate"]
    assert at_end == ["duplicate"] * MOST_HELD


# The guard


@pytest.fixture
def many(tmp_path: Path) -> Run:
    """Return a run over a site of which forty pages are stored."""
    pages = [samples.reading(f"/{number}") for number in range(40)]
    write(tmp_path, *pages, samples.end(40), flow="ingest")
    return Dataset(tmp_path).open_run("s", "1", plan=f"ingest {SITE}")


def gone(paths: Iterable[int]) -> list[Failure]:
    return [replace(samples.failure(f"/{path}"), confirmed=True) for path in paths]


@pytest.mark.parametrize(
    ("count", "share", "removed"),
    [(20, 0.3, 0), (19, 0.0, 19), (20, 0.5, 20), (40, 1.0, 40), (40, 0.99, 0)],
)
def test_more_than_a_share_is_withheld(count: int, share: float, removed: int, many: Run) -> None:
    found = decided(many, *gone(range(count)), max_removed=share)

    assert [change for _, change in found.values()].count("removed") == removed


def moved(path: int, to: str) -> Failure:
    return replace(MOVED, entry=samples.entry(f"/{path}"), duplicate_of=f"{SITE}{to}")


def test_pages_that_moved_each_to_an_address_of_its_own_do_not_count(many: Run) -> None:
    old = [moved(number, f"/new/{number}") for number in range(40)]
    new = [samples.reading(f"/new/{number}", f"# {number}\n") for number in range(40)]

    found = decided(many, *old, *new, max_removed=0.3)

    assert {found[f"/{number}"] for number in range(40)} == {("duplicate", "removed")}
    assert {found[f"/new/{number}"] for number in range(40)} == {("ok", "new")}


def test_pages_that_all_lead_to_one_are_gone_and_not_moved(many: Run) -> None:
    found = decided(many, *(moved(number, "/39") for number in range(39)), max_removed=0.3)

    assert set(found.values()) == {("duplicate", None)}


def test_pages_that_all_say_the_same_now_are_not_thrown_away_at_once(many: Run) -> None:
    wait = [samples.reading(f"/{number}", "# Please wait\n") for number in range(40)]

    found = decided(many, *wait, max_removed=0.3)

    assert found.pop("/0") == ("ok", "updated")
    assert set(found.values()) == {("duplicate", None)}


def test_a_page_that_leads_elsewhere_for_now_keeps_its_text(run: Run) -> None:
    for_now = replace(MOVED, confirmed=False)

    assert decided(run, for_now, samples.reading("/new", "# Other\n"))["/old"] == (
        "duplicate",
        None,
    )
