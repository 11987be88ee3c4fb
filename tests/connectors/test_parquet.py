"""The sink under Bytewax: every URL in one row, whole pages together, and the run ends."""

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import bytewax.operators as op
import pyarrow.dataset as ds
import pytest
from bytewax.dataflow import Dataflow
from bytewax.recovery import RecoveryConfig, init_db_dir
from bytewax.testing import TestingSource, cluster_main, run_main

from connectors import parquet
from connectors.dataset import Dataset, Run, reported
from connectors.parquet import ParquetSink
from flows.records import Failure, LeftOut, Outcome, Reading, Row, Sightings
from tests import samples
from tests.flowing import alone
from tests.samples import SITE

SITES = tuple(f"https://{number}.test" for number in range(6))


def open_run(root: Path) -> Run:
    return Dataset(root).open_run("s", "1")


def said(*sites: str, pages: int = 12) -> list[Any]:
    """What sites say, one after the other, as a stream's items."""
    rows: list[Any] = []
    for site in sites:
        rows += [(site, samples.reading(f"/{number}", site=site)) for number in range(pages)]
        rows += [(site, samples.failure(site=site)), (site, samples.end(pages + 1, site))]
    return rows


def build(run: Run, items: list[Any], sites: tuple[str, ...] = SITES, **named: Any) -> Dataflow:
    flow = Dataflow("write")
    stream = op.input("items", flow, TestingSource(items, batch_size=5))
    op.output("write", stream, ParquetSink(run, sites, "s", **named))
    return flow


def rows(folder: Path) -> list[dict[str, Any]]:
    return ds.dataset(folder, format="parquet").to_table().to_pylist()


def only(folder: Path) -> Path:
    (found,) = folder.iterdir()
    return found


@pytest.mark.parametrize("workers", [1, 2])
def test_every_url_is_in_one_row_and_the_run_is_complete(workers: int, tmp_path: Path) -> None:
    run = open_run(tmp_path)

    cluster_main(build(run, said(*SITES)), [], 0, worker_count_per_proc=workers)

    urls = [(row["site"], row["url"]) for row in rows(run.folder / "urls")]
    assert len(urls) == len(set(urls)) == 13 * len(SITES)
    assert reported.read(run.folder)["status"] == "complete"
    assert len(rows(tmp_path / "corpus" / "chunks")) == 24 * len(SITES)


FLOW = """
import sys
from pathlib import Path
from tests.connectors import test_parquet as claims

def flow():
    root = Path({root!r})
    return claims.build(claims.open_run(root), claims.said(*claims.SITES))
"""


def test_a_cluster_of_two_processes_completes_one_run(tmp_path: Path) -> None:
    (tmp_path / "clustered.py").write_text(FLOW.format(root=str(tmp_path / "data")))
    command = [sys.executable, "-m", "bytewax.testing", "clustered", "-p", "2"]
    path = f"{tmp_path}:{Path(parquet.__file__).parents[1]}"

    with alone(command):
        done = subprocess.run(command, env={"PYTHONPATH": path}, timeout=60, check=False)

    run = only(tmp_path / "data" / "runs")
    assert done.returncode == 0
    assert reported.read(run)["status"] == "complete"
    # TestingSource lives on one worker, so each row came once, to whichever process has its shard.
    assert Counter(row["outcome"] for row in rows(run / "urls")) == {"ok": 72, "not_found": 6}


def test_what_waits_is_committed_when_the_flow_ends_early(tmp_path: Path) -> None:
    run = open_run(tmp_path)
    items = [item for item in said(*SITES) if not isinstance(item[1], type(samples.end(0)))]

    run_main(build(run, items))

    assert len(rows(run.folder / "urls")) == 13 * len(SITES)
    assert not run.is_complete
    assert rows(tmp_path / "corpus" / "pages") == []


def test_nothing_is_committed_after_a_crash_of_the_flow(tmp_path: Path) -> None:
    run = open_run(tmp_path)
    items = [(SITE, samples.reading("/first")), (SITE, samples.reading("/waiting")), (SITE, None)]

    with pytest.raises(AttributeError):  # the sink knows no None
        run_main(build(run, items))

    assert [row["url"] for row in rows(run.folder / "urls")] == [f"{SITE}/first"]


