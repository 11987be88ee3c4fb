"""The dataset is the checkpoint: what is committed is found again, and only that."""

import multiprocessing
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import duckdb
import pandas as pd
import polars as pl
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from connectors.dataset import Dataset, Run, completion, corpus, files, merging, reported
from connectors.parquet import ParquetSink
from flows import neighbours
from flows.records import (
    Attribution,
    Entry,
    Method,
    Outcome,
    Reading,
    Row,
    Severity,
    Sighting,
)
from flows.schema import CORPUS, TABLES
from flows.urls import hash64
from tests import samples
from tests.samples import NOON, SITE

OTHER = "https://b.test"


def open_run(root: Path, settings: str = "s", plan: str = "p") -> Run:
    return Dataset(root).open_run(settings, "1", plan=plan)


def write(run: Run, *said: Row, sites: tuple[str, ...] = (SITE,), ended: bool = True) -> None:
    """Have the run's sink take rows, as one start of the flow would."""
    sink = ParquetSink(run, sites, run.settings_hash)
    parts: dict[int, Any] = {}
    for row in said:
        number = run.shard_of(row.entry.site if hasattr(row, "entry") else row.site)
        if number not in parts:
            parts[number] = sink.build_part("write", str(number), None)
        parts[number].write_batch([row])
    for part in parts.values():
        if ended:
            part.snapshot()
        part.close()


def ingest(root: Path, *said: Row, status: str = "complete") -> Run:
    """Write a whole run of one site."""
    run = open_run(root)
    rows = sum(isinstance(row, (type(samples.reading()), type(samples.failure()))) for row in said)
    write(run, *said, samples.end(rows, status=status))
    return run


def rows(folder: Path) -> list[dict[str, Any]]:
    return ds.dataset(folder, format="parquet").to_table().to_pylist()


def pages(root: Path) -> dict[str, str]:
    return {row["url"]: row["markdown"] for row in rows(root / "corpus" / "pages")}


# A run


def test_a_run_is_taken_up_again_until_it_is_complete(tmp_path: Path) -> None:
    first = open_run(tmp_path)
    again = open_run(tmp_path)
    write(again, samples.reading(), samples.end(1))
    after = open_run(tmp_path)

    assert again.id == first.id
    assert again.started_at == first.started_at
    assert after.id > first.id


def test_processes_that_start_at_once_share_one_run(tmp_path: Path) -> None:
    found: list[str] = []
    context = multiprocessing.get_context("spawn")
    with context.Pool(4) as pool:
        found = pool.map(_run_id, [tmp_path] * 4)

    assert len(set(found)) == 1
    assert [path.name for path in (tmp_path / "runs").iterdir()] == found[:1]


def _run_id(root: Path) -> str:
    return open_run(root).id


def test_run_ids_sort_by_time_even_if_the_clock_goes_back(tmp_path: Path) -> None:
    (tmp_path / "runs" / "29990101T000000000-ffff").mkdir(parents=True)

    assert open_run(tmp_path).id > "29990101T000000000-ffff"


def test_what_is_not_for_readers_stays_out_of_the_runs(tmp_path: Path) -> None:
    run = open_run(tmp_path)
    write(run, samples.reading(), samples.sighting(), ended=False)

    assert [path.name for path in (tmp_path / "runs").iterdir()] == [run.id]
    assert sorted(path.name for path in run.folder.iterdir()) == sorted(TABLES)
    assert all(path.suffix == ".parquet" for path in run.folder.glob("*/*"))


@pytest.mark.parametrize("other", [("other", "p"), ("s", "other")], ids=["settings", "plan"])
def test_an_unfinished_run_of_another_kind_is_closed_as_interrupted(
    tmp_path: Path, other: tuple[str, str]
) -> None:
    old = open_run(tmp_path)
    write(old, samples.reading(), ended=False)

    new = open_run(tmp_path, *other)

    told = reported.read(old.folder)
    assert new.id != old.id
    assert (told["status"], told["total"]["outcomes"]) == ("interrupted", {"ok": 1})
    assert pages(tmp_path) == {}


