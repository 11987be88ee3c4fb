"""A run beside the earlier runs of its sites: changes, removals, and alerts across runs."""

import logging
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from connectors.dataset import merging
from connectors.dataset.commits import Shard
from connectors.dataset.merging import Stored
from connectors.dataset.run import Run
from flows import findings, history, inventory, rows, schema, totals, trust
from flows.history import Earlier, Listing, Lists
from flows.inventory import KNOWN, Shift
from flows.records import Alert, Outcome, SiteEnd
from flows.totals import Totals
from flows.trust import Dates, Evidence

logger = logging.getLogger(__name__)

_LISTING = [
    *("site", "url", "final_url", "method", "kind", "parent", "status", "entries", "complete"),
    "lastmod_max",
]


class History:
    """What this run found of its sites, and what the earlier runs of each of them did."""

    def __init__(self, run: Run, ends: Mapping[str, SiteEnd], sites: Collection[str]) -> None:
        """Read what little is needed of every site; the rows of `urls` are read by shard."""
        self._run = run
        self._ends = ends
        self._lists = _lists(run)
        self._runs = history.earlier(run.dataset.reports(), sites)
        self._shifts: defaultdict[str, Shift] = defaultdict(Shift)
        self._unproved = inventory.pairs(())
        self._silent: set[str] = set()
        """Sites of which a list that named URLs is there, and names none."""
        # What nobody lists any more is gone from an inventory; other runs ask before they say so.
        self._proving = self._prove() if run.is_inventory else frozenset()
        self.columns = KNOWN if run.is_inventory else (*KNOWN, "settings_hash")
        """Columns of earlier rows of `urls` that matter."""
        self._seen: defaultdict[str, Evidence] = defaultdict(Evidence)
        self._dates: defaultdict[str, Dates] = defaultdict(Dates)

    def known(self, number: int) -> list[Stored]:
        """Return the rows of earlier runs for the sites of a shard, the newest run first."""
        return _of_runs(self._baselines(number), "urls", self._run.dataset.runs)

    def forget(self, number: int) -> None:
        """Compare nothing in a shard: its earlier runs cannot be read."""
        for site in [site for site in self._runs if self._run.shard_of(site) == number]:
            del self._runs[site]

    def fold(self, part: pa.Table, known: pa.Table) -> pa.Table:
        """Return a part of `urls` with its changes told, and what was removed in its range."""
        if not self._runs:
            return part
        before = inventory.newest(known)
        for site, shift in inventory.shifts(part, before, self._run.started_at).items():
            self._shifts[site].add(shift)
        if not self._run.is_inventory:
            self._watch(part, before)
        part = inventory.compare(part, before, self._runs)
        gone = inventory.undeclared(part, before, self._proving & set(self._runs), self._unproved)
        if not gone.num_rows:
            return part
        told = {"run_id": self._run.id, "settings_hash": self._run.settings_hash}
        return merging.in_order("urls", pa.concat_tables([part, inventory.signed(gone, **told)]))

    def _watch(self, part: pa.Table, before: pa.Table) -> None:
        """Gather from rows of `urls` what they say of their sites' `lastmod`."""
        for found in (trust.compared(part, before), trust.by_header(part)):
            for site, evidence in found.items():
                self._seen[site].add(evidence)
        for site, dates in trust.dates(part, self._run.started_at).items():
            self._dates[site].add(dates)

    def read(self, pages: pa.Table) -> None:
        """Gather from rows of `pages` what they say of their sites' `lastmod`."""
        for site, evidence in trust.by_page(pages).items():
            self._seen[site].add(evidence)

    def alerts(self, counted: Totals) -> dict[int, pa.Table]:
        """Return the alerts that comparing the runs makes, by shard."""
        found: defaultdict[int, list[schema.Row]] = defaultdict(list)
        for site, tally in counted.tallies.items():
            if site in self._ends:
                now = totals.told(tally, self._ends[site], checked=False, beside=self.beside(site))
                for alert in self._alerts(site, now):
                    row = rows.alert(alert, run_id=self._run.id)
                    found[self._run.shard_of(site)].append(row)
        return {number: schema.table("alerts", told) for number, told in found.items()}

    def beside(self, site: str) -> dict[str, Any]:
        """Return what the report says of a site that its own rows do not tell."""
        runs = self._runs.get(site)
        whole = self._is_complete(site) and site in self._lists and self._lists[site].whole
        return {
            "whole": whole and site not in self._silent,
            "baseline": runs[0].run_id if runs else None,
            "lastmod": self._lastmod(site) if self._is_complete(site) else None,
            "withheld": site in self._lists and "pages_removed" in self._lists[site].heard,
        }

    def _lastmod(self, site: str) -> dict[str, Any] | None:
        if self._run.is_inventory:
            return None
        told = (run.told.get("lastmod") for run in self._runs.get(site, ()))
        before = next((one for one in told if one), None)
        return trust.told(self._seen[site], self._dates[site], before)

    def _alerts(self, site: str, now: Mapping[str, Any]) -> list[Alert]:
        runs, shift = self._runs.get(site, ()), self._shifts.get(site)
        lists = self._lists.get(site, Lists())
        found = findings.noticed(site, now, lists, runs)
        if not self._is_complete(site):
            return found
        at, seen = self._run.started_at, self._seen.get(site)
        return found + findings.compared(site, now, runs, shift, at, seen)

    def _is_complete(self, site: str) -> bool:
        return site in self._ends and self._ends[site].status == "complete"

    def _baselines(self, number: int) -> dict[str, list[Earlier]]:
        return {
            site: history.baseline(runs)
            for site, runs in self._runs.items()
            if runs and self._run.shard_of(site) == number
        }

    def _prove(self) -> frozenset[str]:
        """Return the sites of which what is listed no more may be called removed."""
        sites = [site for site, runs in self._runs.items() if runs and self.beside(site)["whole"]]
        runs = {site: history.baseline(self._runs[site]) for site in sites}
        before: defaultdict[str, list[Listing]] = defaultdict(list)
        try:
            for source in reversed(_of_runs(runs, "sitemaps", self._run.dataset.runs)):
                for site, listing in _listings(source):
                    before[site].append(listing)
        except OSError as error:
            logger.warning("earlier run not read", extra={"reason": str(error)})
            return frozenset()
        unproved = [
            (site, place)
            for site in sites
            for place in sorted(history.unproved(self._lists[site], before[site]))
        ]
        self._unproved = inventory.pairs(unproved)
        self._silent = {site for site, place in unproved if place in self._lists[site].by_url}
        return frozenset(sites)


