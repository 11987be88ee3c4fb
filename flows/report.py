"""The last run as a table for people: `python -m flows.report [DIR] [--fail-on warning|error]`.

Exit status: 0 complete, 2 bad usage or no dataset, 3 integrity broken or a file damaged, 4 alerts
at or above `--fail-on`, 5 run not complete (unfinished, or a site failed as a whole), 6 an index is
not in step with the corpus.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from connectors.dataset import reported
from connectors.dataset.files import DamagedError
from connectors.indexing import reports
from flows import index_report
from flows.summary import render


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
        run = reported.newest(given.folder)
        broken = list(reported.damaged(given.folder, run))
        report, alarms = reported.read(run), reported.alerts(run)
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


if __name__ == "__main__":
    sys.exit(main())