def test_a_second_run_is_refused_while_one_is_at_work(tmp_path: Path) -> None:
    run = open_run(tmp_path)
    run.claim(0)
    context = multiprocessing.get_context("spawn")

    with context.Pool(1) as pool, pytest.raises(ValueError, match="another run is writing to"):
        pool.apply(_run_id, [tmp_path])


def test_a_folder_that_cannot_be_written_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")

    with pytest.raises(OSError, match=r"cannot use the dataset folder .*data: \S.*") as refused:
        open_run(tmp_path / "data")
    assert len(str(refused.value).splitlines()) == 1


def test_a_damaged_pointer_is_named(tmp_path: Path) -> None:
    open_run(tmp_path)
    (tmp_path / ".current").write_text('{"run_id": "x"}')

    with pytest.raises(ValueError, match=r"\.current is damaged"):
        open_run(tmp_path)


@pytest.mark.parametrize("table", TABLES)
def test_every_table_opens_from_the_first_moment_on(table: str, tmp_path: Path) -> None:
    run = open_run(tmp_path)

    assert len(pd.read_parquet(run.folder / table)) == 0
    if table in ("pages", "chunks"):
        assert len(pd.read_parquet(tmp_path / "corpus" / table)) == 0


# What is committed is found again


def test_committed_urls_and_links_are_those_with_a_row(tmp_path: Path) -> None:
    said = samples.reading("/a", link="/x"), samples.failure("/b"), samples.reading("/c", link="/y")
    write(open_run(tmp_path), *said[:2], ended=True)

    run = open_run(tmp_path)

    assert run.committed_urls(SITE) == {hash64(f"{SITE}/a"), hash64(f"{SITE}/b")}
    assert [(page, link.url) for page, link in run.committed_links(SITE)] == [
        (f"{SITE}/a", f"{SITE}/x")
    ]
    assert run.committed_urls(OTHER) == set()


def test_links_of_pages_that_were_left_out_are_found_again(tmp_path: Path) -> None:
    left_out = samples.failure("/noindex", Outcome.NOINDEX)
    linked = samples.reading("/a", link="/from-a")
    twin = samples.reading("/twin", linked.document.markdown, link="/from-twin")
    run = open_run(tmp_path)
    write(
        run,
        linked,
        twin,
        left_out.__class__(entry=left_out.entry, outcome=left_out.outcome, links=linked.links),
    )

    found = {(page, link.url, link.rel) for page, link in open_run(tmp_path).committed_links(SITE)}

    assert found == {
        (f"{SITE}/a", f"{SITE}/from-a", "next"),
        (f"{SITE}/twin", f"{SITE}/from-twin", "next"),
        (f"{SITE}/noindex", f"{SITE}/from-a", "next"),
    }


def test_rows_that_were_not_committed_are_gone_after_a_crash(tmp_path: Path) -> None:
    run = open_run(tmp_path)
    write(run, samples.reading("/first"), samples.reading("/waiting"), ended=False)

    assert open_run(tmp_path).committed_urls(SITE) == {hash64(f"{SITE}/first")}


def test_files_without_their_urls_are_removed(tmp_path: Path) -> None:
    run = open_run(tmp_path)
    write(run, samples.reading())
    number = run.shard_of(SITE)
    (file,) = run.folder.glob(f"pages/{number}-*.parquet")
    orphan = file.with_name(f"{number}-000999.parquet")
    orphan.write_bytes(file.read_bytes())

    open_run(tmp_path)

    assert file.exists()
    assert not orphan.exists()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    run = open_run(tmp_path)
    write(run, samples.reading())
    (file,) = run.folder.glob(f"urls/{run.shard_of(SITE)}-*.parquet")
    file.write_bytes(file.read_bytes()[:-20])

    with pytest.raises(OSError, match=file.name):
        open_run(tmp_path).committed_urls(SITE)


# The corpus


