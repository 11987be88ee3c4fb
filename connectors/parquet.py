"""ParquetSink: rows of whole URLs, committed together; the dataset is the checkpoint."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from bytewax.outputs import FixedPartitionedSink, StatefulSinkPartition

from connectors.batch import Batch
from connectors.dataset import Run, completion
from connectors.standing import Decided, Standing
from flows import schema
from flows.records import (
    Alert,
    Failure,
    LeftOut,
    Outcome,
    Reading,
    Row,
    Sighting,
    Sightings,
    SiteEnd,
    SitemapRead,
)
from flows.urls import hash64

logger = logging.getLogger(__name__)

FEW_PAGES: Final = 8
MANY_PAGES: Final = 64
"""Pages that wait for a commit: few at first, then an eighth of what is committed, up to many.
A kill costs what waits, and each commit is a file that the run's end has to merge."""
MOST_BYTES: Final = 4 << 20
"""Characters of text that wait for a commit."""
MOST_ROWS: Final = 20_000
"""Rows that wait for a commit."""

OnEnd = Callable[[Run], None]
"""Told that the run is complete."""

OnRows = Callable[[Outcome, int], None]
"""Told how many URLs leave, and their outcome, for the progress line."""

OnFault = Callable[[OSError], None]
"""Told of a file or a disk that fails us; what it does not end, an exception in the flow does."""


class ParquetSink(FixedPartitionedSink[Row, None]):
    """Writes what a run saw, publishes each site's corpus, and completes the run.

    Items are `(site, row)`.

    * *Partition*: a shard of the run; all rows of a site go to one.
    * *Guarantee*: exactly once by key (run, site, URL). A URL's rows are committed together, at
      the latest when Bytewax ends an epoch; nothing committed is written again or taken back.
    * *Resume*: from the rows themselves; Bytewax's snapshot is always None. What comes again for
      a URL that has its row is dropped.
    * *Limits*: waits for a commit with at most 64 pages, 4 MB of text or 20,000 rows a partition.
    * *Cost*: about ten small writes and syncs a commit.
    """

    def __init__(
        self,
        run: Run,
        sites: Sequence[str],
        settings_hash: str,
        *,
        max_removed: float = 1.0,
        on_rows: OnRows | None = None,
        on_fault: OnFault | None = None,
        on_end: OnEnd | None = None,
    ) -> None:
        """Write to `run`, which ends when each of `sites` has ended.

        No more than the part `max_removed` of a site's pages is removed at once. `on_end` is
        called once, by the process that completes the run.
        """
        self._run = run
        self._sites = tuple(sites)
        self._settings_hash = settings_hash
        self._max_removed = max_removed
        self._on_rows = on_rows
        self._on_fault = on_fault
        self._on_end = on_end

    def list_parts(self) -> list[str]:
        """Return the shards of the run."""
        return [str(number) for number in range(len(self._run.parts))]

    def part_fn(self, item_key: str) -> int:
        """Return the shard of a site."""
        return self._run.shard_of(item_key)

    def build_part(self, step_id: str, for_part: str, resume_state: None) -> "_Partition":
        """Become the writer of a shard; its leftovers are put in order first."""
        del step_id, resume_state
        with _guarded(self._on_fault):
            return _Partition(
                self._run,
                int(for_part),
                self._sites,
                self._settings_hash,
                max_removed=self._max_removed,
                on_rows=self._on_rows,
                on_fault=self._on_fault,
                on_end=self._on_end,
            )


@contextmanager
def _guarded(on_fault: OnFault | None) -> Iterator[None]:
    try:
        yield
    except OSError as why:
        if on_fault is not None:
            on_fault(why)
        raise


class _Site:
    """What a partition has to know of one site."""

    def __init__(self, run: Run, site: str, max_removed: float) -> None:
        self.committed = run.committed_urls(site)
        self.rows = len(self.committed)
        self.standing: Standing | None = Standing(run, site, max_removed)
        self.notes = 0
        self.end: SiteEnd | None = None
        self.published = False

    def close(self) -> None:
        """Let go of what only rows to come would need."""
        self.published = True
        self.standing = None

    @property
    def is_whole(self) -> bool:
        """True when the site has ended and all that it sent has arrived, in whatever order."""
        return self.end is not None and self.rows >= self.end.rows and self.notes >= self.end.notes


