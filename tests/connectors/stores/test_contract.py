"""What every store keeps: pages are replaced as a whole, found again by all they carry."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

from connectors.stores import Hit, Store
from flows import steps
from flows.filters import COLUMNS, Filter
from flows.schema import SCHEMAS
from flows.steps import Space
from tests.chunked import EMBEDDER, SITE, SPACE, indexed, page
from tests.samples import NOON

Open = Callable[..., Store]
ONE, TWO = f"{SITE}/one", f"{SITE}/two"
OTHER = "https://b.test"


@pytest.fixture
def store(opened: Open) -> Store:
    made = opened()
    made.prepare(SPACE)
    return made


def put(store: Store, *pages: pa.Table, site: str = SITE) -> pa.Table:
    rows = indexed(*pages)
    store.replace(site, rows["url"].unique().to_pylist(), rows)
    return rows


def ask(store: Store, question: str, count: int = 100, *where: Filter) -> list[Hit]:
    return store.search(EMBEDDER.embed([question])[0], count, where)


def texts(store: Store, *where: Filter) -> list[str]:
    """Return all texts of a store, sorted."""
    return sorted(hit.chunk["text"] for hit in ask(store, "anything", 1000, *where))


def told(rows: pa.Table) -> list[dict[str, Any]]:
    return sorted(rows.select(SCHEMAS["chunks"].names).to_pylist(), key=lambda row: row["chunk_id"])


def test_nothing_is_there_before_anything_is_written(store: Store) -> None:
    assert store.sites() == set()
    assert [part for part in store.held(SITE) if part.num_rows] == []
    assert store.vectors(["none"]) == {}
    assert ask(store, "anything") == []


def test_several_that_prepare_a_store_at_once_make_one_table(opened: Open) -> None:
    made, start = [opened() for _ in range(4)], threading.Barrier(4)
    faults: list[Exception] = []

    def prepare(store: Store) -> None:
        start.wait()
        try:
            store.prepare(SPACE)
        except Exception as fault:  # whatever it is, it is told below
            faults.append(fault)

    threads = [threading.Thread(target=prepare, args=(store,)) for store in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert faults == []
    assert {store.space() for store in made} == {SPACE}


def test_every_column_comes_back_as_it_was_given(store: Store) -> None:
    rows = put(store, page(ONE, "first words", "second words"), page(TWO, "other words"))

    found = [dict(hit.chunk) for hit in ask(store, "words")]
    assert sorted(found, key=lambda row: row["chunk_id"]) == told(rows)


def test_absent_stays_absent(store: Store) -> None:
    nothing = dict.fromkeys(("title", "anchor", "lang", "sitemap", "lastmod"))
    rows = put(store, page(ONE, "first words", heading_path=[], **nothing))

    assert [dict(hit.chunk) for hit in ask(store, "words")] == told(rows)


def test_a_page_that_became_shorter_keeps_no_old_tail(store: Store) -> None:
    put(store, page(ONE, "head", "middle", "tail"))
    put(store, page(ONE, "head", "new middle"))

    assert texts(store) == ["head", "new middle"]


def test_a_chunk_whose_text_stayed_has_what_is_new_beside_it(store: Store) -> None:
    put(store, page(ONE, "head", "tail"))
    rows = put(store, page(ONE, "head", "tail", title="New title", run_id="20250101T000000000-0"))

    found = [dict(hit.chunk) for hit in ask(store, "head")]
    assert sorted(found, key=lambda row: row["chunk_id"]) == told(rows)


def test_replacing_a_page_leaves_others_alone(store: Store) -> None:
    put(store, page(ONE, "one"), page(TWO, "two"))
    put(store, page(ONE, "the same address elsewhere", site=OTHER), site=OTHER)
    put(store, page(ONE, "new one"))

    assert texts(store) == ["new one", "the same address elsewhere", "two"]


def test_replacing_once_more_changes_nothing(store: Store) -> None:
    rows = put(store, page(ONE, "one"), page(TWO, "two", "three"))
    before = told(rows)
    put(store, page(ONE, "one"), page(TWO, "two", "three"))

    found = [dict(hit.chunk) for hit in ask(store, "one")]
    assert sorted(found, key=lambda row: row["chunk_id"]) == before


def test_a_page_that_lost_all_chunks_is_gone(store: Store) -> None:
    put(store, page(ONE, "one"), page(TWO, "two"))
    store.replace(SITE, [ONE], steps.schema(SPACE).empty_table())

    assert texts(store) == ["two"]


def test_removed_pages_are_gone_and_removing_them_again_is_no_fault(store: Store) -> None:
    put(store, page(ONE, "one", "more"), page(TWO, "two"))
    put(store, page(ONE, "elsewhere", site=OTHER), site=OTHER)
    for _ in range(2):
        store.remove(SITE, [ONE, f"{SITE}/never seen"])

    assert texts(store) == ["elsewhere", "two"]
    assert store.sites() == {SITE, OTHER}


def test_what_it_holds_is_told_as_the_corpus_would_tell_it(store: Store) -> None:
    rows = put(store, page(ONE, "one", "more"), page(TWO, "two"))
    put(store, page(ONE, "elsewhere", site=OTHER), site=OTHER)

    by_url = [("url", "ascending")]
    assert steps.pages(store.held(SITE)).sort_by(by_url) == steps.pages([rows]).sort_by(by_url)


def test_vectors_are_found_by_the_text_that_they_are_of(store: Store) -> None:
    rows = put(store, page(ONE, "one", "more"), page(TWO, "one"))
    hashes = rows["text_hash"].to_pylist()

    found = store.vectors([*hashes, steps.text_hash("never seen")])
    assert set(found) == set(hashes)
    for key, vector in zip(hashes, rows["vector"].to_pylist(), strict=True):
        assert list(found[key]) == pytest.approx(vector, abs=1e-7)


def test_a_search_returns_the_nearest_first(store: Store) -> None:
    put(store, page(ONE, "apples and pears", "trains in winter"), page(TWO, "apples"))
    found = ask(store, "apples and pears", 2)

    assert [hit.chunk["text"] for hit in found] == ["apples and pears", "apples"]
    assert found[0].score == pytest.approx(1, abs=1e-5)
    assert found[0].score > found[1].score
    assert found[0].link == f"{ONE}#part-0"


@pytest.mark.parametrize("column", sorted(COLUMNS))
def test_every_column_can_be_filtered_on(store: Store, column: str) -> None:
    mine = {"lastmod": NOON - timedelta(days=3), "fetched_at": NOON + timedelta(days=3)}
    words = {"run_id": "r2", "title": "It's", "content_hash": "h", "lang": "de", "method": "link"}
    numbers = {"chunk_index": 7, "token_count": 77, "start": 700, "end": 777}
    other = page(
        TWO, "wanted", heading_path=["Else"], anchor="x", sitemap="s", **mine, **words, **numbers
    )
    put(store, page(ONE, "one", "more"))
    put(store, other.set_column(2, "site", [[OTHER]]).cast(other.schema), site=OTHER)
    [wanted] = ask(store, "wanted", 1, Filter("text", "=", "wanted"))
    value = wanted.chunk[column]
    one = (
        Filter(column, "has", value[0]) if column == "heading_path" else Filter(column, "=", value)
    )

    assert texts(store, one) == ["wanted"]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ((Filter("chunk_index", "<", 1),), ["0"]),
        ((Filter("chunk_index", ">=", 1), Filter("chunk_index", "<=", 2)), ["1", "2"]),
        ((Filter("chunk_index", "in", (0, 3)),), ["0", "3"]),
        ((Filter("text", "in", ()),), []),
        ((Filter("text", "in", ("2", "it's")),), ["2"]),
        ((Filter("heading_path", "has", "Part 3"),), ["3"]),
        ((Filter("lastmod", ">", NOON - timedelta(seconds=1)),), ["0", "1", "2", "3"]),
        ((Filter("lastmod", ">", NOON),), []),
        ((Filter("title", "=", "a\0b' OR 1=1 --"),), []),
    ],
)
def test_filters_compare(store: Store, where: tuple[Filter, ...], found: list[str]) -> None:
    put(store, page(ONE, "0", "1", "2", "3"))

    assert texts(store, *where) == found


def test_a_filter_does_not_make_a_search_return_less_than_there_is(store: Store) -> None:
    put(store, page(ONE, *(f"apples {number}" for number in range(300))), page(TWO, "pears"))
    store.tidy(done=True)

    [hit] = ask(store, "apples", 3, Filter("url", "=", TWO))
    assert hit.chunk["text"] == "pears"


@pytest.mark.parametrize(
    "space", [Space(model="hashing-1", dimension=64), Space(model="other", dimension=48)], ids=str
)
def test_vectors_of_another_space_are_refused_in_one_line(
    store: Store, opened: Open, space: Space
) -> None:
    put(store, page(ONE, "one"))
    with pytest.raises(ValueError, match=r"holds vectors of .* cannot be mixed") as refused:
        opened().prepare(space)

    assert "\n" not in str(refused.value)
    assert str(space) in str(refused.value)
    assert texts(store) == ["one"]


def test_another_table_of_the_same_store_is_another_index(store: Store, opened: Open) -> None:
    other = opened("other")
    other.prepare(Space(model="other", dimension=5))
    put(store, page(ONE, "one"))

    assert other.sites() == set()
    assert other.space() == Space(model="other", dimension=5)


def test_it_is_found_again_as_it_was_left(store: Store, opened: Open) -> None:
    put(store, page(ONE, "one"))
    store.close()
    again = opened()
    again.prepare(SPACE)

    assert again.space() == SPACE
    assert texts(again) == ["one"]


AWKWARD = [
    "naïve café “quoted” 汉字 🐍 العربية e\u0301",
    "it's; DROP TABLE chunks; -- \\' \" ` $1 %s {0} :name",
    "tab\there\r\nand there\\N \\. \\n \x01\x1f\x7f",
    "nul \0 and surrogate \ud800",
    "   ",
    "word " * 100_000,
]


@pytest.mark.parametrize("text", AWKWARD, ids=range(len(AWKWARD)))
def test_awkward_texts_travel_unharmed(store: Store, text: str) -> None:
    url = f"{SITE}/it's?q=%22\"{text[:30].strip()}"
    name = text[:60]
    rows = put(store, page(url, text, "beside", title=name, heading_path=[name], anchor=name))
    url, title = rows["url"][0].as_py(), rows["title"][0].as_py()
    found = ask(store, text, 10, Filter("url", "=", url), Filter("heading_path", "has", title))

    assert sorted((dict(hit.chunk) for hit in found), key=lambda row: row["chunk_id"]) == told(rows)
    store.remove(SITE, [url])
    assert texts(store) == []


def test_many_pages_are_replaced_and_removed_at_once(store: Store) -> None:
    most = min(store.capabilities.batch_rows, 700)
    urls = [f"{SITE}/{number}" for number in range(most)]
    put(store, *(page(url, f"text of {url}") for url in urls))
    store.remove(SITE, urls[3:])

    assert texts(store) == [f"text of {url}" for url in urls[:3]]


def test_a_reader_sees_each_page_as_it_was_or_as_it_is(store: Store, opened: Open) -> None:
    put(store, page(ONE, *(f"{part} of 0" for part in range(20))))
    reader, over, seen = opened(), threading.Event(), []

    def read() -> None:
        while not over.is_set():
            seen.append([text.rpartition(" ")[2] for text in texts(reader)])

    thread = threading.Thread(target=read)
    thread.start()
    for version in range(1, 15):
        put(store, page(ONE, *(f"{part} of {version}" for part in range(20))))
    over.set()
    thread.join()

    assert {len(versions) for versions in seen} == {20}
    assert {len(set(versions)) for versions in seen} == {1}
    assert {text.rpartition(" ")[2] for text in texts(reader)} == {"14"}


def test_tidying_changes_nothing_that_is_seen(store: Store) -> None:
    rows = put(store, page(ONE, "one", "more"), page(TWO, "two"))
    for _ in range(3):
        put(store, page(TWO, "two"))
        store.tidy(done=True)

    found = [dict(hit.chunk) for hit in ask(store, "one")]
    assert sorted(found, key=lambda row: row["chunk_id"]) == told(rows)
    assert ask(store, "two", 1)[0].chunk["url"] == TWO