def test_the_corpus_of_a_site_appears_when_all_its_rows_have_arrived(tmp_path: Path) -> None:
    run = open_run(tmp_path)
    write(run, samples.end(2, notes=1), samples.reading("/b"), samples.reading("/a"))
    early = pages(tmp_path)
    write(open_run(tmp_path), samples.end(2, notes=1), samples.sighting("/a"))

    assert early == {}
    assert list(pages(tmp_path)) == [f"{SITE}/a", f"{SITE}/b"]


def test_the_corpus_keeps_what_a_run_has_no_better_word_on(tmp_path: Path) -> None:
    ingest(tmp_path, *(samples.reading(path, f"old {path}") for path in ("/a", "/b", "/c")))

    ingest(
        tmp_path,
        samples.reading("/a", "new /a"),
        samples.failure("/b", Outcome.SERVER_ERROR),
        samples.reading("/d", "new /d"),
    )

    assert pages(tmp_path) == {
        f"{SITE}/a": "new /a",
        f"{SITE}/b": "old /b",
        f"{SITE}/c": "old /c",
        f"{SITE}/d": "new /d",
    }
    texts = {row["text"] for row in rows(tmp_path / "corpus" / "chunks")}
    assert texts == set(pages(tmp_path).values())


def test_a_page_without_chunks_takes_its_old_chunks_along(tmp_path: Path) -> None:
    ingest(tmp_path, samples.reading("/a", "old"))
    ingest(tmp_path, samples.reading("/a", "new", chunks=0))

    assert pages(tmp_path) == {f"{SITE}/a": "new"}
    assert rows(tmp_path / "corpus" / "chunks") == []


def test_content_that_is_stored_keeps_its_address(tmp_path: Path) -> None:
    ingest(tmp_path, samples.reading("/old", "words"))
    ingest(tmp_path, samples.reading("/new", "words"), samples.reading("/old", "words"))

    assert pages(tmp_path) == {f"{SITE}/old": "words"}


def test_pages_with_nearly_the_same_words_are_marked_when_their_site_has_been_read(
    tmp_path: Path,
) -> None:
    words = " ".join(f"word{number}" for number in range(300))
    same = f"{words} and one more"

    def read(path: str, text: str) -> Reading:
        reading = samples.reading(path, text)
        signed = replace(reading.document, minhash=neighbours.signature(text))
        return replace(reading, document=signed)

    ingest(tmp_path, read("/one", words), read("/other", "other " * 30))
    before = rows(tmp_path / "corpus" / "pages")
    run = ingest(tmp_path, read("/far/away", same), samples.reading("/unsigned", f"{same} too"))
    told = {row["url"]: row["near_duplicate_of"] for row in rows(tmp_path / "corpus" / "pages")}

    assert {row["near_duplicate_of"] for row in before} == {None}
    assert told == {
        f"{SITE}/one": None,
        f"{SITE}/other": None,
        f"{SITE}/far/away": f"{SITE}/one",
        f"{SITE}/unsigned": None,
    }
    assert {row["near_duplicate_of"] for row in rows(run.folder / "pages")} == {None}


def test_a_run_that_brings_nothing_leaves_the_files_as_they_are(tmp_path: Path) -> None:
    ingest(tmp_path, samples.reading("/a"))
    before = {path: path.read_bytes() for path in (tmp_path / "corpus").rglob("*.parquet")}
    ingest(tmp_path, samples.failure("/a", Outcome.TIMEOUT))

    assert {path: path.read_bytes() for path in (tmp_path / "corpus").rglob("*.parquet")} == before


def test_a_site_of_which_nothing_is_stored_has_files_that_open(tmp_path: Path) -> None:
    ingest(tmp_path, samples.failure())

    for name in ("pages", "chunks"):
        assert pd.read_parquet(tmp_path / "corpus" / name / corpus.file_name(SITE)).empty


