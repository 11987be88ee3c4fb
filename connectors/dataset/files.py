"""Files that are complete when they appear."""

import ctypes
import errno
import json
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from flows.schema import SCHEMAS, Row

GROUP_ROWS: Final = 10_000
"""Most rows of a row group."""
GROUP_BYTES: Final = 4 << 20
"""Most bytes of a row group before compression, so that a writer's memory has a bound."""
_REPEATED = [
    *("run_id", "site", "outcome", "change", "method", "methods.list.element", "sitemap"),
    *("sitemaps.list.element", "changefreq", "content_type", "provider", "settings_hash", "lang"),
    *("extraction", "kind", "severity", "title", "heading_path.list.element", "parent"),
    *("referrer", "lastmod", "fetched_at"),
]
"""Columns whose values repeat; a dictionary of page texts would only cost time."""
_SOUGHT = [
    *("run_id", "site", "url", "outcome", "change", "method", "lastmod", "fetched_at"),
    *("chunk_id", "chunk_index"),
]
"""Columns that readers filter by: they carry statistics."""
_LONG = ("markdown", "html", "structured", "text")
"""Columns of long texts: the least and the greatest of them tell nobody anything."""
_TEXTS = (*_LONG, "detail", "links.list.element.url")
"""Columns that take most of a file."""
_HELPS: Final = {
    "corpus": "remove it, and an unfinished run: its site is then read as for the first time",
    "runs": "a complete run may lack it; of an unfinished one remove the folder and .current",
}
"""What helps when a file of such a folder is damaged."""
_VARIES: Final = object()
_RENAME_EXCHANGE = 2
_AT_FDCWD = -100


class DamagedError(OSError):
    """A Parquet file cannot be read."""

    def __init__(self, path: Path, error: Exception) -> None:
        """Name the file, what is wrong with it, and what helps."""
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        tips = [tip for folder, tip in _HELPS.items() if folder in path.parts[-4:-2]]
        super().__init__("; ".join([f"damaged file {path}: {reason}", *tips]))


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Raise DamagedError for what Arrow says of a damaged file, which names none itself.

    Damage below a file's own directory is an OSError of a decompressor, without a system's number.
    """
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        raise DamagedError(path, error) from error


class Writer:
    """Writes one table to a file, with row groups of a bounded size."""

    def __init__(self, path: Path, name: str, *, small: bool = False) -> None:
        """Open `path` for rows of the table `name`.

        In a `small` file only texts are compressed: its two dozen columns are so short that
        compressing each of them takes twice the time of everything else. The statistics of all
        columns tell those who merge such files what they need not read.
        """
        self._path = path
        self._schema = SCHEMAS[name]
        self._file = pq.ParquetWriter(
            path,
            self._schema,
            compression=dict.fromkeys(_TEXTS, "zstd") if small else "zstd",
            use_dictionary=_REPEATED,  # type: ignore[arg-type]  # the stubs know a bool only
            write_statistics=_plain(self._schema) if small else _SOUGHT,
            write_page_checksum=True,
        )
        self._waiting: list[pa.Table] = []
        self._rows = 0
        self._bytes = 0

    def add(self, rows: pa.Table) -> None:
        """Append rows, which are in the file's order already."""
        for part in _split(rows):
            self._waiting.append(part)
            self._rows += part.num_rows
            self._bytes += part.nbytes
            if self._rows >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
                self._write()

    def close(self) -> None:
        """Finish the file and see it on disk; a table without rows is a file as well."""
        self._write()
        self._file.close()
        sync(self._path)

    def abandon(self) -> None:
        """Close the file as it is: the caller throws it away."""
        self._file.close()

    def _write(self) -> None:
        if self._waiting:
            self._file.write_table(pa.concat_tables(self._waiting), row_group_size=GROUP_ROWS)
        self._waiting, self._rows, self._bytes = [], 0, 0


def write(path: Path, name: str, rows: pa.Table, *, small: bool = False) -> None:
    """Write a whole table to `path` and see it on disk."""
    writer = Writer(path, name, small=small)
    try:
        writer.add(rows)
    except BaseException:
        writer.abandon()
        raise
    writer.close()


