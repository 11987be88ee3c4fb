"""What a run and its dataset tell of themselves in files: report, alerts, damage."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from connectors.dataset import files
from connectors.dataset.files import DamagedError
from flows import totals
from flows.schema import TABLES
from flows.summary import gravity

_UNCOUNTED: Final = frozenset({"markdown", "html", "text", "links", "structured", "detail"})
"""Columns that are heavy, and of no use for a sum."""
_UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)


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
            return files.read_json(run / "report.json") or _count(run)
        except FileNotFoundError:
            continue  # the run was completed while we looked: its files have other names now
    raise ValueError(f"the files of {run} change faster than they can be read")


def alerts(run: Path) -> list[dict[str, Any]]:
    """Return the alerts of a run as rows, the gravest first."""
    found = [row for rows in _tables(run / "alerts") for row in rows.to_pylist()]
    return sorted(found, key=lambda row: (gravity(row["severity"]), row["site"], row["kind"]))


def damaged(folder: Path, run: Path) -> Iterator[DamagedError]:
    """Yield a fault for each file of a run and of the corpus that cannot be read to its end."""
    for path in sorted([*run.glob("*/*.parquet"), *folder.glob("corpus/*/*.parquet")]):
        try:
            files.check(path)
        except FileNotFoundError:
            continue  # merged, or published anew, while we looked
        except DamagedError as error:
            yield error


def _count(run: Path) -> dict[str, Any]:
    counted = totals.Totals()
    for name in TABLES:
        for rows in _tables(run / name):
            counted.add(name, rows)
    noted = files.read_json(run.parents[1] / ".current") or {}
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
