"""Ask an index: `python -m flows.search "a question" [--where column=value]`.

The index is the one that `INDEX_URL` and the other settings of `flows.index` name; without any,
that of the dataset in `INGEST_OUT`. Exit status: 0 found, 1 nothing found, 2 bad usage or no index.
"""

import argparse
import os
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from connectors import indexing
from connectors.stores import Hit
from flows import filters
from flows.settings.index import IndexSettings

WIDTH: Final = 96
LINES: Final = 8
"""Lines of a passage that are shown."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the passages nearest to a question and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m flows.search", description="The passages of an index nearest to a question."
    )
    parser.add_argument("question")
    parser.add_argument("-n", "--count", type=int, default=3, help="passages to show [3]")
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="CONDITION",
        help="column=value, column>=value …; heading_path~heading; may be repeated",
    )
    given = parser.parse_args(arguments)
    out = Path(os.environ.get("INGEST_OUT") or "data")
    try:
        settings = IndexSettings.from_env(os.environ)
        where = [filters.parse(text) for text in given.where]
        _check(given.question, given.count)
        hits = indexing.search(out, settings, given.question, given.count, where)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"flows.search: {str(error).splitlines()[0]}\n")
        return 2
    sys.stdout.write("\n".join(line for hit in hits for line in lines(hit)) or "nothing found\n")
    return 0 if hits else 1


def _check(question: str, count: int) -> None:
    if not question.strip():
        raise ValueError("the question is empty")
    if count < 1:
        raise ValueError(f"-n {count}: at least one passage has to be asked for")


def lines(hit: Hit) -> Iterator[str]:
    """Yield a hit as text for a terminal: where it stands, where to read on, what it says."""
    chunk = hit.chunk
    yield f"{hit.score:.2f}  {' > '.join(chunk['heading_path']) or chunk['title'] or chunk['url']}"
    yield f"      {hit.link}"
    shown = [line for line in chunk["text"].splitlines() if line.strip()]
    for line in shown[:LINES]:
        yield textwrap.indent(textwrap.shorten(line, WIDTH - 6, placeholder=" …"), " " * 6)
    if len(shown) > LINES:
        yield "      …"
    yield ""


if __name__ == "__main__":
    sys.exit(main())
