"""What the corpus holds, streamed: a reader beside the runs that write it."""

from collections.abc import Collection, Iterator
from pathlib import Path

import pyarrow as pa

from connectors.dataset import files
from connectors.dataset.corpus import file_name
from flows.schema import conform


def places(root: Path, name: str, sites: Collection[str] = ()) -> list[Path]:
    """Return the files of a table of the corpus, of all sites or of the given ones.

    Raises ValueError, in one line, when there is no corpus or no such site in it.
    """
    folder = root / "corpus" / name
    if not folder.is_dir():
        raise ValueError(f"no corpus in {root}: is it a dataset folder?")
    if not sites:
        return sorted(folder.glob("*.parquet"))
    for site in sites:
        if not (folder / file_name(site)).exists():
            raise ValueError(f"no site {site} in {folder}")
    return [folder / file_name(site) for site in sorted(set(sites))]


def tables(root: Path, name: str, sites: Collection[str] = ()) -> Iterator[pa.Table]:
    """Yield the rows of a table of the corpus, a row group at a time, each site in order of URL.

    A site's file is whole when it is opened; one that is replaced meanwhile is read to its old
    end. Raises as `places` does, and OSError for a damaged file.
    """
    for path in places(root, name, sites):
        for rows in files.read(path):
            yield conform(name, rows)
