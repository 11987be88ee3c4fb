"""A person reads how the last run went; a program reads it from the exit status."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from connectors.dataset import Dataset
from connectors.parquet import ParquetSink
from flows import report, summary
from flows.records import Outcome, Row, Severity
from tests import samples
from tests.samples import SITE


def ingest(root: Path, *said: Row, sites: tuple[str, ...] = (SITE,)) -> None:
    """Write rows to the dataset's run, whole or not."""
    run = Dataset(root).open_run("s", "1")
    sink = ParquetSink(run, sites, "s")
    parts: dict[int, Any] = {}
    for row in said:
        site = row.site if hasattr(row, "site") else row.entry.site
        number = sink.part_fn(site)
        if number not in parts:
            parts[number] = sink.build_part("write", str(number), None)
        parts[number].write_batch([row])
    for part in parts.values():
        part.snapshot()
        part.close()


@pytest.mark.parametrize(
    ("said", "options", "expected"),
    [
        ([samples.reading(), samples.end(1)], [], 0),
        ([samples.end(0, status="stopped_by_budget")], [], 0),
        ([samples.reading(), samples.end(0)], [], 3),
        ([samples.alert(), samples.end(0)], ["--fail-on", "warning"], 4),
        ([samples.alert(), samples.end(0)], ["--fail-on", "error"], 0),
        ([samples.alert(severity=Severity.ERROR), samples.end(0)], ["--fail-on", "error"], 4),
        ([samples.reading()], [], 5),
        ([samples.end(0, status="failed_blocked")], [], 5),
    ],
    ids=[
        "complete",
        "budget",
        "integrity",
        "warning",
        "no error",
        "error",
        "unfinished",
        "blocked",
    ],
)
def test_the_exit_status_says_how_the_run_went(
    said: list[Row],
    options: list[str],
    expected: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ingest(tmp_path, *said)

    assert report.main([str(tmp_path), *options]) == expected
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("arguments", [["{}/none"], ["--unknown"], ["{}", "--fail-on", "info"]])
def test_bad_usage_is_told_in_one_line_and_exits_2(arguments: list[str], tmp_path: Path) -> None:
    command = [argument.format(tmp_path) for argument in arguments]

    done = subprocess.run(
        [sys.executable, "-m", "flows.report", *command],
        cwd=Path(report.__file__).parents[1],
        capture_output=True,
        check=False,
        text=True,
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert "flows.report" in done.stderr


def test_a_damaged_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ingest(tmp_path, samples.reading())
    (path,) = tmp_path.glob("runs/*/urls/?-*.parquet")
    path.write_bytes(b"PAR1 broken PAR1")

    assert report.main([str(tmp_path)]) == 3
    assert f"damaged file {path}" in capsys.readouterr().err


def test_an_unfinished_run_is_counted_from_its_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ingest(tmp_path, samples.reading("/a"), samples.failure())

    report.main([str(tmp_path)])

    text = capsys.readouterr().out
    assert "not complete" in text.splitlines()[0]
    heads = "site declared stored left out chunks tokens requests MB"
    assert text.splitlines()[1].split() == heads.split()
    assert text.splitlines()[2].split()[:6] == [SITE, "2", "1", "1", "2", "20"]


def test_the_newest_run_is_the_one_that_is_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ingest(tmp_path, samples.reading("/a"), samples.end(1))
    ingest(tmp_path, samples.failure(), samples.failure("/x", Outcome.GONE), samples.end(2))

    report.main([str(tmp_path)])

    assert "not stored: 1 gone, 1 not_found" in capsys.readouterr().out


def sites_report(count: int, **site: Any) -> dict[str, Any]:
    """A report of sites that are all alike."""
    one = {
        "status": "complete",
        "detail": None,
        "declared": 1_234_567,
        "outcomes": {
            "ok": 1_000_000,
            "timeout": 34_567,
            "duplicate": 100_000,
            "unchanged": 100_000,
        },
        "methods": {},
        "changes": {},
        "alerts": {"warning": 12},
        "requests": 1_234_000,
        "bytes": 98_765_432_100,
        "seconds": 86_400.0,
        "chunks": 12_345_678,
        "tokens": 3_456_789_012,
        "crawl_delay_s": None,
    } | site
    sites = {
        f"https://a-site-with-a-long-name-{number}.example.org": one for number in range(count)
    }
    return {
        "run_id": "20240501T120000000-abcd",
        "status": one["status"],
        "started_at": samples.NOON.isoformat(),
        "ended_at": samples.NOON.isoformat(),
        "settings_hash": "s",
        "version": "1",
        "total": one | {"sites": count},
        "sites": sites,
    }


@pytest.mark.parametrize("status", ["complete", "failed_unreachable"])
def test_the_largest_table_fits_a_terminal_of_100_columns(status: str) -> None:
    told = sites_report(3)
    told["sites"]["https://other.example"] = told["total"] | {"status": status, "detail": None}

    lines = summary.render(told).splitlines()

    assert max(len(line) for line in lines) <= 100
    assert len({line.rstrip()[-4:] for line in lines[2:5]}) == 1


def test_sites_that_need_a_person_come_first_and_the_others_are_counted() -> None:
    told = sites_report(100)
    told["sites"]["https://z.test"] = told["total"] | {
        "status": "failed_blocked",
        "detail": "403",
    }
    told["status"] = "failed_blocked"

    text = summary.render(told)

    assert text.splitlines()[2].startswith("https://z.test")
    assert "… and 41 more sites" in text
    assert "https://z.test: 403" in text


def test_alerts_are_listed_gravest_first_and_at_most_twenty() -> None:
    said = [samples.alert(subject=f"https://a.test/{number}") for number in range(30)]
    told = sites_report(1, alerts={"warning": 30})
    rows = [
        {
            "severity": alert.severity,
            "kind": alert.kind,
            "subject": alert.subject,
            "message": alert.message,
            "site": alert.site,
        }
        for alert in said
    ]

    text = summary.render(told, alerts=rows)

    assert "alerts: 30 warning" in text
    assert text.count("no_sitemap") == 20
    assert "… and 10 more" in text


def test_alerts_are_counted_as_in_the_report_and_what_is_not_listed_is_said() -> None:
    told = sites_report(1, alerts={"warning": 4, "info": 3})
    rows = [
        {"severity": "warning", "kind": "budget_stop", "subject": "s", "message": "m", "site": "s"},
        {"severity": "info", "kind": "no_baseline", "subject": "s", "message": "m", "site": "s"},
    ]

    text = summary.render(told, alerts=rows)

    assert "alerts: 4 warning, 3 info (1 no_baseline not listed)\n" in text


def test_pages_that_are_stored_already_are_not_called_not_stored() -> None:
    told = sites_report(1, outcomes={"ok": 2, "unchanged": 64, "not_modified": 8, "gone": 3})

    assert "not stored: 3 gone\n" in summary.render(told)


def test_an_index_that_is_not_in_step_exits_6(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ingest(tmp_path, samples.reading(), samples.end(1))
    told = {"store": "lancedb://x", "table": "chunks", "model": "m", "status": "unfinished"}
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "x.json").write_text(json.dumps(told | {"sites": {}}))

    assert report.main([str(tmp_path)]) == 6
    assert "index lancedb://x chunks (m): not finished" in capsys.readouterr().out


def test_the_first_run_of_a_site_is_no_news_for_a_person_and_what_changed_later_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ingest(tmp_path, samples.reading("/a"), samples.end(1))
    report.main([str(tmp_path)])
    first = capsys.readouterr().out
    ingest(tmp_path, samples.reading("/a"), samples.reading("/b"), samples.end(2))
    report.main([str(tmp_path)])
    second = capsys.readouterr().out

    assert "alerts" not in first
    assert "no_baseline" not in first
    assert "changes:" not in first
    assert "changes: 1 new, 1 unchanged" in second
