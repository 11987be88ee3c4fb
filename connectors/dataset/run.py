"""One run: its folder, what it has committed, and how more is, up to its end."""

import hashlib
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from connectors.dataset import corpus, files, merging
from connectors.dataset.commits import Shard
from connectors.dataset.merging import Stored
from connectors.dataset.recall import Recall
from flows.duplicates import Fate
from flows.inventory import REFUSED
from flows.records import Link, Outcome
from flows.remembered import SAME, STORED, Memory
from flows.schema import NOTES, RETOLD, SCHEMAS, TABLES
from flows.urls import hash64

if TYPE_CHECKING:
    from connectors.dataset import Dataset


class Outlet(Protocol):
    """Who follows a run while it goes on; neither call may wait for what it does."""

    def stored(self, chunks: pa.Table) -> None:
        """Take the chunks of pages that are committed."""

    def published(self, site: str) -> None:
        """Note that the corpus of a site was replaced."""

    def end(self, stop: Callable[[], bool], *, last: bool = True) -> Mapping[str, Any] | None:
        """Wait until what was told is done, unless `stop` says so; the last one tells of it."""


class Spent(NamedTuple):
    """What a run has used of the page budget of a site."""

    pages: int = 0
    """URLs that were let in."""
    is_over: bool = False
    """Whether others were left out for want of it."""


