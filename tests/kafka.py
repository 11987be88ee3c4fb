"""A Kafka broker on loopback: the mock cluster of librdkafka, and what its topics hold."""

import json
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition


@dataclass(frozen=True)
class Kept:
    """A message as a consumer gets it."""

    key: str
    value: dict[str, Any] | None
    headers: dict[str, str]


class Broker:
    """The mock cluster, for as long as the block lasts; topics appear when they are asked for."""

    def __enter__(self) -> Self:
        """Start it."""
        self._holder = Producer(
            {"test.mock.num.brokers": 1, "bootstrap.servers": "replaced", "log_level": 0}
        )
        (broker,) = self._holder.list_topics(timeout=10).brokers.values()
        self.address = f"{broker.host}:{broker.port}"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End it: with its client, the cluster is gone."""
        del self._holder

    def messages(self, topic: str) -> list[Kept]:
        """Return all messages of a topic; those of one key in their order."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.address,
                "group.id": "tests",
                "enable.partition.eof": True,
                "log_level": 0,
            }
        )
        parts = consumer.list_topics(topic, timeout=10).topics[topic].partitions
        consumer.assign([TopicPartition(topic, part, OFFSET_BEGINNING) for part in parts])
        found, ends = [], 0
        while ends < len(parts):
            message = consumer.poll(20)
            assert message is not None, "the broker does not answer"
            if message.error() is not None:
                ends += 1
            else:
                found.append(_kept(message))
        consumer.close()
        return found

    def compacted(self, topic: str) -> dict[str, Kept]:
        """Return what a compacted topic would hold: the last message of each key, if any."""
        last = {message.key: message for message in self.messages(topic)}
        return {key: message for key, message in last.items() if message.value is not None}


def _kept(message: Any) -> Kept:
    value = message.value()
    return Kept(
        key=message.key().decode(),
        value=None if value is None else json.loads(value),
        headers={name: text.decode() for name, text in message.headers()},
    )
