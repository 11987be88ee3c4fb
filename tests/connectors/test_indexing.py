"""After each run of the index the store is the corpus, and only new texts were embedded."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from connectors import indexing, stores
from connectors.embedders.hashing import Hashing
from connectors.indexing import reports
from flows import index_report
from flows.settings.index import IndexSettings
from tests.chunked import SITE, page, publish
from tests.indexer import Counting, held, run, settings, wanted

OTHER = "https://b.test"


@pytest.fixture
def embedder() -> Counting:
    return Counting(Hashing(32))


@pytest.fixture
def told(address: str) -> IndexSettings:
    return settings(address)


def urls(*numbers: int) -> list[str]:
    return [f"{SITE}/{number}" for number in numbers]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Return a dataset: ten pages of three chunks, one of them the same on each."""
    publish(
        tmp_path,
        [page(url, f"head of {url}", "cookies", f"tail of {url}") for url in urls(*range(10))],
    )
    return tmp_path


def test_a_first_run_makes_the_store_equal_to_the_corpus(
    out: Path, embedder: Counting, told: IndexSettings
) -> None:
    report = run(out, told, embedder)

    assert held(out, told) == wanted(out)
    assert (report["status"], report["pages"], report["chunks"]) == ("complete", 10, 30)


def test_a_text_that_repeats_itself_is_embedded_once(
    out: Path, embedder: Counting, told: IndexSettings
) -> None:
    report = run(out, told, embedder)

    assert len(embedder.asked) == len(set(embedder.asked)) == 21
    assert (report["done"]["embedded"], report["done"]["reused"]) == (21, 9)


def test_a_second_run_does_nothing(out: Path, embedder: Counting, told: IndexSettings) -> None:
    run(out, told, embedder)
    embedder.asked.clear()
    report = run(out, told, embedder)

    assert embedder.asked == []
    assert (report["done"]["written"], report["done"]["removed"]) == (0, 0)
    assert report["status"] == "complete"


def test_only_what_is_new_is_embedded_and_no_stale_chunk_stays(
    out: Path, embedder: Counting, told: IndexSettings
) -> None:
    run(out, told, embedder)
    embedder.asked.clear()
    kept = [page(url, f"head of {url}", "cookies", f"tail of {url}") for url in urls(3, 4, 5, 6, 7)]
    one, two, new = urls(1, 2, 99)
    shorter, changed = (
        page(one, f"head of {one}"),
        page(two, f"head of {two}", "new middle", "cookies"),
    )
    publish(out, [*kept, shorter, changed, page(new, f"tail of {urls(9)[0]}", "all new")])
    report = run(out, told, embedder)

    assert held(out, told) == wanted(out)
    assert sorted(embedder.asked) == ["all new", "new middle"]
    assert report["done"] == {
        **report["done"],
        "written": 3,
        "removed": 3,
        "embedded": 2,
        "reused": 4,
        "repaired": 0,
    }


def test_a_page_fetched_again_is_told_anew_without_being_embedded(
    out: Path, embedder: Counting, told: IndexSettings
) -> None:
    run(out, told, embedder)
    embedder.asked.clear()
    [url] = urls(1)
    texts = f"head of {url}", "cookies", f"tail of {url}"
    publish(out, [page(url, *texts, run_id="20250101T000000000-0001", sitemap=None)])
    run(out, told, embedder)

    assert held(out, told) == wanted(out)
    assert embedder.asked == []


def test_a_site_that_left_the_corpus_leaves_the_store(
    out: Path, embedder: Counting, told: IndexSettings
) -> None:
    publish(out, [page(f"{OTHER}/", "elsewhere", site=OTHER)], OTHER)
    run(out, told, embedder)
    publish(out, [], OTHER)
    report = run(out, told, embedder)

    assert held(out, told) == wanted(out)
    assert {row["site"] for row in wanted(out)} == {SITE}
    assert list(report["sites"]) == [SITE]


def test_everything_is_written_again_when_asked_and_nothing_is_embedded(
    out: Path, embedder: Counting, told: IndexSettings
) -> None:
    run(out, told, embedder)
    embedder.asked.clear()
    report = run(out, replace(told, full=True), embedder)

    assert held(out, told) == wanted(out)
    assert embedder.asked == []
    assert (report["done"]["written"], report["done"]["repaired"]) == (10, 0)


def damage(out: Path, told: IndexSettings, what: str) -> None:
    """Change the store behind the back of the index."""
    index = indexing.open_index(out, told, Hashing(32))
    [one] = urls(1)
    if what == "lost":
        index.store.remove(SITE, [one])
    elif what == "foreign":
        index.write(index.embed(indexing.Pages(site=SITE, urls=(one,), rows=page(one, "x"))))
    else:
        strange = page(f"{SITE}/strange", "never was", "in the corpus")
        index.write(index.embed(indexing.Pages(site=SITE, urls=(f"{SITE}/strange",), rows=strange)))
    index.store.close()


