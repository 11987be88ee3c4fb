"""How complete an index is, in one line, and the exit status that it deserves."""

from collections.abc import Mapping
from typing import Any


def line(report: Mapping[str, Any]) -> str:
    """Return what a report says of an index, as one line."""
    name = f"index {report['store']} {report['table']} ({report['model']})"
    if report["status"] == "unfinished":
        return f"{name}: not finished; run flows.index again"
    behind = len(report.get("behind", ()))
    if behind:
        return f"{name}: behind, the corpus of {_sites(behind)} has changed; run flows.index"
    held = report["pages"] - report["differ"]
    if report["status"] == "complete":
        return f"{name}: complete, {report['pages']:,} pages, {report['chunks']:,} chunks"
    why = f"; {report['fault']}" if report.get("fault") else ""
    return f"{name}: incomplete, {max(0, held):,} of {report['pages']:,} pages are right{why}"


def render(report: Mapping[str, Any]) -> str:
    """Return what an index run prints when it ends."""
    done = report["done"]
    return (
        f"{line(report)}\n"
        f"{done['written']:,} pages written, {done['removed']:,} removed; {done['embedded']:,} "
        f"texts embedded, {done['reused']:,} vectors used again; {done['repaired']:,} repaired\n"
    )


def is_in_step(report: Mapping[str, Any]) -> bool:
    """Return whether the index is what the corpus is now.

    >>> is_in_step({"status": "complete", "behind": ["https://a.test"]})
    False
    """
    return report["status"] == "complete" and not report.get("behind")


def _sites(count: int) -> str:
    return "one site" if count == 1 else f"{count:,} sites"
