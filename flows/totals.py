"""The sums of a run: per site and in total, and whether they add up."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from flows.records import Outcome, SiteEnd

STATUSES: Final = (
    "complete",
    "stopped_by_budget",
    "failed_blocked",
    "failed_unreachable",
    "interrupted",
    "failed_integrity",
)
"""Of a site, and of a run; the worst comes last."""

Column = Any
"""An Arrow array, in one piece or in several: no type of the library means both."""


@dataclass(slots=True)
class Tally:
    """The counts of one site."""

    outcomes: Counter[str] = field(default_factory=Counter)
    methods: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    alerts: Counter[str] = field(default_factory=Counter)
    declared: int = 0
    listed: int = 0
    lastmod_max: datetime | None = None
    distinct: int = 0
    pages: int = 0
    chunks: int = 0
    chunks_promised: int = 0
    tokens: int = 0
    requests: int = 0
    bytes: int = 0


class Totals:
    """Counts the tables of a run as they pass by, in parts of any size."""

    def __init__(self, sites: Iterable[str] = (), *, until: datetime | None = None) -> None:
        """Start with the sites that have to appear even if they have no rows.

        A `lastmod` after `until` is not believed.
        """
        self._until = until
        self.tallies: dict[str, Tally] = {site: Tally() for site in sites}

    def add(self, name: str, rows: pa.Table) -> None:
        """Count a part of the table `name`; all rows of one URL of `urls` must be in one part."""
        count, columns = _COUNTED[name]
        rows = rows.select(columns)
        sites: list[Any] = rows["site"].unique().to_pylist()
        for site in sites:
            own = rows["site"]
            part = rows if len(sites) == 1 else rows.filter(pc.equal(own, pa.scalar(site)))
            count(self._of(site), part, self._until)

    def _of(self, site: str) -> Tally:
        return self.tallies.setdefault(site, Tally())


def _urls(tally: Tally, rows: pa.Table, until: datetime | None) -> None:
    _count(tally.outcomes, rows["outcome"])
    _count(tally.changes, rows["change"])
    # What follows is of this run: not what earlier ones knew.
    known = pc.equal(rows["outcome"], pa.scalar(Outcome.UNDECLARED.value))
    live = rows.filter(pc.invert(known)) if _sum(known) else rows
    _count(tally.methods, live["method"])
    listed = pc.greater(pc.list_value_length(live["sitemaps"]), pa.scalar(0))
    tally.declared += live.num_rows
    tally.listed += _sum(listed)
    tally.distinct += _distinct(live["url"])
    tally.chunks_promised += _sum(live["chunks"])
    tally.requests += _sum(live["attempts"])
    tally.bytes += _sum(live["bytes"])
    tally.lastmod_max = _newest(tally.lastmod_max, live["lastmod"], until)


def _sitemaps(tally: Tally, rows: pa.Table, _: datetime | None) -> None:
    tally.requests += _sum(pc.is_valid(rows["fetched_at"]))
    tally.bytes += _sum(rows["bytes"])


def _pages(tally: Tally, rows: pa.Table, _: datetime | None) -> None:
    tally.pages += rows.num_rows


def _chunks(tally: Tally, rows: pa.Table, _: datetime | None) -> None:
    tally.chunks += rows.num_rows
    tally.tokens += _sum(rows["token_count"])


def _alerts(tally: Tally, rows: pa.Table, _: datetime | None) -> None:
    _count(tally.alerts, rows["severity"])


_COUNTED: Final = {
    "urls": (
        _urls,
        [
            *("site", "url", "outcome", "change", "method", "sitemaps", "lastmod", "chunks"),
            *("attempts", "bytes"),
        ],
    ),
    "pages": (_pages, ["site"]),
    "chunks": (_chunks, ["site", "token_count"]),
    "sitemaps": (_sitemaps, ["site", "fetched_at", "bytes"]),
    "alerts": (_alerts, ["site", "severity"]),
}
"""What counts the rows of one site in a table, and the columns it needs."""


def report(
    totals: Totals,
    ends: Mapping[str, SiteEnd],
    *,
    run_id: str,
    started_at: datetime,
    ended_at: datetime | None,
    settings_hash: str,
    version: str,
    beside: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return what `report.json` holds: each site, and all of them together.

    `beside` adds to a site what only its lists and its earlier runs tell: `whole`, `baseline`,
    `lastmod`, `withheld`.
    A run that has not ended is neither checked nor complete: what it lacks may be on its way.
    """
    sites = {
        site: told(tally, ends.get(site), checked=ended_at is not None, beside=beside.get(site))
        for site, tally in sorted(totals.tallies.items())
    }
    seconds = (ended_at - started_at).total_seconds() if ended_at else None
    return {
        "run_id": run_id,
        "status": worst(site["status"] for site in sites.values()) if ended_at else "interrupted",
        "started_at": started_at.isoformat(),
        "ended_at": ended_at.isoformat() if ended_at else None,
        "settings_hash": settings_hash,
        "version": version,
        "total": {**_total(list(sites.values())), "sites": len(sites), "seconds": seconds},
        "sites": sites,
    }


