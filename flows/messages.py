"""What is said of a page to those who follow the corpus: one message, keyed by its URL."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from flows.records import Change
from flows.schema import SCHEMAS, Row
from flows.shapes import BINARY, jsonable, source

VERSION: Final = 1
"""Of the layout below; raised when a key changes its name, type or meaning."""

PAGE: Final = [
    name
    for name in SCHEMAS["pages"].names
    if name not in BINARY | {"site", "url", "markdown", "links", "structured"}
]
"""What a message says of the page as a whole; the rest is in the dataset."""
CHUNK: Final = [
    *("chunk_id", "chunk_index", "text", "heading_path", "anchor", "token_count", "start", "end")
]
"""What a message says of each chunk beside what holds for the whole page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A page as it is now, or that it is gone."""

    site: str
    url: str
    change: Change
    """`new`, `updated` or `removed`, for those who were told the messages before."""
    digest: str
    """Equal for equal content; empty for a page that is gone."""
    value: bytes | None
    """The page and its chunks as JSON; None is Kafka's word for a key that is gone."""


def stored(page: Row, chunks: Sequence[Row], change: Change) -> Message:
    """Return what is said of a page that the corpus holds; its chunks in their order."""
    url, site = str(page["url"]), str(page["site"])
    told = {
        "schema": VERSION,
        "change": change.value,
        "site": site,
        "url": url,
        "page": {name: jsonable(page[name]) for name in PAGE},
        "chunks": [
            {"source": source(chunk), **{name: chunk[name] for name in CHUNK}} for chunk in chunks
        ],
    }
    value = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
    mark = digest(page, (str(chunk["chunk_id"]) for chunk in chunks))
    return Message(site=site, url=url, change=change, digest=mark, value=value)


def removed(site: str, url: str) -> Message:
    """Return what is said of a page that the corpus does not hold any more."""
    return Message(site=site, url=url, change=Change.REMOVED, digest="", value=None)


def digest(page: Row, chunk_ids: Iterable[str]) -> str:
    """Return what tells a stored page from what it was: it is another as soon as it is stored anew.

    >>> page = {"run_id": "r1", "content_hash": "c"}
    >>> digest(page, ["a", "b"]) == digest(page, ["a"])
    False
    """
    parts = "\0".join((str(page["run_id"]), str(page["content_hash"]), *chunk_ids))
    return hashlib.blake2b(parts.encode(), digest_size=8).hexdigest()
