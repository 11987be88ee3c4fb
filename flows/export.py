"""The corpus in the shapes of other libraries: `python -m flows.export FORMAT TARGET`.

Exit status: 0 written, 2 bad usage, no dataset, or a place that cannot be written to.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from connectors import exports
from flows.card import Tally
from flows.schema import CORPUS
from flows.shapes import SHAPES

FORMATS: Final = {
    "jsonl": "one JSON object a line, with every column that is not binary",
    "langchain": "the same, each object a `Document` of langchain-core",
    "llamaindex": "the same, each object a `TextNode` of llama-index-core",
    "huggingface": "a folder of Parquet files with a dataset card, for `datasets.load_dataset`",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write an export and return the exit status."""
    given = _parser().parse_args(arguments)
    tables = (given.table,) if given.table else ("chunks", "pages")
    try:
        if given.format == "huggingface":
            tally = exports.folder(given.data, given.target, tables, given.site)
        else:
            shape, tables = SHAPES[given.format], tables[:1]
            tally = exports.lines(given.data, given.target, shape, tables[0], given.site)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"flows.export: {str(error).splitlines()[0]}\n")
        return 2
    sys.stdout.write(_said(tally, tables, given.target))
    return 0


def _parser() -> argparse.ArgumentParser:
    formats = "\n".join(f"  {name:12} {about}" for name, about in FORMATS.items())
    parser = argparse.ArgumentParser(
        prog="python -m flows.export",
        description=f"The corpus in the shapes of other libraries.\n\nformats:\n{formats}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    usual = Path(os.environ.get("INGEST_OUT") or "data")
    parser.add_argument("format", choices=FORMATS, metavar="FORMAT", help="one of the above")
    parser.add_argument("target", type=Path, metavar="TARGET", help="file, or folder, to write")
    parser.add_argument(
        *("--data",), default=usual, type=Path, metavar="DIR", help=f"dataset folder ({usual})"
    )
    parser.add_argument(
        *("--table",), choices=CORPUS, help="chunks or pages (chunks; huggingface: both)"
    )
    parser.add_argument(
        *("--site",),
        action="append",
        default=[],
        metavar="ORIGIN",
        help="only this site; repeatable",
    )
    return parser


def _said(tally: Tally, tables: Sequence[str], target: Path) -> str:
    counts = " and ".join(f"{tally.total(name):,} {name}" for name in tables)
    sites = len({site for name in tables for site in tally.rows.get(name, ())})
    return f"{counts} of {sites:,} site{'' if sites == 1 else 's'}: {target}\n"


if __name__ == "__main__":
    sys.exit(main())
