"""A run of `flows.index` in this process: settings, store and ends, and what a person sees."""

import atexit
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bytewax.inputs import Source
from bytewax.outputs import Sink

from connectors import indexing, logs, running, stores
from connectors.dataset import locks
from connectors.indexing import Index, Pages, reports
from connectors.indexing.ends import DifferenceSource, Embedding, StoreSink
from connectors.indexing.rounds import Rounds
from connectors.progress import Progress
from connectors.stopping import STOP, Stop
from flows import index_report
from flows.operators import Pool
from flows.settings import Settings
from flows.settings.index import IndexSettings

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """The ends of the dataflow: real ones, or a test's."""

    differences: Source[Any]
    embedding: Pool[Pages, Pages]
    store: Sink[Any]


class Work:
    """The work of one run; begun by the worker that has the partition, once."""

    def __init__(self, out: Path, settings: IndexSettings, index: Index) -> None:
        """Prepare the work on an index; ValueError when another run is at it."""
        self._out = out
        self._settings = settings
        self._place = reports.place(out, settings)
        self._place.parent.mkdir(parents=True, exist_ok=True)
        self._lock = locks.Lock(self._place.with_suffix(".lock"))
        self.rounds = Rounds(index=index, every=settings.full)
        self._report: dict[str, Any] = {}
        self._claim()
        self._lock.release()  # whoever gets the partition takes it: another process, maybe

    @property
    def is_mine(self) -> bool:
        """True where this process has begun the work."""
        return bool(self._report)

    def begin(self) -> Rounds:
        """Take the lock and note that the work has begun."""
        if not self._report:
            self._claim()
            self._report = reports.begin(self._place, self.rounds.index, self._settings, self._out)
        return self.rounds

    def end(self) -> dict[str, Any]:
        """Write and return the report."""
        rounds = self.rounds
        rounds.index.store.close()
        self._lock.release()
        return reports.end(self._place, self._report, rounds.tally, rounds.sites, rounds.fault)

    def _claim(self) -> None:
        if not self._lock.take(wait=False):
            raise ValueError(f"another run is writing to {self._address}")

    @property
    def _address(self) -> str:
        return stores.shown(indexing.address(self._out, self._settings))


def begin() -> Ends:
    """Read the environment, open the store and make the ends; ends the process in one line."""
    try:
        settings = IndexSettings.from_env(os.environ)
        general = Settings.from_env(os.environ)
        index = indexing.open_index(general.out, settings)
        work = Work(general.out, settings, index)
    except (ValueError, OSError) as why:
        running.refuse(why)
    running.disarm(os.environ)
    stop = STOP
    stop.listen()
    logs.configure(general.log, Progress())
    embedding = Embedding(index, settings.workers)
    atexit.register(_farewell, work, stop, embedding)
    return ends(work, embedding, stop.asked.is_set)


def ends(work: Work, embedding: Embedding, stop: Callable[[], bool] = bool) -> Ends:
    """Return the ends of a dataflow that does the work."""
    return Ends(
        differences=DifferenceSource(work.begin, stop, embedding.room),
        embedding=embedding,
        store=StoreSink(work.begin),
    )


def _farewell(work: Work, stop: Stop, embedding: Embedding) -> None:
    """Say how the run ended, whichever way it did."""
    embedding.close()
    if stop.asked.is_set():
        sys.stderr.write("sitewax: stopped; start again to go on\n")
        sys.stderr.flush()
        os._exit(128 + stop.signal)
    if not work.is_mine or not work.rounds.ended:
        return
    report = work.end()
    sys.stdout.write(index_report.render(report))
    sys.stdout.flush()
    if report["status"] != "complete":
        os._exit(1)
