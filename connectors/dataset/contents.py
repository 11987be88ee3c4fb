"""What the corpus holds, streamed: a reader beside the runs that write it."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds

from connectors.dataset import files
from connectors.dataset.corpus import file_name
from flows.schema import SCHEMAS, conform


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
    end. Raises as `places` does, and DamagedError.
    """
    for path in places(root, name, sites):
        for rows in files.read(path):
            yield conform(name, rows)


def sites(root: Path) -> dict[str, Path]:
    """Return the file of pages of each site that the corpus holds pages of."""
    found = {}
    for path in places(root, "pages"):
        first = next(files.read(path, ["site"]), None)
        if first is not None and first.num_rows:
            found[str(first["site"][0])] = path
    return found


def chosen(
    root: Path, name: str, site: str, urls: Sequence[str], columns: Sequence[str]
) -> pa.Table:
    """Return the rows of some pages of a site, in the order of the file; none where it is gone.

    Only row groups that may hold one of the URLs are read.
    """
    path = root / "corpus" / name / file_name(site)
    if not path.exists():
        return SCHEMAS[name].empty_table().select(list(columns))
    url = ds.field("url")
    spans = (url >= min(urls)) & (url <= max(urls))
    with files.naming(path):
        source = ds.dataset(str(path), schema=SCHEMAS[name])
        return source.to_table(columns=list(columns), filter=spans & url.isin(list(urls)))
