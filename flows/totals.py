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

_OF_URLS = [
    *("site", "url", "outcome", "change", "method", "sitemaps", "lastmod", "chunks", "attempts"),
    "bytes",
]
"""The columns of `urls` that are counted."""


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
        count = {
            "urls": self._urls,
            "pages": self._pages,
            "chunks": self._chunks,
            "sitemaps": self._sitemaps,
            "alerts": self._alerts,
        }
        count[name](rows)

    def _urls(self, rows: pa.Table) -> None:
        rows = rows.select(_OF_URLS)
        live = rows.filter(pc.not_equal(rows["outcome"], pa.scalar(Outcome.UNDECLARED.value)))
        for column, counted in (("outcome", rows), ("change", rows), ("method", live)):
            for site, value, number in _counted(counted, column):
                counter: Counter[str] = getattr(self._of(site), column + "s")
                if value is not None:
                    counter[value] += number
        self._declared(live)

    def _declared(self, rows: pa.Table) -> None:
        """Count the URLs of this run: not what earlier ones knew."""
        for site, number in _sizes(rows):
            self._of(site).declared += number
        self._listed(rows)
        for site, number in _distinct(rows):
            self._of(site).distinct += number
        for site, number in _summed(rows, "chunks"):
            self._of(site).chunks_promised += number
        for site, number in _summed(rows, "attempts"):
            self._of(site).requests += number
        self._received(rows)

    def _listed(self, rows: pa.Table) -> None:
        """Count what lists name, and find the newest `lastmod` in them."""
        listed = pc.greater(pc.list_value_length(rows["sitemaps"]), pa.scalar(0))
        rows = rows.select(["site", "lastmod"])
        for site, number in _sizes(rows.filter(listed)):
            self._of(site).listed += number
        if self._until is not None:
            rows = rows.filter(pc.less_equal(rows["lastmod"], pa.scalar(self._until)))
        for site, newest in _tuples(
            rows.group_by("site", use_threads=False).aggregate([("lastmod", "max")])
        ):
            tally = self._of(site)
            if newest is not None and (tally.lastmod_max is None or newest > tally.lastmod_max):
                tally.lastmod_max = newest

    def _sitemaps(self, rows: pa.Table) -> None:
        for site, number in _sizes(rows.filter(pc.is_valid(rows["fetched_at"]))):
            self._of(site).requests += number
        self._received(rows)

    def _received(self, rows: pa.Table) -> None:
        for site, number in _summed(rows, "bytes"):
            self._of(site).bytes += number

    def _pages(self, rows: pa.Table) -> None:
        for site, number in _sizes(rows):
            self._of(site).pages += number

    def _chunks(self, rows: pa.Table) -> None:
        for site, number in _sizes(rows):
            self._of(site).chunks += number
        for site, number in _summed(rows, "token_count"):
            self._of(site).tokens += number

    def _alerts(self, rows: pa.Table) -> None:
        for site, severity, number in _counted(rows, "severity"):
            self._of(site).alerts[severity or "info"] += number

    def _of(self, site: str) -> Tally:
        return self.tallies.setdefault(site, Tally())


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


def _counted(rows: pa.Table, column: str) -> list[tuple[str, str | None, int]]:
    return _tuples(
        rows.group_by(["site", column], use_threads=False).aggregate([([], "count_all")])
    )


def _sizes(rows: pa.Table) -> list[tuple[str, int]]:
    return _tuples(rows.group_by("site", use_threads=False).aggregate([([], "count_all")]))


def _summed(rows: pa.Table, column: str) -> list[tuple[str, int]]:
    sums = rows.group_by("site", use_threads=False).aggregate([(column, "sum")])
    return [(site, number or 0) for site, number in _tuples(sums)]


def _distinct(rows: pa.Table) -> list[tuple[str, int]]:
    """Return how many URLs of each site there are; equal ones stand side by side."""
    columns: list[Any] = [rows["site"], rows["url"]]
    differs = [pc.not_equal(column.slice(1), column[:-1]) for column in columns]
    kept: Any = pc.or_(*differs).combine_chunks()
    is_first: Any = pa.concat_arrays([pa.array([True] * min(1, rows.num_rows), pa.bool_()), kept])
    return _sizes(rows.select(["site"]).filter(is_first))


def _tuples(groups: pa.Table) -> list[Any]:
    """The rows of a small table, its keys first."""
    return list(zip(*(column.to_pylist() for column in groups.columns), strict=True))
