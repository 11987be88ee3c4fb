"""What a topic has been told: one line for each page, kept beside the dataset."""

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from flows.messages import Message
from flows.records import Change

PAGE: Final = 5_000
"""Rows read at a time."""
_LAYOUT = (
    "CREATE TABLE IF NOT EXISTS told (site, url, digest, PRIMARY KEY (site, url)) WITHOUT ROWID"
)
_NEXT = "SELECT url, digest FROM told WHERE site = ? AND url > ? ORDER BY url LIMIT ?"
_PUT = "INSERT OR REPLACE INTO told VALUES (?, ?, ?)"
_DROP = "DELETE FROM told WHERE site = ? AND url = ?"


class Ledger:
    """The pages that a topic has been told, with their digests; one process at a time.

    It is written after the broker has taken a message, so what a crash loses is told again.
    """

    def __init__(self, path: Path) -> None:
        """Open the ledger at `path`; OSError, in one line, when it cannot be."""
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._store = sqlite3.connect(path, check_same_thread=False)
            with self._store:
                self._store.execute(_LAYOUT)
        except sqlite3.Error as why:
            raise OSError(f"cannot use {path}: {why}") from why

    def sites(self) -> set[str]:
        """Return the sites of which anything has been told."""
        return {site for (site,) in self._store.execute("SELECT DISTINCT site FROM told")}

    def pages(self, site: str) -> Iterator[tuple[str, str]]:
        """Yield URL and digest of a site's pages in order of URL; notes may be made meanwhile."""
        after = ""
        while rows := self._store.execute(_NEXT, (site, after, PAGE)).fetchall():
            yield from rows
            after = rows[-1][0]

    def note(self, messages: Iterable[Message]) -> None:
        """Keep that messages were taken: all of them, or none."""
        with self._store:
            for told in messages:
                if told.change is Change.REMOVED:
                    self._store.execute(_DROP, (told.site, told.url))
                else:
                    self._store.execute(_PUT, (told.site, told.url, told.digest))

    def close(self) -> None:
        """Let go of the file."""
        self._store.close()
