"""What the corpus holds now against what a topic was told, as messages; streamed by site."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Final

from connectors.dataset import contents, files
from connectors.publishing.ledger import Ledger
from flows import messages
from flows.messages import CHUNK, PAGE, Message
from flows.records import Change
from flows.schema import Row

logger = logging.getLogger(__name__)

BATCH: Final = 64
"""Pages whose texts are in memory at a time."""

SAME: Final = ("run_id", "content_hash")
"""Columns in which a page and its chunks agree."""

Told = tuple[str, str]
"""URL and digest."""


def batches(root: Path, ledger: Ledger, *, every: bool = False) -> Iterator[list[Message]]:
    """Yield what the topic is to be told; with `every`, each page although it was told before."""
    stored = contents.sites(root)
    for site in sorted(stored.keys() | ledger.sites()):
        now = _stored(stored[site], root) if site in stored else iter(())
        changes = differing(now, ledger.pages(site), every=every)
        while some := list(islice(changes, BATCH)):
            yield list(_messages(root, site, some))


def differing(
    now: Iterable[Told], before: Iterable[Told], *, every: bool = False
) -> Iterator[tuple[str, Change]]:
    """Yield each URL of two lists in order that differ in it, and how.

    >>> now, before = [("a", "1"), ("b", "2"), ("c", "3")], [("b", "2"), ("c", "0"), ("d", "4")]
    >>> [f"{url} {change}" for url, change in differing(now, before)]
    ['a new', 'c updated', 'd removed']
    """
    sides = merge(((*told, "now") for told in now), ((*told, "before") for told in before))
    for url, both in groupby(sides, itemgetter(0)):
        digests = {side: digest for _, digest, side in both}
        if "now" not in digests:
            yield url, Change.REMOVED
        elif "before" not in digests:
            yield url, Change.NEW
        elif every or digests["now"] != digests["before"]:
            yield url, Change.UPDATED


def _stored(pages: Path, root: Path) -> Iterator[Told]:
    """Yield URL and digest of each page of a site that the corpus holds, in order of URL."""
    chunks = root / "corpus" / "chunks" / pages.name
    ids = _by_url(_rows(chunks, ["url", "chunk_id"]) if chunks.exists() else iter(()))
    url, mine = next(ids, ("", []))
    for page in _rows(pages, ["url", "run_id", "content_hash"]):
        while mine and url < page["url"]:
            url, mine = next(ids, ("", []))
        has = mine if url == page["url"] else []
        yield page["url"], messages.digest(page, (chunk["chunk_id"] for chunk in has))


def _rows(path: Path, columns: list[str]) -> Iterator[Row]:
    for rows in files.read(path, columns):
        yield from rows.to_pylist()


def _by_url(rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    for url, mine in groupby(rows, itemgetter("url")):
        yield url, list(mine)


def _messages(root: Path, site: str, some: Sequence[tuple[str, Change]]) -> Iterator[Message]:
    """Yield what is said of some pages.

    Of a page that was taken away just now, or whose chunks are another run's because its site is
    being replaced right now, nothing is said yet: the next look finds it.
    """
    urls = [url for url, change in some if change is not Change.REMOVED]
    pages, chunks = {}, defaultdict(list)
    if urls:
        rows = contents.chosen(root, "pages", site, urls, ["site", "url", *PAGE])
        pages = {row["url"]: row for row in rows.to_pylist()}
        rows = contents.chosen(root, "chunks", site, urls, ["url", *SAME, *CHUNK])
        for row in rows.to_pylist():
            chunks[row["url"]].append(row)
    for url, change in some:
        if change is Change.REMOVED:
            yield messages.removed(site, url)
        elif url in pages and _belong(pages[url], chunks[url]):
            yield messages.stored(pages[url], chunks[url], change)
        else:
            logger.warning("page is being replaced, told later", extra={"url": url})


def _belong(page: Row, chunks: Sequence[Row]) -> bool:
    return bool(chunks) and all(chunk[name] == page[name] for chunk in chunks for name in SAME)
