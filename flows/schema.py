"""The Arrow schemas of what is stored, and rows -> tables.

Columns and types are written by hand: an inferred schema gets a null column the day no page has
a `lastmod`, and the dataset no longer opens. `docs/data-format.md` describes every column.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import pyarrow as pa

VERSION: Final = 1
"""Of the layout below; raised when a column changes its name, type or meaning."""

Row = dict[str, Any]
"""One row of a table: exactly its columns."""

_TEXT = pa.string()
_TEXTS = pa.list_(pa.string())
_COUNT = pa.int32()
_BYTES = pa.int64()
_REAL = pa.float64()
_INSTANT = pa.timestamp("us", tz="UTC")
_AMOUNT = pa.decimal128(18, 4)
_ALTERNATES = pa.list_(pa.struct([("lang", _TEXT), ("url", _TEXT)]))
_LINKS = pa.list_(pa.struct([("url", _TEXT), ("rel", _TEXT)]))
_PRICES = pa.list_(pa.struct([("amount", _AMOUNT), ("currency", _TEXT), ("name", _TEXT)]))


def _schema(table: str, **columns: pa.DataType) -> pa.Schema:
    """Return the schema of `table`, its version in the metadata."""
    named: dict[bytes | str, bytes | str] = {"sitewax.table": table, "sitewax.schema": str(VERSION)}
    return pa.schema([pa.field(name, kind) for name, kind in columns.items()], metadata=named)


SCHEMAS: Final[dict[str, pa.Schema]] = {
    "urls": _schema(
        "urls",
        run_id=_TEXT,
        site=_TEXT,
        url=_TEXT,
        outcome=_TEXT,
        change=_TEXT,
        detail=_TEXT,
        method=_TEXT,
        sitemap=_TEXT,
        sitemaps=_TEXTS,
        methods=_TEXTS,
        referrer=_TEXT,
        depth=_COUNT,
        phase=_COUNT,
        lastmod=_INSTANT,
        lastmod_raw=_TEXT,
        changefreq=_TEXT,
        priority=_REAL,
        alternates=_ALTERNATES,
        status=_COUNT,
        final_url=_TEXT,
        content_type=_TEXT,
        etag=_TEXT,
        last_modified=_TEXT,
        attempts=_COUNT,
        bytes=_BYTES,
        elapsed_ms=_REAL,
        fetched_at=_INSTANT,
        retry_after_s=_REAL,
        provider=_TEXT,
        canonical_url=_TEXT,
        duplicate_of=_TEXT,
        content_hash=_TEXT,
        settings_hash=_TEXT,
        chunks=_COUNT,
        ai_signals=_TEXT,
        fingerprint=_TEXT,
    ),
    "pages": _schema(
        "pages",
        run_id=_TEXT,
        site=_TEXT,
        url=_TEXT,
        canonical_url=_TEXT,
        title=_TEXT,
        description=_TEXT,
        lang=_TEXT,
        author=_TEXT,
        published_at=_INSTANT,
        modified_at=_INSTANT,
        markdown=_TEXT,
        html_bytes=_BYTES,
        html_tokens=_COUNT,
        tokens=_COUNT,
        content_hash=_TEXT,
        extraction=_TEXT,
        links=_LINKS,
        structured=_TEXT,
        prices=_PRICES,
        method=_TEXT,
        sitemap=_TEXT,
        lastmod=_INSTANT,
        fetched_at=_INSTANT,
        html=pa.binary(),
        settings_hash=_TEXT,
        minhash=pa.binary(),
        near_duplicate_of=_TEXT,
    ),
    "chunks": _schema(
        "chunks",
        chunk_id=_TEXT,
        run_id=_TEXT,
        site=_TEXT,
        url=_TEXT,
        title=_TEXT,
        chunk_index=_COUNT,
        text=_TEXT,
        heading_path=_TEXTS,
        anchor=_TEXT,
        token_count=_COUNT,
        start=_COUNT,
        end=_COUNT,
        content_hash=_TEXT,
        lang=_TEXT,
        method=_TEXT,
        sitemap=_TEXT,
        lastmod=_INSTANT,
        fetched_at=_INSTANT,
    ),
    "sitemaps": _schema(
        "sitemaps",
        run_id=_TEXT,
        site=_TEXT,
        url=_TEXT,
        method=_TEXT,
        parent=_TEXT,
        depth=_COUNT,
        kind=_TEXT,
        status=_COUNT,
        final_url=_TEXT,
        content_type=_TEXT,
        bytes=_BYTES,
        entries=_BYTES,
        lastmod_max=_INSTANT,
        complete=pa.bool_(),
        sha256=_TEXT,
        etag=_TEXT,
        last_modified=_TEXT,
        fetched_at=_INSTANT,
        detail=_TEXT,
    ),
    "alerts": _schema(
        "alerts",
        run_id=_TEXT,
        site=_TEXT,
        kind=_TEXT,
        severity=_TEXT,
        subject=_TEXT,
        value=_REAL,
        threshold=_REAL,
        message=_TEXT,
    ),
    # From here on a run's own notes: kept outside of `runs/`, gone when it is complete.
    "sightings": _schema(
        "sightings",
        run_id=_TEXT,
        site=_TEXT,
        url=_TEXT,
        method=_TEXT,
        sitemap=_TEXT,
        depth=_COUNT,
        lastmod=_INSTANT,
        lastmod_raw=_TEXT,
        changefreq=_TEXT,
        priority=_REAL,
        alternates=_ALTERNATES,
    ),
    "links": _schema("links", run_id=_TEXT, site=_TEXT, url=_TEXT, links=_LINKS),
}
SCHEMAS.update({f"{name}_again": SCHEMAS[name] for name in ("sitemaps", "alerts")})
"""Every table that is written, in the order its columns are promised."""

TABLES: Final = ("urls", "pages", "chunks", "sitemaps", "alerts")
"""The tables of a run."""

RETOLD: Final = ("sitemaps", "alerts")
"""Tables whose rows may come again in a run: what is said last holds when it is complete."""

NOTES: Final = ("sightings", "links", *(f"{name}_again" for name in RETOLD))
"""What a run has to remember until it is complete, and nobody else reads."""

CORPUS: Final = ("pages", "chunks")
"""The tables of the current state of a site."""

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST_INSTANT = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST_INSTANT = (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_STEP = Decimal("0.0001")
_AMOUNTS = Decimal(10) ** 14


def table(name: str, rows: Sequence[Row]) -> pa.Table:
    """Return `rows` as an Arrow table with the schema of `name`; every value is made storable.

    >>> table("sightings", []).num_rows
    0
    """
    schema = SCHEMAS[name]
    columns = [_column([row[field.name] for row in rows], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def block(name: str, values: Mapping[str, Sequence[Any]], shared: Row) -> pa.Table:
    """Return rows that have most in common: columns of `values`, the other ones from `shared`."""
    count = len(next(iter(values.values())))
    columns = [
        _column(values[field.name], field.type)
        if field.name in values
        else repeated(shared[field.name], count, field.type)
        for field in SCHEMAS[name]
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMAS[name])


def repeated(value: Any, count: int, kind: pa.DataType) -> "pa.Array[Any]":  # noqa: ANN401
    """Return a column that says one thing."""
    one = _column([value], kind)
    if isinstance(kind, pa.ListType):  # repeating one takes a hundred times as long
        return one.take(pa.repeat(0, count))
    column: pa.Array[Any] = pa.repeat(one[0], count)
    return column


def _column(values: Sequence[Any], kind: pa.DataType) -> "pa.Array[Any]":
    """Return a column; most are empty, or hold plain text or few different values."""
    if values.count(None) == len(values):
        return pa.array([None] * len(values), kind)
    if kind == _REAL or (kind == _TEXT and _is_clean("".join(filter(None, values)))):
        return pa.array(values, kind)
    storable = _STORABLE[kind]
    if isinstance(kind, pa.ListType):
        return pa.array([storable(value) for value in values], kind)
    known = {value: storable(value) for value in set(values)}
    return pa.array([known[value] for value in values], kind)


def _is_clean(text: str) -> bool:
    return "\0" not in text if text.isascii() else not _UNSTORABLE.search(text)


def conform(name: str, rows: pa.Table) -> pa.Table:
    """Return rows that an earlier version stored with the columns of today: null where new."""
    schema = SCHEMAS[name]
    if rows.schema.equals(schema):
        return rows
    had = set(rows.column_names)
    columns = [
        rows[field.name].cast(field.type)
        if field.name in had
        else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def columns(name: str, rows: pa.Table, wanted: Sequence[str]) -> pa.Table:
    """Return some columns of stored rows of the table `name`: null where a version had none."""
    had = set(rows.column_names)
    kinds = {column: SCHEMAS[name].field(column).type for column in wanted}
    return pa.table(
        {
            column: rows[column].cast(kind) if column in had else pa.nulls(rows.num_rows, kind)
            for column, kind in kinds.items()
        }
    )


def clean(text: str) -> str:
    r"""Return `text` with what no store takes (NUL, lone surrogates) replaced, sign for sign.

    >>> clean("a\x00b\ud800c")
    'a�b�c'
    """
    return _UNSTORABLE.sub("\ufffd", text)


def instant(moment: datetime) -> int | None:
    """Return microseconds since 1970, a missing zone taken as UTC; None outside of years 1-9999.

    >>> instant(datetime(1970, 1, 1, 0, 0, 1))
    1000000
    """
    aware = moment if moment.utcoffset() is not None else moment.replace(tzinfo=UTC)
    since = (aware - _EPOCH) // _MICROSECOND
    return since if _FIRST_INSTANT <= since <= _LAST_INSTANT else None


def amount(value: Decimal) -> Decimal | None:
    """Return `value` where 18 digits, 4 of them decimals, hold it exactly; None otherwise.

    >>> amount(Decimal("19.990000")), amount(Decimal("1E+30")), amount(Decimal("NaN"))
    (Decimal('19.9900'), None, None)
    """
    if not value.is_finite() or abs(value) >= _AMOUNTS:
        return None
    try:
        fitted = value.quantize(_STEP)
    except InvalidOperation:
        return None
    return fitted if fitted == value else None


def _storable(kind: pa.DataType) -> Callable[[Any], Any]:
    """Return what makes one value of type `kind` storable; the only place that does."""
    one = _plain(kind)
    return lambda value: None if value is None else one(value)


def _plain(kind: pa.DataType) -> Callable[[Any], Any]:
    if isinstance(kind, pa.ListType):
        item = _storable(kind.value_type)
        return lambda values: [item(value) for value in values]
    if isinstance(kind, pa.StructType):
        parts = {field.name: _storable(field.type) for field in kind}
        return lambda value: {name: part(value[name]) for name, part in parts.items()}
    if pa.types.is_integer(kind):
        limit = 1 << (kind.bit_width - 1)
        return lambda value: value if -limit <= value < limit else None
    by_kind: dict[pa.DataType, Callable[[Any], Any]] = {
        _TEXT: clean,
        _INSTANT: instant,
        _AMOUNT: amount,
    }
    return by_kind.get(kind, lambda value: value)


_STORABLE = {field.type: _storable(field.type) for schema in SCHEMAS.values() for field in schema}