class _Partition(StatefulSinkPartition[Row, None]):
    def __init__(
        self,
        run: Run,
        shard: int,
        sites: Sequence[str],
        settings_hash: str,
        *,
        max_removed: float,
        on_rows: OnRows | None,
        on_fault: OnFault | None,
        on_end: OnEnd | None,
    ) -> None:
        run.claim(shard)
        self._run = run
        self._shard = shard
        self._all_sites = sites
        self._due = {site for site in sites if run.shard_of(site) == shard}
        self._batch = Batch(run.id, settings_hash, run.told(shard))
        self._max_removed = max_removed
        self._on_rows = on_rows
        self._on_fault = on_fault
        self._on_end = on_end
        self._sites: dict[str, _Site] = {}
        self._stored = self._commits = 0
        self._ending: set[str] = set()
        self._ended = False

    def write_batch(self, values: list[Row]) -> None:
        """Take rows in, and commit when enough of them wait."""
        with _guarded(self._on_fault):
            for row in values:
                self._take(row)
                if self._is_due():
                    self._flush()
            self._settle()

    def snapshot(self) -> None:
        """Commit what waits: Bytewax calls this at the end of each epoch, and of the flow."""
        with _guarded(self._on_fault):
            self._flush()
            self._settle()
            self._end()

    def close(self) -> None:
        """Leave the shard to others; nothing is committed here, this also runs after a crash."""
        self._run.release(self._shard)

    def _take(self, row: Row) -> None:
        if isinstance(row, (Failure, Reading)):
            self._take_url(row)
        elif isinstance(row, LeftOut):
            self._take_list(row)
        elif isinstance(row, SiteEnd):
            self._site(row.site).end = row
            self._ending.add(row.site)
        else:
            self._take_note(row)

    def _take_note(self, row: Sighting | Sightings | SitemapRead | Alert) -> None:
        if isinstance(row, Sightings):
            self._site(row.entries.site).notes += len(row.entries)
        else:
            self._site(row.entry.site if isinstance(row, Sighting) else row.site).notes += 1
        self._batch.note(row)

    def _take_url(self, row: Failure | Reading) -> None:
        site = self._site(row.entry.site)
        if site.committed and hash64(schema.clean(row.entry.url)) in site.committed:
            return
        site.rows += 1
        if site.standing is None:
            logger.error("rows came after the end of their site", extra={"rows": 1})
            return
        for decided in site.standing.take(row):
            self._write(decided)

    def _write(self, decided: Decided) -> None:
        self._batch.decide(decided)
        if self._on_rows is not None:
            self._on_rows(decided.outcome, 1)

    def _take_list(self, row: LeftOut) -> None:
        site, entries = self._site(row.entries.site), row.entries
        if row.outcome is Outcome.POLICY_DENIED and site.standing and site.standing.is_known:
            for entry in entries:  # each may be the site's word on a page that is stored
                self._take_url(Failure(entry=entry, outcome=row.outcome, detail=row.detail))
            return
        if site.committed:
            addresses = map(schema.clean, entries.declared.url)
            entries = entries.where([hash64(url) not in site.committed for url in addresses])
        if not entries:
            return
        site.rows += len(entries)
        self._batch.leave_out(replace(row, entries=entries))
        if self._on_rows is not None:
            self._on_rows(row.outcome, len(entries))

    def _site(self, site: str) -> _Site:
        if site not in self._sites:
            self._sites[site] = _Site(self._run, site, self._max_removed)
        return self._sites[site]

    def _is_due(self) -> bool:
        batch = self._batch
        enough = min(max(self._stored // 8, FEW_PAGES), MANY_PAGES) if self._stored else 1
        if not self._commits and batch.has_urls:
            return True
        return batch.pages >= enough or batch.text >= MOST_BYTES or batch.rows >= MOST_ROWS

    def _flush(self) -> None:
        waiting = self._batch.rows
        if self._ended and waiting:
            logger.error("rows came after the end of their site", extra={"rows": waiting})
        elif waiting:
            self._run.commit(self._shard, self._batch.tables())
            self._stored += self._batch.pages
            self._commits += 1
        self._batch.clear()

    def _settle(self) -> None:
        """Publish the sites whose rows have all arrived."""
        for name in [name for name in self._ending if self._sites[name].is_whole]:
            self._conclude(self._sites[name])
            self._flush()
            self._run.publish(name)
            self._sites[name].close()
            self._ending.discard(name)

    def _conclude(self, site: _Site) -> None:
        """Write what had to wait for the end of a site."""
        if site.standing is None or site.end is None:
            return
        for decided in site.standing.end(site.end):
            self._write(decided)
        alert = site.standing.alert()
        if alert is not None:
            self._batch.note(alert)

    def _end(self) -> None:
        """Tell the run when all sites of this shard have been published."""
        ended = [site.end for site in self._sites.values() if site.published and site.end]
        if not self._ended and self._due <= {end.site for end in ended}:
            completed = completion.end(self._run, self._shard, ended, self._all_sites)
            self._ended = True
            if completed and self._on_end is not None:
                self._on_end(self._run)
