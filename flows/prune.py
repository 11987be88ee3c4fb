"""Drops old runs of a dataset: `python -m flows.prune [DIR] [--keep N]`.

Exit status: 0 done, 2 bad usage, no dataset, or another run is writing to it.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from connectors.dataset import Dataset
from connectors.dataset.pruning import prune


def main(arguments: Sequence[str] | None = None) -> int:
    """Drop old runs and return the exit status."""
    given = _parser().parse_args(arguments)
    try:
        dropped, left = prune(Dataset.at(given.folder), given.keep)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"flows.prune: {str(error).splitlines()[0]}\n")
        return 2
    runs = "1 run" if len(dropped) == 1 else f"{len(dropped)} runs"
    sys.stdout.write(f"{runs} dropped, {left} kept: {given.folder}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m flows.prune",
        description="Drops old runs of a dataset. The corpus, an unfinished run, and the runs that "
        "the next one of a site looks back at always stay.",
    )
    usual = Path(os.environ.get("INGEST_OUT") or "data")
    parser.add_argument(
        "folder", nargs="?", default=usual, type=Path, metavar="DIR", help=f"dataset ({usual})"
    )
    parser.add_argument(
        "--keep", default=10, type=_count, metavar="N", help="newest runs that stay (10)"
    )
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


if __name__ == "__main__":
    sys.exit(main())
