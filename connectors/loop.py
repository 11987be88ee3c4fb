"""One event loop, on a thread of its own, for all fetching of this process."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any


class EventLoop:
    """An asyncio loop that any thread may hand work to, on a daemonic thread."""

    def __init__(self) -> None:
        """Start the thread."""
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        threading.Thread(target=self._run, name="fetching", daemon=True).start()

    def call(self, function: Callable[..., object], *args: object) -> None:
        """Have `function(*args)` called on the loop's thread, soon."""
        self._loop.call_soon_threadsafe(function, *args)

    def call_after(self, seconds: float, function: Callable[..., object], *args: object) -> None:
        """Have `function(*args)` called on the loop's thread when so much time has passed."""
        self.call(self._loop.call_later, seconds, function, *args)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine as a task of the loop; callable from any thread."""
        self.call(self._spawn, work)

    def close(self) -> None:
        """Stop the loop, and whatever runs on it, for good."""
        self.call(lambda: self._spawn(self._end()))

    async def _end(self) -> None:
        others = self._tasks - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        self._loop.stop()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()
