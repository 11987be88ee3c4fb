"""The ends of `flows.publish`: what differs comes in, and goes to a Kafka topic.

The module needs the extra `kafka`.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bytewax.connectors.kafka import KafkaSink, KafkaSinkMessage
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.outputs import FixedPartitionedSink, StatefulSinkPartition
from confluent_kafka import KafkaError, KafkaException, Producer

from connectors.dataset.files import DamagedError
from connectors.publishing import differences
from connectors.publishing.ledger import Ledger
from flows.messages import Message
from flows.settings.publish import PublishSettings, properties

logger = logging.getLogger(__name__)

PART: Final = "corpus"
AHEAD: Final = 2 * differences.BATCH
"""Messages that are under way at a time, before another batch is made."""
POLL: Final = timedelta(milliseconds=20)
IDLE: Final = timedelta(milliseconds=500)
"""How soon a source that waits for its next look hears that it is to stop."""
HEADERS: Final = 1_000
"""Bytes of a message beside its key and value, at most."""
_TOO_LARGE: Final = (KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_MSG_SIZE)


@dataclass(kw_only=True)
class Work:
    """What one run does, shared by its two ends, which are used by one thread."""

    root: Path
    told: PublishSettings
    ledger: Ledger
    done: Counter[str] = field(default_factory=Counter)
    """Messages taken, by change."""
    too_large: set[str] = field(default_factory=set)
    """URLs of pages that the topic does not take."""
    fault: str | None = None
    """Why no more can be told or is taken; nothing more is sent then."""
    out: int = 0
    """Messages that are under way."""
    looks: int = 0
    """Looks that ended."""
    _said: Counter[str] = field(default_factory=Counter)

    def look(self) -> Iterator[list[Message]]:
        """Yield what the topic is to be told now."""
        every = self.told.full and not self.looks
        return differences.batches(self.root, self.ledger, every=every)

    def leave_out(self, url: str) -> None:
        """Keep that a page is larger than the topic takes, and say so once."""
        if url not in self.too_large:
            logger.warning("page larger than the topic takes", extra={"url": url})
        self.too_large.add(url)

    def end_look(self) -> None:
        """Say what a look found to tell."""
        self.looks += 1
        news = self.done - self._said
        if news and self.told.every:
            logger.info("published", extra=dict(news))
        self._said = self.done.copy()


Begin = Callable[[], Work]


class ChangeSource(FixedPartitionedSource[tuple[str, Message], None]):
    """Yields messages for what the corpus and the topic differ in; one look, or one now and then.

    * *Partition*: one.
    * *Resume*: from the ledger; Bytewax's snapshot is always None.
    * *Limits*: the texts of 192 pages are in memory at a time.
    * *Cost*: reads the keys of the whole corpus a look, and the texts of what changed.
    """

    def __init__(self, begin: Begin, stopped: Callable[[], bool]) -> None:
        """Yield the work that `begin` returns; end when `stopped` says so."""
        self._begin = begin
        self._stopped = stopped

    def list_parts(self) -> list[str]:
        """Return the one partition."""
        return [PART]

    def build_part(self, step_id: str, for_part: str, resume_state: None) -> "_Looks":
        """Begin the work."""
        del step_id, for_part, resume_state
        return _Looks(self._begin(), self._stopped)


class _Looks(StatefulSourcePartition[tuple[str, Message], None]):
    def __init__(self, work: Work, stopped: Callable[[], bool]) -> None:
        self._work = work
        self._stopped = stopped
        self._batches = work.look()
        self._due = self._next = datetime.now(UTC)

    def next_batch(self) -> list[tuple[str, Message]]:
        if self._stopped() or self._work.fault is not None:
            raise StopIteration
        if self._work.out >= AHEAD:
            return self._wait(POLL)
        if datetime.now(UTC) < self._due:
            return self._wait(IDLE)
        try:
            batch = next(self._batches, None)
        except DamagedError as why:
            self._work.fault = str(why)
            return []
        if batch is None:
            return self._end_look()
        self._work.out += len(batch)
        return [(message.site, message) for message in batch]

    def next_awake(self) -> datetime:
        return self._next

    def snapshot(self) -> None:
        """Keep nothing: the ledger does."""

    def _end_look(self) -> list[tuple[str, Message]]:
        if self._work.out:
            return self._wait(POLL)
        self._work.end_look()
        if not self._work.told.every:
            raise StopIteration
        self._batches = self._work.look()
        self._due = datetime.now(UTC) + timedelta(seconds=self._work.told.every)
        return []

    def _wait(self, span: timedelta) -> list[tuple[str, Message]]:
        self._next = datetime.now(UTC) + span
        return []


class TopicSink(FixedPartitionedSink[Message, None]):
    """Sends messages through Bytewax's Kafka connector, and notes those that a broker took.

    * *Partition*: one, on the worker of the source.
    * *Guarantee*: at least once. A batch is noted when brokers have taken all of it; a crash
      before that sends it again. Messages of one URL arrive in order.
    * *Limits*: a message larger than the topic takes is left out, and told.
    * *Cost*: one round trip a batch of 64 pages.
    """

    def __init__(self, begin: Begin) -> None:
        """Send what the work that `begin` returns yields."""
        self._begin = begin

    def list_parts(self) -> list[str]:
        """Return the one partition."""
        return [PART]

    def build_part(self, step_id: str, for_part: str, resume_state: None) -> "_Topic":
        """Connect to the brokers."""
        del for_part, resume_state
        return _Topic(self._begin(), step_id)


class _Topic(StatefulSinkPartition[Message, None]):
    """Bytewax's sink, which takes no notice of what a broker says, with an ear for it."""

    def __init__(self, work: Work, step_id: str) -> None:
        self._work = work
        self._refused: dict[str, KafkaError] = {}
        told = work.told
        config: dict[str, Any] = {**_config(told), "on_delivery": self._hear}
        sink = KafkaSink(told.brokers.split(","), told.topic, config)
        self._inner = sink.build(step_id, 0, 1)

    def write_batch(self, values: list[Message]) -> None:
        if self._work.fault is None:
            self._send([message for message in values if self._fits(message)])
        self._work.out -= len(values)

    def snapshot(self) -> None:
        """Keep nothing: the ledger does."""

    def close(self) -> None:
        self._inner.close()

    def _send(self, batch: list[Message]) -> None:
        self._refused.clear()
        self._inner.write_batch([_wrapped(message) for message in batch])
        taken = [message for message in batch if message.url not in self._refused]
        self._work.ledger.note(taken)
        self._work.done.update(message.change.value for message in taken)
        for url, error in self._refused.items():
            if error.code() in _TOO_LARGE:
                self._work.leave_out(url)
            else:
                self._work.fault = error.str()

    def _fits(self, message: Message) -> bool:
        size = len(message.value or b"") + len(message.url.encode()) + HEADERS
        if size > self._work.told.max_bytes:
            self._work.leave_out(message.url)
            return False
        return True

    def _hear(self, error: KafkaError | None, message: Any) -> None:  # noqa: ANN401  # no stubs
        if error is not None:
            self._refused[message.key().decode()] = error


