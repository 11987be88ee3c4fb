"""Exports on disk: written as a stream beside their place, and put there in one step."""

import json
import os
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pyarrow as pa

from connectors.dataset import contents, files
from flows import card
from flows.card import Tally
from flows.schema import Row
from flows.settings import package_version
from flows.shapes import Shape

SHARD_BYTES: Final = 512 << 20
"""Bytes of values of one Parquet file of a folder; the Hub advises files below 500 MB."""


def lines(root: Path, target: Path, shape: Shape, table: str, sites: Collection[str]) -> Tally:
    """Write rows of the corpus to the file `target`, one JSON object a line; return their count.

    Memory holds a row group at a time. Raises OSError and ValueError, each in one line.
    """
    _refuse_inside(root, target)
    if target.is_dir():
        raise ValueError(f"{target} is a folder; name a file")
    tally = Tally()
    with _beside(target) as staged, staged.open("w", encoding="utf-8") as file:
        for made in shape(_rows(root, table, sites, tally)):
            file.write(json.dumps(made, ensure_ascii=False, separators=(",", ":")) + "\n")
        file.flush()
        os.fsync(file.fileno())
        staged.replace(target)
    files.sync(target.parent)
    return tally


def folder(root: Path, target: Path, tables: Sequence[str], sites: Collection[str]) -> Tally:
    """Write tables of the corpus to the folder `target` as Hugging Face `datasets` reads it.

    A folder that is there already is replaced when it is such an export, and refused when not.
    """
    _refuse_inside(root, target)
    if target.exists() and not _is_ours(target):
        raise ValueError(f"{target} is there already, and no export of ours")
    tally = Tally()
    with _beside(target) as staged:
        for name in tables:
            (staged / name).mkdir(parents=True)
            _write(staged / name, name, contents.tables(root, name, sites), tally)
        told = card.render(tally, tables, package_version())
        (staged / "README.md").write_text(told, encoding="utf-8")
        files.sync(staged)
        _put(staged, target)
    files.sync(target.parent)
    return tally


def _refuse_inside(root: Path, target: Path) -> None:
    if root.resolve() in target.resolve().parents:
        raise ValueError(f"{target} lies in the dataset folder {root}; name another place")


def _rows(root: Path, table: str, sites: Collection[str], tally: Tally) -> Iterator[Row]:
    for rows in contents.tables(root, table, sites):
        tally.add(table, rows)
        yield from rows.to_pylist()


def _write(place: Path, name: str, parts: Iterable[pa.Table], tally: Tally) -> None:
    """Write a table as files of a bounded size; one without rows if there are none."""
    number = weight = 0
    writer = _shard(place, name, number)
    try:
        for rows in parts:
            if weight >= SHARD_BYTES:
                writer.close()
                number, weight = number + 1, 0
                writer = _shard(place, name, number)
            tally.add(name, rows)
            writer.add(rows)
            weight += rows.nbytes
    except BaseException:
        writer.abandon()
        raise
    writer.close()


def _shard(place: Path, name: str, number: int) -> files.Writer:
    return files.Writer(place / f"train-{number:05d}.parquet", name)


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """Give a path in a folder of its own next to `target`; what is left there goes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{target.name}-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=target.parent) as place:
        yield Path(place) / target.name


def _put(staged: Path, target: Path) -> None:
    """Put a folder where it belongs, in one step where the system can."""
    if not target.exists():
        staged.rename(target)
    elif not files.exchange(staged, target):
        target.rename(staged.with_suffix(".old"))
        staged.rename(target)


def _is_ours(target: Path) -> bool:
    try:
        return card.MARK in (target / "README.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