@pytest.mark.parametrize("bucket", [300, 8 << 20], ids=["on disk", "in memory"])
def test_a_large_site_is_sorted_by_url(
    bucket: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.dataset.merging.BUCKET_BYTES", bucket)
    paths = [f"/{number * 37 % 101:03d}" for number in range(101)]

    run = ingest(tmp_path, *(samples.reading(path) for path in paths))

    for folder in (tmp_path / "corpus" / "pages", run.folder / "pages", run.folder / "urls"):
        urls = [row["url"] for row in rows(folder)]
        assert urls == [SITE + path for path in sorted(paths)]
    chunks = [(row["url"], row["chunk_index"]) for row in rows(tmp_path / "corpus" / "chunks")]
    assert chunks == sorted(chunks)
    assert len(chunks) == 202


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.test", "https://a.test"),
        ("http://a.test:80", "http://a.test_80"),
        ("http://[::1]:80", "http://[::1:80]"),
        ("http://" + "a" * 300, "http://" + "a" * 301),
        ("http://a.test/../x", "http://a.test/..\\x"),
    ],
    ids=["scheme", "port", "address", "long", "path"],
)
def test_no_two_sites_share_a_file(one: str, other: str) -> None:
    names = {corpus.file_name(site) for site in (one, other)}

    assert len(names) == 2
    assert all(len(name) < 200 and "/" not in name and not name.startswith(".") for name in names)


def test_a_corpus_without_todays_columns_is_carried_on(tmp_path: Path) -> None:
    ingest(tmp_path, samples.reading("/a"))
    path = tmp_path / "corpus" / "pages" / corpus.file_name(SITE)
    old = pq.read_table(path)
    dropped = old.drop_columns(["extraction"]).append_column("gone", old["title"])
    pq.write_table(dropped, path)

    ingest(tmp_path, samples.reading("/b"))

    assert pq.read_table(path).column_names == old.column_names
    assert list(pages(tmp_path)) == [f"{SITE}/a", f"{SITE}/b"]


# The complete form


def test_a_complete_run_has_one_file_a_shard_and_its_report(tmp_path: Path) -> None:
    run = open_run(tmp_path)
    for number in range(20):
        write(run, samples.reading(f"/{number}"))
        run = open_run(tmp_path)
    small = len(list(run.folder.glob("urls/*.parquet")))
    write(run, samples.end(20))

    assert small > 20
    assert [path.name for path in run.folder.glob("urls/*")] == [f"{run.shard_of(SITE)}.parquet"]
    assert [path.name for path in run.folder.glob("sitemaps/*")] == ["empty.parquet"]
    assert reported.read(run.folder)["status"] == "complete"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".work", "corpus", "runs"]
    assert sorted(path.name for path in (tmp_path / ".work").iterdir()) == ["finish.lock", "lock"]


def test_sightings_are_folded_into_the_row_of_their_url(tmp_path: Path) -> None:
    run = open_run(tmp_path)
    write(run, samples.reading("/a"), samples.sighting("/a"))
    run = open_run(tmp_path)
    probe = samples.sighting("/a", method=samples.Method.PROBE)
    write(run, probe, probe, samples.sighting("/a"), samples.sighting("/unknown"), samples.end(1))

    (row,) = rows(run.folder / "urls")
    assert row["methods"] == ["robots", "link", "probe"]
    assert row["sitemaps"] == [f"{SITE}/sitemap.xml", f"{SITE}/probe.xml"]
    assert (row["method"], row["sitemap"]) == ("robots", f"{SITE}/sitemap.xml")


@pytest.mark.parametrize("bucket", [300, 4 << 20], ids=["on disk", "in memory"])
@pytest.mark.parametrize("killed", [False, True], ids=["in one go", "resumed"])
def test_every_table_names_the_sitemap_that_declared_a_page_after_a_link_had_found_it(
    killed: bool, bucket: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "BUCKET_BYTES", bucket)
    found = [by_link(f"/{number}") for number in range(9)]
    first, then = [*found, declared("/0")], [declared(f"/{n}") for n in range(1, 8)]
    run = open_run(tmp_path)
    if killed:
        write(run, *first)
        write(open_run(tmp_path), *then, samples.end(9))
    else:
        write(run, *first, *then, samples.end(9))

    by_list = ("robots", f"{SITE}/sitemap.xml", NOON)
    wanted = {f"{SITE}/{n}": by_list if n < 8 else ("link", None, None) for n in range(9)}
    tables = [run.folder / name for name in ("urls", *CORPUS)]
    for folder in (*tables, *(tmp_path / "corpus" / name for name in CORPUS)):
        told = {(r["url"], r["method"], r["sitemap"], r["lastmod"]) for r in rows(folder)}
        assert told == {(url, *said) for url, said in wanted.items()}


