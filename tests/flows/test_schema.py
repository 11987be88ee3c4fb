"""The tables are as promised: their columns, and that whatever a site says can be stored."""

import io
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import datasets
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.dataset import files
from flows import rows, schema
from flows.records import Document, Exchange, Link, Price, Reading
from tests import samples

PROMISED = {
    "urls": "run_id site url outcome change detail method sitemap sitemaps methods referrer depth "
    "phase lastmod lastmod_raw changefreq priority alternates status final_url content_type etag "
    "last_modified attempts bytes elapsed_ms fetched_at retry_after_s provider canonical_url "
    "duplicate_of content_hash settings_hash chunks ai_signals fingerprint",
    "pages": "run_id site url canonical_url title description lang author published_at "
    "modified_at markdown html_bytes html_tokens tokens content_hash extraction links structured "
    "prices method sitemap lastmod fetched_at html settings_hash minhash near_duplicate_of",
    "chunks": "chunk_id run_id site url title chunk_index text heading_path anchor token_count "
    "start end content_hash lang method sitemap lastmod fetched_at",
    "sitemaps": "run_id site url method parent depth kind status final_url content_type bytes "
    "entries lastmod_max complete sha256 etag last_modified fetched_at detail",
    "alerts": "run_id site kind severity subject value threshold message",
}


def url_row(row: Any = None) -> schema.Row:
    return rows.url(row or samples.reading(), run_id="r", settings_hash="s")


WRITTEN = {
    "urls": url_row(),
    "pages": rows.page(samples.reading(html=b"<p>"), run_id="r", settings_hash="s"),
    "chunks": rows.chunks(samples.reading(), run_id="r")[0],
    "sitemaps": rows.sitemap(samples.sitemap(), run_id="r"),
    "alerts": rows.alert(samples.alert(), run_id="r"),
    "sightings": rows.sighting(samples.sighting(), run_id="r"),
    "links": rows.links(samples.failure(), run_id="r"),
}


WRITTEN |= {f"{name}_again": WRITTEN[name] for name in schema.RETOLD}


@pytest.mark.parametrize("table", schema.TABLES)
def test_columns_are_the_promised_ones_in_their_order(table: str) -> None:
    assert schema.SCHEMAS[table].names == PROMISED[table].split()


@pytest.mark.parametrize("table", schema.SCHEMAS)
def test_a_row_has_exactly_the_columns_of_its_table(table: str) -> None:
    assert set(WRITTEN[table]) == set(schema.SCHEMAS[table].names)


def test_a_failure_has_the_columns_of_a_stored_page() -> None:
    assert set(url_row(samples.failure())) == set(schema.SCHEMAS["urls"].names)


@pytest.mark.parametrize(
    ("record", "table", "elsewhere"),
    [(Document, "pages", {"url", "anchors", "ai_signals"}), (Exchange, "urls", {"before"})],
    ids=["document", "exchange"],
)
def test_no_field_of_a_record_is_dropped(record: type, table: str, elsewhere: set[str]) -> None:
    kept = set(schema.SCHEMAS[table].names) | elsewhere

    assert {field.name for field in fields(record)} <= kept


@pytest.mark.parametrize("table", schema.TABLES)
def test_the_schema_names_its_table_and_version(table: str) -> None:
    metadata = schema.SCHEMAS[table].metadata

    assert metadata == {b"sitewax.table": table.encode(), b"sitewax.schema": b"1"}


@pytest.mark.parametrize("table", schema.SCHEMAS)
def test_what_is_written_comes_back(table: str) -> None:
    row = WRITTEN[table]

    assert schema.table(table, [row, row]).to_pylist() == [row, row]


def test_a_row_without_one_of_its_columns_is_our_own_mistake() -> None:
    row = {name: value for name, value in url_row().items() if name != "detail"}

    with pytest.raises(KeyError, match="detail"):
        schema.table("urls", [row])


def test_signs_that_no_store_takes_are_replaced_at_every_depth() -> None:
    dirty = samples.reading(text="a\0b\ud800c")
    price = Price(amount=Decimal(1), currency="\0", name="\udfff")
    dirty = replace(
        dirty,
        links=(Link(url="https://a.test/\ud83d\0"),),
        document=replace(dirty.document, title="\udc00", prices=(price,)),
        chunks=(replace(dirty.chunks[0], heading_path=("\0", "x\ud800")),),
    )

    page = schema.table("pages", [rows.page(dirty, run_id="r", settings_hash="s")]).to_pylist()[0]
    chunk = schema.table("chunks", rows.chunks(dirty, run_id="r")).to_pylist()[0]

    assert (page["markdown"], page["title"]) == ("a�b�c", "�")
    assert page["links"] == [{"url": "https://a.test/��", "rel": ""}]
    assert (page["prices"][0]["currency"], page["prices"][0]["name"]) == ("�", "�")
    assert (chunk["text"], chunk["heading_path"]) == ("a�b�c", ["�", "x�"])


