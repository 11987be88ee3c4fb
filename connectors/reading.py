"""Reading one sitemap: as fast as it comes, as far as there is room, and telling how it was."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import cast

from connectors.backlog import Backlog
from connectors.crawl import Crawl
from connectors.fetcher import Stream
from flows import alerts, media, responses, sitemaps
from flows.discovery import Candidate, Plan
from flows.records import Attribution, Columns, Declared, Entries, Method, Outcome, SitemapRead
from flows.responses import Answer, Fault

logger = logging.getLogger(__name__)

ALERT_OF = {
    Outcome.TIMEOUT: "sitemap_timeout",
    Outcome.RATE_LIMITED: "sitemap_rate_limited",
    Outcome.TOO_LARGE: "sitemap_too_large",
    Outcome.TRUNCATED: "sitemap_truncated",
    Outcome.DECODE_ERROR: "sitemap_gzip_error",
    Outcome.OFF_ORIGIN: "sitemap_redirected",
    Outcome.EMPTY: "sitemap_empty",
}
"""Alert kinds of outcomes that have one of their own; others are `sitemap_http_error`."""

OVER_LIMIT = ("sitemap_too_many_urls", "sitemap_too_large")
"""What is wrong with a sitemap that other readers may leave unread."""

GUESSED = (Method.PROBE, Method.HTML)
"""Methods that only suppose a sitemap: one that is a web page is no news."""


Items = Sequence[sitemaps.Found]


class Reading:
    """One sitemap on its way into the crawl of its site."""

    def __init__(self, crawl: Crawl, plan: Plan, candidate: Candidate) -> None:
        """Take the sitemap that the plan has chosen."""
        self._crawl = crawl
        self._plan = plan
        self._candidate = candidate
        self._site = crawl.site.origin
        self._url = candidate.url
        """Where the sitemap was really read, after redirects."""
        self._reader: sitemaps.Reader | None = None
        self._found: Iterator[Items] = iter(())
        self._children: list[sitemaps.Child] = []

    async def take(self, got: Stream | Fault, backlog: Backlog) -> None:
        """Take the answer to its end.

        The network never waits for us: what there is no room for waits in the backlog, and
        `finish` reads it when the connection is no longer needed.
        """
        if isinstance(got, Fault) or responses.of_status(got.head.status) is not Outcome.OK:
            return
        self._url = got.head.url
        now, most = datetime.now(UTC), self._plan.max_urls
        self._reader = reader = sitemaps.Reader(self._url, now=now, max_urls=most)
        async for piece in got:
            backlog.put(piece)
            while self._crawl.has_room() and self._step(reader, backlog):  # noqa: ASYNC110
                await asyncio.sleep(0)  # a small piece may unpack to much: others have their turn
            if reader.stopped:
                return

    async def finish(self, answer: Answer, backlog: Backlog) -> bool:
        """Read what is left, tell how the sitemap was, and say whether it was one."""
        reader = self._reader
        if reader is None:
            await self._tell_missing(answer)
            return False
        while self._step(reader, backlog):
            await asyncio.sleep(0)
            await self._crawl.room()
        self._put(reader.close(complete=not isinstance(answer, Fault)))
        self._plan.children(self._candidate, self._children)
        self._plan.was_list(reader.entries - len(self._children))
        is_sitemap = reader.kind not in (None, "html")
        if not is_sitemap and self._candidate.method in GUESSED:
            self._plan.was_page(self._candidate)
            return False
        await self._tell_read(answer, reader)
        await self._tell_oddities(answer, reader)
        return is_sitemap

    def _step(self, reader: sitemaps.Reader, backlog: Backlog) -> bool:
        """Read a little of what has come; say no when there is no more."""
        items = next(self._found, None)
        if items is not None:
            self._put(items)
            return True
        data = b"" if reader.stopped else backlog.take()
        self._found = reader.stream(data)
        return bool(data)

    def _put(self, items: Items) -> None:
        parts: list[Columns] = []
        for kind, some in groupby(items, type):
            if kind is sitemaps.Child:
                self._children.extend(cast(Iterator[sitemaps.Child], some))
            elif kind is Declared:
                parts.append(Columns.of(cast(Iterator[Declared], some)))
            else:
                parts.extend(cast(Iterator[Columns], some))
        if parts:
            found, declared = self._candidate, Columns.joined(parts)
            at = Attribution(method=found.method, sitemap=self._url, depth=found.depth)
            self._crawl.add(Entries(site=self._site, attribution=at, declared=declared))

    async def _tell_missing(self, answer: Answer) -> None:
        """Tell that there is nothing to read; a guess that was wrong is no news."""
        if self._candidate.method is Method.PROBE:
            return
        await self._tell_read(answer, None)
        await self._alert(ALERT_OF.get(_outcome(answer), "sitemap_http_error"), why(answer))

    async def _tell_oddities(self, answer: Answer, reader: sitemaps.Reader) -> None:
        """Tell what was wrong with the file, and with the exchange that brought it."""
        for problem in reader.problems:
            self._plan.over_limit += problem.kind in OVER_LIMIT
            await self._crawl.put(alerts.of(self._site, problem))
        if answer.url != self._candidate.url:
            await self._alert("sitemap_redirected", f"redirects to {answer.url}")
        said = media.essence(answer.header("content-type"))
        if reader.kind not in (None, "html") and said in media.HTML:
            await self._alert("content_type_mismatch", f"{reader.kind} sent as {said}")
        if isinstance(answer, Fault):
            kind = ALERT_OF.get(answer.outcome, "sitemap_http_error")
            if kind not in {problem.kind for problem in reader.problems}:
                await self._alert(kind, why(answer))

    async def _tell_read(self, answer: Answer, reader: sitemaps.Reader | None) -> None:
        exchange = responses.exchange(answer)
        row = SitemapRead(
            site=self._site,
            url=self._candidate.url,
            method=self._candidate.method,
            kind=reader.kind if reader else None,
            parent=self._candidate.parent,
            depth=self._candidate.depth,
            exchange=exchange,
            entries=reader.entries if reader else 0,
            lastmod_max=reader.lastmod_max if reader else None,
            complete=reader.complete if reader else False,
            sha256=reader.sha256 if reader else None,
            detail=None if reader else why(answer),
        )
        await self._crawl.put(row)
        said = {"sitemap": row.url, "status": exchange.status, "entries": row.entries}
        logger.info(
            "sitemap read" if reader else "sitemap not read",
            extra={**said, "method": row.method.value},
        )

    async def _alert(self, kind: str, message: str) -> None:
        await self._crawl.put(alerts.alert(self._site, kind, self._candidate.url, message))


def _outcome(answer: Answer) -> Outcome:
    if isinstance(answer, Fault):
        return answer.outcome
    return responses.of_status(answer.status, answer.retry_after_s)


def why(answer: Answer) -> str:
    """Return for people why an answer is none."""
    if isinstance(answer, Fault):
        return f"{answer.outcome}: {answer.detail}"
    return f"status {answer.status}"
