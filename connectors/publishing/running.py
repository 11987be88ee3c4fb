"""A run of `flows.publish` in this process: settings, ledger and ends, and what a person sees."""

import atexit
import logging
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bytewax.inputs import Source
from bytewax.outputs import Sink

from connectors import logs, running
from connectors.dataset import contents, locks
from connectors.progress import Progress
from connectors.publishing.ledger import Ledger
from connectors.stopping import STOP, Stop
from flows.settings import Settings
from flows.settings.publish import PublishSettings

if TYPE_CHECKING:
    from connectors.publishing.ends import Work

logger = logging.getLogger(__name__)

FOLDER: Final = "published"
"""Where the ledgers of a dataset lie, one for each topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """The ends of the dataflow: real ones, or a test's."""

    changes: Source[Any]
    topic: Sink[Any]


class Desk:
    """The work of one run; begun by the worker that has the partition, once."""

    def __init__(self, root: Path, settings: PublishSettings) -> None:
        """Prepare; ValueError when there is no corpus, or another run is at the topic."""
        contents.places(root, "pages")
        self._root = root
        self._settings = settings
        self._place = root / FOLDER / f"{settings.topic}.sqlite3"
        self._place.parent.mkdir(exist_ok=True)
        self._lock = locks.Lock(self._place.with_suffix(".lock"))
        self.work: Work | None = None
        self._claim()
        self._lock.release()  # whoever gets the partition takes it: another process, maybe

    def begin(self) -> "Work":
        """Take the lock and return the work."""
        from connectors.publishing.ends import Work  # noqa: PLC0415  # needs the extra

        if self.work is None:
            self._claim()
            ledger = Ledger(self._place)
            self.work = Work(root=self._root, told=self._settings, ledger=ledger)
        return self.work

    def end(self) -> None:
        """Let others publish."""
        if self.work is not None:
            self.work.ledger.close()
        self._lock.release()

    def _claim(self) -> None:
        if not self._lock.take(wait=False):
            raise ValueError(f"another run is publishing {self._root} to {self._settings.topic}")


def begin() -> Ends:
    """Read the environment, look for the topic and make the ends; ends the process in one line."""
    try:
        settings = PublishSettings.from_env(os.environ)
        general = Settings.from_env(os.environ)
        desk = Desk(general.out, settings)
        from connectors.publishing import ends  # noqa: PLC0415  # needs the extra

        ends.check(settings)
    except ImportError:
        running.refuse(ValueError("flows.publish needs the extra: pip install 'sitewax[kafka]'"))
    except (ValueError, OSError) as why:
        running.refuse(why)
    running.disarm(os.environ)
    stop = STOP
    stop.listen()
    logs.configure(general.log, Progress())
    atexit.register(_farewell, desk, stop, general.log)
    changes = ends.ChangeSource(desk.begin, stop.asked.is_set)
    return Ends(changes=changes, topic=ends.TopicSink(desk.begin))


def _farewell(desk: Desk, stop: Stop, form: str) -> None:
    """Say what was published, whichever way the run ended."""
    work = desk.work
    if work is None:
        return
    desk.end()
    _say_done(work, form)
    if work.too_large:
        left = f"pages larger than the topic takes, left out: {len(work.too_large):,}"
        logs.say(form, logging.ERROR, left)
    if work.fault is not None:
        fault = f"{work.fault}; what was taken is noted, start again to go on"
        logs.say(form, logging.ERROR, fault)
    if stop.asked.is_set():
        os._exit(128 + stop.signal)
    if work.fault is not None or work.too_large:
        os._exit(1)


def _say_done(work: "Work", form: str) -> None:
    if form == "json":
        logger.info("publishing ended", extra={"topic": work.told.topic, **work.done})
        return
    counts = ", ".join(f"{work.done[name]:,} {name}" for name in ("new", "updated", "removed"))
    sys.stdout.write(f"published to {work.told.topic}: {counts}\n")
    sys.stdout.flush()
