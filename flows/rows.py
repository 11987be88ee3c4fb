"""From what travels the stream to rows of the dataset: exactly the columns of each table."""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from flows import schema, signals
from flows.records import (
    Alert,
    Alternate,
    Attribution,
    Change,
    Entries,
    Entry,
    Exchange,
    Failure,
    LeftOut,
    Link,
    Outcome,
    Reading,
    Sighting,
    Sightings,
    SitemapRead,
)
from flows.schema import Row


def url(
    row: Failure | Reading,
    *,
    run_id: str,
    settings_hash: str,
    outcome: Outcome = Outcome.OK,
    change: Change | None = None,
    duplicate_of: str | None = None,
) -> Row:
    """Return the one row of `urls` by which a URL leaves the run.

    `outcome` is that of a page which was read; a failure has its own.
    """
    entry = row.entry
    result = (
        _result(row, outcome)
        if isinstance(row, Reading)
        else {"outcome": row.outcome, "canonical_url": row.canonical_url}
    )
    of_page = row.document.ai_signals if isinstance(row, Reading) else row.ai_signals
    return {
        "run_id": run_id,
        "site": entry.site,
        "url": entry.url,
        "change": change,
        "detail": _detail(row),
        "duplicate_of": duplicate_of,
        "content_hash": None,
        "settings_hash": settings_hash,
        "chunks": None,
        "ai_signals": signals.joined(entry.ai_signals, of_page),
        **_attribution(entry.attribution),
        **_declared(entry),
        **_exchange(row.exchange),
        **result,
    }


def _detail(row: Failure | Reading) -> str | None:
    """Return what is to be said of a URL: why it was left out, and what it had answered before."""
    said = row.detail if isinstance(row, Failure) else None
    before = row.exchange.before if row.exchange else None
    return "; ".join(filter(None, (said, before))) or None


def left_out(alike: Sequence[LeftOut], *, run_id: str, settings_hash: str) -> pa.Table:
    """Return the rows of `urls` of lists that leave with one outcome, as `url` makes them."""
    entries = Entries.joined([some.entries for some in alike])
    first = Failure(entry=_first(entries), outcome=alike[0].outcome, detail=alike[0].detail)
    columns = _columns(entries)
    if any(some.detail != first.detail for some in alike):
        columns["detail"] = [some.detail for some in alike for _ in some.entries.declared.url]
    return schema.block("urls", columns, url(first, run_id=run_id, settings_hash=settings_hash))


def page(reading: Reading, *, run_id: str, settings_hash: str) -> Row:
    """Return the row of `pages` of a page that is stored."""
    document = reading.document
    return {
        **_origin(reading, run_id),
        "canonical_url": document.canonical_url,
        "title": document.title,
        "description": document.description,
        "lang": document.lang,
        "author": document.author,
        "published_at": document.published_at,
        "modified_at": document.modified_at,
        "markdown": document.markdown,
        "html_bytes": document.html_bytes,
        "html_tokens": document.html_tokens,
        "tokens": document.tokens,
        "content_hash": document.content_hash,
        "extraction": getattr(document, "extraction", None),
        "links": _links(reading.links),
        "structured": document.structured,
        "prices": [
            {"amount": price.amount, "currency": price.currency, "name": price.name}
            for price in document.prices
        ],
        "html": reading.html,
        "settings_hash": settings_hash,
        "minhash": document.minhash,
        "near_duplicate_of": None,  # told when the site has been read, in its corpus
    }


def chunks(reading: Reading, *, run_id: str) -> list[Row]:
    """Return the rows of `chunks` of a page that is stored."""
    document = reading.document
    shared = {
        **_origin(reading, run_id),
        "title": document.title,
        "content_hash": document.content_hash,
        "lang": document.lang,
    }
    return [
        {
            **shared,
            "chunk_id": chunk.chunk_id,
            "chunk_index": chunk.chunk_index,
            "text": chunk.text,
            "heading_path": list(chunk.heading_path),
            "anchor": chunk.anchor,
            "token_count": chunk.token_count,
            "start": chunk.start,
            "end": chunk.end,
        }
        for chunk in reading.chunks
    ]


