"""Old runs go; what the next run looks back at, and what is not finished, stays."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from connectors.dataset import Dataset
from connectors.parquet import ParquetSink
from flows import prune, retention
from flows.records import Failure, Reading, Row
from tests import samples
from tests.samples import SITE

OTHER = "https://b.test"


def write(root: Path, *said: Row, sites: Iterable[str] = (SITE,)) -> str:
    """Have a run write rows, and return its id."""
    run = Dataset(root).open_run("s", "1")
    sink = ParquetSink(run, tuple(sites), "s")
    parts = {number: sink.build_part("write", number, None) for number in sink.list_parts()}
    for row in said:
        site = row.entry.site if isinstance(row, Failure | Reading) else row.site
        parts[str(run.shard_of(site))].write_batch([row])
    for part in parts.values():
        part.snapshot()
        part.close()
    return run.id


def complete(root: Path, site: str = SITE) -> str:
    """Write a run that read every list of a site, and return its id."""
    robots = replace(samples.sitemap("/robots.txt", site), kind="robots", entries=0)
    lists = robots, samples.sitemap(site=site)
    page = samples.reading(site=site)
    return write(root, page, *lists, samples.end(1, site), sites=(site,))


def left(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "runs").iterdir())


def test_the_newest_runs_stay_and_the_corpus_is_what_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [complete(tmp_path) for _ in range(5)]
    corpus = {path: path.read_bytes() for path in tmp_path.glob("corpus/*/*")}

    assert prune.main([str(tmp_path), "--keep", "4"]) == 0
    assert prune.main([str(tmp_path), "--keep", "2"]) == 0
    said = capsys.readouterr().out
    assert said == f"1 run dropped, 4 kept: {tmp_path}\n2 runs dropped, 2 kept: {tmp_path}\n"
    assert left(tmp_path) == runs[3:]
    assert {path: path.read_bytes() for path in tmp_path.glob("corpus/*/*")} == corpus
    assert prune.main([str(tmp_path), "--keep", "2"]) == 0
    assert left(tmp_path) == runs[3:]


def test_the_last_complete_run_of_each_site_stays(tmp_path: Path) -> None:
    of_other = complete(tmp_path, OTHER)
    gone = complete(tmp_path)
    whole = complete(tmp_path)
    broken = [write(tmp_path, samples.end(0, status="failed_unreachable")) for _ in range(3)]

    assert prune.main([str(tmp_path), "--keep", "1"]) == 0
    assert left(tmp_path) == [of_other, whole, broken[-1]]
    assert gone not in left(tmp_path)


def test_a_run_that_is_not_finished_stays_and_goes_on(tmp_path: Path) -> None:
    old = [complete(tmp_path) for _ in range(2)]
    unfinished = write(tmp_path, samples.reading())

    assert prune.main([str(tmp_path), "--keep", "1"]) == 0
    assert left(tmp_path) == [old[1], unfinished]
    assert complete(tmp_path) == unfinished


def told(run_id: str, outcome: str = "ok", **site: object) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "sites": {SITE: {"status": "complete", **site}},
        "total": {"outcomes": {outcome: 1}},
    }


def test_an_inventory_does_not_stand_in_for_a_run_that_stored_pages() -> None:
    reports = [told("3", "discovered"), told("2", "discovered"), told("1")]

    assert retention.kept(reports, 1) == {"3", "1"}


def test_runs_stay_back_to_one_that_read_every_list() -> None:
    reports = [told("4", whole=False), told("3", whole=False), told("2", whole=True), told("1")]

    assert retention.kept(reports, 1) == {"4", "3", "2"}


@pytest.mark.parametrize("words", [["--keep", "0"], ["--keep", "few"], ["--what"]])
def test_bad_usage_exits_2(words: list[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as raised:
        prune.main([str(tmp_path), *words])

    assert raised.value.code == 2


def test_a_folder_that_is_no_dataset_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prune.main([str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"flows.prune: no dataset in {tmp_path}: it has no runs\n"
    assert list(tmp_path.iterdir()) == []


def test_reports_of_pruned_runs_are_gone_with_them(tmp_path: Path) -> None:
    for _ in range(3):
        complete(tmp_path)
    prune.main([str(tmp_path), "--keep", "1"])

    (report,) = tmp_path.glob("runs/*/report.json")
    assert json.loads(report.read_text())["run_id"] == left(tmp_path)[0]
    assert not [path for path in (tmp_path / ".work").iterdir() if path.is_dir()]
