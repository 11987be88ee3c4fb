"""What waits for a commit becomes few tables, each row with what was said of its URL."""

from connectors.batch import Batch
from flows.records import LeftOut, Outcome, Sightings
from tests import samples


def test_urls_that_leave_with_details_of_their_own_make_one_table() -> None:
    batch = Batch("r", "s")
    for number in range(300):
        said = f"https://{number}.test" if number % 2 else None
        some = samples.entries(f"/{number}")
        batch.leave_out(LeftOut(entries=some, outcome=Outcome.OFF_ORIGIN, detail=said))

    urls = batch.tables()["urls"]

    assert urls["url"].num_chunks <= 2
    told = {row["url"].rpartition("/")[2]: row["detail"] for row in urls.to_pylist()}
    assert told == {str(n): f"https://{n}.test" if n % 2 else None for n in range(300)}


def test_lists_of_different_outcomes_and_places_keep_them() -> None:
    batch = Batch("r", "s")
    for outcome in (Outcome.BUDGET, Outcome.DISCOVERED, Outcome.BUDGET):
        batch.leave_out(LeftOut(entries=samples.entries(f"/{batch.rows}"), outcome=outcome))
    batch.note(Sightings(entries=samples.entries("/a", "/b")))

    tables = batch.tables()

    assert [row["outcome"] for row in tables["urls"].to_pylist()] == [
        "budget",
        "budget",
        "discovered",
    ]
    assert (batch.rows, tables["sightings"].num_rows) == (5, 2)