def worst(statuses: Iterable[str]) -> str:
    """Return the status that a whole has by its parts; no part at all is `complete`.

    >>> worst(["complete", "failed_blocked", "stopped_by_budget"])
    'failed_blocked'
    """
    return max(statuses, key=STATUSES.index, default="complete")


def faults(tally: Tally, end: SiteEnd | None) -> list[str]:
    """Return what does not add up in a site, each in one line; none when all is well."""
    checks = (
        (end.rows if end else tally.declared, tally.declared, "URLs counted by the crawl", "rows"),
        (tally.distinct, tally.declared, "distinct URLs", "rows"),
        (tally.outcomes[Outcome.OK], tally.pages, "stored URLs", "pages"),
        (tally.chunks_promised, tally.chunks, "chunks of the stored URLs", "chunks"),
    )
    return [
        f"{left:,} {left_name} but {right:,} {right_name}"
        for left, right, left_name, right_name in checks
        if left != right
    ]


def told(
    tally: Tally,
    end: SiteEnd | None,
    *,
    checked: bool,
    beside: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return what `report.json` says of a site; `checked` when all its rows have been counted."""
    broken = faults(tally, end) if checked else []
    status = end.status if end and end.status in STATUSES else "interrupted"
    return {
        "status": "failed_integrity" if broken else status,
        "detail": "; ".join(broken) or (end.detail if end else None),
        "declared": tally.declared,
        "listed": tally.listed,
        "lastmod_max": tally.lastmod_max.isoformat() if tally.lastmod_max else None,
        "whole": None,
        "baseline": None,
        "lastmod": None,
        "withheld": False,
        "outcomes": dict(sorted(tally.outcomes.items())),
        "methods": dict(sorted(tally.methods.items())),
        "changes": dict(sorted(tally.changes.items())),
        "alerts": dict(sorted(tally.alerts.items())),
        "requests": max(tally.requests, end.requests if end else 0),
        "bytes": max(tally.bytes, end.bytes if end else 0),
        "seconds": _seconds(end),
        "chunks": tally.chunks,
        "tokens": tally.tokens,
        "crawl_delay_s": end.crawl_delay_s if end else None,
        **(beside or {}),
    }


def _seconds(end: SiteEnd | None) -> float | None:
    if end is None or end.started_at is None or end.ended_at is None:
        return None
    return round((end.ended_at - end.started_at).total_seconds(), 3)


def _total(sites: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    counters = {
        name: dict(sorted(sum((Counter(site[name]) for site in sites), Counter[str]()).items()))
        for name in ("outcomes", "methods", "changes", "alerts")
    }
    sums = {
        name: sum(site[name] for site in sites)
        for name in ("declared", "requests", "bytes", "chunks", "tokens")
    }
    return sums | counters


def _count(counter: Counter[str], words: Column) -> None:
    for found in pc.value_counts(words.drop_null()).to_pylist():
        counter[found["values"]] += found["counts"]


def _sum(numbers: Column) -> int:
    return pc.sum(numbers).as_py() or 0


def _distinct(urls: Column) -> int:
    """Return how many URLs there are; equal ones stand side by side."""
    return min(1, len(urls)) + _sum(pc.not_equal(urls.slice(1), urls[:-1]))


def _newest(known: datetime | None, lastmod: Column, until: datetime | None) -> datetime | None:
    believed = (
        lastmod if until is None else lastmod.filter(pc.less_equal(lastmod, pa.scalar(until)))
    )
    found = (known, pc.max(believed).as_py())
    return max((moment for moment in found if moment is not None), default=None)
