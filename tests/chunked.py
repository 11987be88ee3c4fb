"""Chunks of small pages for tests, as the corpus holds them and as a store takes them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from connectors import indexing
from connectors.dataset import corpus, files
from connectors.embedders.hashing import Hashing
from flows import schema, steps
from tests.samples import NOON

SITE = "https://a.test"
EMBEDDER = Hashing(48)
SPACE = EMBEDDER.space


def chunk(url: str, number: int, text: str, site: str = SITE, **other: Any) -> dict[str, Any]:
    """Return the row of one chunk; all its columns are set, `other` wins."""
    row = {
        "chunk_id": steps.text_hash(f"{url}#{text}"),
        "run_id": "20240501T120000000-abcd",
        "site": site,
        "url": url,
        "title": f"Title of {url}",
        "chunk_index": number,
        "text": text,
        "heading_path": ["Guide", f"Part {number}"],
        "anchor": f"part-{number}",
        "token_count": 10 + number,
        "start": 100 * number,
        "end": 100 * number + 90,
        "content_hash": f"hash of {url}",
        "lang": "en",
        "method": "robots",
        "sitemap": f"{site}/sitemap.xml",
        "lastmod": NOON,
        "fetched_at": NOON,
    }
    return row | other


def page(url: str, *texts: str, site: str = SITE, **other: Any) -> pa.Table:
    """Return the chunks of a page, one for each text."""
    rows = [chunk(url, number, text, site, **other) for number, text in enumerate(texts)]
    return schema.table("chunks", rows)


def indexed(*pages: pa.Table) -> pa.Table:
    """Return chunks with their vectors."""
    rows = pa.concat_tables(pages)
    return indexing.indexed(rows, EMBEDDER.embed(rows["text"].to_pylist()), SPACE)


def publish(out: Path, pages: Sequence[pa.Table], site: str = SITE) -> None:
    """Let the pages be all that the corpus of a dataset has of a site."""
    place = out / "corpus" / "chunks" / corpus.file_name(site)
    place.parent.mkdir(parents=True, exist_ok=True)
    rows = pa.concat_tables([schema.SCHEMAS["chunks"].empty_table(), *pages])
    staged = out / "staged"
    files.write(
        staged, "chunks", rows.sort_by([("url", "ascending"), ("chunk_index", "ascending")])
    )
    staged.replace(place)
