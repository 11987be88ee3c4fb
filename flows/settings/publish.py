"""What `flows.publish` is told."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flows import settings

PREFIX = "PUBLISH_"
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishSettings:
    """Where changes go; each field is `PUBLISH_` and its name in capitals."""

    brokers: str = ""
    """Kafka brokers to begin with: `host:port`, several separated by commas. Must be set."""
    topic: str = "sitewax"
    """Topic that gets one message for each page that changed; best one that is compacted."""
    config: str = ""
    """File of further client properties, `name=value` a line, as librdkafka names them
    (`security.protocol`, `sasl.username` …)."""
    max_bytes: int = 1_000_000
    """Most bytes of a message, as the topic's `max.message.bytes`; larger pages are left out and
    told, the exit status is then 1."""
    timeout_s: float = 60.0
    """Seconds after which a message that no broker took ends the run."""
    every: float = 0.0
    """Seconds between two looks at the dataset; 0 = one look."""
    full: bool = False
    """Send every page again, not only what changed."""

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> "PublishSettings":
        """Return what `env` states, or raise ValueError in one line."""
        told = settings.stated(cls, env, PREFIX, command="flows.publish")
        return _checked(cls(**told))  # type: ignore[arg-type]  # read by type


def names() -> dict[str, settings.Knob]:
    """Return every variable by its name, with those of `flows.ingest` that are read too."""
    general = settings.names()
    return {
        "INGEST_OUT": general["INGEST_OUT"],
        **settings.names(PublishSettings, PREFIX),
        "INGEST_LOG": general["INGEST_LOG"],
    }


def properties(config: str) -> dict[str, str]:
    """Return the client properties that a file states; ValueError, in one line, if it cannot.

    >>> properties("")
    {}
    """
    if not config:
        return {}
    try:
        lines = Path(config).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as why:
        reason = getattr(why, "strerror", None) or why
        raise ValueError(f"{PREFIX}CONFIG: cannot read {config}: {reason}") from None
    stated = [line for line in map(str.strip, lines) if line and not line.startswith("#")]
    if not all("=" in line for line in stated):
        raise ValueError(f"{PREFIX}CONFIG: {config}: write name=value on each line")
    pairs = (line.partition("=") for line in stated)
    return {name.strip(): value.strip() for name, _, value in pairs}


def _checked(told: PublishSettings) -> PublishSettings:
    """Return the settings as they came, or raise ValueError naming the first that cannot be."""
    if not told.brokers:
        raise ValueError(f"{PREFIX}BROKERS must be set, e.g. localhost:9092")
    if not _TOPIC.fullmatch(told.topic) or told.topic in (".", ".."):
        raise ValueError(f"{PREFIX}TOPIC must be letters, digits, . _ and -, not {told.topic!r}")
    for name, floor in (("max_bytes", 1_000), ("timeout_s", 1), ("every", 0)):
        if getattr(told, name) < floor:
            raise ValueError(f"{PREFIX}{name.upper()} must be at least {floor}")
    return told