def test_a_resumed_flow_writes_only_what_is_missing(tmp_path: Path) -> None:
    items = said(SITE)
    run_main(build(open_run(tmp_path), items[:7], (SITE,)))
    run = open_run(tmp_path)
    before = rows(run.folder / "urls")

    run_main(build(run, items, (SITE,)))

    after = {row["url"]: row for row in rows(run.folder / "urls")}
    assert len(before) == 7
    assert len(after) == len(rows(run.folder / "urls")) == 13
    assert all(after[row["url"]] == row for row in before)
    assert reported.read(run.folder)["status"] == "complete"


def test_the_recovery_of_bytewax_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "recovery").mkdir()
    init_db_dir(tmp_path / "recovery", 1)
    recovery = RecoveryConfig(str(tmp_path / "recovery"))
    items = said(SITE)
    stopped = [*items[:9], TestingSource.ABORT(), *items[9:]]
    flow = build(open_run(tmp_path / "data"), stopped, (SITE,))
    run_main(flow, recovery_config=recovery)
    run = open_run(tmp_path / "data")

    run_main(build(run, stopped, (SITE,)), recovery_config=recovery)

    assert len(rows(run.folder / "urls")) <= 13
    assert max(Counter(row["url"] for row in rows(run.folder / "urls")).values()) == 1


class Sink:
    """A partition without Bytewax around it."""

    def __init__(self, root: Path, *, sites: tuple[str, ...] = (SITE,), **named: Any) -> None:
        """Open the run that is there and build the partition of `SITE`."""
        self.run = open_run(root)
        sink = ParquetSink(self.run, sites, "s", **named)
        self.part = sink.build_part("write", str(sink.part_fn(SITE)), None)

    def take(self, *values: Row) -> "Sink":
        for row in values:
            self.part.write_batch([row])
        return self

    def urls(self) -> dict[str, dict[str, Any]]:
        return {row["url"]: row for row in rows(self.run.folder / "urls")}


def test_the_first_page_is_on_disk_at_once_and_the_next_ones_soon(tmp_path: Path) -> None:
    sink = Sink(tmp_path).take(samples.failure(), samples.reading("/first"))
    first = len(sink.urls())
    sink.take(*(samples.reading(f"/{number}") for number in range(parquet.FEW_PAGES - 1)))
    waiting = len(sink.urls())
    sink.take(samples.reading("/last"))

    assert (first, waiting, len(sink.urls())) == (2, 2, 2 + parquet.FEW_PAGES)


def test_a_run_without_pages_shows_its_first_row_at_once(tmp_path: Path) -> None:
    assert len(Sink(tmp_path).take(samples.failure()).urls()) == 1


def test_what_waits_has_a_bound_in_pages_bytes_and_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "MOST_BYTES", 1_000)
    monkeypatch.setattr(parquet, "MOST_ROWS", 20)
    sink = Sink(tmp_path).take(samples.reading("/first"))
    long = sink.take(samples.reading("/long", "x" * 600)).urls()
    sink.take(*(samples.failure(f"/{number}") for number in range(20)))

    assert len(long) == 2
    assert len(sink.urls()) == 22


def test_lists_of_long_addresses_wait_for_no_many_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "MOST_BYTES", 1_000)
    sink = Sink(tmp_path).take(samples.failure())
    short = len(sink.take(LeftOut(entries=samples.entries("/a"), outcome=Outcome.BUDGET)).urls())
    long = samples.entries("/" + "b" * 1_000)
    one = len(sink.take(LeftOut(entries=long, outcome=Outcome.BUDGET)).urls())
    again = sink.take(Sightings(entries=long)).part._batch.rows

    assert (short, one, again) == (1, 3, 0)


def test_a_page_its_chunks_and_its_row_appear_together(tmp_path: Path) -> None:
    sink = Sink(tmp_path).take(*(samples.reading(f"/{number}") for number in range(30)))
    urls = {url for url, row in sink.urls().items() if row["outcome"] == "ok"}

    assert {row["url"] for row in rows(sink.run.folder / "pages")} == urls
    assert Counter(row["url"] for row in rows(sink.run.folder / "chunks")) == dict.fromkeys(urls, 2)


