"""Which runs of a dataset are kept when old ones are dropped."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from flows import history
from flows.records import Outcome

Report = Mapping[str, Any]

LEAST: Final = 1
"""Runs that are kept whatever is asked."""


def kept(reports: Iterable[Report], keep: int) -> set[str]:
    """Return the ids of the runs to keep, of all that have ended; `reports` are the newest first.

    These are the newest `keep`, and of each site what the next run looks back at: the last
    complete run, those before it up to one that read every list, and the last complete run that
    stored pages.

    >>> a_run = {"sites": {"https://a.test": {"status": "complete"}}, "total": {"outcomes": {}}}
    >>> sorted(kept([{**a_run, "run_id": name} for name in ("3", "2", "1")], 2))
    ['2', '3']
    """
    told = list(reports)
    sites = {site for report in told for site in report.get("sites", {})}
    found = {str(report["run_id"]) for report in told[: max(keep, LEAST)]}
    for kind in (told, [report for report in told if _stores(report)]):
        for runs in history.earlier(kind, sites).values():
            found |= {run.run_id for run in history.baseline(runs)}
    return found


def _stores(report: Report) -> bool:
    """Return whether a run stored pages: an inventory does not."""
    return Outcome.DISCOVERED not in report.get("total", {}).get("outcomes", {})