def test_a_declaration_says_nothing_of_pages_that_an_earlier_run_stored(tmp_path: Path) -> None:
    ingest(tmp_path, by_link("/old"))
    ingest(tmp_path, declared("/old"), by_link("/new"), declared("/new"))

    told = {row["url"]: row["method"] for row in rows(tmp_path / "corpus" / "pages")}
    assert told == {f"{SITE}/old": "link", f"{SITE}/new": "robots"}


def by_link(path: str) -> Reading:
    entry = Entry(site=SITE, url=SITE + path, attribution=Attribution(method=Method.LINK))
    return replace(samples.reading(path), entry=entry)


def declared(path: str) -> Sighting:
    return Sighting(entry=samples.entry(path))


def test_what_a_run_tells_again_never_stands_there_twice(tmp_path: Path) -> None:
    write(open_run(tmp_path), samples.sitemap(entries=1), samples.alert(), samples.alert("other"))
    run = open_run(tmp_path)
    again = samples.sitemap(entries=2), samples.alert(severity=Severity.ERROR)
    write(run, *again, samples.sitemap("/more.xml"), samples.sitemap("/more.xml", entries=9))
    running = [row["entries"] for row in rows(run.folder / "sitemaps")]
    alerts = len(rows(run.folder / "alerts"))
    write(open_run(tmp_path), samples.end(0))

    assert (running, alerts) == ([1, 3], 2)
    assert [row["entries"] for row in rows(run.folder / "sitemaps")] == [9, 2]
    assert [(row["kind"], row["severity"]) for row in rows(run.folder / "alerts")] == [
        ("no_baseline", "info"),
        ("no_sitemap", "error"),
        ("other", "warning"),
    ]


def test_a_run_is_complete_when_all_sites_of_all_shards_are(tmp_path: Path) -> None:
    sites = tuple(f"https://{number}.test" for number in range(9))
    run = open_run(tmp_path)
    for site in sites[:-1]:
        write(run, samples.reading(site=site), samples.end(1, site), sites=sites)
    early = run.is_complete
    said = [row for site in sites for row in (samples.reading(site=site), samples.end(1, site))]
    write(open_run(tmp_path), *said, sites=sites)

    told = reported.read(run.folder)
    assert not early
    assert (told["status"], told["total"]["outcomes"]) == ("complete", {"ok": 9})
    assert list(told["sites"]) == list(sites)


def test_a_site_without_rows_is_in_the_report(tmp_path: Path) -> None:
    run = open_run(tmp_path)
    write(run, samples.end(0, status="failed_unreachable"))

    told = reported.read(run.folder)
    assert told["status"] == told["sites"][SITE]["status"] == "failed_unreachable"


def test_more_rows_than_the_crawl_counted_are_a_broken_integrity(tmp_path: Path) -> None:
    run = open_run(tmp_path)
    write(run, samples.reading("/a"), samples.reading("/b"), samples.end(1))

    told = reported.read(run.folder)
    assert told["status"] == "failed_integrity"
    assert told["sites"][SITE]["detail"] == "1 URLs counted by the crawl but 2 rows"


def test_two_that_complete_a_run_at_once_do_no_harm(tmp_path: Path) -> None:
    run = open_run(tmp_path)
    write(run, samples.reading("/a"))
    told = run, {SITE: samples.end(1)}, [SITE]
    threads = [threading.Thread(target=completion.complete, args=told) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert reported.read(run.folder)["status"] == "complete"
    assert len(rows(run.folder / "urls")) == 1
    assert len(list((tmp_path / "runs").iterdir())) == 1


@pytest.fixture
def no_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "exchange", lambda *_: False)