def read(
    path: Path,
    columns: list[str] | None = None,
    sites: Collection[str] | None = None,
    url: str | None = None,
) -> Iterator[pa.Table]:
    """Yield the row groups of a Parquet file; DamagedError names it when it is damaged.

    With sites, or with a URL, only the groups that may have rows of them.
    """
    with naming(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        for group in _groups(file.metadata, sites, url):
            yield file.read_row_group(group, columns=columns, use_threads=False)


def check(path: Path) -> None:
    """Read a file to its end; DamagedError names it when that cannot be done."""
    for _ in read(path):
        pass


def weight(path: Path, sites: Collection[str] | None = None) -> int:
    """Return the bytes of a Parquet file's values before compression; `sites` as for `read`."""
    with naming(path):
        meta = pq.read_metadata(path)
    return sum(meta.row_group(group).total_byte_size for group in _groups(meta, sites))


def same(path: Path) -> Row | None:
    """Return the columns in which all rows of a Parquet file have one value, with that value.

    They need not be read. Only what the statistics of the file tell; None when it has no rows.
    """
    with naming(path):
        meta = pq.read_metadata(path)
    groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
    if not meta.num_rows:
        return None
    found = {}
    for at in range(meta.num_columns):
        told = {_only(group.column(at), group.num_rows) for group in groups}
        if len(told) == 1 and _VARIES not in told:
            found[meta.schema.column(at).path] = told.pop()
    return found


def write_json(path: Path, value: dict[str, Any], work: Path | None = None) -> None:
    """Put `value` at `path` at once: a reader finds the old text or the new one.

    It is written in `work` first, beside `path` when there is none; several processes may do so.
    """
    staged = (work or path.parent) / f"{path.name}.{os.getpid()}.tmp"
    with staged.open("w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, indent=1)
        file.flush()
        os.fsync(file.fileno())
    staged.replace(path)
    sync(path.parent)


def read_json(path: Path) -> dict[str, Any] | None:
    """Return what a JSON file holds; None when it is not there or is no JSON object."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def sync(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, is on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove(folder: Path) -> None:
    """Remove a folder and all in it; nothing happens when it is gone already."""
    shutil.rmtree(folder, ignore_errors=True)


def exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one atomic step; False where the system cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    paths = os.fsencode(one), os.fsencode(other)
    if rename(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}:
        return False
    raise OSError(code, os.strerror(code), str(one))


def _plain(schema: pa.Schema) -> list[str]:
    """Return the columns that say one thing or another of a row: no long texts, no lists."""
    plain = (field.name for field in schema if not pa.types.is_nested(field.type))
    return [name for name in plain if name not in _LONG]


def _only(column: pq.ColumnChunkMetaData, rows: int) -> Any:  # noqa: ANN401  # any column's value
    """Return the one value of a column in a row group, or that there is more than one."""
    span = column.statistics
    if span is None:
        return _VARIES
    if span.null_count == rows:
        return None
    one = span.has_min_max and span.null_count == 0 and span.min == span.max
    return span.min if one and isinstance(span.min, str | int) else _VARIES


def _groups(
    meta: pq.FileMetaData, sites: Collection[str] | None, url: str | None = None
) -> list[int]:
    """Return the row groups of a file that may have rows of the sites, and of the URL."""
    groups = list(range(meta.num_row_groups))
    for name, values in (("site", sites), ("url", None if url is None else (url,))):
        if values is not None and name in meta.schema.names:
            column = meta.schema.names.index(name)
            groups = [
                group
                for group in groups
                if _may_hold(meta.row_group(group).column(column).statistics, values)
            ]
    return groups


def _may_hold(span: pq.Statistics | None, values: Collection[str]) -> bool:
    if span is None or not span.has_min_max:
        return bool(values)
    least, most = str(span.min), str(span.max)
    return any(least <= value <= most for value in values)


def _split(rows: pa.Table) -> Iterator[pa.Table]:
    """Cut a table so that no part exceeds the size of a row group by much."""
    if not rows.num_rows:
        return
    step = max(1, min(GROUP_ROWS, rows.num_rows * GROUP_BYTES // max(rows.nbytes, 1)))
    for start in range(0, rows.num_rows, step):
        yield rows.slice(start, step)