def _lists(run: Run) -> dict[str, Lists]:
    """Return how the lists of each site were read in a run that ends."""
    found: defaultdict[str, Lists] = defaultdict(Lists)
    for shard in run.parts:
        for name in ("sitemaps", "sitemaps_again"):
            for site, listing in _listings(Stored(paths=shard.paths(name))):
                found[site].take(listing)
                found[site].resumed |= name != "sitemaps"
        for site, kind in _hidden(shard):
            found[site].hear(kind)
    return dict(found)


def _hidden(shard: Shard) -> Iterator[tuple[str, str]]:
    """Yield the sites of alerts with their kinds, and those that ran out of their budget."""
    for name in ("alerts", "alerts_again"):
        for told in Stored(paths=shard.paths(name)).tables(["site", "kind"]):
            yield from ((row["site"], row["kind"]) for row in told.to_pylist())
    for told in Stored(paths=shard.paths("urls")).tables(["site", "outcome"]):
        sites: Any = told["site"]
        over: Any = pc.equal(told["outcome"], pa.scalar(Outcome.BUDGET.value))
        yield from ((site, "page_budget") for site in sites.filter(over).unique().to_pylist())


def _listings(source: Stored) -> Iterator[tuple[str, Listing]]:
    for told in source.tables(_LISTING):
        for row in told.to_pylist():
            yield row.pop("site"), Listing(**row)


def _of_runs(runs: Mapping[str, Sequence[Earlier]], table: str, folder: Path) -> list[Stored]:
    """Return a table of earlier runs for the sites that each is to speak of, the newest first."""
    sites: defaultdict[str, set[str]] = defaultdict(set)
    for site, chosen in runs.items():
        for one in chosen:
            sites[one.run_id].add(site)
    return [
        Stored(
            paths=sorted((folder / run_id / table).glob("*.parquet")),
            sites=frozenset(sites[run_id]),
        )
        for run_id in sorted(sites, reverse=True)
    ]
