"""The URLs that a run declares against those of earlier runs: new, updated, unchanged, removed.

Everything works on a bounded part of the rows of a run and on the rows of earlier runs in the
same range of keys, column by column.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from flows.records import Change, Outcome
from flows.schema import SCHEMAS

KNOWN: Final = (
    *("site", "url", "outcome", "change", "method", "sitemap", "sitemaps", "methods", "referrer"),
    *("depth", "phase", "lastmod", "lastmod_raw", "changefreq", "priority", "alternates"),
    "attempts",
)
"""Columns of `urls` by which a later run knows a URL again."""

REFUSED: Final = (
    Outcome.ROBOTS_DISALLOWED,
    Outcome.OFF_ORIGIN,
    Outcome.INVALID_URL,
    Outcome.NOT_HTML,
    Outcome.POLICY_DENIED,
    Outcome.BUDGET,
    Outcome.UNDECLARED,
)
"""Outcomes of URLs that a run did not let in, when nothing was asked for."""

A_DAY: Final = timedelta(days=1)
"""A `lastmod` that goes back by less has only been written in another way."""

Column = Any
"""An Arrow array, in one piece or in several: no type of the library means both."""


@dataclass(slots=True)
class Shift:
    """How the `lastmod` of the URLs moved that two runs of a site declare."""

    both: int = 0
    """URLs with a `lastmod` in both runs."""
    back: int = 0
    """Those whose `lastmod` is now more than a day earlier."""
    before: datetime | None = None
    """The newest of them in the earlier run."""
    now: datetime | None = None
    """The newest of them in this run."""

    def add(self, other: "Shift") -> None:
        """Take in the URLs of another part of the site."""
        self.both += other.both
        self.back += other.back
        self.before = _later(self.before, other.before)
        self.now = _later(self.now, other.now)


def newest(known: pa.Table) -> pa.Table:
    """Return one row for each URL of earlier runs, of which the newest comes first."""
    pairs = _pairs(known)
    first: Column = pc.index_in(pairs, value_set=pairs)
    is_first: Column = pc.equal(first, _numbers(known))
    return known.filter(is_first)


def compare(rows: pa.Table, known: pa.Table, sites: Iterable[str]) -> pa.Table:
    """Return rows of `urls`, those that were discovered of `sites` with their change told.

    `known` holds the rows of earlier runs, one for each URL. A URL is `updated` when it has a
    `lastmod` that is not the one it had.
    """
    at, before = _before(rows, known.filter(_present(known)))
    now: Column = rows["lastmod"]
    same = pc.fill_null(pc.equal(now, before), pa.scalar(False))
    moved = pc.and_not(pc.is_valid(now), same)
    word = pc.if_else(moved, Change.UPDATED.value, Change.UNCHANGED.value)
    word = pc.if_else(pc.is_null(at), Change.NEW.value, word)
    told: Column = rows["change"]
    asked = pc.and_(_is_in(rows["outcome"], [Outcome.DISCOVERED]), pc.is_null(told))
    asked = pc.and_(asked, _is_in(rows["site"], sites))
    return _with(rows, "change", pc.if_else(asked, word, told))


def undeclared(
    rows: pa.Table, known: pa.Table, sites: Iterable[str], unproved: "pa.Array[Any]"
) -> pa.Table:
    """Return the rows of earlier URLs that have none now, as `undeclared` and `removed`.

    Only URLs of `sites` that a list named, and none that one of the lists in `unproved` named
    (as `pairs`): nobody can tell whether those still do. `run_id` and `settings_hash` are null.
    """
    if not known.num_rows:
        return signed(known.select(SCHEMAS["urls"].names), run_id="", settings_hash="")
    sitemaps: Column = known["sitemaps"]
    listed = pc.and_(
        _is_in(known["site"], sites), pc.greater(pc.list_value_length(sitemaps), pa.scalar(0))
    )
    declares: Column = pc.is_in(_pairs(known), value_set=_pairs(rows))
    gone: Column = pc.and_not(pc.and_(_present(known), listed), declares)
    told = known.filter(gone)
    kept: Column = pc.invert(_named_by(told, unproved))
    told = told.filter(kept)
    told = _filled(told, "outcome", Outcome.UNDECLARED.value)
    told = _filled(told, "change", Change.REMOVED.value)
    return _filled(told, "attempts", None)


def signed(rows: pa.Table, *, run_id: str, settings_hash: str) -> pa.Table:
    """Return rows as those of a run."""
    return _filled(_filled(rows, "run_id", run_id), "settings_hash", settings_hash)


def shifts(rows: pa.Table, known: pa.Table, until: datetime) -> dict[str, Shift]:
    """Return for each site how `lastmod` moved; what an earlier run dated after `until` is left.

    `known` holds the rows of earlier runs, one for each URL.
    """
    if not known.num_rows:
        return {}
    present = known.filter(_present(known))
    dated: Column = present["lastmod"]
    _, before = _before(rows, present.filter(pc.less_equal(dated, pa.scalar(until, dated.type))))
    now: Column = rows["lastmod"]
    back = pc.greater(pc.subtract(before, now), pa.scalar(A_DAY))
    both = pa.table({"site": rows["site"], "now": now, "before": before, "back": back}).drop_null()
    sums = both.group_by("site").aggregate(
        [("back", "count"), ("back", "sum"), ("before", "max"), ("now", "max")]
    )
    found = zip(*(column.to_pylist() for column in sums.columns), strict=True)
    return {site: Shift(*told) for site, *told in found}


def pairs(named: Iterable[tuple[str, str]]) -> "pa.Array[Any]":
    """Return what stands for each pair of a site and an address."""
    return pa.array([f"{site}\n{address}" for site, address in named], pa.string())


def _before(rows: pa.Table, known: pa.Table) -> tuple[Column, Column]:
    """Return where each URL is among those that are known, and the `lastmod` it had there."""
    if not known.num_rows:
        return pa.nulls(rows.num_rows, pa.int32()), pa.nulls(rows.num_rows, known["lastmod"].type)
    at: Column = pc.index_in(_pairs(rows), value_set=_pairs(known))
    return at, known["lastmod"].take(at)


def _present(known: pa.Table) -> Column:
    """Say which rows of an earlier run are URLs that it let in."""
    attempts: Column = known["attempts"]
    asked = pc.greater(pc.fill_null(attempts, 0), pa.scalar(0))
    left = pc.or_(
        pc.and_not(_is_in(known["outcome"], REFUSED), asked),
        _is_in(known["change"], [Change.REMOVED]),
    )
    return pc.invert(left)


def _named_by(told: pa.Table, lists: "pa.Array[Any]") -> Column:
    """Say which rows one of the lists names."""
    named: Column = told["sitemaps"].combine_chunks()
    row: Column = pc.list_parent_indices(named)
    sites: Column = told["site"].combine_chunks().take(row)
    joined: Column = pc.binary_join_element_wise(sites, pc.list_flatten(named), "\n")
    found = row.filter(pc.is_in(joined, value_set=lists))
    return pc.is_in(_numbers(told).cast(found.type), value_set=found)


def _pairs(rows: pa.Table) -> Column:
    sites: Column = rows["site"]
    joined: Column = pc.binary_join_element_wise(sites, rows["url"], "\n")
    return joined.combine_chunks()


def _numbers(rows: pa.Table) -> Column:
    return pa.array(range(rows.num_rows), pa.int32())


def _is_in(column: Column, words: Iterable[str]) -> Column:
    return pc.is_in(column, value_set=pa.array([str(word) for word in words], pa.string()))


def _filled(rows: pa.Table, name: str, value: str | None) -> pa.Table:
    return _with(rows, name, pa.array([value] * rows.num_rows, rows.schema.field(name).type))


def _with(rows: pa.Table, name: str, values: Column) -> pa.Table:
    return rows.set_column(rows.column_names.index(name), SCHEMAS["urls"].field(name), values)


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max((moment for moment in (one, other) if moment is not None), default=None)
