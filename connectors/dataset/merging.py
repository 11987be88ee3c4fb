"""Many small files into one order, in memory that does not grow with them.

Rows are spread over buckets by ranges of their key, each bucket small enough to be sorted in
memory; what is too much for memory waits in a folder meanwhile. Each row is read twice.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc

from connectors.dataset import files
from flows import sightings
from flows.schema import RETOLD, SCHEMAS, conform

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """Rows that are in memory already."""

    rows: pa.Table

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

    def tables(self, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows, a row group at a time."""
        for path in self.paths:
            for rows in files.read(path, columns, self.sites):
                kept = self._kept(rows)
                if kept.num_rows:
                    yield kept

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

    def __init__(self, name: str, folder: Path, bounds: Sequence[tuple[str, ...]]) -> None:
        """Prepare for rows of the table `name`; `folder` takes what does not fit in memory."""
        self._name = name
        self._keys = KEYS[name]
        self._bounds = bounds
        self._paths = [folder / f"{name}-{number}.arrow" for number in range(len(bounds) + 1)]
        self._open: dict[int, pa.ipc.RecordBatchStreamWriter] = {}
        self._kept: list[pa.Table] = []

    def add(self, rows: pa.Table) -> None:
        """Take rows in, in the order they were written."""
        rows = conform(self._name, rows)
        if not self._bounds:
            self._kept.append(rows)
            return
        rows = _in_order(rows, self._keys)
        keys = _Keys(rows, self._keys[:2])
        ends = [bisect_left(keys, bound) for bound in self._bounds]
        for number, (start, end) in enumerate(pairwise((0, *ends, len(keys)))):
            if start < end:
                self._writer(number, rows.schema).write_table(rows.slice(start, end - start))

    def __iter__(self) -> Iterator[pa.Table]:
        """Yield the buckets in the order of their keys, empty ones included."""
        for writer in self._open.values():
            writer.close()
        for number in range(len(self._paths)):
            rows = self._sorted(number)
            if rows is None:
                yield SCHEMAS[self._name].empty_table()
                continue
            yield _last(rows, self._keys) if self._name in RETOLD else rows
            del rows

    def _sorted(self, number: int) -> pa.Table | None:
        rows = self._take(number)
        return rows if rows is None else _in_order(rows, self._keys)

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

    def __init__(self, rows: pa.Table, names: Sequence[str]) -> None:
        self._columns: list[Any] = [rows[name].combine_chunks() for name in names]
        self._count = rows.num_rows

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: int) -> tuple[str, ...]:  # type: ignore[override]  # no slices
        return tuple(column[at].as_py() for column in self._columns)


def ordered(
    name: str, sources: Sequence[Source], folder: Path, seen: Sequence[Source] = ()
) -> Iterator[pa.Table]:
    """Yield the rows of all sources in the order of the table, a bounded part at a time.

    What the sightings `seen` declare is folded into the rows of their run.
    """
    cuts = bounds(name, sources)
    buckets, notes = Buckets(name, folder, cuts), Buckets("sightings", folder, cuts)
    fill(buckets, sources)
    for source in seen:
        for found in source.tables(list(sightings.OF_PAGES)):
            notes.add(sightings.declared(found))
    for rows, again in zip(buckets, notes, strict=True):
        yield sightings.fold(rows, again) if again.num_rows else rows


def fill(buckets: Buckets, sources: Sequence[Source], columns: Sequence[str] | None = None) -> None:
    """Put all rows of the sources into the buckets; what is not among the columns is null."""
    for source in sources:
        for rows in source.tables(None if columns is None else list(columns)):
            buckets.add(rows)


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
    """Return rows in the order of the table `name`."""
    return _in_order(rows, KEYS[name])


def _in_order(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Sort rows by their key; rows of one key stay in the order they came (the sort is stable)."""
    rows = rows.combine_chunks()
    varying = [key for key in keys if key != "site" or len(rows[key].unique()) > 1]
    order = pc.sort_indices(rows, sort_keys=[(key, "ascending") for key in varying])
    columns = [c if c.null_count == len(c) else c.take(order) for c in rows.columns]
    return pa.Table.from_arrays(columns, schema=rows.schema)


def _last(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Keep the last row of each key of sorted rows."""
    found = _keys(rows, keys)
    kept = [key != following for key, following in zip(found, [*found[1:], None], strict=True)]
    return rows.filter(pa.array(kept, pa.bool_()))
