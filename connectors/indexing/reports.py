"""What is told of an index beside the dataset: `index/<name>.json`, read by `flows.report`."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from connectors import indexing, stores
from connectors.dataset import files
from connectors.indexing import Index
from flows.settings.index import IndexSettings

FOLDER = "index"
FOOTER = 64 << 10
"""Bytes at the end of a Parquet file that tell one content from another: its column statistics
and sizes lie there."""


@dataclass(kw_only=True)
class Tally:
    """What an index run has done so far."""

    written: int = 0
    """Pages."""
    removed: int = 0
    chunks: int = 0
    """Rows written."""
    embedded: int = 0
    reused: int = 0
    repaired: int = 0
    """Pages in which store and corpus still differed when they were compared again."""
    faults: int = 0
    """Pages that could not be embedded."""
    batches: int = 0


def place(out: Path, settings: IndexSettings) -> Path:
    """Return where the report of an index lies; one for each store and table of a dataset."""
    shown = stores.shown(indexing.address(out, settings))
    unique = hashlib.blake2b(shown.encode(), digest_size=4).hexdigest()
    return out / FOLDER / f"{shown.partition(':')[0]}-{settings.table}-{unique}.json"


def begin(path: Path, index: Index, settings: IndexSettings, out: Path) -> dict[str, Any]:
    """Note that an index run has begun: until its end the index counts as not complete."""
    report: dict[str, Any] = {
        "store": stores.shown(indexing.address(out, settings)),
        "table": settings.table,
        "model": index.space.model,
        "dimensions": index.space.dimension,
        "status": "unfinished",
        "started_at": datetime.now(UTC).isoformat(),
        "ended_at": None,
        "sites": (files.read_json(path) or {}).get("sites", {}),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_json(path, report)
    return report


def end(
    path: Path,
    report: dict[str, Any],
    tally: Tally,
    sites: Mapping[str, Mapping[str, Any]],
    fault: str | None,
) -> dict[str, Any]:
    """Write how an index run ended, and return it."""
    behind = sum(site["differ"] for site in sites.values())
    told = {
        **report,
        "status": "complete" if not behind and fault is None else "incomplete",
        "fault": fault,
        "ended_at": datetime.now(UTC).isoformat(),
        "pages": sum(site["pages"] for site in sites.values()),
        "chunks": sum(site["chunks"] for site in sites.values()),
        "differ": behind,
        "done": asdict(tally),
        "sites": dict(sites),
    }
    files.write_json(path, told)
    return told


def fingerprints(corpus: Path) -> dict[str, str]:
    """Return what tells the corpus of each site from what it was before."""
    return {
        site: " ".join(_fingerprint(path) for path in paths)
        for site, paths in indexing.places(corpus).items()
    }


def read(out: Path) -> Iterator[dict[str, Any]]:
    """Yield the reports of a dataset's indexes; `behind` are the sites that changed since."""
    found = [files.read_json(path) for path in sorted((out / FOLDER).glob("*.json"))]
    reports = [report for report in found if report and "status" in report]
    if reports:
        now = fingerprints(out / "corpus" / "chunks")
        for report in reports:
            told = {name: site.get("fingerprint") for name, site in report["sites"].items()}
            changed = {name for name in {*now, *told} if now.get(name) != told.get(name)}
            yield {**report, "behind": sorted(changed)}


def _fingerprint(path: Path) -> str:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - FOOTER))
        return hashlib.blake2b(file.read() + b"%d" % size, digest_size=8).hexdigest()
