"""What a sitemap declares, as records, and the checks of their fields."""

import math
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from flows import urls
from flows.records import Alternate, Columns, Declared
from flows.sitemaps.dates import parse_lastmod
from flows.sitemaps.faults import Faults
from flows.sitemaps.plain import Run

X = TypeVar("X")

CHANGE_FREQUENCIES = frozenset(
    {"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"}
)
"""The values of `changefreq` (sitemaps.org)."""

CLOCK_SKEW = timedelta(days=1)
"""How far ahead a `lastmod` may be: dates have no zone, clocks are wrong."""

MAX_ALTERNATES = 500
"""Alternates of one entry that are kept; there are fewer languages with a page for each."""

MAX_SHOWN = 2_000
"""Characters of an address that is none, as it is shown."""

MAX_FIELD = 100
"""Characters of a date or language that are kept; real ones have at most 35."""

UNIFORM_AT_LEAST = 20
"""Entries of which one date for all says nothing; fewer may well have been published together."""

_REMEMBERED = 1_024


class Child(NamedTuple):
    """One sitemap that an index names."""

    url: str
    """Canonical."""
    lastmod: datetime | None = None


Found = Declared | Columns | Child
"""What a file names: a page, many pages, or a sitemap."""


class Maker:
    """Makes the records of one file of their texts, and keeps count of what is wrong with them."""

    def __init__(self, url: str, faults: Faults, now: datetime | None) -> None:
        """Resolve relative URLs against `url`; call a date future when `now` is known."""
        self.base = url
        self.entries = 0
        self.lastmod_max: datetime | None = None
        self._faults = faults
        self._latest = now + CLOCK_SKEW if now else None
        self._dates: dict[str | None, tuple[datetime | None, str | None]] = {}
        self._words: dict[str | None, str | None] = {None: None, "": None}
        self._shares: dict[str | None, float | None] = {None: None, "": None}
        """What texts without a fault mean, to read each but once."""
        self._undated = False
        self._distinct: set[datetime] = set()

    def declared(
        self,
        loc: str,
        lastmod: str | None = None,
        changefreq: str | None = None,
        priority: str | None = None,
        links: Sequence[tuple[str, str]] = (),
    ) -> Declared | None:
        """Return the page, or None when it has no URL at all."""
        loc = loc.strip()
        if not loc:
            self._faults.add("loc_missing", "an entry without loc")
            return None
        self.entries += 1
        url = urls.canonical(loc)
        if url != loc:
            url = self._repaired(loc, url)
        date, raw = self._dates.get(lastmod) or self._dated(lastmod)
        return Declared(
            url or loc[:MAX_SHOWN],
            date,
            raw,
            self._words[changefreq] if changefreq in self._words else self._frequency(changefreq),
            self._shares[priority] if priority in self._shares else self._priority(priority),
            self._alternates(links) if links else (),
            url is None,
        )

    def columns(self, run: Run) -> Columns | None:
        """Return pages of which each has a URL as it should be, or None when one has not."""
        if not urls.are_canonical(run.loc) or "&" in "".join(run.loc):
            return None
        count = len(run.loc)
        self.entries += count
        dates = _meanings(run.lastmod, self._dates, self._dated)
        return Columns(
            run.loc,
            [date for date, _ in dates],
            [raw for _, raw in dates],
            _meanings(run.changefreq, self._words, self._frequency),
            _meanings(run.priority, self._shares, self._priority),
            ((),) * count,
            (False,) * count,
        )

    def child(self, loc: str, lastmod: str | None = None) -> Child | None:
        """Return the sitemap, or None when it has no URL."""
        found = self.declared(loc, lastmod)
        return Child(found.url, found.lastmod) if found and not found.invalid else None

    def check_dates(self) -> None:
        """Note when all entries bear one date."""
        if self.entries >= UNIFORM_AT_LEAST and not self._undated and len(self._distinct) == 1:
            self._faults.add("lastmod_uniform", f"{self.lastmod_max} for {self.entries} entries")

    def _repaired(self, loc: str, url: str | None) -> str | None:
        """Return the URL that `loc` means, noting what had to be done for it."""
        if url is None:
            url = urls.declared(loc, self.base)
            self._faults.add("loc_invalid" if url is None else "loc_relative", loc)
        elif any(c.isspace() for c in loc):
            self._faults.add("loc_invalid", loc)
        return url

    def _dated(self, lastmod: str | None) -> tuple[datetime | None, str | None]:
        """Return the date that a text means, and the text as it is kept."""
        raw = (lastmod.strip()[:MAX_FIELD] or None) if lastmod else None
        if raw is None:
            self._undated = True
            if not lastmod:
                _remember(self._dates, lastmod, (None, None))
            return None, None
        found = self._new_date(raw)
        if found is None:
            self._faults.add("lastmod_invalid", raw)
        elif self._latest and found > self._latest:
            self._faults.add("lastmod_future", raw)
        else:
            _remember(self._dates, lastmod, (found, raw))
        return found, raw

    def _new_date(self, raw: str) -> datetime | None:
        found = parse_lastmod(raw)
        if found is None:
            self._undated = True
        elif self.lastmod_max is None or found > self.lastmod_max:
            self.lastmod_max = found
        if found and len(self._distinct) <= 1:
            self._distinct.add(found)
        return found

    def _frequency(self, text: str | None) -> str | None:
        word = (text or "").strip().lower()
        if word in CHANGE_FREQUENCIES:
            _remember(self._words, text, word)
            return word
        self._field(f"changefreq {word}", word)
        return None

    def _priority(self, text: str | None) -> float | None:
        shown = (text or "").strip()
        try:
            value = float(shown)
        except ValueError:
            value = math.nan
        if 0.0 <= value <= 1.0:
            _remember(self._shares, text, value)
            return value
        self._field(f"priority {shown}", shown)
        return None

    def _field(self, shown: str, text: str) -> None:
        if text:
            self._faults.add("field_invalid", shown)

    def _alternates(self, links: Sequence[tuple[str, str]]) -> tuple[Alternate, ...]:
        """Return the alternates whose URL is one; one that is none costs nothing but itself."""
        found = []
        for lang, href in links[:MAX_ALTERNATES]:
            url = urls.canonical(href) or urls.declared(href, self.base)
            if url is None:
                self._field(f"hreflang {lang} {href}", href)
            elif lang.strip() and href.strip():
                found.append(Alternate(lang=lang.strip()[:MAX_FIELD], url=url))
        return tuple(found)


def _meanings(
    texts: Sequence[str], known: dict[str | None, X], read: Callable[[str], X]
) -> list[X]:
    """Return what each text means; one that is not known yet is read."""
    if known.keys() >= set(texts):
        return list(map(known.__getitem__, texts))
    return [known[text] if text in known else read(text) for text in texts]


def _remember(known: dict[str | None, Any], text: str | None, meaning: object) -> None:
    if len(known) > _REMEMBERED:
        known.clear()
    known[text] = meaning
