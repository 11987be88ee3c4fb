"""While a run goes on its pages become searchable; the run never waits for a vector."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from connectors.dataset import Dataset, Run
from connectors.embedders import EmbeddingError
from connectors.embedders.hashing import Hashing
from connectors.indexing import reports
from connectors.indexing.live import WAITING, Outlet
from connectors.parquet import ParquetSink
from connectors.stores import open_store
from flows import index_report
from flows.settings.index import IndexSettings
from tests import samples
from tests.chunked import SITE, page, publish
from tests.indexer import Counting, held, run, settings, wanted

PATIENCE_S = 30


@pytest.fixture
def told(address: str) -> IndexSettings:
    return settings(address)


def soon(is_so: Callable[[], bool]) -> bool:
    """Wait until something is so, within a bound that only a fault exceeds."""
    end = time.monotonic() + PATIENCE_S
    while not is_so() and time.monotonic() < end:
        time.sleep(0.01)
    return is_so()


class Slow(Counting):
    """An embedder that makes no vector until it may."""

    def __init__(self) -> None:
        super().__init__(Hashing(32))
        self.may = threading.Event()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        assert self.may.wait(PATIENCE_S)
        return super().embed(texts)


class Away(Counting):
    """An endpoint that went away."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        raise EmbeddingError("the endpoint is away")


def begun(out: Path) -> Run:
    return Dataset(out).open_run("settings", "1")


def write(run: Run, *paths: str, ends: bool = True) -> None:
    """Commit each path's page by itself, and end the site after the last."""
    sink = ParquetSink(run, [SITE], "settings")
    part = sink.build_part("write", str(sink.part_fn(SITE)), None)
    for path in paths:
        part.write_batch([samples.reading(path)])
        part.snapshot()
    if ends:
        part.write_batch([samples.end(len(paths))])
        part.snapshot()
    part.close()


@pytest.fixture
def following(tmp_path: Path, told: IndexSettings) -> Iterator[Callable[..., tuple[Run, Outlet]]]:
    """Return what begins a run and has the store follow it."""
    found: list[Outlet] = []

    def begin(embedder: Counting | None = None) -> tuple[Run, Outlet]:
        run = begun(tmp_path)
        run.outlet = outlet = Outlet(tmp_path, told, embedder or Counting(Hashing(32)))
        found.append(outlet)
        return run, outlet

    yield begin
    for outlet in found:
        outlet.close()


def test_a_page_is_found_before_its_site_has_ended(
    following: Callable[..., tuple[Run, Outlet]], told: IndexSettings
) -> None:
    run, _ = following()
    write(run, "/a", "/b", ends=False)

    with closing(open_store(told.url.reveal(), told.table)) as reader:
        assert soon(lambda: len(reader.search([1.0] * 32, 10)) == 4)


def test_when_the_run_has_ended_the_store_is_the_corpus(
    following: Callable[..., tuple[Run, Outlet]], tmp_path: Path, told: IndexSettings
) -> None:
    embedder = Counting(Hashing(32))
    run, outlet = following(embedder)
    write(run, "/a", "/b", "/c")
    report = outlet.end(bool)

    assert held(tmp_path, told) == wanted(tmp_path)
    assert len(embedder.asked) == len(set(embedder.asked))
    assert report is not None
    assert index_report.is_in_step(report)
    assert (report["pages"], report["done"]["written"]) == (3, 3)


def test_a_slow_embedder_does_not_hold_up_the_run(
    following: Callable[..., tuple[Run, Outlet]], tmp_path: Path, told: IndexSettings
) -> None:
    embedder = Slow()
    run, outlet = following(embedder)
    paths = [f"/{number}" for number in range(2 * WAITING)]
    write(run, *paths)

    assert run.is_complete
    assert embedder.asked == []
    embedder.may.set()
    assert outlet.end(bool) is not None
    assert held(tmp_path, told) == wanted(tmp_path)
    assert len(wanted(tmp_path)) == 2 * len(paths)


def test_what_left_the_corpus_leaves_the_store_when_the_site_ends(
    following: Callable[..., tuple[Run, Outlet]], tmp_path: Path, told: IndexSettings
) -> None:
    publish(tmp_path, [page(f"{SITE}/{n}", f"text of {n}", f"more of {n}") for n in range(5)])
    run(tmp_path, told, Hashing(32))
    publish(tmp_path, [page(f"{SITE}/1", "text of 1")])
    _, outlet = following()
    outlet.published(SITE)

    with closing(open_store(told.url.reveal(), told.table)) as reader:
        assert soon(lambda: len(reader.search([1.0] * 32, 10)) == 1)


def test_what_a_crash_left_undone_is_done_by_the_next_run_of_the_index(
    following: Callable[..., tuple[Run, Outlet]], tmp_path: Path, told: IndexSettings
) -> None:
    embedder = Slow()
    ingest, outlet = following(embedder)
    write(ingest, "/a", "/b")
    embedder.may.set()
    outlet.close()
    [report] = reports.read(tmp_path)
    assert report["status"] == "unfinished"
    run(tmp_path, told, Hashing(32))

    assert held(tmp_path, told) == wanted(tmp_path)


def test_an_embedder_that_is_away_costs_the_index_and_not_the_run(
    following: Callable[..., tuple[Run, Outlet]], tmp_path: Path
) -> None:
    run, outlet = following(Away(Hashing(32)))
    write(run, "/a", "/b")
    report = outlet.end(bool)

    assert run.is_complete
    assert report is not None
    assert report["status"] == "incomplete"
    assert "the endpoint is away" in index_report.line(report)


def test_a_stop_does_not_wait_for_vectors(
    following: Callable[..., tuple[Run, Outlet]],
) -> None:
    embedder = Slow()
    run, outlet = following(embedder)
    write(run, "/a")

    assert outlet.end(lambda: True) is None
    embedder.may.set()