def check(told: PublishSettings) -> None:
    """See to it that the topic can be reached; ValueError, in one line, when it cannot."""
    said: list[str] = []
    config = {**_config(told), "error_cb": lambda error: said.append(error.str())}
    try:
        client = Producer({"bootstrap.servers": told.brokers, **config})
    except KafkaException as why:
        raise ValueError(f"PUBLISH_CONFIG: {why.args[0].str()}") from None
    try:
        topic = client.list_topics(told.topic, timeout=told.timeout_s).topics[told.topic]
    except KafkaException as why:
        client.poll(0)
        reason = said[0] if said else why.args[0].str()
        raise ValueError(f"no Kafka at {told.brokers}: {reason}") from None
    if topic.error is not None:
        raise ValueError(f"topic {told.topic} at {told.brokers}: {topic.error.str()}")


def _config(told: PublishSettings) -> Mapping[str, Any]:
    """Return the properties of a client: ours, then those of the file."""
    return {
        "client.id": "sitewax",
        "enable.idempotence": True,
        "compression.type": "zstd",
        "message.max.bytes": told.max_bytes,
        "message.timeout.ms": int(told.timeout_s * 1000),
        "log_level": 2,
        **properties(told.config),
    }


def _wrapped(message: Message) -> KafkaSinkMessage[bytes | None, bytes | None]:
    headers = {"change": message.change.value, "site": message.site, "digest": message.digest}
    return KafkaSinkMessage(
        key=message.url.encode(),
        value=message.value,
        headers=[(name, text.encode()) for name, text in headers.items()],
    )
