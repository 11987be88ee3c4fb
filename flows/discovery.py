"""Which URLs and sitemaps are known, and which sitemap to read next.

Pure bookkeeping: `Plan` says what to ask for and is told what came back, `Seen` keeps URLs
apart that are one, `linked` turns a page's links into entries. Asking is connectors.site's work.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from flows import alerts, traps, urls
from flows.records import (
    Alert,
    Attribution,
    Entries,
    Entry,
    Failure,
    Link,
    Method,
    Page,
    Sighting,
)
from flows.sitemaps import Child

WELL_KNOWN = (
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/sitemap-index.xml",
    "/wp-sitemap.xml",
    "/sitemap.txt",
    "/sitemap.xml.gz",
    "/sitemap_index.xml.gz",
    "/sitemaps.xml",
    "/sitemap",
    "/sitemap/",
    "/sitemap/index.xml",
    "/sitemap/sitemap.xml",
    "/sitemap/sitemap-index.xml",
    "/sitemaps/sitemap.xml",
    "/sitemap1.xml",
    "/post-sitemap.xml",
    "/page-sitemap.xml",
    "/news-sitemap.xml",
    "/sitemap-news.xml",
    "/sitemap_news.xml",
    "/.sitemap.xml",
    "/sitemap.php",
    "/feed/",
    "/feed.xml",
    "/rss.xml",
    "/atom.xml",
)
"""Paths at which sites keep sitemaps and feeds without saying so: what content systems write."""

LISTS = 5
PAGES_A_LIST = 20
"""With a page budget, once the lists that were read name as many URLs as it has, reading goes on
for the sake of variety alone: to at least so many lists, and one for so many pages."""

LIST_URLS = 50_000
URLS_A_PAGE = 100
"""URLs of one list that are read when there is a page budget: at least as many as the protocol
allows, and so many for each page of the budget."""

ANSWERS_ALL = 3
"""Probes that came back as web pages, after which a site is taken to answer everything so."""

NOWHERE = -1
"""The place of what an earlier run knew: that a URL is in the inventory is no news of it."""

FEED_TYPES = ("application/rss+xml", "application/atom+xml")

UNFOLLOWED = frozenset(("nofollow", "ugc", "sponsored"))
"""`rel` words by which a page asks that a link not be followed."""


_NEVER = datetime.min.replace(tzinfo=UTC)
_SITEMAP_NAME = re.compile(r"site[-_]?map", re.IGNORECASE).search


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A sitemap to be read: where it is, how it was found, and under which index."""

    url: str
    method: Method
    parent: str | None = None
    depth: int = 0


