"""PostgreSQL with pgvector: any server, by `postgresql://user@host/database`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
PATIENCE_S: Final = 10
"""Seconds that a server has to take a connection."""
MAKING: Final = 0x5174_3A78
"""Key of the lock under which tables are made: `IF NOT EXISTS` fails when two do so at once."""
OLDEST: Final = (0, 8)
"""pgvector whose searches go on until a filter has found enough."""
PLAIN_DIMENSIONS: Final = 2_000
HALF_DIMENSIONS: Final = 4_000
"""Longest vectors that HNSW indexes as they are, and in half precision (pgvector 0.8)."""
FEWEST_CANDIDATES: Final = 200
MOST_CANDIDATES: Final = 1_000
"""Bounds of `hnsw.ef_search`: with fewer the nearest are missed, more pgvector does not take."""
EXACT_ROWS = 10_000
"""Below this number of rows every vector is compared: as fast, and the index misses some."""
BUILD_MEMORY: Final = "256MB"
_TOLD: Final = SCHEMAS["chunks"].names
_TYPES: Final = {
    pa.string(): "text",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.timestamp("us", "UTC"): "timestamptz",
    pa.list_(pa.string()): "text[]",
}


def open(url: str, table: str) -> "PgStore":  # noqa: A001  # what `open_store` looks for
    """Return the store of a database; ValueError when the server cannot be reached."""
    return PgStore(url, table)


class PgStore:
    """A table of a PostgreSQL database, in the first schema of its search path.

    * *Guarantee*: `replace` and `remove` are one transaction each.
    * *Limits*: vectors of up to 16,000 numbers; those longer than 4,000 are compared one by one.
    * *Cost*: the HNSW index is made when the first load is done, and kept by the server after.
    """

    capabilities = Capabilities(
        batch_rows=2_000, operators=frozenset(OPERATORS), most_dimensions=16_000, writers=64
    )

    def __init__(self, url: str, table: str) -> None:
        """Connect; the table is looked at when it is needed."""
        self._psycopg = stores.needs("pgvector", "psycopg")
        self._url = url
        self._name = table
        self._lock = RLock()
        self._shared: Any = None
        try:
            self._connection()
        except self._psycopg.Error as error:
            raise ValueError(f"no database at {stores.shown(url)}: {_line(error)}") from error

    def prepare(self, space: Space) -> None:
        """Make the table when it is missing; ValueError when it holds vectors of another space."""
        stores.fits(space, self.capabilities)
        held = self.space()
        if held is not None and held != space:
            raise stores.mismatch(f"table {self._name} of {stores.shown(self._url)}", held, space)
        with self._asked() as database, database.transaction():
            database.execute("SELECT pg_advisory_xact_lock(%s)", [MAKING])  # one after the other
            self._extend(database)
            self._make(database, space)

    def space(self) -> Space | None:
        """Return the space of the vectors that are stored; None when there is no table."""
        with self._asked() as database:
            found = database.execute(
                "SELECT obj_description(attrelid), format_type(atttypid, atttypmod) "
                "FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = 'vector'",
                [self._name],
            ).fetchone()
        if found is None:
            return None
        return Space(model=found[0] or "", dimension=int(found[1].partition("(")[2].strip(")")))

    def replace(self, site: str, urls: Sequence[str], rows: pa.Table) -> None:
        """Let `rows` be all that there is of these pages of a site."""
        columns = [rows[name].to_pylist() for name in rows.column_names[:-1]]
        vectors = map(_vector, rows["vector"].to_pylist())
        with self._asked() as database, database.transaction(), database.cursor() as cursor:
            cursor.execute(
                self._sql("DELETE FROM {table} WHERE site = %s AND url = ANY(%s)"),
                [site, list(urls)],
            )
            names = ", ".join(f'"{name}"' for name in rows.column_names)
            with cursor.copy(self._sql(f"COPY {{table}} ({names}) FROM STDIN")) as copy:
                for row in zip(*columns, vectors, strict=True):
                    copy.write_row(row)

    def remove(self, site: str, urls: Sequence[str]) -> None:
        """Let there be nothing of these pages of a site."""
        with self._asked() as database:
            database.execute(
                self._sql("DELETE FROM {table} WHERE site = %s AND url = ANY(%s)"),
                [site, list(urls)],
            )

    def sites(self) -> set[str]:
        """Return the sites of which there is anything."""
        with self._asked() as database:
            return {
                row[0] for row in database.execute(self._sql("SELECT DISTINCT site FROM {table}"))
            }

    def held(self, site: str) -> Iterator[pa.Table]:
        """Yield `url` and `digest` of each chunk of a site, by a connection of their own."""
        with self._faults(), self._connect() as database, database.cursor(name="held") as cursor:
            cursor.execute(self._sql("SELECT url, digest FROM {table} WHERE site = %s"), [site])
            while rows := cursor.fetchmany(SCAN_ROWS):
                urls, digests = zip(*rows, strict=True)
                yield pa.table({"url": list(urls), "digest": pa.array(digests, pa.int64())})

    def vectors(self, hashes: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of the texts that are stored, by `text_hash`."""
        sql = "SELECT text_hash, vector::real[] FROM {table} WHERE text_hash = ANY(%s)"
        with self._asked() as database:
            return dict(database.execute(self._sql(sql), [list(hashes)]).fetchall())

    def search(self, vector: Vector, count: int = 5, where: Sequence[Filter] = ()) -> list[Hit]:
        """Return the chunks nearest to a vector, the nearest first, that pass all filters."""
        left, right = _distance(len(vector))
        names = ", ".join(f'"{name}"' for name in _TOLD)
        distance = f"{left} <=> '{_vector(vector)}'::{right}"
        sql = self._sql(
            f"SELECT {names}, 1 - ({distance}) FROM {{table}} WHERE {self._condition(where)} "  # noqa: S608  # quoted
            f"ORDER BY {distance} LIMIT {int(count)}"
        )
        with self._asked() as database:
            few = "SELECT reltuples < %s FROM pg_class WHERE oid = to_regclass(%s)"
            exact = bool(database.execute(few, [EXACT_ROWS, self._name]).fetchone()[0])
            rows = _ask(database, sql, count, exact=exact)
            if len(rows) < count and not exact:  # the index gave up early, or there is no more
                rows = _ask(database, sql, count, exact=True)
        return [Hit(score=row[-1], chunk=dict(zip(_TOLD, row[:-1], strict=True))) for row in rows]

    def tidy(self, *, done: bool) -> None:
        """Make the index of the vectors once the first load is done."""
        held = self.space()
        if not done or held is None:
            return
        with self._asked() as database:
            database.execute(self._sql("ANALYZE {table}"))
        if held.dimension > HALF_DIMENSIONS:
            return
        left, right = _distance(held.dimension)
        kind = right.partition("(")[0]
        with self._asked() as database, database.transaction():
            database.execute(f"SET LOCAL maintenance_work_mem = '{BUILD_MEMORY}'")
            database.execute(
                self._sql(
                    f'CREATE INDEX IF NOT EXISTS "{self._name}_vector" ON {{table}} '
                    f"USING hnsw (({left}) {kind}_cosine_ops)"
                )
            )

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            if self._shared is not None:
                self._shared.close()
            self._shared = None

    def _extend(self, database: Any) -> None:  # noqa: ANN401  # a connection of psycopg
        asked = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
        if database.execute(asked).fetchone() is None:
            try:
                database.execute("CREATE EXTENSION IF NOT EXISTS vector")
            except self._psycopg.Error as error:
                where = stores.shown(self._url)
                raise ValueError(f"{where} has no pgvector: {_line(error)}") from error
        version = database.execute(asked).fetchone()[0]
        if tuple(map(int, version.split(".")[:2])) < OLDEST:
            raise ValueError(
                f"pgvector {version} is too old: {'.'.join(map(str, OLDEST))} is needed"
            )

    def _make(self, database: Any, space: Space) -> None:  # noqa: ANN401
        fields = [field for field in steps.schema(space) if field.name != "vector"]
        columns = [f'"{field.name}" {_TYPES[field.type]}' for field in fields]
        model = self._psycopg.sql.Literal(space.model).as_string(database)
        with database.transaction():
            database.execute(
                self._sql(
                    f"CREATE TABLE IF NOT EXISTS {{table}} ({', '.join(columns)}, "
                    f"vector vector({space.dimension}) NOT NULL, PRIMARY KEY (site, chunk_id))"
                )
            )
            database.execute(self._sql(f"COMMENT ON TABLE {{table}} IS {model}"))
            for column in ("url", "text_hash"):  # by hash: a URL may be longer than a tree takes
                index = f'"{self._name}_{column}" ON {{table}} USING hash ({column})'
                database.execute(self._sql(f"CREATE INDEX IF NOT EXISTS {index}"))

    def _condition(self, where: Sequence[Filter]) -> str:
        with self._asked() as database:

            def literal(value: Value) -> str:
                text: str = self._psycopg.sql.Literal(value).as_string(database)
                return text

            return filters.sql(
                where, name='"{}"'.format, value=literal, has="{value} = ANY({column})"
            )

    def _sql(self, template: str) -> str:
        return template.replace("{table}", f'"{self._name}"')

    def _connect(self) -> Any:  # noqa: ANN401
        patience = {} if "connect_timeout" in self._url else {"connect_timeout": PATIENCE_S}
        return self._psycopg.connect(self._url, **patience)

    def _connection(self) -> Any:  # noqa: ANN401
        if self._shared is None or self._shared.closed:
            self._shared = self._connect()
            self._shared.autocommit = True
        return self._shared

    @contextmanager
    def _asked(self) -> Iterator[Any]:
        """Have the one connection for a block, its faults told in one line."""
        with self._lock, self._faults():
            yield self._connection()

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            raise StoreError(f"{stores.shown(self._url)}: {_line(error)}") from error


def _ask(database: Any, sql: str, count: int, *, exact: bool) -> list[Any]:  # noqa: ANN401
    with database.transaction():
        if exact:
            database.execute("SET LOCAL enable_indexscan = off")
        else:
            database.execute("SET LOCAL hnsw.iterative_scan = strict_order")
            candidates = min(max(2 * count, FEWEST_CANDIDATES), MOST_CANDIDATES)
            database.execute(f"SET LOCAL hnsw.ef_search = {candidates}")
        found: list[Any] = database.execute(sql).fetchall()
        return found


def _distance(dimension: int) -> tuple[str, str]:
    """Return what is indexed of a vector so long, and its type."""
    if PLAIN_DIMENSIONS < dimension <= HALF_DIMENSIONS:
        return f"(vector::halfvec({dimension}))", f"halfvec({dimension})"
    return "vector", f"vector({dimension})"


def _vector(vector: Any) -> str:  # noqa: ANN401  # numbers, as Arrow or a caller has them
    return "[" + ",".join(map(repr, vector)) + "]"


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
