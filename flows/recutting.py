"""Stored pages cut into chunks again, with other limits than those they were stored by."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import pyarrow as pa

from flows import chunks, outline
from flows.chunks import Limits
from flows.records import Document
from flows.schema import Row

Anchors = tuple[tuple[str, str], ...]
"""The headings of a page, in order: their words, and the id of each; empty where none is known."""

SHARED: Final = (
    *("run_id", "site", "url", "title", "content_hash", "lang", "method", "sitemap", "lastmod"),
    "fetched_at",
)
"""Columns that a chunk has of its page."""
CUT: Final = (
    *("chunk_id", "chunk_index", "text", "heading_path", "anchor", "token_count", "start", "end"),
)
"""Columns of a chunk that come of the cut."""


def cut(page: Mapping[str, Any], anchors: Anchors, limits: Limits) -> list[Row]:
    """Return the rows of `chunks` of a row of `pages`."""
    document = Document(
        url=page["url"],
        markdown=page["markdown"],
        content_hash=page["content_hash"],
        title=page["title"],
        anchors=anchors,
    )
    shared = {name: page[name] for name in SHARED}
    return [
        {**shared, **{name: getattr(chunk, name) for name in CUT}}
        for chunk in chunks.cut(document, limits)
    ]


def anchors(markdown: str, old: Iterable[tuple[int, str | None]]) -> Anchors:
    """Return the ids of a page's headings, as start and anchor of its old chunks tell them.

    A heading that no chunk starts with gets an id made of its words, as if it had none.
    """
    headings = [
        block
        for section in outline.sections(markdown)
        for block in section.blocks
        if block.kind == "heading"
    ]
    starts = [block.start for block in headings]
    known: dict[int, str] = {}
    for start, anchor in old:
        at = bisect_right(starts, start) - 1
        if anchor and at >= 0:
            known.setdefault(at, anchor)
    return tuple((block.title, known.get(at, "")) for at, block in enumerate(headings))


def signed(pages: pa.Table, settings_hash: Callable[[str], str | None]) -> pa.Table:
    """Return pages that say by which settings they count as stored now; None: as they said."""
    told = [
        old if old is None else settings_hash(old) or old
        for old in pages["settings_hash"].to_pylist()
    ]
    at = pages.schema.get_field_index("settings_hash")
    return pages.set_column(at, pages.schema.field(at), pa.array(told, pa.string()))
