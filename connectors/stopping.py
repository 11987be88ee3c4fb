"""Being asked to end: the first signal ends a run as the Web would, the second one at once."""

import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

LONGEST_S: Final = 8.0
"""Seconds in which a run has to end by itself; then it is ended, as safe as by `kill -9`."""

MAIN: Final = "bytewax.run"
"""The program that runs our flows. To load what a flow needs takes a second, and a signal in this
second is one like any other; who merely imports a flow keeps their own handlers."""


@dataclass(slots=True)
class Stop:
    """Whether this process has been asked to end, and by what.

    A thread of its own hears the signals. Python's handlers run on the main thread, which may be
    inside the engine, where it waits for other processes and runs none.
    """

    asked: threading.Event = field(default_factory=threading.Event)
    signal: int = 0
    overdue: Callable[[], None] = lambda: None
    """Called before a run is ended that does not end by itself."""
    _heard: int = -1

    def listen(self) -> None:
        """Take SIGINT and SIGTERM from here on; to be called on the main thread, once or more."""
        if self._heard >= 0:
            return
        self._heard, told = os.pipe()
        os.set_blocking(told, False)
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        for number in SIGNALS:
            signal.signal(number, lambda *_: None)
        threading.Thread(target=self._wait, name="signals", daemon=True).start()

    @property
    def status(self) -> int:
        """The exit status of a process that a signal has ended."""
        return 128 + self.signal

    def _wait(self) -> None:
        self.signal = self._next()
        self.asked.set()
        if select.select([self._heard], [], [], LONGEST_S)[0]:
            os._exit(128 + self._next())
        try:
            self.overdue()
        finally:
            os._exit(self.status)

    def _next(self) -> int:
        """Return the next signal that asks us to end."""
        number = 0
        while number not in SIGNALS:
            number = os.read(self._heard, 1)[0]
        return number


STOP: Final = Stop()
"""Of this process: signals know no other owner."""


def is_main() -> bool:
    """Return whether this process is there to run a flow, and not a child of one that is."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    here = threading.current_thread() is threading.main_thread()
    return spec is not None and spec.name == MAIN and here
