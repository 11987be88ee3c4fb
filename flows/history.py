"""A site's run beside its earlier ones: what it may call gone, and with which it is compared.

What a run saw of a site is its entry in `report.json`; an earlier run counts when the site was
read to its end.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, Final

from flows.records import Method

MOST_REPORTS: Final = 100
"""Reports that are looked at to find the earlier runs of a site."""
MOST_RUNS: Final = 3
"""Earlier runs of a site that are looked at."""

HIDING: Final = frozenset(
    {
        "robots_not_text",
        "robots_too_large",
        "sitemap_cross_host",
        "sitemap_blocked_by_robots",
        "sitemap_too_deep",
    }
)
"""Alerts of lists that were not read, and that may have no row to say so."""

_REFUSES = (401, 403, 429)
"""Statuses below 500 that do not say that there is no robots.txt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A row of `sitemaps`: a robots.txt, sitemap or feed, and how far it was read."""

    url: str
    final_url: str | None = None
    method: str
    kind: str | None = None
    parent: str | None = None
    status: int | None = None
    entries: int = 0
    complete: bool = False
    lastmod_max: datetime | None = None

    @property
    def is_alive(self) -> bool:
        """Whether it was read to its end and names something."""
        return self.complete and self.entries > 0

    @property
    def is_robots(self) -> bool:
        """Whether it is a robots.txt."""
        return self.kind == "robots"

    @property
    def is_fault(self) -> bool:
        """Whether it may have named URLs that nobody saw; a missing robots.txt names none."""
        missing = self.is_robots and 400 <= (self.status or 0) < 500
        return not self.complete and not (missing and self.status not in _REFUSES)


@dataclass(slots=True)
class Lists:
    """The lists of one site as a run read them."""

    by_url: dict[str, Listing] = field(default_factory=dict)
    hidden: bool = False
    """Whether a list was not read, or not all of what it named was let in."""
    resumed: bool = False
    """Whether several starts read the lists: a guess of the first may have failed in the last,
    and a guess that fails leaves no row."""
    heard: set[str] = field(default_factory=set)
    """Kinds of the alerts that were raised while the site was read."""

    def take(self, listing: Listing) -> None:
        """Take a row of `sitemaps`; what is said last of a list holds."""
        self.by_url[listing.url] = listing

    def hear(self, kind: str) -> None:
        """Take the kind of an alert."""
        self.heard.add(kind)
        self.hidden |= kind in HIDING or kind.endswith("_budget")

    @property
    def whole(self) -> bool:
        """Whether every list was read to its end, and every list that they name."""
        return not self.hidden and not any(one.is_fault for one in self.by_url.values())

    def told(self) -> set[str]:
        """Return the addresses of the lists that were read and named something."""
        sure = [
            one
            for one in self.by_url.values()
            if one.complete and one.entries and not one.is_robots
            if not self.resumed or one.method == Method.ROBOTS
        ]
        return {place for one in sure for place in (one.url, one.final_url) if place is not None}


def unproved(now: Lists, before: Sequence[Listing]) -> set[str]:
    """Return the lists of earlier runs that may name their URLs still, for all that we know.

    A list has spoken when it was read again and names something; it is gone when the list that
    named it has spoken, or when the same robots.txt was read again and names it no more. That
    a guess (a usual path, a link of the start page) finds nothing today proves nothing.
    """
    told = now.told()
    named = {one.url: one for one in before if not one.is_robots}
    robots = [now.by_url.get(one.url) for one in before if one.is_robots and one.complete]
    rules = bool(told) and all(one is not None and one.complete for one in robots)
    return {
        place
        for one in named.values()
        if not _is_settled(one, now, told, named, rules=rules)
        for place in (one.url, one.final_url)
        if place is not None and place not in told
    }


def _is_settled(
    one: Listing, now: Lists, told: set[str], named: Mapping[str, Listing], *, rules: bool
) -> bool:
    """Say whether a list of an earlier run has spoken, or is known to be gone."""
    above: Listing | None = one
    for _ in range(len(named) + 1):  # parents of another day may form a circle
        if above is None or above.url in told:
            return above is not None
        if above.url in now.by_url:
            return False
        if above.parent is None:
            return rules and above.method == Method.ROBOTS
        above = named.get(above.parent)
    return False


# Earlier runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A run in which a site was read to its end."""

    run_id: str
    told: Mapping[str, Any]
    """The site in `report.json`."""

    @property
    def whole(self) -> bool:
        """Whether its lists were all read; reports that do not say are believed."""
        return self.told.get("whole") is not False


def earlier(
    reports: Iterable[Mapping[str, Any]], sites: Collection[str]
) -> dict[str, list[Earlier]]:
    """Return the last complete runs of each site, the newest first, as `reports` are."""
    found: dict[str, list[Earlier]] = {site: [] for site in sites}
    for report in islice(reports, MOST_REPORTS):
        for site, runs in found.items():
            told = report.get("sites", {}).get(site) if len(runs) < MOST_RUNS else None
            if told and told.get("status") == "complete":
                runs.append(Earlier(run_id=str(report["run_id"]), told=told))
        if all(len(runs) == MOST_RUNS for runs in found.values()):
            break
    return found


def baseline(runs: Sequence[Earlier]) -> list[Earlier]:
    """Return the runs whose URLs count as known: back to the last one that read every list.

    A run that could not read a sitemap says nothing of the URLs in it, and the run before does.
    """
    whole = next((at for at, run in enumerate(runs) if run.whole), len(runs) - 1)
    return list(runs[: whole + 1])