@pytest.mark.parametrize("what", ["lost", "foreign", "strange"])
def test_whatever_happened_to_the_store_is_repaired(
    out: Path, embedder: Counting, what: str, told: IndexSettings
) -> None:
    run(out, told, embedder)
    damage(out, told, what)
    assert held(out, told) != wanted(out)
    run(out, told, embedder)

    assert held(out, told) == wanted(out)


def test_a_large_site_is_read_in_batches_of_whole_pages(
    tmp_path: Path, told: IndexSettings
) -> None:
    pages = [
        page(f"{SITE}/{n:04}", *(f"{n} {part}" for part in range(n % 7 + 1))) for n in range(600)
    ]
    long = page(f"{SITE}/long", *(f"long {part}" for part in range(1_200)))
    publish(tmp_path, [*pages, long])
    index = indexing.open_index(tmp_path, told, Hashing(8))
    batches = list(index.batches(SITE, index.difference(SITE)))
    index.store.close()
    seen = [url for batch in batches for url in batch.urls]

    assert len(seen) == len(set(seen)) == 601
    assert sum(batch.rows.num_rows for batch in batches) == len(wanted(tmp_path))
    assert len(batches) > 5
    assert max(batch.rows.num_rows for batch in batches) < indexing.BATCH_ROWS + 1_300


def test_other_vectors_are_refused_in_one_line(out: Path, told: IndexSettings) -> None:
    run(out, told, Hashing(32))
    with pytest.raises(ValueError, match=r"hashing-1, 32 dimensions.*hashing-1, 64 dimensions"):
        run(out, told, Hashing(64))


def test_two_runs_do_not_write_to_one_store(
    out: Path, embedder: Counting, told: IndexSettings
) -> None:
    """Another process has the lock; a process of its own is what the lock tells apart."""
    place = reports.place(out, told).with_suffix(".lock")
    place.parent.mkdir(parents=True)
    held_by = (
        "import sys, pathlib\nfrom connectors.dataset.locks import Lock\n"
        "lock = Lock(pathlib.Path(sys.argv[1])); print(lock.take(wait=False), flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", held_by, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout.readline() == b"True\n"
        with pytest.raises(ValueError, match="another run is writing"):
            run(out, told, embedder)
        other.communicate(b"\n")


def line(out: Path) -> tuple[str, bool]:
    [report] = reports.read(out)
    return index_report.line(report), index_report.is_in_step(report)


def test_the_report_says_whether_the_index_is_in_step(
    out: Path, embedder: Counting, told: IndexSettings
) -> None:
    run(out, told, embedder)
    assert line(out)[1]
    assert "complete, 10 pages, 30 chunks" in line(out)[0]

    publish(out, [page(urls(1)[0], "another text")])
    assert not line(out)[1]
    assert "behind, the corpus of one site has changed" in line(out)[0]

    run(out, told, embedder)
    assert line(out)[1]


def test_a_run_that_did_not_end_says_so(out: Path, embedder: Counting, told: IndexSettings) -> None:
    index = indexing.open_index(out, told, embedder)
    reports.begin(reports.place(out, told), index, told, out)
    index.store.close()

    assert not line(out)[1]
    assert "not finished" in line(out)[0]


class Failing(Counting):
    """An endpoint that goes away after the first texts."""

    def embed(self, texts: Any) -> list[list[float]]:
        if self.asked:
            raise indexing.EmbeddingError("http://127.0.0.1:1/v1 does not answer")
        return super().embed(texts)


def test_an_embedder_that_fails_ends_the_run_as_incomplete(
    tmp_path: Path, told: IndexSettings
) -> None:
    publish(
        tmp_path, [page(f"{SITE}/{n}", *(f"{n} {part}" for part in range(100))) for n in range(30)]
    )
    report = run(tmp_path, told, Failing(Hashing(32)))

    assert report["status"] == "incomplete"
    assert 0 < report["done"]["written"] < 30
    assert "pages are right; http://127.0.0.1:1/v1 does not answer" in line(tmp_path)[0]
    assert run(tmp_path, told, Hashing(32))["status"] == "complete"
    assert held(tmp_path, told) == wanted(tmp_path)


def test_a_dataset_without_a_corpus_is_refused_in_one_line(
    tmp_path: Path, told: IndexSettings
) -> None:
    with pytest.raises(ValueError, match=r"run flows\.ingest first"):
        indexing.open_index(tmp_path, told)


def test_a_password_is_shown_nowhere() -> None:
    told = settings("postgresql://me:hidden@db.test/x")

    assert "hidden" not in repr(told)
    assert "hidden" not in stores.shown(told.url)