def sitemap(read: SitemapRead, *, run_id: str) -> Row:
    """Return the row of `sitemaps` of a robots.txt, sitemap or feed."""
    exchange = _exchange(read.exchange)
    kept = ("status", "final_url", "content_type", "etag", "last_modified", "bytes", "fetched_at")
    return {
        "run_id": run_id,
        "site": read.site,
        "url": read.url,
        "method": read.method,
        "parent": read.parent,
        "depth": read.depth,
        "kind": read.kind,
        "entries": read.entries,
        "lastmod_max": read.lastmod_max,
        "complete": read.complete,
        "sha256": read.sha256,
        "detail": read.detail,
        **{name: exchange[name] for name in kept},
    }


def alert(alert: Alert, *, run_id: str) -> Row:
    """Return the row of `alerts` of an alert."""
    return {
        "run_id": run_id,
        "site": alert.site,
        "kind": alert.kind,
        "severity": alert.severity,
        "subject": alert.subject,
        "value": alert.value,
        "threshold": alert.threshold,
        "message": alert.message,
    }


def sighting(sighting: Sighting, *, run_id: str) -> Row:
    """Return the note of a URL that was named again."""
    entry = sighting.entry
    return {
        "run_id": run_id,
        "site": entry.site,
        "url": entry.url,
        "method": entry.attribution.method,
        "sitemap": entry.attribution.sitemap,
        "depth": entry.attribution.depth,
        **_declared(entry),
    }


def sightings(alike: Sequence[Sightings], *, run_id: str) -> pa.Table:
    """Return the notes of URLs that one list named again, as `sighting` makes them."""
    entries = Entries.joined([some.entries for some in alike])
    first = sighting(Sighting(entry=_first(entries)), run_id=run_id)
    return schema.block("sightings", _columns(entries), first)


def links(row: Failure | Reading, *, run_id: str) -> Row:
    """Return the note of the links of a page that has no row in `pages`."""
    entry = row.entry
    return {"run_id": run_id, "site": entry.site, "url": entry.url, "links": _links(row.links)}


def _result(reading: Reading, outcome: Outcome) -> Row:
    document = reading.document
    return {
        "outcome": outcome,
        "canonical_url": document.canonical_url,
        "content_hash": document.content_hash,
        "chunks": len(reading.chunks) if outcome is Outcome.OK else None,
    }


def _origin(reading: Reading, run_id: str) -> Row:
    """The columns that pages and chunks share: whose they are, and who declared them."""
    entry = reading.entry
    return {
        "run_id": run_id,
        "site": entry.site,
        "url": entry.url,
        "method": entry.attribution.method,
        "sitemap": entry.attribution.sitemap,
        "lastmod": entry.lastmod,
        "fetched_at": reading.exchange.fetched_at,
    }


def _attribution(attribution: Attribution) -> Row:
    return {
        "method": attribution.method,
        "sitemap": attribution.sitemap,
        "sitemaps": [] if attribution.sitemap is None else [attribution.sitemap],
        "methods": [attribution.method],
        "referrer": attribution.referrer,
        "depth": attribution.depth,
        "phase": attribution.phase,
    }


def _declared(entry: Entry) -> Row:
    return {
        "lastmod": entry.lastmod,
        "lastmod_raw": entry.lastmod_raw,
        "changefreq": entry.changefreq,
        "priority": entry.priority,
        "alternates": _alternates(entry.alternates),
    }


def _first(entries: Entries) -> Entry:
    """Return one entry, to tell what all have in common."""
    return next(iter(entries))


def _columns(entries: Entries) -> dict[str, Sequence[Any]]:
    """Return what is declared of each of many URLs, by column; alternates if there are any."""
    columns: dict[str, Sequence[Any]] = entries.declared._asdict()
    del columns["invalid"]
    alternates = columns.pop("alternates")
    if any(alternates):
        columns["alternates"] = [_alternates(one) for one in alternates]
    return columns


def _alternates(found: Iterable[Alternate]) -> list[Row]:
    return [{"lang": other.lang, "url": other.url} for other in found]


_EXCHANGE = (
    "status",
    "final_url",
    "content_type",
    "etag",
    "last_modified",
    "attempts",
    "bytes",
    "elapsed_ms",
    "fetched_at",
    "retry_after_s",
    "provider",
    "fingerprint",
)


def _exchange(exchange: Exchange | None) -> Row:
    """The columns of a fetch; all null when nothing was asked for."""
    return {name: None if exchange is None else getattr(exchange, name) for name in _EXCHANGE}


def _links(links: Iterable[Link]) -> list[Row]:
    return [{"url": link.url, "rel": link.rel} for link in links]
