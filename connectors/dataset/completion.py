"""The end of a run: its small files become few large ones, in one step for every reader."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from connectors.dataset import files, locks, merging
from connectors.dataset.commits import Shard
from connectors.dataset.history import History
from connectors.dataset.merging import Buckets, Made, Source, Stored
from connectors.dataset.run import Run
from flows import sightings, totals
from flows.records import SiteEnd
from flows.schema import CORPUS, RETOLD, SCHEMAS, TABLES
from flows.totals import Totals

logger = logging.getLogger(__name__)


def end(run: Run, shard: int, ends: Iterable[SiteEnd], sites: Iterable[str]) -> bool:
    """Note that all sites of a shard have ended; the last shard to do so completes the run.

    Returns whether this one did. `sites` are all sites of the run, of other shards as well.
    """
    try:
        said = {"ends": [_stated(end) for end in ends]}
        files.write_json(run.work / f"ended-{shard}.json", said)
    except FileNotFoundError:
        if run.is_complete:  # by another process, as soon as it could read what we said
            return False
        raise
    told = _ends(run)
    return all(site in told for site in sites) and complete(run, told, sites)


def _ends(run: Run) -> dict[str, SiteEnd]:
    notes = [files.read_json(path) for path in sorted(run.work.glob("ended-*.json"))]
    ends = [_restated(end) for note in notes if note for end in note["ends"]]
    return {end.site: end for end in ends}


def complete(run: Run, ends: Mapping[str, SiteEnd], sites: Iterable[str]) -> bool:
    """Put the complete form of a run in the place of its small files; say whether it was not yet.

    Harmless when it is done twice, or by two at once: the second finds it done.
    """
    with run.guard, locks.locked(run.work.parent / "finish.lock"):
        if run.is_complete:
            return False
        built = run.built
        files.remove(built)
        named = frozenset(sites)
        counted, past = Totals(named, until=run.started_at), History(run, ends, named)
        for name in TABLES:
            _build(run, name, built / name, counted, past)
        report = totals.report(
            counted,
            ends,
            run_id=run.id,
            started_at=run.started_at,
            ended_at=datetime.now(UTC),
            settings_hash=run.settings_hash,
            version=run.version,
            beside={site: past.beside(site) for site in counted.tallies},
        )
        files.write_json(built / "report.json", report)
        _swap(run, built)
        run.forget()
        return True


def _build(run: Run, name: str, folder: Path, counted: Totals, past: History) -> None:
    folder.mkdir(parents=True)
    told = past.alerts(counted) if name == "alerts" else {}
    for number, shard in enumerate(run.parts):
        sources = _sources(shard, name, told.get(number))
        spool = run.work / "spool"
        if sources:
            writer = files.Writer(folder / f"{number}.parquet", name)
            for rows in (
                _urls(number, shard, sources, past, spool)
                if name == "urls"
                else merging.ordered(name, sources, spool, _seen(shard, name))
            ):
                writer.add(rows)
                counted.add(name, rows)
                if name == "pages":
                    past.read(rows)
            writer.close()
    if not any(folder.iterdir()):
        files.write(folder / "empty.parquet", name, SCHEMAS[name].empty_table())
    files.sync(folder)


def _sources(shard: Shard, name: str, told: pa.Table | None) -> list[Source]:
    """Return the rows of a table in a shard, and those that only the run's end could tell."""
    paths = [shard.paths(name), shard.paths(f"{name}_again") if name in RETOLD else []]
    stored: list[Source] = [Stored(paths=found) for found in paths if found]
    return stored if told is None else [*stored, Made(rows=told)]


def _seen(shard: Shard, name: str) -> list[Stored]:
    """Return the sightings that say something of a table's rows."""
    return [Stored(paths=shard.paths("sightings"))] if name in CORPUS else []


def _urls(
    number: int, shard: Shard, sources: Sequence[Source], past: History, spool: Path
) -> Iterator[pa.Table]:
    """Yield the rows of `urls` of a shard, sightings and earlier runs folded in."""
    known, bounds = _known(number, sources, past, spool / "known")
    rows = merging.spread("urls", sources, spool, bounds)
    seen = merging.spread("sightings", [Stored(paths=shard.paths("sightings"))], spool, bounds)
    for part, again, before in zip(rows, seen, known, strict=True):
        yield past.fold(sightings.fold(part, again), before)


def _known(
    number: int, sources: Sequence[Source], past: History, spool: Path
) -> tuple[Buckets, list[tuple[str, ...]]]:
    """Return the rows of earlier runs, and where to cut them and the rows of this one.

    A run must not fail by what happened to an earlier one: what cannot be read is left.
    """
    try:
        earlier = past.known(number)
        bounds = merging.bounds("urls", [*sources, *earlier])
        known = merging.spread("urls", earlier, spool, bounds, past.columns)
    except OSError as error:
        logger.warning("earlier run not read", extra={"reason": str(error)})
        past.forget(number)
        files.remove(spool)
        bounds = merging.bounds("urls", sources)
        known = merging.spread("urls", [], spool, bounds)
    return known, bounds


def _swap(run: Run, built: Path) -> None:
    if not files.exchange(built, run.folder):
        run.folder.rename(run.work / "old")
        built.rename(run.folder)
    files.sync(run.folder.parent)


def _stated(end: SiteEnd) -> dict[str, Any]:
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


def _restated(said: Mapping[str, Any]) -> SiteEnd:
    """Return the site's end that `_stated` wrote down."""
    moments = {
        name: datetime.fromisoformat(said[name]) if said[name] else None
        for name in ("started_at", "ended_at")
    }
    return SiteEnd(**{**said, **moments})
