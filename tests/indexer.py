"""Index runs inside a test's own process, and what store and corpus hold after them."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
from bytewax.testing import run_main

from connectors import indexing, stores
from connectors.indexing.ends import Embedding
from connectors.indexing.running import Work, ends
from flows import index, steps
from flows.secret import Secret
from flows.settings.index import IndexSettings


class Counting:
    """An embedder that notes what it is asked to embed."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.asked: list[str] = []

    @property
    def space(self) -> steps.Space:
        return self.inner.space

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        return self.inner.embed(texts)


def settings(url: str = "", **more: Any) -> IndexSettings:
    return IndexSettings(url=Secret(url), workers=1, **more)


def run(out: Path, told: IndexSettings, embedder: Any = None) -> dict[str, Any]:
    """Run the dataflow to its end and return its report."""
    opened = indexing.open_index(out, told, embedder)
    with closing(opened.store), closing(Embedding(opened, told.workers)) as embedding:
        work = Work(out, told, opened)
        run_main(index.build(ends(work, embedding)))
        return work.end()


def wanted(out: Path) -> list[dict[str, Any]]:
    """Return the rows of the corpus, sorted."""
    rows = ds.dataset(str(out / "corpus" / "chunks"), format="parquet").to_table().to_pylist()
    return _sorted(rows)


def held(out: Path, told: IndexSettings) -> list[dict[str, Any]]:
    """Return the rows of the store, sorted, and see that each text has a vector."""
    with closing(stores.open_store(indexing.address(out, told), told.table)) as store:
        space = store.space()
        assert space is not None
        hits = store.search([1.0] * space.dimension, 100_000)
        rows = [dict(hit.chunk) for hit in hits]
        known = store.vectors([steps.text_hash(row["text"]) for row in rows])
    assert len(known) == len({row["text"] for row in rows})
    return _sorted(rows)


def _sorted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (row["site"], row["url"], row["chunk_index"]))
