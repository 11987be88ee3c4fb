"""The current state of a site: two files that are replaced when the site has been read."""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from connectors.dataset import files, merging
from connectors.dataset.merging import Source, Stored
from connectors.dataset.spool import Spool
from flows import neighbours, schema
from flows.records import Link
from flows.schema import CORPUS, SCHEMAS
from flows.urls import hash64

_PLAIN = re.compile(r"[a-z]+://[a-z0-9.-]{1,150}(:\d+)?")
_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")


def file_name(site: str) -> str:
    """Return the name of a site's files: readable, safe on every system, and no other site's.

    >>> file_name("https://docs.example.org:8443")
    'https_docs.example.org_8443.parquet'
    >>> file_name("http://[::1]:80")
    'http_1_80-680e82f2.parquet'
    """
    readable = _UNSAFE.sub("_", site)[:150]
    if _PLAIN.fullmatch(site):
        return f"{readable}.parquet"
    unique = hashlib.blake2b(site.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{readable}-{unique}.parquet"


def prepare(folder: Path, work: Path) -> None:
    """See to it that both tables open before the first site has been read."""
    for name in CORPUS:
        (folder / name).mkdir(parents=True, exist_ok=True)
        if not any((folder / name).glob("*.parquet")):
            staged = work / f"{name}.tmp"
            files.write(staged, name, SCHEMAS[name].empty_table())
            staged.replace(folder / name / "empty.parquet")


def places(folder: Path, site: str) -> list[Path]:
    """Return the files of a site, pages first; they need not be there."""
    return [folder / name / file_name(site) for name in CORPUS]


def is_whole(folder: Path, site: str) -> bool:
    """Say whether both files of a site are there: what is left of a pair is of no use alone."""
    return all(path.exists() for path in places(folder, site))


def stored(folder: Path, site: str) -> Iterator[tuple[str, str]]:
    """Yield URL and content hash of each page that is stored of a site."""
    if is_whole(folder, site):
        for rows in files.read(places(folder, site)[0], ["url", "content_hash"]):
            yield from zip(rows["url"].to_pylist(), rows["content_hash"].to_pylist(), strict=True)


def pages(folder: Path, site: str, columns: Sequence[str]) -> pa.Table:
    """Return some columns of the pages that are stored of a site."""
    path = folder / "pages" / file_name(site)
    found = files.read(path, list(columns)) if is_whole(folder, site) else ()
    tables = [schema.columns("pages", rows, columns) for rows in found]
    return (
        pa.concat_tables(tables)
        if tables
        else schema.columns("pages", SCHEMAS["pages"].empty_table(), columns)
    )


def links(folder: Path, site: str, of: Collection[int]) -> Iterator[tuple[str, list[Link]]]:
    """Yield the links of stored pages with their URL, of those whose `hash64` is in `of`."""
    path = folder / "pages" / file_name(site)
    for rows in files.read(path, ["url", "links"]) if path.exists() else ():
        for row in rows.to_pylist():
            if hash64(row["url"]) in of:
                yield row["url"], [Link(url=one["url"], rel=one["rel"]) for one in row["links"]]


def kept(folder: Path, site: str, url: str) -> bytes | None:
    """Return the HTML that was kept of a stored page, or None when none was."""
    path = folder / "pages" / file_name(site)
    for rows in files.read(path, ["url", "html"], url=url) if path.exists() else ():
        at = rows["url"].index(pa.scalar(url)).as_py()
        if at >= 0:
            html: bytes | None = rows["html"][at].as_py()
            return html
    return None


def publish(folder: Path, site: str, spool: Spool, work: Path) -> None:
    """Replace the corpus of a site by what this run stored and what it has no better word on.

    Doing it again changes nothing. A site that nothing was stored of gets files without rows.
    Half a pair is of no use beside pages of this run, and waits for some.
    """
    found = [rows["url"].combine_chunks() for rows in spool.of("urls", site).tables()]
    retold = pa.concat_arrays(found) if found else pa.array([], pa.string())
    places = {name: folder / name / file_name(site) for name in CORPUS}
    if not len(retold) and any(place.exists() for place in places.values()):
        return
    written, whole = {}, is_whole(folder, site)
    for name, place in places.items():
        kept = Stored(paths=[place] if whole else [], without=retold)
        sources: list[Source] = [spool.of(name, site), kept]
        written[name] = work / f"corpus-{name}-{place.name}"
        parts = merging.ordered(
            name,
            sources,
            work / f"sort-{place.stem}",
            [spool.of("sightings", site)],
        )
        _write(written[name], name, _marked(parts, sources) if name == "pages" else parts)
        files.remove(work / f"sort-{place.stem}")
    for name, place in places.items():
        written[name].replace(place)
        files.sync(place.parent)


def _marked(parts: Iterable[pa.Table], sources: Iterable[Source]) -> Iterator[pa.Table]:
    """Yield pages with the word on which of them are nearly the same."""
    columns = ["url", "minhash"]
    signed = (
        (row["url"], row["minhash"])
        for source in sources
        for rows in source.tables(columns)
        for row in schema.columns("pages", rows, columns).to_pylist()
    )
    near = neighbours.near(signed)
    return (neighbours.marked(rows, near) for rows in parts)


def _write(path: Path, name: str, parts: Iterable[pa.Table]) -> None:
    writer = files.Writer(path, name)
    for rows in parts:
        writer.add(rows)
    writer.close()
