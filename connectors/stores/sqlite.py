"""SQLite with sqlite-vec: a store in one file, by `sqlite://file`."""

import json
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import RLock
from typing import Any, Final

import pyarrow as pa

from connectors import stores
from connectors.dataset import locks
from connectors.stores import Capabilities, Hit, StoreError, Vector
from flows import filters, steps
from flows.filters import OPERATORS, Filter, Value
from flows.schema import SCHEMAS, instant
from flows.steps import Space

SCAN_ROWS: Final = 8_192
PATIENCE_MS: Final = 10_000
"""How long we wait for another process that is writing."""
_TOLD: Final = SCHEMAS["chunks"].names
_TIMES: Final = [f.name for f in SCHEMAS["chunks"] if pa.types.is_timestamp(f.type)]
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def open(url: str, table: str) -> "SqliteStore":  # noqa: A001  # what `open_store` looks for
    """Return the store in a file, which is made when it is missing."""
    return SqliteStore(url, table)


class SqliteStore:
    """A table of a SQLite file.

    * *Guarantee*: `replace` and `remove` are one transaction each; readers are not held up.
    * *Limits*: a search reads every vector: fine up to some hundred thousand.
    """

    capabilities = Capabilities(
        batch_rows=2_000, operators=frozenset(OPERATORS), most_dimensions=65_535, writers=1
    )

    def __init__(self, url: str, table: str) -> None:
        """Open the file; apsw because the `sqlite3` of many Pythons loads no extensions."""
        self._apsw = stores.needs("sqlite", "apsw")
        extension = stores.needs("sqlite", "sqlite_vec")
        path = stores.folder(url)
        self._name = table
        self._lock = RLock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._apsw.Connection(str(path))
            self._file.set_busy_timeout(PATIENCE_MS)
            self._making = path.with_name(f"{path.name}.lock")
            with locks.locked(self._making):  # not patient: it fails when another process does it
                self._file.execute("PRAGMA journal_mode = WAL").fetchall()
        except (OSError, self._apsw.Error) as error:
            raise ValueError(f"cannot use {url}: {error}") from error
        self._file.enable_load_extension(True)  # its own form
        self._file.load_extension(extension.loadable_path())

    def prepare(self, space: Space) -> None:
        """Make the table when it is missing; ValueError when it holds vectors of another space."""
        stores.fits(space, self.capabilities)
        with locks.locked(self._making):
            held = self.space()
            if held is None:
                self._make(space)
                held = self.space()
        if held is not None and held != space:
            raise stores.mismatch(f"table {self._name}", held, space)

    def _make(self, space: Space) -> None:
        names = ", ".join(f'"{field.name}"' for field in steps.schema(space))
        name, told = self._name, (space.model, space.dimension)
        with self._asked() as file, file:  # others may do the same at this moment
            make = f'CREATE TABLE IF NOT EXISTS "{name}"'
            file.execute(f"{make} ({names}, PRIMARY KEY (site, chunk_id))")
            for ending, key in (("page", "site, url"), ("text", "text_hash")):
                index = f'"{name}_{ending}" ON "{name}" ({key})'
                file.execute(f"CREATE INDEX IF NOT EXISTS {index}")
            file.execute(f'CREATE TABLE IF NOT EXISTS "{name}_space" (model, dimension)')
            first = f'SELECT 1 FROM "{name}_space"'  # noqa: S608
            file.execute(f'INSERT INTO "{name}_space" SELECT ?, ? WHERE NOT EXISTS ({first})', told)

    def space(self) -> Space | None:
        """Return the space of the vectors that are stored; None when there is no table."""
        with self._asked() as file:
            asked = "SELECT count(*) FROM sqlite_schema WHERE name = ?"
            if not file.execute(asked, (f"{self._name}_space",)).get:
                return None
            model, dimension = self._all(f'SELECT model, dimension FROM "{self._name}_space"')[0]  # noqa: S608
            return Space(model=model, dimension=dimension)

    def replace(self, site: str, urls: Sequence[str], rows: pa.Table) -> None:
        """Let `rows` be all that there is of these pages of a site."""
        columns = [_stored(name, rows[name].to_pylist()) for name in rows.column_names]
        marks = ", ".join("?" * len(columns))
        with self._asked() as file, file:
            self.remove(site, urls)
            file.executemany(
                f'INSERT INTO "{self._name}" VALUES ({marks})',  # noqa: S608
                zip(*columns, strict=True),
            )

    def remove(self, site: str, urls: Sequence[str]) -> None:
        """Let there be nothing of these pages of a site."""
        sql = (
            f'DELETE FROM "{self._name}" WHERE site = ? AND url IN (SELECT value FROM json_each(?))'  # noqa: S608
        )
        with self._asked() as file, file:
            file.execute(sql, (site, json.dumps(list(urls))))

    def sites(self) -> set[str]:
        """Return the sites of which there is anything."""
        return {row[0] for row in self._all(f'SELECT DISTINCT site FROM "{self._name}"')}  # noqa: S608

    def held(self, site: str) -> Iterator[pa.Table]:
        """Yield `url` and `digest` of each chunk of a site."""
        rows = self._all(f'SELECT url, digest FROM "{self._name}" WHERE site = ?', (site,))  # noqa: S608
        for start in range(0, len(rows), SCAN_ROWS):
            urls, digests = zip(*rows[start : start + SCAN_ROWS], strict=True)
            yield pa.table({"url": list(urls), "digest": pa.array(digests, pa.int64())})

    def vectors(self, hashes: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of the texts that are stored, by `text_hash`."""
        known = "text_hash IN (SELECT value FROM json_each(?))"
        sql = f'SELECT text_hash, vector FROM "{self._name}" WHERE {known}'  # noqa: S608
        found = self._all(sql, (json.dumps(list(hashes)),))
        return {text_hash: array("f", vector) for text_hash, vector in found}

    def search(self, vector: Vector, count: int = 5, where: Sequence[Filter] = ()) -> list[Hit]:
        """Return the chunks nearest to a vector, the nearest first, that pass all filters."""
        names = ", ".join(f'"{name}"' for name in _TOLD)
        sql = (
            f"SELECT {names}, 1 - vec_distance_cosine(vector, ?) AS score "  # noqa: S608
            f'FROM "{self._name}" WHERE {_condition(where)} ORDER BY score DESC LIMIT ?'
        )
        rows = self._all(sql, (array("f", vector).tobytes(), count))
        return [Hit(score=row[-1], chunk=_told(row[:-1])) for row in rows]

    def tidy(self, *, done: bool) -> None:
        """Nothing: there is no index of the vectors to keep."""

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()

    def _all(self, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
        with self._asked() as file:
            return list(file.execute(sql, values))

    @contextmanager
    def _asked(self) -> Iterator[Any]:
        """Have the file for a block, its faults told in one line."""
        with self._lock:
            try:
                yield self._file
            except self._apsw.Error as error:
                raise StoreError(f"table {self._name}: {error}") from error


def _stored(name: str, values: list[Any]) -> list[Any]:
    """Return a column as SQLite takes it: JSON lists, microseconds, bytes of vectors."""
    if name == "vector":
        return [array("f", value).tobytes() for value in values]
    if name == "heading_path":
        return [json.dumps(value, ensure_ascii=False) for value in values]
    if name in _TIMES:
        return [None if value is None else instant(value) for value in values]
    return values


def _told(row: Sequence[Any]) -> dict[str, Any]:
    chunk = dict(zip(_TOLD, row, strict=True))
    for name in _TIMES:
        since = chunk[name]
        chunk[name] = None if since is None else _EPOCH + timedelta(microseconds=since)
    return chunk | {"heading_path": json.loads(chunk["heading_path"])}


def _condition(where: Sequence[Filter]) -> str:
    has = "EXISTS (SELECT 1 FROM json_each({column}) WHERE value = {value})"
    return filters.sql(where, name='"{}"'.format, value=_literal, has=has)


def _literal(value: Value) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(instant(value)) if isinstance(value, datetime) else repr(value)
