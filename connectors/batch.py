"""Rows of one shard that wait for their commit, and the tables that they make."""

from collections.abc import Iterable

import pyarrow as pa

from connectors.dataset.merging import KEYS
from connectors.standing import Decided
from flows import rows, schema
from flows.records import (
    Alert,
    Entries,
    LeftOut,
    Outcome,
    Reading,
    Sighting,
    Sightings,
    SitemapRead,
    alike,
)
from flows.schema import NOTES, TABLES
from flows.urls import hash64


class Batch:
    """What is to be committed together; empty again once that was done."""

    def __init__(
        self, run_id: str, settings_hash: str, told: Iterable[tuple[str, ...]] = ()
    ) -> None:
        """Wait for rows; `told` are table and key of the sitemaps and alerts that the run has."""
        self._run_id = run_id
        self._settings_hash = settings_hash
        self._told = {_key(*key) for key in told}
        self.clear()

    def clear(self) -> None:
        """Forget all that waits."""
        self._waiting: dict[str, list[schema.Row]] = {name: [] for name in (*TABLES, *NOTES)}
        self._lists: list[LeftOut] = []
        self._again: list[Sightings] = []
        self.rows = 0
        """Of all tables."""
        self.text = 0
        """Bytes of Markdown, twice, for its chunks hold it again, of HTML that is kept, and of
        addresses in lists."""

    @property
    def pages(self) -> int:
        """How many pages wait."""
        return len(self._waiting["pages"])

    @property
    def has_urls(self) -> bool:
        """Whether rows of `urls` wait."""
        return bool(self._waiting["urls"] or self._lists)

    def decide(self, decided: Decided) -> None:
        """Add what was decided of a URL."""
        row = decided.row
        told = rows.url(
            row,
            outcome=decided.outcome,
            run_id=self._run_id,
            settings_hash=self._settings_hash,
            change=decided.change,
            duplicate_of=decided.duplicate_of,
        )
        self._add("urls", told)
        if decided.outcome is Outcome.OK and isinstance(row, Reading):
            self._store(row)
        elif row.links:
            self._add("links", rows.links(row, run_id=self._run_id))

    def leave_out(self, some: LeftOut) -> None:
        """Add URLs of a list that leave for one reason."""
        self._lists.append(some)
        self._count(some.entries)

    def note(self, said: Sighting | Sightings | SitemapRead | Alert) -> None:
        """Add what was seen again, or told of a list or a site."""
        if isinstance(said, Sightings):
            self._again.append(said)
            self._count(said.entries)
        elif isinstance(said, Sighting):
            self._add("sightings", rows.sighting(said, run_id=self._run_id))
        elif isinstance(said, SitemapRead):
            self._tell("sitemaps", rows.sitemap(said, run_id=self._run_id))
        else:
            self._tell("alerts", rows.alert(said, run_id=self._run_id))

    def tables(self) -> dict[str, pa.Table]:
        """Return the rows of each table."""
        made = {name: schema.table(name, found) for name, found in self._waiting.items()}
        told = {"run_id": self._run_id, "settings_hash": self._settings_hash}
        lists = [rows.left_out(some, **told) for some in alike(self._lists)]
        again = [rows.sightings(some, run_id=self._run_id) for some in alike(self._again)]
        for name, blocks in (("urls", lists), ("sightings", again)):
            made[name] = pa.concat_tables([made[name], *blocks])
        return made

    def _count(self, entries: Entries) -> None:
        self.rows += len(entries)
        self.text += entries.size

    def _store(self, reading: Reading) -> None:
        told = rows.page(reading, run_id=self._run_id, settings_hash=self._settings_hash)
        self._add("pages", told)
        for chunk in rows.chunks(reading, run_id=self._run_id):
            self._add("chunks", chunk)
        self.text += 2 * len(reading.document.markdown) + len(reading.html or b"")

    def _tell(self, table: str, row: schema.Row) -> None:
        """Add a row that may have been told before: then it waits until the run is complete."""
        key = _key(table, *(row[name] for name in KEYS[table]))
        self._add(f"{table}_again" if key in self._told else table, row)
        self._told.add(key)

    def _add(self, table: str, row: schema.Row) -> None:
        self._waiting[table].append(row)
        self.rows += 1


def _key(table: str, *key: str) -> int:
    return hash64("\0".join((table, *(schema.clean(part) for part in key))))
