"""Merging keeps every row, in order, however little is held in memory."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.dataset import files, merging
from connectors.dataset.merging import Stored
from flows import rows, schema
from tests import samples

SITES = ("https://a.test", "https://b.test")


def sightings(keys: list[tuple[str, int]]) -> pa.Table:
    found = [samples.sighting(f"/{number:03d}", site) for site, number in keys]
    return schema.table("sightings", [rows.sighting(seen, run_id="r") for seen in found])


def alerts(said: list[tuple[str, str]]) -> pa.Table:
    """Alerts by subject and message."""
    found = [rows.alert(samples.alert(subject=subject), run_id="r") for subject, _ in said]
    for row, (_, message) in zip(found, said, strict=True):
        row["message"] = message
    return schema.table("alerts", found)


def written(folder: Path, name: str, tables: list[pa.Table], *, small: bool = False) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{number}.parquet" for number in range(len(tables))]
    for path, table in zip(paths, tables, strict=True):
        files.write(path, name, table, small=small)
    return paths


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(
    parts=st.lists(
        st.lists(st.tuples(st.sampled_from(SITES), st.integers(0, 200)), max_size=60), max_size=5
    ),
    bucket=st.sampled_from([200, 2_000, 1 << 20]),
)
def test_every_row_comes_out_once_and_in_order(
    parts: list[list[tuple[str, int]]],
    bucket: int,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path_factory.mktemp("merge")
    monkeypatch.setattr(merging, "BUCKET_BYTES", bucket)
    paths = written(folder, "sightings", [sightings(part) for part in parts])

    merged = list(merging.ordered("sightings", [Stored(paths=paths)], folder / "spool"))

    found = [(row["site"], row["url"]) for table in merged for row in table.to_pylist()]
    put = [(site, f"{site}/{number:03d}") for part in parts for site, number in part]
    assert found == sorted(put)
    assert not (folder / "spool").exists() or not any((folder / "spool").iterdir())


VALUES = st.fixed_dictionaries(
    {
        "run_id": st.sampled_from(["r", "s"]),
        "site": st.sampled_from(SITES),
        "method": st.sampled_from(["robots", "link"]),
        "sitemap": st.sampled_from([None, "https://a.test/s.xml"]),
        "depth": st.sampled_from([None, 0, 1]),
        "lastmod": st.sampled_from([None, samples.NOON]),
        "priority": st.sampled_from([None, 0.0, -0.0]),
        "alternates": st.sampled_from([[], [{"lang": "de", "url": "https://a.test/de"}]]),
    }
)


@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(
    parts=st.lists(st.tuples(VALUES, st.integers(1, 9)), min_size=1, max_size=5),
    odd=VALUES,
    bucket=st.sampled_from([200, 1 << 20]),
)
def test_columns_that_say_one_thing_come_out_as_they_went_in(
    parts: list[tuple[schema.Row, int]],
    odd: schema.Row,
    bucket: int,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path_factory.mktemp("merge")
    monkeypatch.setattr(merging, "BUCKET_BYTES", bucket)
    empty = dict.fromkeys(schema.SCHEMAS["sightings"].names)
    alike = [[{**empty, **values} for _ in range(count)] for values, count in parts]
    told = [*alike, [{**empty, **odd}, {**alike[0][0]}]]
    for number, row in enumerate(row for part in told for row in part):
        row["url"] = f"https://a.test/{number:03d}"
    tables = [schema.table("sightings", part) for part in told]
    paths = written(folder, "sightings", tables, small=True)

    merged = pa.concat_tables(merging.ordered("sightings", [Stored(paths=paths)], folder / "spool"))

    key = [("site", "ascending"), ("url", "ascending")]
    assert merged.equals(pa.concat_tables(tables).sort_by(key))


def test_all_rows_of_a_key_come_in_one_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "BUCKET_BYTES", 100)
    keys = [(site, number % 7) for number in range(300) for site in SITES]
    paths = written(tmp_path / "in", "sightings", [sightings(keys), sightings(keys)])

    merged = list(merging.ordered("sightings", [Stored(paths=paths)], tmp_path / "spool"))

    urls = [set(table["url"].to_pylist()) for table in merged]
    assert len([part for part in urls if part]) > 3
    assert sum(len(part) for part in urls) == len(set.union(*urls)) == 14


def test_ten_times_the_pages_take_no_more_of_arrows_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "BUCKET_BYTES", 100_000)
    monkeypatch.setattr(files, "GROUP_BYTES", 200_000)

    few, many = (peak_of_merging(tmp_path / str(count), count) for count in (200, 2_000))

    assert 100_000 < many < few * 1.1 + 50_000


def peak_of_merging(folder: Path, count: int) -> int:
    """Return the most bytes that Arrow held whenever a part of so many pages was written."""
    read = [samples.reading(f"/{n:05d}", f"{n:05d}" * 800, chunks=0) for n in range(count)]
    told = [rows.page(one, run_id="r", settings_hash="s") for one in read]
    batches = [schema.table("pages", told[at : at + 50]) for at in range(0, count, 50)]
    paths = written(folder, "pages", batches)
    del batches
    before, peak, seen = pa.total_allocated_bytes(), 0, 0
    writer = files.Writer(folder / "all.parquet", "pages")
    for part in merging.ordered("pages", [Stored(paths=paths)], folder / "spool"):
        writer.add(part)
        seen += part.num_rows
        peak = max(peak, pa.total_allocated_bytes() - before)
    writer.close()
    assert seen == count
    return peak


def test_few_keys_are_enough_to_cut_many_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "_MOST_SAMPLES", 50)
    monkeypatch.setattr(merging, "BUCKET_BYTES", 1)
    told = [sightings([(SITES[0], number)]) for number in range(200)]
    paths = written(tmp_path / "in", "sightings", told)

    bounds = merging.bounds("sightings", [Stored(paths=paths)])

    assert 20 < len(bounds) <= 50
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("bucket", [100, 1 << 20], ids=["on disk", "in memory"])
def test_what_is_told_again_replaces_what_was_told_before(
    bucket: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "BUCKET_BYTES", bucket)
    first = alerts([("a", "old"), ("b", "only"), ("a", "newer")])
    paths = written(tmp_path / "in", "alerts", [first, alerts([("a", "last")])])

    merged = pa.concat_tables(merging.ordered("alerts", [Stored(paths=paths)], tmp_path / "spool"))

    assert merged.select(["subject", "message"]).to_pylist() == [
        {"subject": "a", "message": "last"},
        {"subject": "b", "message": "only"},
    ]


def test_a_source_keeps_to_its_site_and_leaves_out_urls(tmp_path: Path) -> None:
    paths = written(
        tmp_path / "in", "sightings", [sightings([(s, n) for s in SITES for n in (1, 2)])]
    )
    source = Stored(paths=paths, site=SITES[0], without=pa.array([f"{SITES[0]}/001"]))

    assert [table["url"].to_pylist() for table in source.tables()] == [[f"{SITES[0]}/002"]]


def test_a_source_of_some_sites_reads_only_the_row_groups_that_may_have_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "GROUP_ROWS", 10)
    keys = [(site, number) for site in SITES for number in range(10)]
    (path,) = written(tmp_path / "in", "sightings", [sightings(keys)])
    one, both, none = (
        Stored(paths=[path], sites=frozenset(sites)) for sites in (SITES[:1], SITES, ())
    )

    assert {row for table in one.tables() for row in table["site"].to_pylist()} == {SITES[0]}
    assert sum(table.num_rows for table in both.tables()) == 20
    assert list(none.tables()) == []
    assert 0 == none.weight() < one.weight() < both.weight()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "0-000001.parquet"
    path.write_bytes(b"PAR1 no more than that PAR1")

    with pytest.raises(OSError, match=r"damaged file .*0-000001\.parquet"):
        list(Stored(paths=[path]).tables())


def test_row_groups_have_a_bound_in_rows_and_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "GROUP_ROWS", 100)
    monkeypatch.setattr(files, "GROUP_BYTES", 4_000)
    table = sightings([(SITES[0], number) for number in range(450)])

    files.write(tmp_path / "0.parquet", "sightings", table)

    meta = pq.read_metadata(tmp_path / "0.parquet")
    sizes = [meta.row_group(group).num_rows for group in range(meta.num_row_groups)]
    assert sum(sizes) == 450
    assert max(sizes) <= 100
