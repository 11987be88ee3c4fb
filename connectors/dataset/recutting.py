"""The chunks of the corpus cut anew from its pages, one site after the other, without a request."""

from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from connectors.dataset import Dataset, files
from connectors.dataset.files import Writer
from flows import recutting, schema
from flows.recutting import Anchors
from flows.schema import Row

Cut = Callable[[dict[str, object], Anchors], list[Row]]
"""From a row of `pages` and the anchors of its headings to its rows of `chunks`."""


def recut(dataset: Dataset, cut: Cut, settings_hash: Callable[[str], str | None]) -> dict[str, int]:
    """Cut all chunks anew; return how many each file of the corpus has now.

    `settings_hash` says by which settings a page counts as stored that was stored by others;
    None: by the old ones. Each site is replaced when its files are whole, chunks first: whoever
    dies in between leaves pages that say they were cut by other settings, and are cut again.
    Raises ValueError when somebody writes to the dataset, or has left a run unfinished.
    """
    dataset.enter()
    try:
        if dataset.pointer.exists():
            raise ValueError(f"a run is unfinished in {dataset.root}: let it end first")
        done = {}
        for pages in sorted((dataset.corpus / "pages").glob("*.parquet")):
            if pages.name != "empty.parquet" and (dataset.corpus / "chunks" / pages.name).exists():
                done[pages.name] = _site(dataset, pages, cut, settings_hash)
        return done
    finally:
        dataset.leave()


def _site(
    dataset: Dataset, pages: Path, cut: Cut, settings_hash: Callable[[str], str | None]
) -> int:
    places = {name: dataset.corpus / name / pages.name for name in ("chunks", "pages")}
    staged = {name: dataset.work / f"recut-{name}-{pages.name}" for name in places}
    writers = {name: Writer(path, name) for name, path in staged.items()}
    old = _Old(places["chunks"])
    count = 0
    try:
        for rows in files.read(pages):
            part = schema.conform("pages", rows)
            for page in part.to_pylist():
                found = cut(page, recutting.anchors(page["markdown"], old.of(page["url"])))
                count += len(found)
                writers["chunks"].add(schema.table("chunks", found))
            writers["pages"].add(recutting.signed(part, settings_hash))
    except BaseException:
        for writer in writers.values():
            writer.abandon()
        raise
    for name, writer in writers.items():
        writer.close()
        staged[name].replace(places[name])
        files.sync(places[name].parent)
    return count


class _Old:
    """Where the old chunks of each page start, and the anchor of each."""

    def __init__(self, path: Path) -> None:
        tables: Iterable[pa.Table] = files.read(path, ["url", "start", "anchor"])
        rows = (row for table in tables for row in table.to_pylist())
        self._pages = groupby(rows, key=lambda row: row["url"])
        self._url: str = ""
        self._rows: Iterable[dict[str, Any]] = ()
        self._turn()

    def of(self, url: str) -> list[tuple[int, str | None]]:
        """Return the starts and anchors for a page; pages come in the order of the file."""
        while self._url and self._url < url:
            self._turn()
        return [(row["start"], row["anchor"]) for row in self._rows] if self._url == url else []

    def _turn(self) -> None:
        self._url, self._rows = next(self._pages, ("", ()))
