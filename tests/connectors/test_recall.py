"""What is known of a site's pages is found in the runs that asked for them, and read once."""

import logging
from dataclasses import replace
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from connectors.dataset import Dataset, Run
from flows.records import Outcome, Reading
from flows.remembered import Remembered
from tests import samples
from tests.connectors.test_completion import listed, write
from tests.samples import SITE

URL = f"{SITE}/a"


def tagged(tag: str, text: str = "# Page\n") -> Reading:
    read = samples.reading("/a", text)
    return replace(read, exchange=replace(read.exchange, etag=tag))


def ingested(root: Path, *readings: Reading, status: str = "complete") -> Run:
    return write(root, *readings, samples.end(len(readings), status=status), flow="ingest")


def known(root: Path, settings: str = "s") -> Remembered:
    run = Dataset(root).open_run(settings, "1", plan=f"ingest {SITE}")
    was = run.memory(SITE).of(URL)
    assert was is not None
    return was


def test_a_site_that_was_never_read_is_not_known(tmp_path: Path) -> None:
    run = Dataset(tmp_path).open_run("s", "1", plan=f"ingest {SITE}")

    assert len(run.memory(SITE)) == 0


def test_an_inventory_in_between_hides_nothing(tmp_path: Path) -> None:
    ingested(tmp_path, tagged("1"))
    write(tmp_path, *listed("a", "b"))

    assert (known(tmp_path).etag, known(tmp_path).is_current) == ("1", True)


def test_a_run_that_stores_nothing_knows_nothing_of_stored_pages(tmp_path: Path) -> None:
    ingested(tmp_path, tagged("1"))
    run = Dataset(tmp_path).open_run("s", "1", plan=f"discover {SITE}")

    assert len(run.memory(SITE)) == 0


def test_what_a_run_found_that_was_stopped_is_known_as_well(tmp_path: Path) -> None:
    ingested(tmp_path, tagged("1"))
    ingested(tmp_path, tagged("2", "# Other words\n"), status="stopped_by_budget")

    assert known(tmp_path).etag == "2"


def test_a_page_that_a_stopped_run_did_not_reach_is_known_from_the_one_before(
    tmp_path: Path,
) -> None:
    ingested(tmp_path, tagged("1"))
    ingested(tmp_path, samples.reading("/b", "# Other\n"), status="stopped_by_budget")

    assert known(tmp_path).etag == "1"


def test_pages_of_other_settings_are_known_as_such(tmp_path: Path) -> None:
    ingested(tmp_path, tagged("1"))

    assert not known(tmp_path, "other").is_current


def test_a_damaged_run_is_told_and_its_pages_are_asked_for_as_if_for_the_first_time(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = ingested(tmp_path, tagged("1"))
    for path in (run.folder / "urls").iterdir():
        path.write_bytes(b"no parquet")

    with caplog.at_level(logging.WARNING, logger="connectors"):
        was = known(tmp_path)

    assert (was.etag, was.fetched_at) == (None, None)
    assert [record.message for record in caplog.records] == ["earlier run not read"]


def test_both_ends_of_a_run_share_what_is_known(tmp_path: Path) -> None:
    ingested(tmp_path, tagged("1"))
    run = Dataset(tmp_path).open_run("s", "1", plan=f"ingest {SITE}")

    memory = run.memory(SITE)

    assert run.memory(SITE) is memory


def half(root: Path, lost: str) -> None:
    """Remove one file of a pair."""
    [path] = (root / "corpus" / lost).glob(f"*{SITE.rpartition('/')[2]}*")
    path.unlink()


def rows(root: Path, name: str) -> set[str]:
    """Return the URLs that have rows in a table of the corpus."""
    table = ds.dataset(str(root / "corpus" / name), format="parquet").to_table(["url"])
    return set(table["url"].to_pylist())


@pytest.mark.parametrize("lost", ["pages", "chunks"])
def test_a_site_of_which_one_file_is_lost_is_read_as_for_the_first_time(
    lost: str, tmp_path: Path
) -> None:
    other = samples.reading("/b", "# Other page\n")
    ingested(tmp_path, tagged("1"), other)
    half(tmp_path, lost)
    run = Dataset(tmp_path).open_run("s", "1", plan=f"ingest {SITE}")
    assert len(run.memory(SITE)) == 0

    again = ingested(tmp_path, tagged("1"))

    assert told(again) == {URL: ("ok", "new")}
    assert rows(tmp_path, "pages") == rows(tmp_path, "chunks") == {URL}


def test_what_is_left_of_a_site_waits_for_a_run_that_stores_pages(tmp_path: Path) -> None:
    ingested(tmp_path, tagged("1"))
    half(tmp_path, "chunks")

    write(tmp_path, samples.failure("/a", Outcome.SERVER_ERROR), samples.end(1), flow="ingest")
    assert rows(tmp_path, "pages") == {URL}
    ingested(tmp_path, tagged("1"))

    assert rows(tmp_path, "pages") == rows(tmp_path, "chunks") == {URL}


def told(run: Run) -> dict[str, tuple[str, str | None]]:
    """Return outcome and change of each URL of a run."""
    found = ds.dataset(str(run.folder / "urls"), format="parquet").to_table().to_pylist()
    return {row["url"]: (row["outcome"], row["change"]) for row in found}
