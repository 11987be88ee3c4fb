"""The rows of a shard, apart by site: for its owner alone, who publishes one site at a time.

Batches hold the rows of many sites; reading all of them again for each site that ends would cost
more than anything else the dataset does. Nothing here is synced: a new owner makes it anew from
what is committed.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc

from connectors.dataset import files
from flows.records import Change, Outcome
from flows.schema import Row
from flows.sightings import OF_PAGES, declared

WAITING_BYTES: Final = 2 << 20
"""What is kept in memory before it is taken apart, so that sites get more than a row at a time."""
COLUMNS: Final[dict[str, list[str] | None]] = {
    "urls": ["site", "url", "outcome", "change"],
    "pages": None,
    "chunks": None,
    "sightings": list(OF_PAGES),
}
"""The tables, and the columns of them, that publishing a site needs; None: all. Of `urls` it needs
the rows by which what was stored before is void: those of pages stored anew, or removed."""
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)


@dataclass(frozen=True, slots=True)
class Spooled:
    """Rows of one table of one site, oldest first."""

    path: Path
    bytes: int
    """Of the rows in memory."""

    def weight(self) -> int:
        """Return about how many bytes the rows have in memory."""
        return self.bytes

    def same(self) -> Row:
        """Return nothing: it is not looked for."""
        return {}

    def tables(self, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows, some at a time."""
        if not self.path.exists():
            return
        with pa.OSFile(str(self.path), "rb") as file:
            while file.tell() < file.size():
                rows = pa.ipc.open_stream(file).read_all()
                yield rows if columns is None else rows.select(columns)


class Spool:
    """What a shard has committed of each site that is not published yet."""

    def __init__(self, folder: Path) -> None:
        """Start afresh in `folder`."""
        self._folder = folder
        self._waiting: dict[str, list[pa.Table]] = {name: [] for name in COLUMNS}
        self._bytes = 0
        self._weights: Counter[str] = Counter()
        files.remove(folder)
        folder.mkdir()

    def add(self, name: str, rows: pa.Table) -> None:
        """Take in rows of a table that have been committed."""
        columns = COLUMNS[name]
        if name == "sightings":
            rows = declared(rows)
        elif name == "urls":
            rows = _retold(rows)
        kept = rows if columns is None else rows.select(columns)
        if kept.num_rows:
            self._waiting[name].append(kept)
        self._bytes += kept.nbytes
        if self._bytes >= WAITING_BYTES:
            self._flush()

    def of(self, name: str, site: str) -> Spooled:
        """Return the rows of a site."""
        self._flush()
        path = self._path(name, site)
        return Spooled(path, self._weights[path.name])

    def drop(self, site: str) -> None:
        """Forget a site that has been published."""
        for name in COLUMNS:
            path = self._path(name, site)
            path.unlink(missing_ok=True)
            self._weights.pop(path.name, None)

    def _flush(self) -> None:
        for name, tables in self._waiting.items():
            if tables:
                self._append(name, pa.concat_tables(tables))
                tables.clear()
        self._bytes = 0

    def _append(self, name: str, rows: pa.Table) -> None:
        sites: list[Any] = rows["site"].unique().to_pylist()
        for site in sites:
            part = rows.filter(pc.equal(rows["site"], pa.scalar(site))) if len(sites) > 1 else rows
            path = self._path(name, site)
            self._weights[path.name] += part.nbytes
            with (
                pa.OSFile(str(path), "ab") as file,
                pa.ipc.new_stream(file, part.schema, options=_OPTIONS) as writer,
            ):
                writer.write_table(part.combine_chunks())

    def _path(self, name: str, site: str) -> Path:
        key = hashlib.blake2b(site.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        return self._folder / f"{key}-{name}"


def _retold(urls: pa.Table) -> pa.Table:
    anew: Any = pc.equal(urls["outcome"], pa.scalar(Outcome.OK.value))
    gone: Any = pc.equal(urls["change"], pa.scalar(Change.REMOVED.value))
    return urls.filter(pc.or_kleene(anew, gone))
