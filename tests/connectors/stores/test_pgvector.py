"""What is PostgreSQL's own: the extension, the HNSW index, long vectors, a server that is away."""

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from connectors import indexing
from connectors.stores import Store, StoreError, open_store, pgvector
from flows.filters import Filter
from flows.steps import Space
from tests.chunked import EMBEDDER, SITE, SPACE, indexed, page
from tests.postgres import Server

QUESTION = EMBEDDER.embed(["apples"])[0]


@pytest.fixture
def store(server: Server) -> Iterator[Store]:
    with closing(open_store(server.address())) as made:
        made.prepare(SPACE)
        yield made


def fill(store: Store, pages: int) -> None:
    rows = indexed(*(page(f"{SITE}/{n}", f"apples {n}", f"pears {n}") for n in range(pages)))
    store.replace(SITE, rows["url"].unique().to_pylist(), rows)


def test_the_extension_is_made_in_a_database_without_it(server: Server) -> None:
    with closing(open_store(server.database())) as store:
        store.prepare(SPACE)
        fill(store, 1)

        assert store.space() == SPACE


def plan(address: str, dimension: int, type_: str, column: str) -> str:
    with psycopg.connect(address) as connection:
        connection.execute("SET enable_seqscan = off")
        vector = f"'{[1] * dimension}'::{type_}"
        asked = f"EXPLAIN SELECT url FROM chunks ORDER BY {column} <=> {vector} LIMIT 3"  # noqa: S608
        return "\n".join(row[0] for row in connection.execute(asked))


@pytest.mark.parametrize(
    ("dimension", "type_", "column", "indexed_"),
    [
        (48, "vector(48)", "vector", True),
        (3_000, "halfvec(3000)", "(vector::halfvec(3000))", True),
        (5_000, "vector(5000)", "vector", False),
    ],
)
def test_vectors_have_an_hnsw_index_where_their_length_allows(
    server: Server,
    dimension: int,
    type_: str,
    column: str,
    indexed_: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = server.address()
    space = Space(model="m", dimension=dimension)
    rows = page(f"{SITE}/", "one", "two")
    vectors = [[1.0] * dimension, [1.0, -1.0] * (dimension // 2)]
    monkeypatch.setattr(pgvector, "EXACT_ROWS", 0)
    with closing(open_store(address)) as store:
        store.prepare(space)
        store.replace(SITE, [f"{SITE}/"], indexing.indexed(rows, vectors, space))
        for _ in range(2):
            store.tidy(done=True)
        found = store.search(vectors[1], 5)

    assert ("chunks_vector" in plan(address, dimension, type_, column)) == indexed_
    assert [hit.chunk["text"] for hit in found] == ["two", "one"]


def test_a_filter_that_few_rows_pass_finds_them_in_spite_of_the_index(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pgvector, "EXACT_ROWS", 0)
    fill(store, 2_000)
    store.tidy(done=True)
    found = store.search(QUESTION, 10, [Filter("url", "in", (f"{SITE}/7", f"{SITE}/1999"))])

    assert {hit.chunk["text"] for hit in found} == {
        "apples 7",
        "pears 7",
        "apples 1999",
        "pears 1999",
    }


def test_a_server_that_is_not_there_is_told_in_one_line_without_the_password() -> None:
    with pytest.raises(ValueError, match="no database at") as refused:
        open_store("postgresql://me:hidden@127.0.0.1:1/none")

    assert "hidden" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_connection_that_broke_is_one_fault_and_then_made_again(
    store: Store, server: Server
) -> None:
    fill(store, 1)
    with psycopg.connect(server.uri, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            "AND datname IS NOT NULL"
        )
    with pytest.raises(StoreError) as fault:
        store.sites()

    assert "\n" not in str(fault.value)
    assert store.sites() == {SITE}


def test_with_and_without_the_index_the_nearest_is_found(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, 300)
    store.tidy(done=True)
    for rows in (10_000, 0):
        monkeypatch.setattr(pgvector, "EXACT_ROWS", rows)
        [hit] = store.search(EMBEDDER.embed(["pears 123"])[0], 1)

        assert hit.score == pytest.approx(1, abs=1e-5)
