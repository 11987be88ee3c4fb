"""What the corpus holds, streamed: a reader beside the runs that write it."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa

from connectors.dataset import files
from connectors.dataset.corpus import file_name
from flows import urls as addresses
from flows.schema import SCHEMAS, conform

MOST_NAMED: Final = 20
"""Sites that are named to somebody who asks for another one."""


def places(root: Path, name: str, sites: Collection[str] = ()) -> list[Path]:
    """Return the files of a table of the corpus, of all sites or of the given ones.

    Raises ValueError, in one line, when there is no corpus or no such site in it.
    """
    folder = root / "corpus" / name
    if not folder.is_dir():
        raise ValueError(f"no corpus in {root}: is it a dataset folder?")
    if not sites:
        return sorted(folder.glob("*.parquet"))
    return sorted({_place(root, folder, site) for site in sites})


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


def _place(root: Path, folder: Path, site: str) -> Path:
    """Return the file of a site that somebody names by a URL of it, or by its host."""
    spelled = [site] if "://" in site else [f"https://{site}", f"http://{site}"]
    for origin in filter(None, map(addresses.origin, spelled)):
        if (folder / file_name(origin)).exists():
            return folder / file_name(origin)
    known = sorted(sites(root))
    more = f" and {len(known) - MOST_NAMED:,} more" if len(known) > MOST_NAMED else ""
    there = ", ".join(known[:MOST_NAMED]) or "none"
    raise ValueError(f"no site {site} in {folder}; there are: {there}{more}")


def chosen(
    root: Path, name: str, site: str, urls: Sequence[str], columns: Sequence[str]
) -> pa.Table:
    """Return the rows of some pages of a site, in the order of the file; none where it is gone.

    Only row groups that may hold one of the URLs are read.
    """
    path = root / "corpus" / name / file_name(site)
    if not path.exists():
        return SCHEMAS[name].empty_table().select(list(columns))
    # It imports pandas where that is installed: a third of the time in which a command starts.
    import pyarrow.dataset as ds  # noqa: PLC0415

    url = ds.field("url")
    spans = (url >= min(urls)) & (url <= max(urls))
    with files.naming(path):
        source = ds.dataset(str(path), schema=SCHEMAS[name])
        return source.to_table(columns=list(columns), filter=spans & url.isin(list(urls)))
