"""The last run as a table for people: `python -m flows.report [DIR] [--fail-on warning|error]`.

Exit status: 0 complete, 2 bad usage or no dataset, 3 integrity broken or a file damaged, 4 alerts
at or above `--fail-on`, 5 run not complete (unfinished, or a site failed as a whole), 6 an index is
not in step with the corpus.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from connectors.dataset import files
from connectors.dataset.files import DamagedError
from connectors.indexing import reports
from flows import index_report, totals
from flows.schema import TABLES
from flows.summary import gravity, render

__all__ = ["alerts", "main", "newest", "read", "render", "status"]

_UNCOUNTED: Final = frozenset({"markdown", "html", "text", "links", "structured", "detail"})
"""Columns that are heavy, and of no use for a sum."""
_UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the last run of a dataset and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m flows.report", description="The last run as a table for each site."
    )
    usual = Path(os.environ.get("INGEST_OUT") or "data")
    parser.add_argument("folder", nargs="?", default=usual, type=Path, metavar="DIR")
    parser.add_argument("--fail-on", choices=("warning", "error"), help="exit 4 on such alerts")
    given = parser.parse_args(arguments)
    try:
        run = newest(given.folder)
        broken = list(damaged(given.folder, run))
        report, alarms = read(run), alerts(run)
        indexes = list(reports.read(given.folder))
    except DamagedError as error:
        return _complain(str(error), 3)
    except (OSError, ValueError) as error:
        return _complain(str(error), 2)
    sys.stdout.write(render(report, alerts=alarms, folder=given.folder))
    sys.stdout.writelines(f"{index_report.line(index)}\n" for index in indexes)
    for one in broken:
        _complain(str(one), 3)
    return 3 if broken else status(report, given.fail_on, indexes)


def damaged(folder: Path, run: Path) -> Iterator[DamagedError]:
    """Yield a fault for each file of a run and of the corpus that cannot be read to its end."""
    for path in sorted([*run.glob("*/*.parquet"), *folder.glob("corpus/*/*.parquet")]):
        try:
            files.check(path)
        except FileNotFoundError:
            continue  # merged, or published anew, while we looked
        except DamagedError as error:
            yield error


def _complain(words: str, status: int) -> int:
    sys.stderr.write(f"flows.report: {words.splitlines()[0]}\n")
    return status


def status(
    report: Mapping[str, Any],
    fail_on: str | None = None,
    indexes: Iterable[Mapping[str, Any]] = (),
) -> int:
    """Return the exit status that a report deserves, with those of the dataset's indexes.

    >>> status({"status": "complete", "total": {"alerts": {"warning": 2}}}, "warning")
    4
    """
    if report["status"] == "failed_integrity":
        return 3
    if report["status"] not in {"complete", "stopped_by_budget"}:
        return 5
    grave = {"warning": ("warning", "error"), "error": ("error",)}.get(fail_on or "", ())
    if any(report["total"]["alerts"].get(severity) for severity in grave):
        return 4
    return 0 if all(map(index_report.is_in_step, indexes)) else 6


def newest(folder: Path) -> Path:
    """Return the folder of the newest run of a dataset; ValueError when there is none."""
    runs = sorted(path for path in (folder / "runs").glob("*") if (path / "urls").is_dir())
    if not runs:
        raise ValueError(f"no run in {folder}: is it a dataset folder?")
    return runs[-1]


def read(run: Path) -> dict[str, Any]:
    """Return the report of a run; counted from its rows while it is unfinished."""
    for _ in range(3):
        try:
            return _read(run / "report.json") or _count(run)
        except FileNotFoundError:
            continue  # the run was completed while we looked: its files have other names now
    raise ValueError(f"the files of {run} change faster than they can be read")


def alerts(run: Path) -> list[dict[str, Any]]:
    """Return the alerts of a run as rows, the gravest first."""
    found = [row for rows in _tables(run / "alerts") for row in rows.to_pylist()]
    return sorted(found, key=lambda row: (gravity(row["severity"]), row["site"], row["kind"]))


def _read(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def _count(run: Path) -> dict[str, Any]:
    counted = totals.Totals()
    for name in TABLES:
        for rows in _tables(run / name):
            counted.add(name, rows)
    noted = _read(run.parents[1] / ".current") or {}
    mine = noted if noted.get("run_id") == run.name else {}
    return totals.report(
        counted,
        {},
        run_id=run.name,
        started_at=datetime.fromisoformat(mine.get("started_at") or _UNKNOWN.isoformat()),
        ended_at=None,
        settings_hash=mine.get("settings_hash", ""),
        version=mine.get("version", ""),
    )


def _tables(folder: Path) -> Iterable[pa.Table]:
    """Yield the files of a table, without what is not counted."""
    for path in sorted(folder.glob("*.parquet")):
        with files.naming(path):
            counted = [name for name in pq.read_schema(path).names if name not in _UNCOUNTED]
        yield from files.read(path, counted)


if __name__ == "__main__":
    sys.exit(main())
