"""What is on disk: runs, their commits, resume, and the corpus.

```text
<root>/runs/<run_id>/<table>/*.parquet    what a run saw; small files while it runs, then few
<root>/runs/<run_id>/report.json          there when the run is complete
<root>/corpus/{pages,chunks}/<site>.parquet
<root>/.current                           the run that is not complete yet
<root>/.work/<run_id>/                    what is not for readers; gone when the run is complete
```
"""

import secrets
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from connectors.dataset import completion, corpus, files, locks
from connectors.dataset.run import Run
from connectors.dataset.tenancy import GUARD, Tenancy
from flows import changes
from flows.changes import Baseline

__all__ = ["Dataset", "Run"]

SHARDS: Final = 4
"""Partitions of a run: all rows of a site go to one of them."""
READINGS: Final = "readings.json"
"""Settings hashes that pages may have, each with the digest of how pages were read."""
_STAMP = "%Y%m%dT%H%M%S"


class Dataset:
    """A folder of runs and the corpus they leave behind."""

    def __init__(self, root: Path) -> None:
        """Name the folder; nothing is read or written."""
        self.root = root
        self.runs = root / "runs"
        self.corpus = root / "corpus"
        self.work = root / ".work"
        self.pointer = root / ".current"
        self._tenancy = Tenancy(self.work)

    @classmethod
    def at(cls, root: Path) -> "Dataset":
        """Return the dataset of a folder; ValueError when there is none."""
        found = cls(root)
        if not (found.runs.is_dir() and found.corpus.is_dir()):
            raise ValueError(f"no dataset in {root}: it has no runs")
        return found

    def enter(self, party: str = "", place: int = 0) -> None:
        """Become the one who writes here, until `leave` or the end of this process.

        The processes of one party share the dataset, each in a place of its own.
        Raises OSError when the folder cannot be written, ValueError when somebody else is here.
        """
        with self._usable():
            self.work.mkdir(parents=True, exist_ok=True)
            if not self._tenancy.enter(party, place):
                raise ValueError(f"another run is writing to {self.root}")

    def leave(self) -> None:
        """Let others write here."""
        self._tenancy.leave()

    def open_run(
        self,
        settings_hash: str,
        version: str,
        *,
        plan: str = "",
        reading: str = "",
        shards: int = SHARDS,
    ) -> Run:
        """Return the unfinished run, or a new one; the same for all processes of a cluster.

        An unfinished run of other settings, or of another plan (the flow, its sites), is closed as
        `interrupted`, and a new one begins.
        Raises OSError when the folder cannot be written, ValueError when another run is at work.
        """
        with self._usable():
            self.work.mkdir(parents=True, exist_ok=True)
            with locks.locked(self.work / GUARD):
                if reading:
                    self.note_reading(settings_hash, reading)
                noted = {"settings_hash": settings_hash, "plan": plan}
                return self._adopt(noted) or self._begin(noted, version, shards)

    def reports(self) -> Iterator[dict[str, Any]]:
        """Yield the reports of the runs that ended, the newest first."""
        for path in sorted(self.runs.glob("*/report.json"), reverse=True):
            report = files.read_json(path)
            if report is not None:
                yield report

    def last_complete(self, site: str) -> str | None:
        """Return the newest run in which the site was read completely."""
        return next((str(r["run_id"]) for r in self.reports() if _covers(r, site)), None)

    def readings(self) -> dict[str, str]:
        """Return which settings hashes stand for which way of reading pages."""
        return files.read_json(self.work / READINGS) or {}

    def note_reading(self, settings_hash: str, reading: str) -> None:
        """Note what a settings hash stands for, for `flows.rechunk`."""
        known = self.readings()
        if known.get(settings_hash) != reading:
            files.write_json(self.work / READINGS, known | {settings_hash: reading})

    def seconds(self, sites: Collection[str]) -> dict[str, float]:
        """Return how long each site took when it was last read completely, as far as is known."""
        found: dict[str, float] = {}
        for report in self.reports():
            for site in set(sites) - set(found):
                if _covers(report, site):
                    found[site] = float(report["sites"][site].get("seconds") or 0.0)
            if len(found) == len(sites):
                break
        return found

    def baseline(self, site: str) -> Baseline:
        """Return what the corpus holds of a site."""
        return changes.baseline(self.stored(site))

    def stored(self, site: str) -> Iterator[tuple[str, str]]:
        """Yield URL and content hash of each page that the corpus holds of a site."""
        return corpus.stored(self.corpus, site)

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """Say of an error in a block what it means."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise OSError(f"cannot use the dataset folder {self.root}: {reason}") from error

    def _adopt(self, wanted: Mapping[str, str]) -> Run | None:
        noted = files.read_json(self.pointer)
        if noted is None:
            return None
        try:
            run = Run(self, **noted)
        except (TypeError, ValueError):
            raise ValueError(f"{self.pointer} is damaged; without it a new run begins") from None
        run.recover()
        if run.is_complete:
            run.forget()
            return None
        if any(noted[name] != value for name, value in wanted.items()):
            completion.complete(run, {}, ())
            return None
        return run

    def _begin(self, wanted: Mapping[str, str], version: str, shards: int) -> Run:
        for left in self.work.iterdir():
            if left.is_dir():
                files.remove(left)
        self.runs.mkdir(exist_ok=True)
        corpus.prepare(self.corpus, self.work)
        moment = self._moment()
        noted: dict[str, Any] = {
            "run_id": f"{moment:{_STAMP}}{moment.microsecond // 1000:03d}-{secrets.token_hex(2)}",
            "started_at": moment.isoformat(),
            **wanted,
            "version": version,
            "shards": shards,
        }
        files.write_json(self.pointer, noted, self.work)
        run = Run(self, **noted)
        run.recover()
        return run

    def _moment(self) -> datetime:
        """Return now, or just after the last run if the clock went back: run ids sort by time."""
        now = datetime.now(UTC)
        last = max((path.name for path in self.runs.iterdir()), default="")[:18]
        try:
            before = datetime.strptime(last + "000", _STAMP + "%f").replace(tzinfo=UTC)
        except ValueError:
            return now
        return max(now, before + timedelta(milliseconds=1))


def _covers(report: Mapping[str, Any], site: str) -> bool:
    """Return whether a site was read completely in the run of a report."""
    return bool(report.get("sites", {}).get(site, {}).get("status") == "complete")
