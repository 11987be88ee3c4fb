"""LanceDB: an embedded store in a folder; the default."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import RLock
from typing import Any, Final

import pyarrow as pa

from connectors import stores
from connectors.stores import Capabilities, Hit, StoreError, Vector
from flows import filters, steps
from flows.filters import OPERATORS, Filter, Value
from flows.schema import SCHEMAS
from flows.steps import Space

SCAN_ROWS: Final = 8_192
KEPT: Final = timedelta(hours=1)
"""Old versions live on so long: a reader that opened one may go on reading it."""
INDEXED_ROWS: Final = 100_000
"""Below this number of rows comparing a question with every vector is fast, and exact."""
_RESERVED: Final = "sitewax.model"
_TOLD: Final = SCHEMAS["chunks"].names


def open(url: str, table: str) -> "LanceStore":  # noqa: A001  # what `open_store` looks for
    """Return the store in the folder of `lancedb://folder`."""
    return LanceStore(url, table)


class LanceStore:
    """A table of a LanceDB folder.

    * *Guarantee*: `replace` is one merge, which is one new version of the table.
    * *Limits*: a merge reads the keys of the site's pages that it touches.
    * *Cost*: a version a write, until `tidy` compacts them; versions are kept for an hour.
    """

    capabilities = Capabilities(
        batch_rows=2_000, operators=frozenset(OPERATORS), most_dimensions=65_535, writers=1
    )

    def __init__(self, url: str, table: str) -> None:
        """Open the folder; the table is looked at when it is needed."""
        lancedb = stores.needs("lancedb", "lancedb")
        self._url = url
        self._name = table
        self._folder = lancedb.connect(
            str(stores.folder(url)), read_consistency_interval=timedelta(0)
        )
        self._open: Any = None
        self._lock = RLock()

    def prepare(self, space: Space) -> None:
        """Make the table when it is missing; ValueError when it holds vectors of another space."""
        stores.fits(space, self.capabilities)
        held = self.space()
        if held is None:
            made = self._folder.create_table(self._name, schema=steps.schema(space), exist_ok=True)
            self._open = made
        elif held != space:
            raise stores.mismatch(f"{self._url} ({self._name})", held, space)
        elif set(self._table().schema.names) != set(steps.schema(space).names):
            raise ValueError(f"{self._url} ({self._name}) was made by another version: drop it")

    def space(self) -> Space | None:
        """Return the space of the vectors that are stored; None when there is no table."""
        if self._open is None and self._name not in self._names():
            return None
        schema = self._table().schema
        model = (schema.metadata or {}).get(_RESERVED.encode(), b"").decode()
        return Space(model=model, dimension=schema.field("vector").type.list_size)

    def replace(self, site: str, urls: Sequence[str], rows: pa.Table) -> None:
        """Let `rows` be all that there is of these pages of a site."""
        merge = self._table().merge_insert(["site", "chunk_id"])
        merge = merge.when_matched_update_all().when_not_matched_insert_all()
        with self._writing():
            merge.when_not_matched_by_source_delete(_pages(site, urls)).execute(rows)

    def remove(self, site: str, urls: Sequence[str]) -> None:
        """Let there be nothing of these pages of a site."""
        with self._writing():
            self._table().delete(_pages(site, urls))

    def sites(self) -> set[str]:
        """Return the sites of which there is anything."""
        found: set[str] = set()
        for part in self._rows(["site"], None):
            found.update(steps.texts(part["site"].unique()))
        return found

    def held(self, site: str) -> Iterator[pa.Table]:
        """Yield `url` and `digest` of each chunk of a site."""
        yield from self._rows(["url", "digest"], f"site = {_quoted(site)}")

    def vectors(self, hashes: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of the texts that are stored, by `text_hash`."""
        if not hashes:
            return {}
        known: dict[str, Vector] = {}
        wanted = f"text_hash IN ({', '.join(map(_quoted, hashes))})"
        for part in self._rows(["text_hash", "vector"], wanted):
            found: list[Any] = part["vector"].to_pylist()
            known.update(zip(steps.texts(part["text_hash"]), found, strict=True))
        return known

    def search(self, vector: Vector, count: int = 5, where: Sequence[Filter] = ()) -> list[Hit]:
        """Return the chunks nearest to a vector, the nearest first, that pass all filters."""
        query = self._table().search(list(vector)).distance_type("cosine").limit(count)
        if where:
            query = query.where(_condition(where))
        found = query.select([*_TOLD, "_distance"]).to_list()
        return [Hit(score=1 - row.pop("_distance"), chunk=row) for row in found]

    def tidy(self, *, done: bool) -> None:
        """Compact what many writes left, and keep the indexes of a large table up to date."""
        table = self._table()
        with self._writing():
            indexed = {index.columns[0] for index in table.list_indices()}
            if done and table.count_rows() >= INDEXED_ROWS:
                if "vector" not in indexed:
                    table.create_index(metric="cosine", index_type="IVF_HNSW_SQ")
                for column in {"text_hash", "url", "site"} - indexed:
                    table.create_scalar_index(column)
            table.optimize(cleanup_older_than=KEPT)

    def close(self) -> None:
        """Let go of the table."""
        self._open = None

    def _names(self) -> set[str]:
        return set(self._folder.list_tables().tables)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Be the only one who writes for a block, the faults of the folder told in one line."""
        try:
            with self._lock:
                yield
        except (OSError, RuntimeError) as error:
            raise StoreError(f"{self._url}: {str(error).splitlines()[0]}") from error

    def _table(self) -> Any:  # noqa: ANN401  # a table of LanceDB, which is imported late
        with self._lock:
            if self._open is None:
                self._open = self._folder.open_table(self._name)
            return self._open

    def _rows(self, columns: list[str], where: str | None) -> Iterator[pa.Table]:
        query = self._table().search().select(columns).limit(None)
        batches = (query.where(where) if where else query).to_batches(SCAN_ROWS)
        for batch in batches:
            yield pa.Table.from_batches([batch])


def _pages(site: str, urls: Sequence[str]) -> str:
    return f"site = {_quoted(site)} AND url IN ({', '.join(map(_quoted, urls))})"


def _condition(where: Sequence[Filter]) -> str:
    return filters.sql(
        where, name="`{}`".format, value=_literal, has="array_has({column}, {value})"
    )


def _literal(value: Value) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=UTC)
        return f"timestamp '{zoned.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}'"
    return repr(value)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