@pytest.mark.parametrize(
    ("moment", "stored"),
    [
        (datetime(2024, 5, 1, 12), datetime(2024, 5, 1, 12, tzinfo=UTC)),  # noqa: DTZ001
        (
            datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=2))),
            datetime(2024, 5, 1, 10, tzinfo=UTC),
        ),
        (datetime.min.replace(tzinfo=timezone(timedelta(hours=14))), None),
        (datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))), None),
    ],
    ids=["no zone", "another zone", "before year 1", "after year 9999"],
)
def test_any_instant_is_stored_in_utc_or_not_at_all(
    moment: datetime, stored: datetime | None
) -> None:
    row = url_row() | {"lastmod": moment}

    assert schema.table("urls", [row])["lastmod"].to_pylist() == [stored]


@pytest.mark.parametrize("amount", ["1E+14", "NaN", "Infinity", "0.00001", "1E+999999", "sNaN"])
def test_an_amount_that_does_not_fit_exactly_leaves_a_price_without_amount(amount: str) -> None:
    read = samples.reading()
    price = Price(amount=Decimal(amount), currency="EUR")
    row = rows.page(
        replace(read, document=replace(read.document, prices=(price,))),
        run_id="r",
        settings_hash="s",
    )

    prices = schema.table("pages", [row])["prices"].to_pylist()

    assert prices == [[{"amount": None, "currency": "EUR", "name": None}]]


def test_a_number_too_large_for_its_column_is_null() -> None:
    row = url_row() | {"status": 1 << 40, "bytes": 1 << 63, "depth": -5}

    stored = schema.table("urls", [row]).to_pylist()[0]

    assert (stored["status"], stored["bytes"], stored["depth"]) == (None, None, -5)


@given(text=st.text(st.characters(codec=None), max_size=40), moment=st.datetimes())
def test_no_text_and_no_instant_is_refused_by_a_file(text: str, moment: datetime) -> None:
    read = samples.reading(text=text)
    read = replace(
        read,
        entry=replace(read.entry, lastmod=moment, lastmod_raw=text, url=text),
        document=replace(read.document, title=text, published_at=moment, structured=text),
    )

    for name, row in (
        ("urls", url_row(read)),
        ("pages", rows.page(read, run_id=text, settings_hash="s")),
    ):
        file = io.BytesIO()
        pq.write_table(schema.table(name, [row]), file)
        assert pq.read_table(file).num_rows == 1


@pytest.mark.parametrize("count", [0, 2], ids=["empty", "with rows"])
@pytest.mark.parametrize("name", schema.TABLES)
def test_a_table_opens_with_every_common_reader(name: str, count: int, tmp_path: Path) -> None:
    files.write(tmp_path / "0.parquet", name, schema.table(name, [WRITTEN[name]] * count))
    columns = schema.SCHEMAS[name].names
    pattern = str(tmp_path / "*.parquet")

    assert ds.dataset(tmp_path).to_table().num_rows == count
    assert list(pd.read_parquet(tmp_path).columns) == columns
    assert pl.read_parquet(pattern).shape == (count, len(columns))
    with duckdb.connect() as connection:
        found = connection.execute("SELECT count(*) FROM read_parquet(?)", [pattern]).fetchone()
        assert found == (count,)
    # `datasets` has no map-style form of a table without a single row, whatever the file.
    opened = datasets.load_dataset("parquet", data_files=pattern, split="train", streaming=True)
    assert (opened.column_names, len(list(opened))) == (columns, count)


def test_a_stored_page_and_its_chunks_share_their_attribution() -> None:
    read: Reading = samples.reading()
    page = rows.page(read, run_id="r", settings_hash="s")

    for chunk in rows.chunks(read, run_id="r"):
        shared = ("run_id", "site", "url", "method", "sitemap", "lastmod", "fetched_at")
        assert {name: chunk[name] for name in shared} == {name: page[name] for name in shared}


def test_types_are_the_ones_readers_rely_on() -> None:
    urls, pages = schema.SCHEMAS["urls"], schema.SCHEMAS["pages"]

    assert urls.field("lastmod").type == pa.timestamp("us", tz="UTC")
    assert urls.field("sitemaps").type == pa.list_(pa.string())
    assert pages.field("prices").type.value_type.field("amount").type == pa.decimal128(18, 4)
