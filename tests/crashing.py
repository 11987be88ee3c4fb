"""A writer that dies when it is told to, and a reader that watches it."""

import os
import random
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from connectors.dataset import Dataset, files
from connectors.parquet import ParquetSink
from flows.records import Row
from tests import samples

SITES = ("https://a.test", "https://b.test")
PAGES = 10
KEYS = {"urls": ("site", "url"), "pages": ("site", "url"), "chunks": ("chunk_id",)}


def said(site: str, pages: int = PAGES) -> list[Row]:
    """All that a site says in a run: stored pages, failures, a duplicate, what else there is."""
    out: list[Row] = [samples.sitemap(site=site)]
    for number in range(pages):
        out.append(samples.reading(f"/{number}", site=site))
        out.append(samples.sighting(f"/{number}", site=site))
    out.append(samples.failure(site=site))
    out.append(samples.alert(site=site))
    return out


def live(root: Path, die_at: int = 0, seed: int = 0, pages: int = PAGES) -> None:
    """Write a whole run, in batches of random size; die at a step on the way to the disk."""
    os.fsync = lambda _: None  # a kill loses no written byte; only a power cut would
    if die_at:
        _arm(die_at)
    run = Dataset(root).open_run("settings", "1")
    sink = ParquetSink(run, SITES, "settings")
    rand = random.Random(seed)  # noqa: S311  # repeatable on purpose
    numbers = sorted({sink.part_fn(site) for site in SITES})
    parts = {number: sink.build_part("write", str(number), None) for number in numbers}
    for site in SITES:
        part = parts[sink.part_fn(site)]
        rows = said(site, pages)
        while rows:
            count = rand.randint(1, 9)
            part.write_batch(rows[:count])
            del rows[:count]
            if rand.random() < 0.3:
                part.snapshot()
        part.write_batch([samples.end(pages + 1, site, notes=pages + 2)])
    for part in parts.values():
        part.snapshot()
        part.close()


def _arm(die_at: int) -> None:
    """Die at the given one of all steps that change what is on the disk."""
    left = die_at

    def step() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(call: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*args: Any, **named: Any) -> Any:
            step()
            return call(*args, **named)

        return stepped

    for name in ("rename", "replace", "unlink", "rmdir", "mkdir"):
        setattr(Path, name, before(getattr(Path, name)))
    for name in ("sync", "exchange", "remove"):
        setattr(files, name, before(getattr(files, name)))


@dataclass
class Watch:
    """What a reader has seen of a dataset; `look` finds out whether it was ever deceived."""

    root: Path
    seen: dict[str, set[Any]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    looks: int = 0

    def look(self) -> None:
        """Read all tables of the run, and the corpus."""
        self.looks += 1
        for name in KEYS:
            self._check(f"runs/*/{name}", name)
        for name in ("pages", "chunks"):
            self._check(f"corpus/{name}", name)

    def _check(self, pattern: str, name: str) -> None:
        rows = self._rows(pattern, name)
        twice = [key for key, count in Counter(rows).items() if count > 1]
        gone = self.seen.get(pattern, set()) - set(rows)
        self.faults += [f"{pattern} has {key} twice" for key in twice]
        self.faults += [f"{pattern} has lost {key}" for key in gone]
        self.seen[pattern] = set(rows)

    def _rows(self, pattern: str, name: str) -> list[Any]:
        for _ in range(5):
            try:
                return self._read(pattern, name)
            except FileNotFoundError:
                continue  # the run was completed meanwhile: look at its new files
        self.faults.append(f"{pattern} cannot be read")
        return []

    def _read(self, pattern: str, name: str) -> list[Any]:
        rows = []
        for path in sorted(self.root.glob(f"{pattern}/*.parquet")):
            try:
                found = pq.ParquetFile(path).read(columns=list(KEYS[name]))
            except FileNotFoundError:
                raise
            except Exception as error:  # whatever a reader may meet
                self.faults.append(f"{path}: {error}")
                continue
            run = path.parts[-3]
            rows += [(run, *row.values()) for row in found.to_pylist()]
        return rows