class Plan:
    """The sitemaps of one site still to be read, within its budgets; each URL once."""

    def __init__(self, *, site: str, max_sitemaps: int, max_depth: int, max_pages: int = 0) -> None:
        """Start with nothing known of the site; a page budget of 0 is none."""
        self._site = site
        self._max_pages = max_pages
        self._named = 0
        self._max_sitemaps = max_sitemaps
        self._max_depth = max_depth
        self._declared: deque[Candidate] = deque()
        self._probes: deque[Candidate] = deque()
        self._parents: dict[str, str | None] = {}
        self._taken = 0
        self._pages_for_probes = 0
        self.over_limit = 0
        """Sitemaps larger than the protocol allows."""
        self.alerts: list[Alert] = []
        """What the plan had to leave out; the caller takes them away."""

    def declare(self, method: Method, locations: Iterable[str]) -> None:
        """Add sitemaps that somebody names."""
        for location in locations:
            self._add(self._declared, Candidate(url=location, method=method))

    def probe(self, origin: str) -> None:
        """Add the well-known paths of an origin, read after all that is named."""
        for path in WELL_KNOWN:
            self._add(self._probes, Candidate(url=origin + path, method=Method.PROBE))

    @property
    def is_covered(self) -> bool:
        """Whether the lists read so far name as many URLs as may be fetched."""
        return 0 < self._max_pages <= self._named

    @property
    def max_urls(self) -> int | None:
        """How many URLs of one list are read; None where all are."""
        return max(LIST_URLS, URLS_A_PAGE * self._max_pages) if self._max_pages else None

    def was_list(self, urls: int) -> None:
        """Hear that a list named so many URLs."""
        self._named += urls

    def children(self, index: Candidate, found: Iterable[Child]) -> None:
        """Add the sitemaps that an index lists, those that changed last first."""
        for child in sorted(found, key=_lastmod, reverse=True):
            self._child(index, child.url)

    def _child(self, index: Candidate, location: str) -> None:
        """Add a sitemap that an index lists, unless that closes a circle or goes too deep."""
        if location == index.url or location in self._ancestors(index):
            self._tell("sitemap_cycle", location, f"{index.url} lists a sitemap above itself")
        elif index.depth >= self._max_depth:
            self._tell("sitemap_too_deep", location, f"below {self._max_depth} sitemap indexes")
        else:
            depth = index.depth + 1
            self._add(
                self._declared,
                Candidate(url=location, method=index.method, parent=index.url, depth=depth),
            )

    def next(self) -> Candidate | None:
        """Return the sitemap to read now, or None when there is no more to read."""
        queue = self._declared or self._probes
        if not queue:
            return None
        if self._taken >= self._most() or (self.is_covered and not self._declared):
            self._stop()
            return None
        self._taken += 1
        return queue.popleft()

    def was_page(self, candidate: Candidate) -> None:
        """Hear that a candidate is a web page; sites that answer everything are not probed on."""
        if candidate.method is Method.PROBE:
            self._pages_for_probes += 1
            if self._pages_for_probes >= ANSWERS_ALL:
                self._probes.clear()

    def _add(self, queue: deque[Candidate], candidate: Candidate) -> None:
        if candidate.url not in self._parents:
            self._parents[candidate.url] = candidate.parent
            queue.append(candidate)

    def _most(self) -> int:
        """Return how many sitemaps may be read, by what is known so far."""
        enough = max(LISTS, self._max_pages // PAGES_A_LIST)
        return min(self._max_sitemaps, enough) if self.is_covered else self._max_sitemaps

    def _stop(self) -> None:
        left = len(self._declared)
        self._declared.clear()
        self._probes.clear()
        if left:  # a guess that is not tried is no loss
            why = "those read name more URLs than may be fetched" if self.is_covered else "too many"
            self._tell("sitemap_budget", self._site, f"{left} sitemaps not read: {why}", left)

    def _ancestors(self, candidate: Candidate) -> Iterator[str]:
        above = candidate.parent
        while above is not None:
            yield above
            above = self._parents[above]

    def _tell(self, kind: str, subject: str, message: str, value: float | None = None) -> None:
        self.alerts.append(alerts.alert(self._site, kind, subject, message, value))


class Seen:
    """The URLs of one site that were met in this run, as 64-bit hashes.

    Cost: about 80 bytes a URL, whatever its length. Two of a million URLs are taken for one
    with a chance of 3 in 100 million. The hash is that of this process: nothing else sees it.
    """

    def __init__(self) -> None:
        """Start with no URL."""
        self._places: dict[tuple[Method, str | None], int] = {}
        self._first: dict[int, int] = {}
        self._further: set[tuple[int, int]] = set()

    def take(self, entry: Entry) -> Entry | Sighting | None:
        """Return the entry when its URL is new, a sighting when only its place is, else None."""
        place = self._place(entry.attribution)
        key = hash(entry.url)
        first = self._first.get(key)
        if first is None:
            self._first[key] = place
            return entry
        return Sighting(entry=entry) if self._is_further(key, first, place) else None

    def take_all(self, entries: Entries) -> tuple[Entries, Entries]:
        """Return those whose URL is new, and those of which only the place is."""
        place, first = self._place(entries.attribution), self._first
        keys = list(map(hash, entries.declared.url))
        fresh = dict.fromkeys(keys, place)
        if len(fresh) == len(keys) and first.keys().isdisjoint(keys):
            first.update(fresh)
            return entries, entries.first(0)
        new: list[bool] = []
        again: list[bool] = []
        for key in keys:
            known = first.get(key)
            if known is None:
                first[key] = place
            new.append(known is None)
            again.append(known is not None and self._is_further(key, known, place))
        return entries.where(new), entries.where(again)

    def _place(self, at: Attribution) -> int:
        if at.method is Method.INVENTORY:
            return NOWHERE
        return self._places.setdefault((at.method, at.sitemap), len(self._places))

    def _is_further(self, key: int, first: int, place: int) -> bool:
        """Say whether a known URL has not been seen at a place yet; from here on it has."""
        if place in (NOWHERE, first) or (key, place) in self._further:
            return False
        self._further.add((key, place))
        return True


def _lastmod(child: Child) -> datetime:
    return child.lastmod or _NEVER


def linked(page: Page | Failure) -> list[Entry]:
    """Return the entries that a page's links make: of its own origin, and to be followed."""
    above, came = page.entry.attribution, page.exchange
    depth = 1 if above.sitemap else above.depth + 1
    base_url = (came.final_url if came else None) or page.entry.url
    return entries(page.entry.site, base_url, page.links, depth)


def moved(page: Page) -> Entry:
    """Return the entry of the address that a stored page has moved to."""
    at = Attribution(method=Method.INVENTORY, referrer=page.entry.url)
    return Entry(site=page.entry.site, url=page.base_url, attribution=at)


def entries(site: str, page_url: str, found: Iterable[Link], depth: int) -> list[Entry]:
    """Return the entries that links of the page at `page_url` make, one for each target.

    Ids of a visit are taken out of the targets: they name no page.
    """
    origin = urls.origin(page_url)
    made: dict[str, Entry] = {}
    for link in found:
        method = link_method(link)
        if method and urls.origin(link.url) == origin:
            at = Attribution(method=method, referrer=page_url, depth=depth)
            url = traps.without_visit(link.url)
            made.setdefault(url, Entry(site=site, url=url, attribution=at))
    return list(made.values())


def link_method(link: Link) -> Method | None:
    """Return by which method a link's target counts as found, or None when it is not followed."""
    words = set(link.rel.split())
    if words & UNFOLLOWED or words & {"alternate", "sitemap"}:
        return None
    if words & {"next", "prev"}:
        return Method.PAGINATION
    return Method.CANONICAL if "canonical" in words else Method.LINK


def sitemap_hints(links: Iterable[Link]) -> list[str]:
    """Return the sitemaps and feeds that a page points at."""
    return [link.url for link in links if _points_at_sitemap(link)]


def _points_at_sitemap(link: Link) -> bool:
    words = set(link.rel.split())
    named = _SITEMAP_NAME(link.url.rpartition("/")[2])
    return bool(words & {"sitemap", *FEED_TYPES} or (named and not words))