@pytest.mark.usefixtures("no_exchange")
def test_a_system_that_cannot_swap_folders_swaps_in_two_steps(tmp_path: Path) -> None:
    run = ingest(tmp_path, samples.reading("/a"))

    assert reported.read(run.folder)["status"] == "complete"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".work", "corpus", "runs"]


@pytest.mark.usefixtures("no_exchange")
def test_a_death_between_the_two_steps_is_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def dies(path: Path, target: Path) -> Path:
        if path.name == "complete":
            raise KeyboardInterrupt
        return rename(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", dies)
        with pytest.raises(KeyboardInterrupt):
            ingest(tmp_path, samples.reading("/a"))
    missing = list((tmp_path / "runs").iterdir())
    new = open_run(tmp_path)

    assert missing == []
    (old,) = (path for path in (tmp_path / "runs").iterdir() if path.name != new.id)
    assert reported.read(old)["status"] == "complete"
    assert len(rows(old / "urls")) == 1


# Readers

EVERYWHERE = (*(f"runs/*/{name}" for name in TABLES), *(f"corpus/{name}" for name in CORPUS))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("dataset")
    ingest(root, samples.reading("/a", html=b"<p>"), samples.failure(), samples.alert())
    return root


@pytest.mark.parametrize(
    "table", [*(f"runs/*/{name}" for name in TABLES), "corpus/pages", "corpus/chunks"]
)
def test_every_common_reader_opens_every_table(table: str, dataset: Path, tmp_path: Path) -> None:
    (folder,) = dataset.glob(table)
    pattern = str(folder / "*.parquet")
    frame = pd.read_parquet(folder)
    with duckdb.connect() as connection:
        count = connection.execute("SELECT count(*) FROM read_parquet(?)", [pattern]).fetchone()
    streamed = datasets.load_dataset("parquet", data_files=pattern, split="train", streaming=True)

    assert count == (len(frame),)
    assert pl.read_parquet(pattern).shape == frame.shape
    assert ds.dataset(folder).to_table().shape == frame.shape
    assert len(list(streamed)) == len(frame)
    if len(frame):
        loaded = datasets.Dataset.from_parquet(pattern, cache_dir=str(tmp_path))
        assert loaded.shape == frame.shape


def test_files_are_zstd_with_statistics_to_prune_by(dataset: Path) -> None:
    (path,) = (dataset / "corpus" / "pages").glob("https*.parquet")
    group = pq.read_metadata(path).row_group(0)
    columns = {group.column(at).path_in_schema: group.column(at) for at in range(group.num_columns)}

    assert {column.compression for column in columns.values()} == {"ZSTD"}
    assert columns["url"].statistics.min == f"{SITE}/a"
    assert not columns["markdown"].is_stats_set


# What other runs are compared with


def test_the_baseline_is_what_the_corpus_holds(tmp_path: Path) -> None:
    ingest(tmp_path, samples.reading("/a"))
    dataset = Dataset(tmp_path)

    assert dataset.baseline(SITE).content(f"{SITE}/a") is not None
    assert dataset.baseline(SITE).content(f"{SITE}/b") is None
    assert len(dataset.baseline(OTHER)) == 0


def test_the_last_complete_run_of_a_site_is_found(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path)
    none = dataset.last_complete(SITE)
    whole = ingest(tmp_path, samples.reading("/a"))
    ingest(tmp_path, samples.reading("/a"), status="failed_blocked")
    open_run(tmp_path)

    assert none is None
    assert dataset.last_complete(SITE) == whole.id
    assert dataset.last_complete(OTHER) is None


def test_a_process_lets_go_of_its_lock_when_it_dies(tmp_path: Path) -> None:
    child = multiprocessing.get_context("spawn").Process(target=_dies_writing, args=(tmp_path,))
    child.start()
    child.join()

    open_run(tmp_path).claim(0)
    assert child.exitcode == 1


def _dies_writing(root: Path) -> None:
    open_run(root).claim(0)
    os._exit(1)
