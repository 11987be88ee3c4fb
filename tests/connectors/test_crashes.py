"""A kill at any moment: no row is lost, written twice, unreadable, or taken back."""

import multiprocessing
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from connectors.dataset import reported
from tests import crashing
from tests.crashing import PAGES, SITES, Watch

MANY = 50
"""Pages of each of the two sites where a writer is killed at random."""


def rows_of(pages: int) -> dict[str, int]:
    """Return the rows of each site in a whole run."""
    return {"urls": pages + 1, "pages": pages, "chunks": 2 * pages}


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.crashing"])
    return context


def lives(processes: ForkServerContext, *told: object, killed_after_s: float | None = None) -> int:
    """Let a writer live to its end, or to its death; its exit status."""
    process = processes.Process(target=crashing.live, args=told)
    process.start()
    process.join(60 if killed_after_s is None else killed_after_s)
    process.kill()
    process.join(60)
    assert process.exitcode is not None
    return process.exitcode


@contextmanager
def watching(root: Path) -> Iterator[Watch]:
    """Read the dataset over and over while something else goes on."""
    watch, over = Watch(root), threading.Event()

    def look() -> None:
        while not over.is_set():
            watch.look()

    reader = threading.Thread(target=look)
    reader.start()
    try:
        yield watch
    finally:
        over.set()
        reader.join()


def check_whole(root: Path, watch: Watch, pages: int = PAGES) -> None:
    """All runs are whole and nothing is left of what they needed on the way."""
    watch.look()
    wanted = rows_of(pages)
    runs = sorted(path.name for path in (root / "runs").iterdir())

    assert watch.faults == []
    for run in runs:
        told = reported.read(root / "runs" / run)
        assert (told["status"], told["total"]["declared"]) == (
            "complete",
            wanted["urls"] * len(SITES),
        )
    for name, rows in wanted.items():
        times = len(runs) if name == "urls" else 1  # a later run stores nothing that is the same
        assert len(watch.seen[f"runs/*/{name}"]) == rows * len(SITES) * times
    assert len(watch.seen["corpus/pages"]) == wanted["pages"] * len(SITES)
    assert len(watch.seen["corpus/chunks"]) == wanted["chunks"] * len(SITES)
    assert sorted(path.name for path in root.iterdir()) == [".work", "corpus", "runs"]
    assert not [path for path in (root / ".work").iterdir() if path.is_dir()]


def check_death(processes: ForkServerContext, root: Path, step: int) -> int:
    """Die at a step, be read, live again and be whole; the exit status of the first life."""
    status = lives(processes, root, step, step)
    watch = Watch(root)
    watch.look()

    assert lives(processes, root, 0, step + 1) == 0
    check_whole(root, watch)
    return status


def test_a_death_on_the_way_to_the_disk_costs_nothing_that_was_visible(
    processes: ForkServerContext, tmp_path: Path
) -> None:
    step = 1
    while check_death(processes, tmp_path / str(step), step):
        step += 1 + step // 2  # the first steps one by one, then ever fewer

    assert step > 100


def texts(root: Path) -> dict[str, list[dict[str, Any]]]:
    """Return what the corpus says, without the run that said it."""
    return {
        name: ds.dataset(root / "corpus" / name, format="parquet")
        .to_table(columns=["url", "content_hash", column])
        .sort_by([("url", "ascending"), (column, "ascending")])
        .to_pylist()
        for name, column in (("pages", "markdown"), ("chunks", "text"))
    }


@pytest.fixture(scope="module")
def undisturbed(
    processes: ForkServerContext, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[dict[str, Any]]]:
    """Return the texts of a run that nobody killed."""
    root = tmp_path_factory.mktemp("undisturbed")
    assert lives(processes, root, 0, 0, MANY) == 0
    return texts(root)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_reader_is_never_deceived_while_a_writer_is_killed_again_and_again(
    seed: int,
    processes: ForkServerContext,
    undisturbed: dict[str, list[dict[str, Any]]],
    tmp_path: Path,
) -> None:
    rand = random.Random(seed)  # noqa: S311  # repeatable on purpose
    kills = 0

    with watching(tmp_path) as watch:
        for life in range(60):  # on the way to the disk, and at any moment
            if kills == 10:
                break
            moment = rand.uniform(0.05, 0.6) if life % 2 else None
            step = 0 if life % 2 else rand.randint(1, 120)
            kills += lives(processes, tmp_path, step, life, MANY, killed_after_s=moment) != 0
        assert lives(processes, tmp_path, 0, 99, MANY) == 0

    assert kills == 10
    assert watch.looks > 3
    check_whole(tmp_path, watch, MANY)
    assert texts(tmp_path) == undisturbed
