"""The two ends of the dataflow of `flows.index`: what differs goes out, what is done comes in."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Semaphore
from typing import Final

from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.outputs import FixedPartitionedSink, StatefulSinkPartition

from connectors.indexing import Index, Pages
from connectors.indexing.rounds import Rounds

PART: Final = "index"
"""The one partition of both ends: Bytewax puts equal lists on the same worker, so both share
`Rounds`, and one thread writes to the store."""
POLL: Final = timedelta(milliseconds=10)

Opened = Callable[[], Rounds]
"""Begins the work, on the worker that has the partition; returns the same `Rounds` each time."""


class DifferenceSource(FixedPartitionedSource[tuple[str, Pages], None]):
    """Emits what a store lacks of the corpus, as `(site, pages)`, until nothing differs.

    * *Partition*: one.
    * *Guarantee*: at least once: what a run that was killed has not written differs still.
    * *Resume*: nothing is kept; the store and the corpus are compared again.
    * *Limits*: a few batches are under way; memory for a row per page of one site.
    """

    def __init__(self, opened: Opened, stop: Callable[[], bool], ahead: int) -> None:
        """Emit no more than `ahead` batches that have not been written."""
        self._opened = opened
        self._stop = stop
        self._ahead = ahead

    def list_parts(self) -> list[str]:
        """Return the one partition."""
        return [PART]

    def build_part(self, step_id: str, for_part: str, resume_state: None) -> "_Comparison":
        """Begin to compare."""
        del step_id, for_part, resume_state
        return _Comparison(self._opened(), self._stop, self._ahead)


class _Comparison(StatefulSourcePartition[tuple[str, Pages], None]):
    def __init__(self, rounds: Rounds, stop: Callable[[], bool], ahead: int) -> None:
        self._rounds = rounds
        self._work = rounds.work(stop=stop)
        self._ahead = ahead
        self._waits = False

    def next_batch(self) -> list[tuple[str, Pages]]:
        self._waits = self._rounds.out >= self._ahead
        if self._waits:
            return []
        pages = next(self._work)  # StopIteration is how a source ends
        self._waits = pages is None
        return [] if pages is None else [(pages.site, pages)]

    def next_awake(self) -> datetime | None:
        return datetime.now(UTC) + POLL if self._waits else None

    def snapshot(self) -> None:
        """Keep nothing."""


class StoreSink(FixedPartitionedSink[Pages, None]):
    """Writes pages to the store as they come.

    * *Partition*: one, on the worker of the source.
    * *Guarantee*: exactly once in effect: a page's chunks are replaced as a whole.
    * *Cost*: one write of the store for each batch of pages.
    """

    def __init__(self, opened: Opened) -> None:
        """Write to the store whose work has begun."""
        self._opened = opened

    def list_parts(self) -> list[str]:
        """Return the one partition."""
        return [PART]

    def build_part(self, step_id: str, for_part: str, resume_state: None) -> "_Writer":
        """Become the writer."""
        del step_id, for_part, resume_state
        return _Writer(self._opened())


class _Writer(StatefulSinkPartition[Pages, None]):
    def __init__(self, rounds: Rounds) -> None:
        self._rounds = rounds

    def write_batch(self, values: list[Pages]) -> None:
        for pages in values:
            self._rounds.done(pages)

    def snapshot(self) -> None:
        """Keep nothing: what is written is written."""


@dataclass(frozen=True, slots=True)
class _Task:
    future: Future[Pages]

    def done(self) -> bool:
        return self.future.done()

    def result(self) -> Pages:
        return self.future.result()


class Embedding:
    """Embeds pages in threads beside the dataflow; a pool as `flows.operators.offload` takes it."""

    def __init__(self, index: Index, workers: int) -> None:
        """Embed so many batches at once; one more of each may wait."""
        self._index = index
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="embed")
        self.room = 2 * workers
        """Batches that may be under way."""
        self._room = Semaphore(self.room)

    def submit(self, pages: Pages) -> _Task:
        """Hand over pages; blocks while too much is under way."""
        self._room.acquire()
        future = self._threads.submit(self._index.embed, pages)
        future.add_done_callback(lambda _: self._room.release())
        return _Task(future)

    def close(self) -> None:
        """Let go of the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)
