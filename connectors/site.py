"""SiteSource: what each site declares, one partition a site."""

from datetime import datetime

from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition

from connectors.crawl import Crawl, Discovered
from connectors.crawls import Crawls
from connectors.waits import Waits


class _Declared(StatefulSourcePartition[tuple[str, Discovered], None]):
    def __init__(self, crawl: Crawl, crawls: Crawls) -> None:
        self._crawl = crawl
        self._crawls = crawls
        self._waits = Waits(len(crawls))
        crawl.attach()

    def next_batch(self) -> list[tuple[str, Discovered]]:
        if self._crawls.stopping:
            raise StopIteration
        site = self._crawl.site.origin
        batch = [(site, item) for item in self._crawl.discovered()]
        self._waits.after(bool(batch), self._crawl.is_due)
        return batch

    def next_awake(self) -> datetime:
        return self._waits.at

    def snapshot(self) -> None:
        """Keep nothing: a restart reads the site's sitemaps again."""


class SiteSource(FixedPartitionedSource[tuple[str, Discovered], None]):
    """What each site declares: its `Rules` first, then entries, sitemaps read, and alerts.

    *Partition*: a site, on the worker of its `RequestSink` and `ResponseSource`. *Guarantee*:
    every entry at least once a start; the dataset drops what it has. *Resume*: nothing is kept,
    the site is read anew. *Limits*: a window of entries under way for each site, sitemaps beyond
    it wait on disk. *Cost*: robots.txt, the start page, the sitemaps, and the well-known paths.
    """

    def __init__(self, crawls: Crawls) -> None:
        """Serve the given crawls."""
        self._crawls = crawls

    def list_parts(self) -> list[str]:
        """Return the sites."""
        return self._crawls.sites()

    def build_part(self, step_id: str, for_part: str, resume_state: None) -> _Declared:
        """Build the end of one site at which discovery arrives."""
        return _Declared(self._crawls.of(for_part), self._crawls)
