"""The two ends of the loop through the Web: requests leave by a sink, responses return."""

from datetime import datetime

from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.outputs import FixedPartitionedSink, StatefulSinkPartition

from connectors.crawl import Crawl, Returned
from connectors.crawls import Crawls
from connectors.waits import Waits
from flows.operators import Decision


class _Requests(StatefulSinkPartition[Decision, None]):
    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        crawl.attach()

    def write_batch(self, values: list[Decision]) -> None:
        self._crawl.settle(values)

    def snapshot(self) -> None:
        """Keep nothing: the dataset knows what is settled."""


class RequestSink(FixedPartitionedSink[Decision, None]):
    """Takes the decisions on URLs and has the admitted ones fetched.

    *Partition*: a site, on the worker of its `SiteSource`. *Guarantee*: each admitted URL is
    asked for once a start; what a crash interrupts is asked for again. *Resume*: nothing is kept,
    committed URLs are known from the dataset. *Limits*: the frontier of a site is bounded by its
    page budget. *Cost*: one fetch a URL, retries as `Guest` says.
    """

    def __init__(self, crawls: Crawls) -> None:
        """Serve the given crawls."""
        self._crawls = crawls

    def list_parts(self) -> list[str]:
        """Return the sites."""
        return self._crawls.sites()

    def part_fn(self, item_key: str) -> int:
        """Return the place of a site in the sorted list that Bytewax indexes with it."""
        return self._crawls.index(item_key)

    def build_part(self, step_id: str, for_part: str, resume_state: None) -> _Requests:
        """Build the end of one site at which requests leave."""
        return _Requests(self._crawls.of(for_part))


class _Responses(StatefulSourcePartition[tuple[str, Returned], None]):
    def __init__(self, crawl: Crawl, crawls: Crawls) -> None:
        self._crawl = crawl
        self._crawls = crawls
        self._waits = Waits(len(crawls))
        crawl.attach()

    def next_batch(self) -> list[tuple[str, Returned]]:
        if self._crawls.stopping:
            raise StopIteration
        site = self._crawl.site.origin
        batch = [(site, item) for item in self._crawl.answered()]
        self._waits.after(bool(batch), self._crawl.is_due)
        return batch

    def next_awake(self) -> datetime:
        return self._waits.at

    def snapshot(self) -> None:
        """Keep nothing: a page that was not committed is fetched again."""


class ResponseSource(FixedPartitionedSource[tuple[str, Returned], None]):
    """Returns pages and failures as they come, the links of pages as entries, then `SiteEnd`.

    *Partition*: a site, on the worker of its `SiteSource`. *Guarantee*: every admitted URL is
    answered exactly once a start. *Resume*: nothing is kept; uncommitted pages are fetched again.
    *Limits*: a few pages a batch; while they are not read, no further request starts. *Cost*: one
    parse a page for its links.
    """

    def __init__(self, crawls: Crawls) -> None:
        """Serve the given crawls."""
        self._crawls = crawls

    def list_parts(self) -> list[str]:
        """Return the sites."""
        return self._crawls.sites()

    def build_part(self, step_id: str, for_part: str, resume_state: None) -> _Responses:
        """Build the end of one site at which responses arrive."""
        return _Responses(self._crawls.of(for_part), self._crawls)
