"""How far a run is, on stderr: a living line on a terminal, a line now and then elsewhere."""

import sys
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, TextIO

from flows.records import Outcome

if TYPE_CHECKING:
    from connectors.crawls import Crawls

LIVE_S = 0.5
"""Seconds between two states of the line on a terminal."""

PLAIN_S = 10.0
"""Seconds between two lines elsewhere."""

STORED = frozenset({Outcome.OK, Outcome.DISCOVERED, Outcome.UNCHANGED, Outcome.NOT_MODIFIED})


class Progress:
    """Counts rows as they are written, and shows them from a thread of its own."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Show on `stream`, stderr when none is given."""
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._outcomes: Counter[str] = Counter()
        self._crawls: Crawls | None = None
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._show, name="progress", daemon=True)

    def start(self, crawls: "Crawls") -> None:
        """Begin to show the progress of these crawls."""
        self._crawls = crawls
        self._thread.start()

    def count(self, outcome: str, rows: int) -> None:
        """Count rows."""
        self._outcomes[outcome] += rows

    def above(self, line: str) -> None:
        """Write a line where the living line does not overwrite it."""
        with self._lock:
            self._stream.write(f"\r\x1b[K{line}\n" if self._live else f"{line}\n")
            self._stream.flush()

    def stop(self) -> None:
        """Show the last state once, and no more."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(1)
        if self._live:
            self._stream.write(f"\r\x1b[K{self.line()}\n")
            self._stream.flush()

    def line(self) -> str:
        """Return the state of the run in one line."""
        seconds = time.monotonic() - self._started
        rows = self._outcomes.total()
        stored = sum(self._outcomes[outcome] for outcome in STORED)
        crawls = self._crawls.here() if self._crawls else []
        ended = sum(crawl.ended for crawl in crawls)
        asked = sum(crawl.visits.requests for crawl in crawls)
        waiting = sum(crawl.waiting for crawl in crawls)
        return (
            f"{seconds:5.0f} s  sites {ended}/{len(crawls)}  requests {asked}  waiting {waiting}"
            f"  stored {stored}  left out {rows - stored}  {rows / max(seconds, 0.1):.1f}/s"
        )

    def _show(self) -> None:
        while not self._over.wait(LIVE_S if self._live else PLAIN_S):
            with self._lock:
                self._stream.write(f"\r\x1b[K{self.line()}" if self._live else f"{self.line()}\n")
                self._stream.flush()
