"""URLs on their way to be decided on: who names them, and what is said of them."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, compress
from typing import Any, NamedTuple, Self, TypeVar

from flows.records.words import Method, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """Where a URL was declared, and how that place was found."""

    method: Method
    sitemap: str | None = None
    """The sitemap that declared it; None for links."""
    referrer: str | None = None
    """The page that linked it; None for sitemap entries."""
    depth: int = 0
    """Sitemap nesting for entries, link distance from a declared page for links."""
    phase: int = 1
    """1 static, 2 rendered, 3 inferred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternate:
    """One `hreflang` alternate of a page."""

    lang: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One link of a page: its target as an absolute URL, and its `rel` words."""

    url: str
    rel: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One declared or linked URL, canonical where it can be; `site` is the site's start origin."""

    site: str
    url: str
    attribution: Attribution
    lastmod: datetime | None = None
    """Aware, UTC; None when absent or unreadable. A hint: sites write anything here."""
    lastmod_raw: str | None = None
    changefreq: str | None = None
    priority: float | None = None
    """0.0 to 1.0 as declared; None, not 0.5, when absent."""
    alternates: tuple[Alternate, ...] = ()
    ai_signals: str | None = None
    """What robots.txt says of the use of the site's pages by AI, as `flows.signals` writes it."""
    has_row: bool = False
    """An earlier start of this run has written its row: nothing is to be decided on it."""


class Declared(NamedTuple):
    """What a list says of one URL."""

    url: str
    """Canonical; the text as written, or its beginning, when `invalid`."""
    lastmod: datetime | None = None
    """Aware, UTC; None when absent or unreadable."""
    lastmod_raw: str | None = None
    changefreq: str | None = None
    priority: float | None = None
    """0.0 to 1.0 as declared; None, not 0.5, when absent."""
    alternates: tuple[Alternate, ...] = ()
    invalid: bool = False
    """No http URL can be made of `url`."""


class Columns(NamedTuple):
    """What a list says of many URLs: the fields of `Declared`, column by column."""

    url: Sequence[str]
    lastmod: Sequence[datetime | None]
    lastmod_raw: Sequence[str | None]
    changefreq: Sequence[str | None]
    priority: Sequence[float | None]
    alternates: Sequence[tuple[Alternate, ...]]
    invalid: Sequence[bool]

    @classmethod
    def of(cls, declared: Iterable[Declared]) -> "Columns":
        """Return what is declared one by one."""
        rows = tuple(declared)
        return cls._make(zip(*rows, strict=True) if rows else ((),) * len(cls._fields))

    @classmethod
    def joined(cls, parts: Iterable["Columns"]) -> "Columns":
        """Return what is declared in several parts, one after the other."""
        first, *others = parts
        if not others:
            return first
        columns = zip(first, *others, strict=True)
        return cls._make(tuple(chain.from_iterable(column)) for column in columns)

    def each(self, change: Callable[[Sequence[Any]], Sequence[Any]]) -> "Columns":
        """Return what becomes of the columns."""
        return Columns._make(map(change, self))

    def rows(self) -> Iterator[Declared]:
        """Yield what is declared of each URL."""
        return map(Declared._make, zip(*self, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """URLs that one list declares, some hundred at a time: one by one they cost ten times as much.

    Each is what an `Entry` is, and iterating gives it.
    """

    site: str
    attribution: Attribution
    declared: Columns
    ai_signals: str | None = None
    has_row: bool = False
    """Both as in `Entry`, and true of all of them."""

    def __len__(self) -> int:
        """Return how many they are."""
        return len(self.declared.url)

    def __iter__(self) -> Iterator[Entry]:
        """Yield them one by one."""
        return map(self._entry, self.declared.rows())

    def where(self, chosen: Sequence[bool]) -> Self:
        """Return those that are chosen."""
        if all(chosen):
            return self
        return replace(self, declared=self.declared.each(lambda c: tuple(compress(c, chosen))))

    def at(self, places: Sequence[int]) -> Self:
        """Return those at some places."""
        if len(places) == len(self):
            return self
        chosen = self.declared.each(lambda c: tuple([c[place] for place in places]))
        return replace(self, declared=chosen)

    @classmethod
    def joined(cls, parts: Sequence["Entries"]) -> "Entries":
        """Return lists of which all but the URLs is the same as one list."""
        return replace(parts[0], declared=Columns.joined(some.declared for some in parts))

    @property
    def size(self) -> int:
        """Characters of the addresses: hostile lists have many long ones."""
        alternates = chain.from_iterable(self.declared.alternates)
        return sum(map(len, self.declared.url)) + sum(len(one.url) for one in alternates)

    @property
    def shared(self) -> Hashable:
        """All but the URLs."""
        return self.site, self.attribution, self.ai_signals, self.has_row

    def first(self, count: int) -> Self:
        """Return the first of them."""
        return replace(self, declared=self.declared.each(lambda c: c[:count]))

    def after(self, count: int) -> Self:
        """Return all but the first of them."""
        return replace(self, declared=self.declared.each(lambda c: c[count:]))

    def _entry(self, one: Declared) -> Entry:
        return Entry(
            site=self.site,
            url=one.url,
            attribution=self.attribution,
            lastmod=one.lastmod,
            lastmod_raw=one.lastmod_raw,
            changefreq=one.changefreq,
            priority=one.priority,
            alternates=one.alternates,
            ai_signals=self.ai_signals,
            has_row=self.has_row,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A URL that is known already, named again; folded into its row when the run ends."""

    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Sightings:
    """URLs of one list that are known already: as many `Sighting`s."""

    entries: Entries

    @property
    def shared(self) -> Hashable:
        """All but the URLs."""
        return self.entries.shared


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """URLs of one list that leave for one reason before a request: as many `Failure`s."""

    entries: Entries
    outcome: Outcome
    detail: str | None = None

    @property
    def shared(self) -> Hashable:
        """All but the URLs and the detail: there may be as many of it."""
        return self.entries.shared, self.outcome


Listed = TypeVar("Listed", LeftOut, Sightings)


def alike(lists: Iterable[Listed]) -> Iterable[list[Listed]]:
    """Return lists apart by what their URLs share, in the order of the first of each."""
    found: dict[Hashable, list[Listed]] = {}
    for some in lists:
        found.setdefault(some.shared, []).append(some)
    return found.values()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a site permits: emitted once by its source, before its first entry."""

    site: str
    origin: str
    """Where its pages live: `site`, or what the start URL turned out to be."""
    robots: str | None = None
    """robots.txt as text; None when nothing may be fetched because it could not be read."""
    spent: int = 0
    """Pages of the budget that earlier starts of the run have used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllDeclared:
    """A site has named its last URL: emitted once by its source, after its last entry."""

    site: str
