"""Many small files into one order, in memory that does not grow with them.

Rows are spread over buckets by ranges of their key, each bucket small enough to be sorted in
memory; what is too much for memory waits in a folder meanwhile. Each row is read twice. Columns
that say one thing throughout, and most do, are neither read nor moved about.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc

from connectors.dataset import files
from flows import schema, sightings
from flows.schema import RETOLD, SCHEMAS, Row

KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "urls": ("site", "url"),
    "pages": ("site", "url"),
    "chunks": ("site", "url", "chunk_index"),
    "sitemaps": ("site", "url"),
    "alerts": ("site", "kind", "subject"),
    "sightings": ("site", "url"),
}
"""The order of each table."""
BUCKET_BYTES: Final = 4 << 20
"""What is sorted in memory at a time."""
MOST_BUCKETS: Final = 256
"""Files that are open at a time."""
_SAMPLES = 64
"""Keys looked at in each file to find the ranges."""
_MOST_SAMPLES = 4_096
"""Keys kept of all files; when there are more, every second one goes."""


class Source(Protocol):
    """Rows of one table, oldest first."""

    def tables(self, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows, some at a time."""

    def weight(self) -> int:
        """Return about how many bytes the rows have in memory."""

    def same(self) -> Row | None:
        """Return columns that have one value in all rows, with that value; None without rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """Rows that are in memory already."""

    rows: pa.Table

    def same(self) -> Row:
        """Return nothing: it is not looked for."""
        return {}

    def weight(self) -> int:
        """Return about how many bytes the rows have in memory."""
        return self.rows.nbytes

    def tables(self, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows."""
        yield self.rows if columns is None else self.rows.select(columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Rows of one table in Parquet files, oldest first."""

    paths: Sequence[Path]
    site: str | None = None
    """Only rows of this site."""
    sites: frozenset[str] | None = None
    """Only rows of these sites."""
    without: "pa.Array[Any] | None" = None
    """No rows of these URLs."""

    def weight(self) -> int:
        """Return about how many bytes the rows have in memory."""
        return sum(files.weight(path, self.sites) for path in self.paths)

    def same(self) -> Row | None:
        """Return columns that have one value in all rows, with that value; None without rows."""
        return _agreed(map(files.same, self.paths))

    def tables(self, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows, a row group at a time."""
        more = [] if columns is None else [name for name in self._told_by() if name not in columns]
        for path in self.paths:
            for rows in files.read(path, columns and [*columns, *more], self.sites):
                kept = self._kept(rows)
                if kept.num_rows:
                    yield kept.drop_columns(more)

    def _told_by(self) -> list[str]:
        """Return the columns that tell which rows are wanted."""
        by_site = self.site is not None or self.sites is not None
        return ["site"] * by_site + ["url"] * (self.without is not None)

    def _kept(self, rows: pa.Table) -> pa.Table:
        if self.site is not None:
            rows = rows.filter(pc.equal(rows["site"], pa.scalar(self.site)))
        if self.sites is not None:
            wanted = pa.array(sorted(self.sites), pa.string())
            rows = rows.filter(pc.is_in(rows["site"], value_set=wanted))
        if self.without is not None:
            rows = rows.filter(pc.invert(pc.is_in(rows["url"], value_set=self.without)))
        return rows


class Buckets:
    """The rows of one table, cut into ranges of their key."""

    def __init__(
        self, name: str, folder: Path, bounds: Sequence[tuple[str, ...]], same: Row
    ) -> None:
        """Prepare for rows of the table `name`, of which the columns `same` have one value.

        `folder` takes what does not fit in memory.
        """
        self._name = name
        self._same = same
        self.columns = [field.name for field in SCHEMAS[name] if field.name not in same]
        """The other columns."""
        self._bounds = bounds
        self._paths = [folder / f"{name}-{number}.arrow" for number in range(len(bounds) + 1)]
        self._open: dict[int, pa.ipc.RecordBatchStreamWriter] = {}
        self._kept: list[pa.Table] = []

    def add(self, rows: pa.Table) -> None:
        """Take rows in, in the order they were written."""
        rows = schema.columns(self._name, rows, self.columns)
        if not self._bounds:
            self._kept.append(rows)
            return
        rows = in_order(self._name, rows)
        keys = _Keys(rows, self._same, KEYS[self._name][:2])
        ends = [bisect_left(keys, bound) for bound in self._bounds]
        for number, (start, end) in enumerate(pairwise((0, *ends, len(keys)))):
            if start < end:
                self._writer(number, rows.schema).write_table(rows.slice(start, end - start))

    def __iter__(self) -> Iterator[pa.Table]:
        """Yield the buckets in the order of their keys, empty ones included."""
        for writer in self._open.values():
            writer.close()
        for number in range(len(self._paths)):
            rows = self._take(number)
            if rows is None:
                yield SCHEMAS[self._name].empty_table()
                continue
            rows = self._whole(in_order(self._name, rows))
            yield _last(rows, KEYS[self._name]) if self._name in RETOLD else rows
            del rows

    def _whole(self, rows: pa.Table) -> pa.Table:
        """Return rows with all columns of their table."""
        columns = [
            schema.repeated(self._same[field.name], rows.num_rows, field.type)
            if field.name in self._same
            else rows[field.name]
            for field in SCHEMAS[self._name]
        ]
        return pa.Table.from_arrays(columns, schema=SCHEMAS[self._name])

    def _take(self, number: int) -> pa.Table | None:
        if not self._bounds:
            kept, self._kept = self._kept, []
            return pa.concat_tables(kept) if kept else None
        if number not in self._open:
            return None
        with pa.OSFile(str(self._paths[number]), "rb") as file:
            rows = pa.ipc.open_stream(file).read_all()
        self._paths[number].unlink()
        return rows

    def _writer(self, number: int, schema: pa.Schema) -> pa.ipc.RecordBatchStreamWriter:
        if number not in self._open:
            self._paths[number].parent.mkdir(parents=True, exist_ok=True)
            self._open[number] = pa.ipc.new_stream(str(self._paths[number]), schema)
        return self._open[number]


class _Keys(Sequence[tuple[str, ...]]):
    """The keys of sorted rows, each made when it is looked at."""

    def __init__(self, rows: pa.Table, same: Row, names: Sequence[str]) -> None:
        self._columns: list[Any] = [
            same[name] if name in same else rows[name].combine_chunks() for name in names
        ]
        self._count = rows.num_rows

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: int) -> tuple[str, ...]:  # type: ignore[override]  # no slices
        return tuple(c if isinstance(c, str) else c[at].as_py() for c in self._columns)


