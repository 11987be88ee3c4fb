"""Bringing a vector store in step with the corpus: what differs, and the vectors for it."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from connectors import embedders, stores
from connectors.dataset import files
from connectors.embedders import Embedder, EmbeddingError
from connectors.indexing.claims import Claims
from connectors.stores import Hit, Store, StoreError
from flows import steps
from flows.filters import Filter
from flows.schema import conform
from flows.settings.index import IndexSettings
from flows.steps import Difference, Space

BATCH_ROWS: Final = 500
BATCH_BYTES: Final = 4 << 20
"""Chunks, and bytes of them, that are embedded and written together; always whole pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """Pages of a site to be written or, without rows, removed."""

    site: str
    urls: tuple[str, ...]
    rows: pa.Table | None = field(default=None, repr=False)
    """Rows of `chunks`; of `flows.steps.schema` once they are embedded."""
    embedded: int = 0
    """Texts that the embedder made vectors of."""
    reused: int = 0
    """Chunks whose vector was there already."""
    fault: str | None = None
    """Why the pages could not be embedded, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """A store, the embedder whose vectors it holds, and the corpus that it follows."""

    corpus: Path
    """The folder `corpus/chunks` of a dataset."""
    store: Store
    embedder: Embedder
    space: Space
    claims: Claims = field(default_factory=Claims)

    def difference(self, site: str, *, every: bool = False) -> Difference:
        """Return how the store differs from the corpus of a site."""
        wanted = steps.pages(_weighed(path) for path in self._files(site))
        return steps.difference(wanted, steps.pages(self.store.held(site)), every=every)

    def batches(self, site: str, difference: Difference) -> Iterator[Pages]:
        """Yield pages of a site that have to be written, with their chunks."""
        most = min(BATCH_ROWS, self.store.capabilities.batch_rows)
        for path in self._files(site) if len(difference.replace) else ():
            for rows in _batched(_rows(path, difference.replace), most):
                yield Pages(site=site, urls=tuple(steps.texts(rows["url"].unique())), rows=rows)

    def gone(self, site: str, difference: Difference) -> Iterator[Pages]:
        """Yield pages of a site that have to be removed."""
        most = self.store.capabilities.batch_rows
        urls = steps.texts(difference.remove)
        for start in range(0, len(urls), most):
            yield Pages(site=site, urls=tuple(urls[start : start + most]))

    def embed(self, pages: Pages) -> Pages:
        """Return pages with their vectors: those the store has, others made now."""
        if pages.rows is None:
            return pages
        texts = steps.texts(pages.rows["text"])
        hashes = [steps.text_hash(text) for text in texts]
        try:
            vectors = self.store.vectors(sorted(set(hashes)))
            lacking = {h: t for h, t in zip(hashes, texts, strict=True) if h not in vectors}
            made, count = self.claims.vectors(lacking, self.embedder.embed)
        except (EmbeddingError, StoreError) as why:
            return replace(pages, fault=str(why))
        known = {**vectors, **made}
        rows = indexed(pages.rows, [known[h] for h in hashes], self.space)
        return replace(pages, rows=rows, embedded=count, reused=len(texts) - count)

    def write(self, pages: Pages) -> None:
        """Have the store follow: the pages are replaced or removed."""
        if pages.rows is None:
            self.store.remove(pages.site, pages.urls)
        else:
            self.store.replace(pages.site, pages.urls, pages.rows)
            self.claims.written(steps.texts(pages.rows["text_hash"]))

    def sites(self) -> list[str]:
        """Return the sites that the corpus or the store has anything of."""
        return sorted(self._places().keys() | self.store.sites())

    def _files(self, site: str) -> list[Path]:
        return self._places().get(site, [])

    def _places(self) -> dict[str, list[Path]]:
        """Return the files of each site of the corpus."""
        return places(self.corpus)


def places(corpus: Path) -> dict[str, list[Path]]:
    """Return the files of each site, in a folder of the corpus; those without rows are of none."""
    found: dict[str, list[Path]] = {}
    for path in sorted(corpus.glob("*.parquet")):
        first = next((rows for rows in files.read(path, ["site"]) if rows.num_rows), None)
        if first is not None:
            found.setdefault(first["site"][0].as_py(), []).append(path)
    return found


def search(
    out: Path, settings: IndexSettings, question: str, count: int = 5, where: Sequence[Filter] = ()
) -> list[Hit]:
    """Return the chunks of an index nearest to a question; ValueError in one line without one."""
    with closing(stores.open_store(address(out, settings), settings.table)) as store:
        try:
            embedder = embedders.open_embedder(settings)
            held = store.space()
            if held is None:
                shown = stores.shown(address(out, settings))
                raise ValueError(f"no index at {shown} ({settings.table}): run flows.index first")
            if embedder.space != held:
                raise stores.mismatch(f"the index ({settings.table})", held, embedder.space)
            return store.search(embedder.embed([question])[0], count, where)
        except (EmbeddingError, StoreError) as why:
            raise ValueError(str(why)) from why


def open_index(out: Path, settings: IndexSettings, embedder: Embedder | None = None) -> Index:
    """Return the index of a dataset; ValueError in one line when store or embedder say no.

    The embedder is the one that the settings name, or the one given.
    """
    corpus = out / "corpus" / "chunks"
    if not corpus.is_dir():
        raise ValueError(f"no corpus in {out}: run flows.ingest first")
    store = stores.open_store(address(out, settings), settings.table)
    try:
        embedder = embedder or embedders.open_embedder(settings)
        space = embedder.space
        store.prepare(space)
    except (EmbeddingError, StoreError, ValueError) as why:
        store.close()
        raise ValueError(str(why)) from why
    return Index(corpus=corpus, store=store, embedder=embedder, space=space)


def address(out: Path, settings: IndexSettings) -> str:
    """Return the address of the store: the one of the settings, or the folder of the dataset."""
    return settings.url.reveal() or f"lancedb://{out / 'index' / 'lancedb'}"


def _weighed(path: Path) -> pa.Table:
    """Return URL and digest of each chunk of a file of the corpus."""
    parts = [
        pa.table({"url": rows["url"], "digest": steps.digests(rows)})
        for rows in map(_conformed, files.read(path, _present(path, steps.WEIGHED)))
    ]
    return pa.concat_tables(parts) if parts else pa.table({"url": [], "digest": []})


def _rows(path: Path, urls: "pa.Array[Any]") -> Iterator[pa.Table]:
    """Yield the chunks of some pages; groups without any are not read but for their URLs."""
    with files.naming(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        for group in range(file.metadata.num_row_groups):
            found = file.read_row_group(group, columns=["url"], use_threads=False)["url"]
            wanted = pc.is_in(found, value_set=urls)
            if pc.any(wanted).as_py():
                rows = file.read_row_group(group, use_threads=False).filter(wanted)
                yield _conformed(rows)


def _batched(parts: Iterator[pa.Table], most: int) -> Iterator[pa.Table]:
    """Yield tables of whole pages, of about `most` rows; the rows of a page follow each other."""
    waiting: pa.Table | None = None
    for part in parts:
        rows = part if waiting is None else pa.concat_tables([waiting, part])
        *whole, waiting = _cut(rows.combine_chunks(), most)
        yield from whole
    if waiting is not None and waiting.num_rows:
        yield waiting


def _cut(rows: pa.Table, most: int) -> list[pa.Table]:
    """Return the rows in parts that end where a page does; the last part may go on."""
    urls = rows["url"].to_pylist()
    rows_each = max(1, min(most, len(urls) * BATCH_BYTES // max(rows.nbytes, 1)))
    starts = [0]
    begin = 0
    for at in range(1, len(urls)):
        if urls[at] != urls[at - 1]:
            if at - starts[-1] >= rows_each:
                starts.append(at)
            begin = at
    if len(urls) - starts[-1] >= rows_each and begin > starts[-1]:
        starts.append(begin)
    return [
        rows.slice(start, end - start)
        for start, end in zip(starts, [*starts[1:], len(urls)], strict=True)
    ]


def indexed(rows: pa.Table, vectors: Sequence[Collection[float]], space: Space) -> pa.Table:
    """Return chunks with what an index knows of them, as a store takes them."""
    schema = steps.schema(space)
    hashes = [steps.text_hash(text) for text in steps.texts(rows["text"])]
    added = {
        "text_hash": pa.array(hashes, pa.string()),
        "digest": steps.digests(rows),
        "vector": pa.array(vectors, schema.field("vector").type),
    }
    columns = [added[name] if name in added else rows[name] for name in schema.names]
    return pa.Table.from_arrays(columns, schema=schema)


def _conformed(rows: pa.Table) -> pa.Table:
    """Return rows with the columns of today; those that were not asked for are null."""
    return conform("chunks", rows)


def _present(path: Path, names: list[str]) -> list[str]:
    """Return the columns that a file has, of those asked for: an earlier version had fewer."""
    with files.naming(path):
        had = set(pq.read_schema(path).names)
    return [name for name in names if name in had]
