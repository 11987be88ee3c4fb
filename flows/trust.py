"""How far a site's `lastmod` can be believed: what it foretold against what was found.

Counts are of pages that were asked for, whatever the lists said of them. The rule is explained in
docs/data-format.md.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from flows.records import Change, Outcome

ENOUGH: Final = 10
"""Pages of a site that must have a date, and that must agree where nothing else is known."""
FOLLOWED: Final = 3
"""Changes of content that `lastmod` must have told where the pages' own dates do not confirm it."""
MISSED_SHARE: Final = 20
"""One change in so many may escape `lastmod`."""
MOVES: Final = 5
"""Moves of `lastmod` from which their share without a change counts."""
AGREEING: Final = 9
"""Tenths of the pages whose own date must agree."""
COMMON: Final = 9
"""Tenths of the dates: when more are one and the same, they date the list, not the pages."""
A_DAY: Final = timedelta(days=1)

IDLE_ALARM: Final = 10
MISSED_ALARM: Final = 5
"""Pages from which `lastmod` is called unreliable, when they are most of those that moved, or of
those that changed."""

COLUMNS: Final = ("site", "url", "outcome", "lastmod", "settings_hash")
"""Columns of an earlier run that are compared."""

Column = Any
"""An Arrow array, in one piece or in several: no type of the library means both."""
_HTTP_DATE = "%a, %d %b %Y %H:%M:%S GMT"
_STORED = (Outcome.OK, Outcome.UNCHANGED, Outcome.NOT_MODIFIED)


@dataclass(slots=True)
class Evidence:
    """What the pages of a site say of its `lastmod`."""

    followed: int = 0
    """The date moved, and so had the content."""
    idle: int = 0
    """The date moved, the content had not."""
    kept: int = 0
    """The date stayed, and so had the content."""
    missed: int = 0
    """The date stayed, the content had not."""
    header_agrees: int = 0
    header_differs: int = 0
    """Pages whose `Last-Modified` is within a day of the `lastmod` of the list, and the others."""
    page_agrees: int = 0
    page_differs: int = 0
    """The same of the date that the page itself states."""

    def add(self, other: "Evidence") -> None:
        """Take in what other pages say."""
        for name, count in asdict(other).items():
            setattr(self, name, getattr(self, name) + count)

    @property
    def checked(self) -> int:
        """Pages of which it is known whether their content had changed."""
        return self.followed + self.idle + self.kept + self.missed


@dataclass(slots=True)
class Dates:
    """The dates that the lists of a site state."""

    dated: int = 0
    """URLs that have one."""
    fresh: int = 0
    """Those of the last day before the run, or later."""
    values: Counter[Any] = field(default_factory=Counter)
    """The most frequent ones, with the number of their URLs."""

    def add(self, other: "Dates") -> None:
        """Take in the URLs of another part of the site."""
        self.dated += other.dated
        self.fresh += other.fresh
        self.values.update(other.values)


def is_over(lastmod: datetime, at: datetime) -> bool:
    """Say whether a page may not change after `at` and keep its `lastmod`: a date is a whole day.

    >>> from datetime import UTC
    >>> is_over(datetime(2024, 5, 1, tzinfo=UTC), datetime(2024, 5, 1, 12, tzinfo=UTC))
    False
    """
    is_date = (lastmod.hour, lastmod.minute, lastmod.second) == (0, 0, 0)
    return lastmod + (A_DAY if is_date else timedelta(seconds=1)) <= at


