"""The few operators of ours: split a stream by type, know a URL again, admit, work elsewhere."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeVar
from zlib import crc32

import bytewax.operators as op
from bytewax.dataflow import operator
from bytewax.operators import KeyedStream, StatefulBatchLogic

from flows import discovery, policy
from flows.records import (
    AllDeclared,
    Entries,
    Entry,
    Failure,
    LeftOut,
    Rules,
    Sighting,
    Sightings,
)
from flows.settings import Settings
from flows.traps import LINKED

X = TypeVar("X")
Y = TypeVar("Y")
Given_contra = TypeVar("Given_contra", contravariant=True)
Made_co = TypeVar("Made_co", covariant=True)

POLL = timedelta(milliseconds=10)
"""How often work done elsewhere is looked for, while there is any."""

BUCKETS = 32
"""Keys by which pages are spread over the workers of a cluster."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """So many entries of one site that said nothing new; they still count as settled."""

    count: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """So many more, or fewer, URLs of one site wait for the end of its lists to be decided."""

    change: int


OnEntries = Entry | Entries | Failure | LeftOut | Sighting | Sightings
"""Entries admitted, refused, or named again in another place; one or many."""

Decision = OnEntries | Repeats | Waiting
"""What is decided, and how many need no decision, or wait for one."""

DECIDING = (Rules, Entry, Entries, AllDeclared)
"""What a site sends by which it is decided what to fetch."""

MOST_WAITING = 10_000
"""Links of a site that wait to be decided until its lists have been read."""


@dataclass(frozen=True)
class Split:
    """The two streams that a split makes."""

    chosen: KeyedStream[Any]
    rest: KeyedStream[Any]


def split(step_id: str, up: KeyedStream[Any], *kinds: type) -> Split:
    """Return the values of the given types, and the others."""

    def is_chosen(item: tuple[str, Any]) -> bool:
        return isinstance(item[1], kinds)

    branches = op.branch(step_id, up, is_chosen)
    return Split(chosen=branches.trues, rest=branches.falses)


class _Stateless(StatefulBatchLogic[Any, Any, None]):
    """State that a restart builds anew: the dataset is the checkpoint, not the recovery store."""

    def snapshot(self) -> None:
        """Keep nothing."""


class _FirstSeen(_Stateless):
    def __init__(self) -> None:
        self._seen = discovery.Seen()

    def on_batch(self, values: list[Any]) -> tuple[Iterable[Any], bool]:
        return [told for value in values for told in self._known(value)], self.RETAIN

    def _known(self, value: Any) -> Iterator[Any]:  # noqa: ANN401  # whatever comes
        if isinstance(value, Entry):
            yield self._seen.take(value) or Repeats(1)
        elif isinstance(value, Entries):
            new, again = self._seen.take_all(value)
            if new:
                yield new
            if again:
                yield Sightings(entries=again)
            if repeats := len(value) - len(new) - len(again):
                yield Repeats(repeats)
        else:
            yield value


def first_seen(step_id: str, entries: KeyedStream[Any]) -> KeyedStream[Any]:
    """Return each URL of a site once; what comes again shrinks to a `Sighting` or `Repeats`."""
    return op.stateful_batch(step_id, entries, lambda _: _FirstSeen())


class _Admit(_Stateless):
    """The gate of a site, and the links that a list still being read may yet declare."""

    def __init__(self, settings: Settings) -> None:
        self._gate = policy.Gate(settings)
        self._waiting: dict[str, Entry] = {}
        self._most_waiting = MOST_WAITING

    def on_batch(self, values: list[Any]) -> tuple[Iterable[Decision], bool]:
        return [decision for value in values for decision in self._decide(value)], self.RETAIN

    def _decide(self, value: Any) -> Iterator[Decision]:  # noqa: ANN401  # whatever comes
        if isinstance(value, Rules):
            self._gate.follow(value)
        elif isinstance(value, AllDeclared):
            yield from self._end_waiting()
        elif isinstance(value, Entry | Entries) and value.has_row:
            yield self._recalled(value)
        elif isinstance(value, Entry):
            yield self._first_word(value)
        elif isinstance(value, Entries):
            yield from self._counted(lambda: self._gate.sort(value))
        elif isinstance(value, Sightings) and self._waiting:
            for entry in value.entries:
                yield from self._again(Sighting(entry=entry))
        elif isinstance(value, Sighting):
            yield from self._again(value)
        else:
            yield value

    def _recalled(self, value: Entry | Entries) -> Repeats:
        entries = value if isinstance(value, Entries) else [value]
        for entry in entries:
            self._gate.recall(entry)
        return Repeats(len(entries))

    def _counted(self, decide: Callable[[], Iterable[Decision]]) -> Iterator[Decision]:
        """Yield decisions on lists, and how many more or fewer of their URLs wait for one."""
        before = self._gate.waiting
        decided = list(decide())
        if change := self._gate.waiting - before:
            yield Waiting(change)
        yield from decided

    def _first_word(self, entry: Entry) -> Decision:
        decision = self._gate.decide(entry)
        may_wait = len(self._waiting) < self._most_waiting
        if may_wait and isinstance(decision, Failure) and self._gate.may_think_again(decision):
            self._waiting[entry.url] = entry
            return Waiting(1)
        return decision

    def _again(self, sighting: Sighting) -> Iterator[Decision]:
        """Decide on a link that waits by what a list says of its URL; the link is the sighting."""
        is_link = sighting.entry.attribution.method in LINKED
        if is_link or sighting.entry.url not in self._waiting:
            yield sighting
            return
        link = self._waiting.pop(sighting.entry.url)
        yield Waiting(-1)
        yield self._gate.decide(sighting.entry)
        yield Sighting(entry=link)

    def _end_waiting(self) -> Iterator[Decision]:
        links, self._waiting, self._most_waiting = list(self._waiting.values()), {}, 0
        yield from self._counted(self._gate.all_declared)
        if links:
            yield Waiting(-len(links))
        yield from map(self._gate.decide, links)


def admit(step_id: str, entries: KeyedStream[Any], settings: Settings) -> KeyedStream[Decision]:
    """Return the decision on each entry, by the rules of its site that came before it."""
    return op.stateful_batch(step_id, entries, lambda _: _Admit(settings))


class Task(Protocol[Made_co]):
    """Work under way elsewhere."""

    def done(self) -> bool:
        """Say whether `result` returns at once."""

    def result(self) -> Made_co | None:
        """Return what came of it; None when the run ended first."""


class Pool(Protocol[Given_contra, Made_co]):
    """A place where work is done beside the dataflow."""

    def submit(self, item: Given_contra, /) -> Task[Made_co]:
        """Hand over an item; blocks while too much is under way, so that nothing piles up."""


class _Offload(_Stateless):
    def __init__(self, pool: Pool[Any, Any]) -> None:
        self._pool = pool
        self._tasks: list[Task[Any]] = []

    def on_batch(self, values: list[Any]) -> tuple[Iterable[Any], bool]:
        self._tasks.extend(self._pool.submit(value) for value in values)
        return self._finished(), self.RETAIN

    def on_notify(self) -> tuple[Iterable[Any], bool]:
        return self._finished(), self.RETAIN

    def on_eof(self) -> tuple[Iterable[Any], bool]:
        rest, self._tasks = self._tasks, []
        return [r for task in rest if (r := task.result()) is not None], self.RETAIN

    def notify_at(self) -> datetime | None:
        return datetime.now(UTC) + POLL if self._tasks else None

    def _finished(self) -> list[Any]:
        waiting: list[Task[Any]] = []
        done: list[Task[Any]] = []
        for task in self._tasks:
            (done if task.done() else waiting).append(task)
        self._tasks = waiting
        return [r for task in done if (r := task.result()) is not None]


@operator
def offload(
    step_id: str,
    up: KeyedStream[X],
    pool: Pool[X, Y],
    spread_by: Callable[[X], str],
    key_again: Callable[[Y], str],
) -> KeyedStream[Y]:
    """Spread items over all workers, have a pool work on them, and return what comes of each.

    Results leave in the order in which they are ready. A slow item holds up nobody but itself;
    a full pool holds up the stream.
    """

    def bucket(item: tuple[str, X]) -> tuple[str, X]:
        return str(crc32(spread_by(item[1]).encode()) % BUCKETS), item[1]

    def rekey(item: tuple[str, Y]) -> tuple[str, Y]:
        return key_again(item[1]), item[1]

    spread = op.map("spread", up, bucket)
    worked = op.stateful_batch("work", spread, lambda _: _Offload(pool))
    return op.map("key", worked, rekey)
