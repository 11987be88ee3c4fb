"""The end of a run: its small files become few large ones, in one step for every reader."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from connectors import files, merging
from connectors.commits import Shard
from connectors.merging import Buckets, Source, Stored
from flows import sightings, totals
from flows.records import SiteEnd
from flows.schema import RETOLD, SCHEMAS, TABLES
from flows.totals import Totals

if TYPE_CHECKING:
    from connectors.dataset import Run


def complete(run: "Run", ends: Mapping[str, SiteEnd], sites: Iterable[str]) -> None:
    """Put the complete form of a run in the place of its small files.

    Harmless when it is done twice, or by two at once: the second finds it done.
    """
    with run.guard, files.locked(run.work.parent / "finish.lock"):
        if run.is_complete:
            return
        built = run.work / "complete"
        files.remove(built)
        counted = Totals(sites)
        for name in TABLES:
            _build(run, name, built / name, counted)
        report = totals.report(
            counted,
            ends,
            run_id=run.id,
            started_at=run.started_at,
            ended_at=datetime.now(UTC),
            settings_hash=run.settings_hash,
            version=run.version,
        )
        files.write_json(built / "report.json", report)
        _swap(run, built)
        run.forget()


def repair(run: "Run") -> None:
    """Finish a swap that died half-way on a system that swaps in two steps."""
    built = run.work / "complete"
    if not run.folder.exists() and (built / "report.json").exists():
        built.rename(run.folder)


def _build(run: "Run", name: str, folder: Path, counted: Totals) -> None:
    folder.mkdir(parents=True)
    for number, shard in enumerate(run.parts):
        if shard.paths(name):
            writer = files.Writer(folder / f"{number}.parquet", name)
            for rows in _rows(shard, name, run.work / "spool"):
                writer.add(rows)
                counted.add(name, rows)
            writer.close()
    if not any(folder.iterdir()):
        files.write(folder / "empty.parquet", name, SCHEMAS[name].empty_table())
    files.sync(folder)


def _rows(shard: Shard, name: str, spool: Path) -> Iterator[pa.Table]:
    sources: list[Source] = [Stored(paths=shard.paths(name))]
    if name in RETOLD:
        sources.append(Stored(paths=shard.paths(f"{name}_again")))
    if name != "urls":
        yield from merging.ordered(name, sources, spool)
        return
    bounds = merging.bounds(name, sources)
    rows, seen = Buckets(name, spool, bounds), Buckets("sightings", spool, bounds)
    merging.fill(rows, sources)
    merging.fill(seen, [Stored(paths=shard.paths("sightings"))])
    for part, again in zip(rows, seen, strict=True):
        yield sightings.fold(part, again)


def _swap(run: "Run", built: Path) -> None:
    if not files.exchange(built, run.folder):
        run.folder.rename(run.work / "old")
        built.rename(run.folder)
    files.sync(run.folder.parent)


def stated(end: SiteEnd) -> dict[str, Any]:
    """Return what a site's end says, as JSON holds it."""
    return {
        "site": end.site,
        "rows": end.rows,
        "status": end.status,
        "detail": end.detail,
        "crawl_delay_s": end.crawl_delay_s,
        "requests": end.requests,
        "bytes": end.bytes,
        "started_at": end.started_at.isoformat() if end.started_at else None,
        "ended_at": end.ended_at.isoformat() if end.ended_at else None,
    }


def restated(said: Mapping[str, Any]) -> SiteEnd:
    """Return the site's end that `stated` wrote down."""
    moments = {
        name: datetime.fromisoformat(said[name]) if said[name] else None
        for name in ("started_at", "ended_at")
    }
    return SiteEnd(**{**said, **moments})
