"""How far a run is, on stderr: a living line on a terminal, a line now and then elsewhere."""

import json
import sys
import threading
import time
from collections import Counter
from datetime import UTC, datetime
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

    def __init__(self, stream: TextIO | None = None, *, form: str = "text") -> None:
        """Show on `stream`, stderr when none is given; as objects when the form is `json`."""
        self._stream = stream or sys.stderr
        self._json = form == "json"
        self._live = self._stream.isatty() and not self._json
        self._outcomes: Counter[str] = Counter()
        self._crawls: Crawls | None = None
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._show, name="progress", daemon=True)

    def start(self, crawls: "Crawls") -> None:
        """Begin to show the progress of these crawls, from zero on."""
        self._crawls = crawls
        self._started = time.monotonic()
        self._outcomes.clear()
        if not self._thread.is_alive():
            self._thread.start()

    def count(self, outcome: str, rows: int) -> None:
        """Count rows."""
        self._outcomes[outcome] += rows

    def above(self, line: str) -> None:
        """Write a line where the living line does not overwrite it."""
        with self._lock:
            self._stream.write(f"\r\x1b[K{line}\n" if self._live else f"{line}\n")
            self._stream.flush()

    def pause(self) -> None:
        """Show the last state once, and no more before the next start."""
        with self._lock:
            if self._live and self._crawls is not None:
                self._stream.write(f"\r\x1b[K{self.line()}\n")
                self._stream.flush()
            self._crawls = None

    def stop(self) -> None:
        """Show the last state once, and no more."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(1)
        self.pause()

    def line(self) -> str:
        """Return the state of the run in one line."""
        now = self._state()
        if self._json:
            at = datetime.now(UTC).isoformat()
            return json.dumps({"time": at, "level": "info", "event": "progress", **now})
        return (
            f"{now['seconds']:5.0f} s  sites {now['ended']}/{now['sites']}"
            f"  requests {now['requests']}  waiting {now['waiting']}  stored {now['stored']}"
            f"  left out {now['left_out']}  {now['rows_per_s']:.1f}/s"
        )

    def _state(self) -> dict[str, float]:
        seconds = time.monotonic() - self._started
        rows = self._outcomes.total()
        stored = sum(self._outcomes[outcome] for outcome in STORED)
        crawls = self._crawls.here() if self._crawls else []
        return {
            "seconds": round(seconds, 1),
            "sites": len(crawls),
            "ended": sum(crawl.ended for crawl in crawls),
            "requests": sum(crawl.visits.requests for crawl in crawls),
            "waiting": sum(crawl.waiting for crawl in crawls),
            "stored": stored,
            "left_out": rows - stored,
            "rows_per_s": round(rows / max(seconds, 0.1), 1),
        }

    def _show(self) -> None:
        while not self._over.wait(LIVE_S if self._live else PLAIN_S):
            with self._lock:
                if self._crawls is None:
                    continue
                self._stream.write(f"\r\x1b[K{self.line()}" if self._live else f"{self.line()}\n")
                self._stream.flush()
