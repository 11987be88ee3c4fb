"""The current state of a site: two files that are replaced when the site has been read."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from connectors.dataset import files, merging
from connectors.dataset.merging import Source, Stored
from connectors.dataset.spool import Spool
from flows import changes
from flows.records import Change
from flows.schema import CORPUS, SCHEMAS

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


def stored(folder: Path, site: str) -> Iterator[tuple[str, str]]:
    """Yield URL and content hash of each page that is stored of a site."""
    path = folder / "pages" / file_name(site)
    if path.exists():
        for rows in files.read(path, ["url", "content_hash"]):
            yield from zip(rows["url"].to_pylist(), rows["content_hash"].to_pylist(), strict=True)


def publish(folder: Path, site: str, spool: Spool, work: Path) -> None:
    """Replace the corpus of a site by what this run stored and what it has no better word on.

    Doing it again changes nothing. A site that nothing was stored of gets files without rows.
    """
    retold = _retold(spool.of("urls", site))
    places = {name: folder / name / file_name(site) for name in CORPUS}
    if not len(retold) and all(place.exists() for place in places.values()):
        return
    written = {}
    for name, place in places.items():
        kept = Stored(paths=[place] if place.exists() else [], without=retold)
        written[name] = work / f"corpus-{name}-{place.name}"
        parts = merging.ordered(
            name,
            [spool.of(name, site), kept],
            work / f"sort-{place.stem}",
            [spool.of("sightings", site)],
        )
        _write(written[name], name, parts)
        files.remove(work / f"sort-{place.stem}")
    for name, place in places.items():
        written[name].replace(place)
        files.sync(place.parent)


def _retold(urls: Source) -> "pa.Array[Any]":
    """Return the URLs whose old rows are void: stored anew, told as duplicates, or removed."""
    void = pa.array(changes.RETELLS, pa.string()), pa.array([Change.REMOVED], pa.string())
    found: list[Any] = []
    for rows in urls.tables():
        retold = pc.or_kleene(
            pc.is_in(rows["outcome"], value_set=void[0]),
            pc.is_in(rows["change"], value_set=void[1]),
        )
        found += rows["url"].filter(retold).chunks
    return pa.concat_arrays(found) if found else pa.array([], pa.string())


def _write(path: Path, name: str, parts: Iterable[pa.Table]) -> None:
    writer = files.Writer(path, name)
    for rows in parts:
        writer.add(rows)
    writer.close()