class Run:
    """One run: what it has committed, and how more is."""

    def __init__(
        self,
        dataset: "Dataset",
        *,
        run_id: str,
        started_at: str,
        settings_hash: str,
        plan: str,
        version: str,
        shards: int,
    ) -> None:
        """Name the run; nothing is read or written."""
        self.dataset = dataset
        self.id = run_id
        self.started_at = datetime.fromisoformat(started_at)
        self.settings_hash = settings_hash
        self.plan = plan
        self.version = version
        self.folder = dataset.runs / run_id
        self.work = dataset.work / run_id
        self.built = self.work / "complete"
        """Where its complete form is made."""
        self.parts = [Shard(self.folder, self.work, number) for number in range(shards)]
        self.guard = threading.Lock()
        self.outlet: Outlet | None = None
        self._recall = Recall(dataset, settings_hash)

    @property
    def is_complete(self) -> bool:
        """True once the run has its report: nothing is added to it any more."""
        return (self.folder / "report.json").exists()

    @property
    def is_inventory(self) -> bool:
        """Whether the run lists URLs and stores no page."""
        return self.plan.split(" ")[0] == "discover"

    def shard_of(self, site: str) -> int:
        """Return the shard of a site; the same on every machine."""
        digest = hashlib.blake2b(site.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") % len(self.parts)

    def committed_urls(self, site: str) -> set[int]:
        """Return `flows.urls.hash64` of the site's URLs that have their row already."""
        return set(self._shard(site).hashes(site))

    def memory(self, site: str) -> Memory:
        """Return what is known of the pages of a site that are stored."""
        return Memory() if self.is_inventory else self._recall.memory(site)

    def kept(self, site: str, url: str) -> bytes | None:
        """Return the HTML that was kept of a stored page, or None when none was."""
        return corpus.kept(self.dataset.corpus, site, url)

    def stored_links(self, site: str, of: Collection[int]) -> Iterator[tuple[str, list[Link]]]:
        """Yield URL and links of the stored pages whose `hash64` is in `of`."""
        return corpus.links(self.dataset.corpus, site, of)

    def unread(self, site: str) -> set[int]:
        """Return `hash64` of the pages that an earlier start of this run did not read again."""
        source = Stored(paths=self._shard(site).paths("urls", site), site=site)
        return {
            hash64(row["url"])
            for rows in source.tables(["site", "url", "outcome"])
            for row in rows.to_pylist()
            if row["outcome"] in SAME
        }

    def spent(self, site: str) -> Spent:
        """Return what earlier starts of this run have used of the page budget of a site."""
        source = Stored(paths=self._shard(site).paths("urls", site), site=site)
        pages, is_over = 0, False
        for rows in source.tables(["site", "outcome", "detail", "attempts"]):
            for row in rows.to_pylist():
                pages += row["outcome"] not in REFUSED or bool(row["attempts"])
                is_trap = (row["detail"] or "").startswith("trap:")
                is_over |= row["outcome"] == Outcome.BUDGET and not is_trap
        return Spent(pages, is_over)

    def left_out(self, site: str, urls: Collection[str]) -> dict[int, Fate]:
        """Return by `hash64` what an earlier start of this run wrote of those that it left out."""
        wanted = pa.array(list(urls), pa.string())
        source = Stored(paths=self._shard(site).paths("urls", site), site=site)
        return {
            hash64(row["url"]): Fate(Outcome(row["outcome"]), row["duplicate_of"])
            for rows in source.tables(["site", "url", "outcome", "duplicate_of"])
            for row in rows.filter(pc.is_in(rows["url"], value_set=wanted)).to_pylist()
            if row["outcome"] not in STORED
        }

    def committed_links(self, site: str) -> Iterator[tuple[str, Link]]:
        """Yield page URL and link, for each link of the pages that have their row already."""
        for name in ("pages", "links"):
            source = Stored(paths=self._shard(site).paths(name, site), site=site)
            for rows in source.tables(["site", "url", "links"]):
                for row in rows.to_pylist():
                    for link in row["links"] or ():
                        yield row["url"], Link(url=link["url"], rel=link["rel"])

    def told(self, shard: int) -> Iterator[tuple[str, ...]]:
        """Yield table and key of the sitemaps and alerts that this run has."""
        for name in RETOLD:
            keys = list(merging.KEYS[name])
            for rows in Stored(paths=self.parts[shard].paths(name)).tables(keys):
                for row in rows.to_pylist():
                    yield (name, *row.values())

    def stored(self, site: str) -> Iterator[tuple[str, str]]:
        """Yield URL and content hash of the site's pages that this run has stored."""
        source = Stored(paths=self._shard(site).paths("pages", site), site=site)
        for rows in source.tables(["site", "url", "content_hash"]):
            yield from zip(rows["url"].to_pylist(), rows["content_hash"].to_pylist(), strict=True)

    def claim(self, shard: int) -> None:
        """Become the one who writes a shard, and put it in order; ValueError when another is."""
        if not self.parts[shard].claim():
            raise ValueError(f"another run is writing to {self.dataset.root}")
        self.parts[shard].clean()

    def release(self, shard: int) -> None:
        """Leave a shard to others."""
        self.parts[shard].release()

    def commit(self, shard: int, tables: Mapping[str, pa.Table]) -> None:
        """Commit a batch of whole URLs: all of it is there afterwards, or nothing."""
        self.parts[shard].commit(tables)
        if self.outlet is not None and tables["chunks"].num_rows:
            self.outlet.stored(tables["chunks"])

    def publish(self, site: str) -> None:
        """Replace the corpus of a site by its state after this run."""
        spool = self._shard(site).spool()
        corpus.publish(self.dataset.corpus, site, spool, self.work)
        spool.drop(site)
        if self.outlet is not None:
            self.outlet.published(site)

    def recover(self) -> None:
        """Put the run in order after whatever ended it; no process may be writing it."""
        self.work.mkdir(parents=True, exist_ok=True)
        self._refuse_when_busy()
        self._repair()
        if not self.folder.exists():
            self._prepare()
        if self.is_complete:
            return
        for note in NOTES:
            (self.work / note).mkdir(exist_ok=True)
        for marker in self.work.glob("ended-*.json"):
            marker.unlink()
        for shard in self.parts:
            shard.clean()

    def check(self, sites: Iterable[str], *, whole: bool = True) -> None:
        """See to it that what this run reads of files can be read; OSError names one that cannot.

        What is found damaged now has cost no request, and no row says yet that a page of it is
        unchanged. Unless `whole`, only the end of each file is looked at, where Parquet says what
        is in it: a file that was cut short has none.
        """
        kept = (place for site in sites for place in corpus.places(self.dataset.corpus, site))
        mine = (
            path for shard in self.parts for name in (*TABLES, *NOTES) for path in shard.paths(name)
        )
        for path in (*kept, *mine):
            if path.exists():
                files.check(path) if whole else files.weight(path)

    def forget(self) -> None:
        """Remove what only an unfinished run needs."""
        self.dataset.pointer.unlink(missing_ok=True)
        files.sync(self.dataset.root)
        files.remove(self.work)

    def _shard(self, site: str) -> Shard:
        return self.parts[self.shard_of(site)]

    def _repair(self) -> None:
        """Finish a swap that died half-way on a system that swaps in two steps."""
        if not self.folder.exists() and (self.built / "report.json").exists():
            self.built.rename(self.folder)

    def _refuse_when_busy(self) -> None:
        for shard in self.parts:
            if not shard.claim():
                raise ValueError(f"another run is writing to {self.dataset.root}")
            shard.release()

    def _prepare(self) -> None:
        """Make the run's folder, each of its tables open from the first moment on."""
        start = self.work / "start"
        files.remove(start)
        for name in TABLES:
            (start / name).mkdir(parents=True)
            files.write(start / name / "empty.parquet", name, SCHEMAS[name].empty_table())
        start.rename(self.folder)
        files.sync(self.dataset.runs)