def told(seen: Evidence, dates: Dates, before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what `report.json` says of a site's `lastmod`: the counts, and whether it is trusted.

    `before` is what the run before said. Its counts weigh half once a run brings enough of its
    own; a run that finds `lastmod` wrong ends the trust whatever was before.
    """
    sums = Evidence()
    sums.add(seen)
    share = 2 if seen.checked >= ENOUGH else 1
    sums.add(Evidence(**{name: (before or {}).get(name, 0) // share for name in asdict(seen)}))
    doubt = _of_dates(dates) or _of_changes(seen) or _of_changes(sums) or _unconfirmed(sums)
    return {"trusted": doubt is None, "doubt": doubt, "dated": dates.dated, **asdict(sums)}


def _of_dates(dates: Dates) -> str | None:
    if dates.dated < ENOUGH:
        return f"fewer than {ENOUGH} URLs have a date"
    if max(dates.values.values(), default=0) * 10 > dates.dated * COMMON:
        return "nearly all dates are the same"
    return "most dates are of the day of the run" if dates.fresh * 2 > dates.dated else None


def _of_changes(seen: Evidence) -> str | None:
    changed, moved = seen.followed + seen.missed, seen.followed + seen.idle
    if seen.missed * MISSED_SHARE > changed:
        return f"{seen.missed} of {changed} pages changed and kept their date"
    if moved >= MOVES and seen.idle * 2 > moved:
        return f"{seen.idle} of {moved} dates moved without a change"
    return None


def _unconfirmed(sums: Evidence) -> str | None:
    pairs = (
        (sums.header_agrees, sums.header_differs),
        (sums.page_agrees, sums.page_differs),
    )
    agree = any(n >= ENOUGH and n * 10 >= (n + others) * AGREEING for n, others in pairs)
    if agree or sums.followed >= FOLLOWED:
        return None
    return "neither changes nor the pages' own dates have confirmed it yet"


def unreliable(seen: Evidence) -> tuple[str, int] | None:
    """Return in words, and as a number of pages, that `lastmod` does not follow the content."""
    changed, moved = seen.followed + seen.missed, seen.followed + seen.idle
    if seen.missed >= MISSED_ALARM and seen.missed * 2 > changed:
        return f"{seen.missed:,} of {changed:,} pages changed and kept their lastmod", seen.missed
    if seen.idle >= IDLE_ALARM and seen.idle * 2 > moved:
        return f"{seen.idle:,} of {moved:,} lastmods moved without a change", seen.idle
    return None


# What rows tell


def compared(rows: pa.Table, known: pa.Table) -> dict[str, Evidence]:
    """Return for each site how dates and contents moved since the run of the rows `known`.

    Only pages that were asked for now, and that were stored by the same settings before.
    """
    asked = _asked(rows)
    before = known.filter(_is_in(known["outcome"], _STORED))
    at: Column = pc.index_in(_keys(asked), value_set=_keys(before))
    now: Column = asked["lastmod"]
    was: Column = before["lastmod"].take(at)
    same_settings = pc.equal(asked["settings_hash"], before["settings_hash"].take(at))
    told = pa.table(
        {
            "site": asked["site"],
            "moved": pc.not_equal(now, was),
            "changed": pc.equal(asked["change"], pa.scalar(Change.UPDATED.value)),
            "same_settings": same_settings,
        }
    ).drop_null()
    told = told.filter(told["same_settings"])
    names = {
        (True, True): "followed",
        (True, False): "idle",
        (False, False): "kept",
        (False, True): "missed",
    }
    found: dict[str, Evidence] = {}
    for site, moved, changed, count in _counts(told, ["site", "moved", "changed"]):
        setattr(found.setdefault(site, Evidence()), names[moved, changed], count)
    return found


def by_header(rows: pa.Table) -> dict[str, Evidence]:
    """Return for each site how the `Last-Modified` of its answers fits to what its lists say."""
    asked = _asked(rows)
    parsed: Column = pc.strptime(
        asked["last_modified"], format=_HTTP_DATE, unit="us", error_is_null=True
    )
    found = _agreement(asked["site"], asked["lastmod"], pc.assume_timezone(parsed, "UTC"))
    return {site: Evidence(header_agrees=n, header_differs=m) for site, (n, m) in found.items()}


def by_page(pages: pa.Table) -> dict[str, Evidence]:
    """Return for each site how the dates that its pages state fit to what its lists say."""
    found = _agreement(pages["site"], pages["lastmod"], pages["modified_at"])
    return {site: Evidence(page_agrees=n, page_differs=m) for site, (n, m) in found.items()}


def dates(rows: pa.Table, at: datetime) -> dict[str, Dates]:
    """Return for each site the dates that lists state of its URLs, before a run begun at `at`."""
    lastmod: Column = rows["lastmod"]
    fresh = pc.greater(lastmod, pa.scalar(at - A_DAY, lastmod.type))
    told = pa.table({"site": rows["site"], "lastmod": lastmod, "fresh": fresh}).drop_null()
    found: dict[str, Dates] = {}
    for site, is_fresh, count in _counts(told, ["site", "fresh"]):
        one = found.setdefault(site, Dates())
        one.dated += count
        one.fresh += count * is_fresh
    for site, value, count in _counts(told, ["site", "lastmod"]):
        best = found[site].values
        if count > max(best.values(), default=0):
            best.clear()
            best[value] = count
    return found


def _asked(rows: pa.Table) -> pa.Table:
    """Return the rows of pages that were asked for and are stored as they came."""
    attempts: Column = rows["attempts"]
    asked = pc.greater(pc.fill_null(attempts, 0), pa.scalar(0))
    return rows.filter(pc.and_(asked, _is_in(rows["outcome"], _STORED)))


def _agreement(site: Column, listed: Column, own: Column) -> dict[str, tuple[int, int]]:
    """Count for each site the pairs of dates within a day of each other, and the others."""
    apart: Column = pc.abs(pc.subtract(listed, own).cast(pa.int64()))
    near = pc.less_equal(apart, pa.scalar(int(A_DAY.total_seconds() * 1e6)))
    found: dict[str, tuple[int, int]] = {}
    told = pa.table({"site": site, "near": near}).drop_null()
    for name, is_near, count in _counts(told, ["site", "near"]):
        agree, differ = found.get(name, (0, 0))
        found[name] = (agree + count, differ) if is_near else (agree, differ + count)
    return found


def _counts(rows: pa.Table, keys: list[str]) -> list[Any]:
    counted = rows.group_by(keys).aggregate([([], "count_all")])
    return list(zip(*(column.to_pylist() for column in counted.columns), strict=True))


def _keys(rows: pa.Table) -> Column:
    sites: Column = rows["site"]
    joined: Column = pc.binary_join_element_wise(sites, rows["url"], "\n")
    return joined.combine_chunks()


def _is_in(column: Column, words: tuple[str, ...]) -> Column:
    return pc.is_in(column, value_set=pa.array([str(word) for word in words], pa.string()))
