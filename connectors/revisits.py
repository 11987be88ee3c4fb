"""Asking again for pages that are stored: what need not be asked for, and what an answer means."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from flows import media, remembered
from flows.records import Entry, Exchange, Failure, Outcome, Page
from flows.remembered import GONE, Memory, Remembered

A_DAY_S = 86_400.0


class Revisits:
    """What is known of a site's stored pages, beside what their site answers now."""

    def __init__(
        self,
        memory: Memory,
        *,
        recheck_days: float = 0.0,
        kept: Callable[[str], bytes | None] = lambda _: None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Take what is remembered of the site; `kept` returns the HTML that was kept of a page."""
        self._memory = memory
        self._recheck_s = recheck_days * A_DAY_S
        self._kept = kept
        self._now = now

    @property
    def is_new(self) -> bool:
        """Whether no page of the site is stored."""
        return not len(self._memory)

    async def instead(self, entry: Entry) -> Page | Failure | None:
        """Return what stands in the place of an answer, or None: then the site is asked."""
        was = self._memory.of(entry.url)
        if was is None:
            return None
        if not was.is_current:
            return await self._again(entry, was)
        if self._memory.is_unmoved(entry.url, entry.lastmod, self._now(), self._recheck_s):
            detail = "not asked for: its lastmod has not moved"
            return Failure(
                entry=entry,
                outcome=Outcome.UNCHANGED,
                detail=detail,
                exchange=_resting(was, entry.url),
            )
        return None

    def condition(self, url: str) -> dict[str, str | None]:
        """Return what a request is made conditional by (RFC 9110 §13.1)."""
        was = self._memory.of(url)
        if was is None or not was.is_current or not (was.etag or was.last_modified):
            return {}
        return {"etag": was.etag, "last_modified": was.last_modified}

    def weighed(self, answer: Page | Failure) -> Page | Failure | None:
        """Return an answer as it is by what is known; None when it has to be asked for anew."""
        was = self._memory.of(answer.entry.url)
        if isinstance(answer, Page):
            return _recognised(answer, was)
        if answer.outcome is Outcome.NOT_MODIFIED and was and answer.exchange:
            return _not_modified(answer, answer.exchange, was)
        if answer.outcome in GONE and was and was.is_missing:
            return replace(answer, confirmed=True)  # as it was in the run before
        return answer

    def doubts(self, failure: Failure) -> bool:
        """Say whether a stored page is said to be gone for the first time."""
        if failure.outcome not in GONE or failure.confirmed:
            return False
        return self._memory.of(failure.entry.url) is not None

    def has_moved(self, page: Page) -> bool:
        """Say whether a page that was stored under its own address leads to another for good."""
        was = self._memory.of(page.entry.url) if page.moved else None
        return was is not None and was.final_url in (None, page.entry.url)

    def urls(self) -> Iterator[str]:
        """Yield the URLs of the stored pages."""
        return self._memory.urls()

    def depth(self, url: str) -> int:
        """Return the distance of what a stored page links from the nearest declared page."""
        was = self._memory.of(url)
        return 1 if was is None or was.sitemap else (was.depth or 0) + 1

    async def _again(self, entry: Entry, was: Remembered) -> Page | None:
        """Return a page that was stored by other settings from its HTML, where that was kept."""
        moved = entry.lastmod is not None and entry.lastmod != was.lastmod
        if moved or was.fetched_at is None:
            return None
        html = await asyncio.to_thread(self._kept, entry.url)
        if html is None:
            return None
        charset = media.charset(was.content_type) if was.content_type else None
        return Page(entry=entry, exchange=_resting(was, entry.url), body=html, charset=charset)


def _resting(was: Remembered, url: str) -> Exchange:
    """Return the earlier answer that a page rests on, as one for which nothing was asked."""
    return Exchange(
        attempts=0,
        final_url=was.final_url or url,
        content_type=was.content_type,
        etag=was.etag,
        last_modified=was.last_modified,
        fetched_at=was.fetched_at,
        fingerprint=was.fingerprint,
    )


def _recognised(page: Page, was: Remembered | None) -> Page | Failure:
    """Return a page with its fingerprint, or `unchanged` when it is the one that is stored."""
    exchange = replace(page.exchange, fingerprint=remembered.fingerprint(page))
    is_stored = was is not None and was.is_current and was.fingerprint == exchange.fingerprint
    if is_stored and page.base_url == page.entry.url:
        detail = "the same bytes as before"
        return Failure(
            entry=page.entry, outcome=Outcome.UNCHANGED, detail=detail, exchange=exchange
        )
    return replace(page, exchange=exchange)


def _not_modified(answer: Failure, exchange: Exchange, was: Remembered) -> Failure | None:
    """Return the answer with what it need not repeat; None when it speaks of another address."""
    if exchange.final_url != (was.final_url or answer.entry.url):
        return None
    kept = replace(
        exchange,
        etag=exchange.etag or was.etag,
        last_modified=exchange.last_modified or was.last_modified,
        content_type=was.content_type,
        fingerprint=was.fingerprint,
    )
    return replace(answer, exchange=kept)