def test_a_content_is_stored_once_and_its_other_addresses_point_there(tmp_path: Path) -> None:
    Sink(tmp_path).take(samples.reading("/a", "same")).part.close()
    sink = Sink(tmp_path).take(samples.reading("/b", "same"), samples.reading("/c", "other"))
    sink.take(samples.reading("/d", "other")).part.snapshot()

    told = {url: (row["outcome"], row["duplicate_of"]) for url, row in sink.urls().items()}
    assert told == {
        f"{SITE}/a": ("ok", None),
        f"{SITE}/b": ("duplicate", f"{SITE}/a"),
        f"{SITE}/c": ("ok", None),
        f"{SITE}/d": ("duplicate", f"{SITE}/c"),
    }
    assert len(rows(sink.run.folder / "pages")) == 2


def naming(path: str, canonical: str, text: str = "same") -> Reading:
    reading = samples.reading(path, text)
    return replace(reading, document=replace(reading.document, canonical_url=SITE + canonical))


def test_a_content_is_stored_under_the_address_that_its_pages_call_canonical(
    tmp_path: Path,
) -> None:
    sink = Sink(tmp_path).take(naming("/a?print=1", "/a"), naming("/b", "/a"))
    before = sink.urls()
    sink.take(naming("/a", "/a"), samples.end(3)).part.snapshot()

    told = {url: (row["outcome"], row["duplicate_of"]) for url, row in sink.urls().items()}
    assert before == {}  # nothing is taken back: it waits for its better address
    assert told == {
        f"{SITE}/a": ("ok", None),
        f"{SITE}/a?print=1": ("duplicate", f"{SITE}/a"),
        f"{SITE}/b": ("duplicate", f"{SITE}/a"),
    }


def test_a_page_whose_canonical_address_never_comes_or_says_else_is_stored_all_the_same(
    tmp_path: Path,
) -> None:
    sink = Sink(tmp_path).take(naming("/x?long=1", "/x"), naming("/x/", "/x"))
    sink.take(naming("/y", "/z", "mine"), naming("/z", "/z", "other"))
    sink.take(samples.end(4)).part.snapshot()

    told = {url: (row["outcome"], row["duplicate_of"]) for url, row in sink.urls().items()}
    assert told == {
        f"{SITE}/x/": ("ok", None),  # the shorter of the two
        f"{SITE}/x?long=1": ("duplicate", f"{SITE}/x/"),
        f"{SITE}/y": ("ok", None),
        f"{SITE}/z": ("ok", None),
    }


def test_few_pages_wait_for_an_address_that_they_call_canonical(tmp_path: Path) -> None:
    pages = [naming(f"/{number}", f"/{number}/", f"text {number}") for number in range(30)]
    sink = Sink(tmp_path).take(*pages)
    sink.part.snapshot()

    assert len(sink.urls()) == 30 - 8


def test_a_row_says_what_changed_since_the_corpus(tmp_path: Path) -> None:
    sink = Sink(tmp_path).take(samples.reading("/a", "a"), samples.reading("/b", "b"))
    sink.take(samples.end(2)).part.snapshot()
    sink.part.close()
    first = {url: row["change"] for url, row in sink.urls().items()}

    again = Sink(tmp_path).take(samples.reading("/a", "a"), samples.reading("/b", "new b"))
    again.take(samples.reading("/c", "c"), samples.failure("/d"), samples.end(4)).part.snapshot()

    assert first == {f"{SITE}/a": "new", f"{SITE}/b": "new"}
    assert {url: row["change"] for url, row in again.urls().items()} == {
        f"{SITE}/a": "unchanged",
        f"{SITE}/b": "updated",
        f"{SITE}/c": "new",
        f"{SITE}/d": None,
    }


