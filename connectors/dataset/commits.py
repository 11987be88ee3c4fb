"""How rows become true: whole batches, committed in one step and never taken back.

A batch is written and synced in a folder of its own, outside of what readers look at. Renaming
that folder is the commit. Its files then move to where readers find them, `urls` last; a process
that dies in between leaves a folder that the next owner of the shard moves on to the end.
"""

import re
import threading
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from connectors.dataset import files
from connectors.dataset.locks import Lock
from connectors.dataset.spool import COLUMNS, Spool
from flows.schema import NOTES, TABLES
from flows.urls import hash64

_BATCH = re.compile(r"batch-(\d+)-(\d+)")
_ORDER = (*NOTES, *TABLES[1:], TABLES[0])
"""`urls` appears last: a row of it never stands there without its page."""


class Shard:
    """All batches of the sites of one shard of a run; one process at a time may write it."""

    def __init__(self, folder: Path, work: Path, number: int) -> None:
        """Name the shard `number` of the run in `folder`; nothing is opened."""
        self._folder = folder
        self._work = work
        self._number = number
        self._lock = Lock(work / f"shard-{number}.lock")
        self._guard = threading.Lock()
        self._hashes: dict[str, array[int]] = {}
        self._batches: dict[str, array[int]] = {}
        self._last: int | None = None
        self._spool: Spool | None = None

    def claim(self) -> bool:
        """Become the owner; False when another process is."""
        return self._lock.take(wait=False)

    def release(self) -> None:
        """Cease to be the owner."""
        self._lock.release()

    def spool(self) -> Spool:
        """Return the rows apart by site; for the owner only."""
        if self._spool is None:
            self._spool = Spool(self._work / f"spool-{self._number}")
            for name in COLUMNS:
                for path in self._files(name):
                    for rows in files.read(path, COLUMNS[name]):
                        self._spool.add(name, rows)
        return self._spool

    def clean(self) -> None:
        """Finish the batches that were committed, remove what was not; for the owner only."""
        for batch in sorted(self._work.glob(f"batch-{self._number}-*")):
            if batch.suffix:
                files.remove(batch)
            else:
                self._appear(batch)
        whole = {path.name for path in self._files("urls")}
        for name in _ORDER[:-1]:
            for path in self._files(name):
                if path.name not in whole:
                    path.unlink()

    def commit(self, tables: Mapping[str, pa.Table]) -> None:
        """Commit the tables of a batch; OSError leaves all that was committed before intact."""
        number, spool = self._loaded() + 1, self.spool()
        staged = self._work / f"batch-{self._number}-{number:06d}.tmp"
        files.remove(staged)
        staged.mkdir()
        for name, rows in tables.items():
            if rows.num_rows or name == "urls":
                files.write(staged / f"{name}.parquet", name, rows, small=True)
        files.sync(staged)
        ready = staged.rename(staged.with_suffix(""))
        files.sync(self._work)
        self._appear(ready)
        self._last = number
        for name in COLUMNS:
            if tables[name].num_rows:
                spool.add(name, tables[name])

    def hashes(self, site: str) -> "array[int]":
        """Return the hashes of the site's URLs that were committed when the run was opened."""
        self._loaded()
        return self._hashes.get(site, array("Q"))

    def paths(self, name: str, site: str | None = None) -> list[Path]:
        """Return the files of a table, oldest first.

        With a site, those that had rows of it when the run was opened.
        """
        if site is None:
            return list(self._files(name))
        self._loaded()
        found = (self._place(name, number) for number in self._batches.get(site, ()))
        return [path for path in found if path.exists()]

    def _loaded(self) -> int:
        """Read what is committed, once; return the number of the last batch."""
        with self._guard:
            if self._last is None:
                self._last = 0
                for path in self._files("urls"):
                    self._last = int(path.stem.split("-")[1])
                    self._load(path, self._last)
            return self._last

    def _load(self, path: Path, number: int) -> None:
        for rows in files.read(path, ["site", "url"]):
            pairs: list[Any] = list(
                zip(*(column.to_pylist() for column in rows.columns), strict=True)
            )
            for site, url in pairs:
                self._hashes.setdefault(site, array("Q")).append(hash64(url))
            for site in {site for site, _ in pairs}:
                self._batches.setdefault(site, array("L")).append(number)

    def _appear(self, batch: Path) -> None:
        """Move the files of a committed batch to where readers find them."""
        found = _BATCH.fullmatch(batch.name)
        if found is None:
            return
        for name in _ORDER:
            written = batch / f"{name}.parquet"
            if written.exists():
                written.rename(self._place(name, int(found[2])))
        files.sync(self._place("urls", 0).parent)
        batch.rmdir()

    def _place(self, name: str, number: int) -> Path:
        home = self._work if name in NOTES else self._folder
        return home / name / f"{self._number}-{number:06d}.parquet"

    def _files(self, name: str) -> Iterator[Path]:
        return iter(sorted(self._place(name, 0).parent.glob(f"{self._number}-*.parquet")))
