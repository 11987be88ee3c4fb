"""What a run says on stderr: text for people, or one JSON object a line for machines."""

import json
import logging
import sys
from datetime import UTC, datetime

from connectors.progress import Progress

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def configure(form: str, screen: Progress) -> None:
    """Have the project's loggers write to stderr, above the progress line."""
    handler = _Handler(screen)
    handler.setFormatter(_Json() if form == "json" else _Text())
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    for ours in ("flows", "connectors"):
        logging.getLogger(ours).setLevel(logging.INFO)


def say(form: str, level: int, words: str) -> None:
    """Say on stderr why there is no run, or how it ended; no logger has to be there."""
    record = logging.makeLogRecord({"msg": words, "levelno": level})
    record.levelname = logging.getLevelName(level)
    line = _Json().format(record) if form == "json" else f"sitewax: {words}"
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _fields(record: logging.LogRecord) -> dict[str, object]:
    return {key: val for key, val in vars(record).items() if key not in _STANDARD}


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        clock = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
        fields = " ".join(f"{key}={val}" for key, val in _fields(record).items())
        line = f"{clock} {record.levelname.lower():7} {record.getMessage()}"
        return f"{line} {fields}".rstrip() + (
            f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        )


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat()
        line = {"time": at, "level": record.levelname.lower(), "event": record.getMessage()}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line | _fields(record), default=str, ensure_ascii=False)


class _Handler(logging.Handler):
    def __init__(self, screen: Progress) -> None:
        super().__init__()
        self._screen = screen

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._screen.above(self.format(record))
        except Exception:  # a log line must never end a run
            self.handleError(record)