def test_a_url_that_no_store_takes_is_written_once_all_the_same(tmp_path: Path) -> None:
    Sink(tmp_path).take(samples.reading("/\0\ud800")).part.close()
    sink = Sink(tmp_path).take(samples.reading("/\0\ud800"))
    sink.part.snapshot()

    assert list(sink.urls()) == [f"{SITE}/��"]


def test_all_rows_are_told_to_who_watches(tmp_path: Path) -> None:
    told: list[tuple[Outcome, int]] = []
    sink = Sink(tmp_path, on_rows=lambda outcome, rows: told.append((outcome, rows)))
    sink.take(samples.reading("/a", "a"), samples.reading("/b", "a"), samples.failure())
    sink.take(LeftOut(entries=samples.entries("/c", "/d"), outcome=Outcome.BUDGET))

    of_one = [(Outcome.OK, 1), (Outcome.DUPLICATE, 1), (Outcome.NOT_FOUND, 1)]
    assert told == [*of_one, (Outcome.BUDGET, 2)]


def test_entries_of_a_list_make_the_rows_that_each_of_them_would_make(tmp_path: Path) -> None:
    listed = samples.entries("/a", "/b")
    together = Sink(tmp_path / "together")
    together.take(LeftOut(entries=listed, outcome=Outcome.BUDGET, detail="spent"))
    apart = Sink(tmp_path / "apart")
    apart.take(*(Failure(entry=e, outcome=Outcome.BUDGET, detail="spent") for e in listed))
    made = []
    for sink in (together, apart):
        sink.part.snapshot()
        made.append([{**row, "run_id": ""} for row in sink.urls().values()])

    assert len(made[0]) == 2
    assert made[0] == made[1]


def test_lists_are_folded_into_rows_as_their_entries_would_be(tmp_path: Path) -> None:
    sink = Sink(tmp_path).take(samples.failure("/a"), samples.failure("/b"))
    sink.take(Sightings(entries=samples.entries("/a", "/b")), samples.end(2, notes=2))
    sink.part.snapshot()

    assert sink.run.is_complete
    assert [row["priority"] for row in sink.urls().values()] == [0.5, 0.5]
    assert all(samples.LIST in row["sitemaps"] for row in sink.urls().values())


def test_entries_of_a_list_that_have_their_row_are_not_written_again(tmp_path: Path) -> None:
    first = Sink(tmp_path).take(samples.failure("/a"))
    first.part.snapshot()
    first.part.close()
    second = Sink(tmp_path)
    second.take(LeftOut(entries=samples.entries("/a", "/b"), outcome=Outcome.BUDGET))
    second.part.snapshot()

    outcomes = {url: row["outcome"] for url, row in second.urls().items()}
    assert outcomes == {f"{SITE}/a": "not_found", f"{SITE}/b": "budget"}


def test_the_end_of_a_site_may_overtake_its_rows(tmp_path: Path) -> None:
    sink = Sink(tmp_path).take(samples.end(2, notes=2), samples.sighting("/a"))
    sink.take(samples.reading("/a"), samples.failure()).part.snapshot()
    early = sink.run.is_complete
    sink.take(samples.alert()).part.snapshot()

    assert not early
    assert sink.run.is_complete
    assert sink.urls()[f"{SITE}/a"]["methods"] == ["robots", "link"]


def test_rows_after_the_end_are_reported_and_harm_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sink = Sink(tmp_path).take(samples.reading("/a"), samples.end(1))
    sink.part.snapshot()
    sink.take(samples.reading("/late")).part.snapshot()

    assert list(sink.urls()) == [f"{SITE}/a"]
    assert [record.message for record in caplog.records] == [
        "rows came after the end of their site"
    ]


def test_a_full_disk_leaves_what_was_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = Sink(tmp_path).take(samples.reading("/a"))

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    more = [samples.reading(f"/{number}") for number in range(9)]
    with monkeypatch.context() as patched:
        patched.setattr("connectors.dataset.files.write", full)
        with pytest.raises(OSError, match="No space left"):
            sink.take(*more)
    sink.part.close()
    again = Sink(tmp_path).take(samples.reading("/b"))
    again.part.snapshot()

    assert set(again.urls()) == {f"{SITE}/a", f"{SITE}/b"}
