"""Cuts all chunks of the corpus again, from its pages: `python -m flows.rechunk [DIR]`.

Reads INGEST_CHUNK_TOKENS, INGEST_CHUNK_OVERLAP and INGEST_ENCODING, as the next run will.
Exit status: 0 done, 2 bad usage or setting, no dataset, or one that is in use or unfinished.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from connectors.dataset import Dataset
from connectors.dataset.recutting import recut
from flows import recutting
from flows.chunks import Limits
from flows.recutting import Anchors
from flows.schema import Row
from flows.settings import Settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Cut the corpus anew and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m flows.rechunk",
        description="Cuts all chunks of the corpus again from its pages, without a request, by "
        "INGEST_CHUNK_TOKENS, INGEST_CHUNK_OVERLAP and INGEST_ENCODING. With the same settings the "
        "next run finds the corpus as if it had cut it.",
    )
    usual = Path(os.environ.get("INGEST_OUT") or "data")
    parser.add_argument(
        "folder", nargs="?", default=usual, type=Path, metavar="DIR", help=f"dataset ({usual})"
    )
    given = parser.parse_args(arguments)
    try:
        settings = Settings.from_env(os.environ)
        dataset = Dataset.at(given.folder)
        done = recut(dataset, _cut(settings), _settings_hash(settings, dataset))
        dataset.note_reading(settings.content_hash, settings.reading_hash)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"flows.rechunk: {str(error).splitlines()[0]}\n")
        return 2
    sys.stdout.write(f"{sum(done.values())} chunks of {len(done)} sites: {given.folder}/corpus\n")
    return 0


def _cut(settings: Settings) -> Callable[[dict[str, Any], Anchors], list[Row]]:
    limits = Limits(
        max_tokens=settings.chunk_tokens,
        overlap=settings.chunk_overlap,
        encoding=settings.encoding,
    )
    return lambda page, anchors: recutting.cut(page, anchors, limits)


def _settings_hash(settings: Settings, dataset: Dataset) -> Callable[[str], str | None]:
    """Return what says how a page counts as stored now: by today's settings, if it was read so.

    A page that was read in another way, by another version say, keeps that said of it: the next
    run reads it again.
    """
    readings, now = dataset.readings(), settings.content_hash
    return lambda old: now if readings.get(old) == settings.reading_hash else None


if __name__ == "__main__":
    sys.exit(main())