def ordered(
    name: str, sources: Sequence[Source], folder: Path, seen: Sequence[Source] = ()
) -> Iterator[pa.Table]:
    """Yield the rows of all sources in the order of the table, a bounded part at a time.

    What the sightings `seen` declare is folded into the rows of their run.
    """
    cuts = bounds(name, sources)
    buckets, notes = spread(name, sources, folder, cuts), Buckets("sightings", folder, cuts, {})
    for source in seen:
        for found in source.tables(list(sightings.OF_PAGES)):
            notes.add(sightings.declared(found))
    for rows, again in zip(buckets, notes, strict=True):
        yield sightings.fold(rows, again) if again.num_rows else rows


def spread(
    name: str,
    sources: Sequence[Source],
    folder: Path,
    bounds: Sequence[tuple[str, ...]],
    columns: Sequence[str] | None = None,
) -> Buckets:
    """Return all rows of the sources in buckets; what is not among the columns is null."""
    agreed = _agreed(source.same() for source in sources) or {}
    same = {column: one for column, one in agreed.items() if column not in KEYS[name][1:]}
    if columns is not None:
        same |= dict.fromkeys(set(SCHEMAS[name].names).difference(columns))
    buckets = Buckets(name, folder, bounds, same)
    for source in sources:
        for rows in source.tables(buckets.columns):
            buckets.add(rows)
    return buckets


def bounds(name: str, sources: Sequence[Source]) -> list[tuple[str, ...]]:
    """Return the keys at which to cut the rows of all sources into parts of a bounded size."""
    weight = sum(source.weight() for source in sources)
    parts = min(-(-weight // BUCKET_BYTES), MOST_BUCKETS)
    if parts < 2:
        return []
    keys = list(KEYS[name][:2])
    seen: set[tuple[str, ...]] = set()
    for source in sources:
        for rows in source.tables(keys):
            some = range(0, rows.num_rows, max(1, rows.num_rows // _SAMPLES))
            seen.update(_keys(rows.take(pa.array(some)), keys))
            if len(seen) > _MOST_SAMPLES:
                seen = set(sorted(seen)[::2])
    ordered_keys = sorted(seen)
    step = max(1, len(ordered_keys) // parts)
    return ordered_keys[step::step]


def _keys(rows: pa.Table, names: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*(rows[name].to_pylist() for name in names), strict=True))


def in_order(name: str, rows: pa.Table) -> pa.Table:
    """Sort rows by the key of the table `name`; those of one key stay in the order they came.

    They need not have all columns.
    """
    rows = rows.combine_chunks()
    had = [key for key in KEYS[name] if key in rows.column_names]
    keys = [key for key in had if key != "site" or len(rows[key].unique()) > 1]
    order = pc.sort_indices(rows, sort_keys=[(key, "ascending") for key in keys])
    columns = [c if c.null_count == len(c) else c.take(order) for c in rows.columns]
    return pa.Table.from_arrays(columns, schema=rows.schema)


def _agreed(found: Iterable[Row | None]) -> Row | None:
    """Return the columns that have one value wherever there are rows, with that value."""
    agreed: Row | None = None
    for told in found:
        if agreed is None or told is None:
            agreed = told if agreed is None else agreed
        else:
            agreed = {name: one for name, one in agreed.items() if told.get(name, told) == one}
    return agreed


def _last(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Keep the last row of each key of sorted rows."""
    found = _keys(rows, keys)
    kept = [key != following for key, following in zip(found, [*found[1:], None], strict=True)]
    return rows.filter(pa.array(kept, pa.bool_()))
