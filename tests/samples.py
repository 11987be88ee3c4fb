"""Small records for tests: a site whose pages have texts that can be told apart."""

import hashlib
from datetime import UTC, datetime
from decimal import Decimal

from flows.records import (
    Alert,
    Alternate,
    Attribution,
    Chunk,
    Columns,
    Declared,
    Document,
    Entries,
    Entry,
    Exchange,
    Failure,
    Link,
    Method,
    Outcome,
    Price,
    Reading,
    Severity,
    Sighting,
    SiteEnd,
    SitemapRead,
)

SITE = "https://a.test"
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def entry(path: str = "/", site: str = SITE, method: Method = Method.ROBOTS) -> Entry:
    sitemap = None if method is Method.LINK else f"{site}/sitemap.xml"
    return Entry(
        site=site,
        url=site + path,
        attribution=Attribution(method=method, sitemap=sitemap),
        lastmod=NOON,
        lastmod_raw="2024-05-01T12:00:00Z",
        changefreq="daily",
        priority=0.5,
        alternates=(Alternate(lang="de", url=f"{site}/de{path}"),),
    )


LIST = f"{SITE}/more.xml"


def entries(*paths: str) -> Entries:
    """What a second list of the site says: the same of every page, all there is to say."""
    at = Attribution(method=Method.ROBOTS, sitemap=LIST)
    german = Alternate(lang="de", url=f"{SITE}/de")
    declared = [
        Declared(SITE + path, NOON, "2024-05-01T12:00:00Z", "daily", 0.5, (german,))
        for path in paths
    ]
    return Entries(site=SITE, attribution=at, declared=Columns.of(declared))


def reading(
    path: str = "/",
    text: str | None = None,
    *,
    site: str = SITE,
    chunks: int = 2,
    html: bytes | None = None,
    link: str = "/next",
) -> Reading:
    markdown = f"# Page\n\nThe words of {site}{path}.\n" if text is None else text
    content = hashlib.blake2b(markdown.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return Reading(
        entry=entry(path, site),
        exchange=Exchange(
            status=200,
            final_url=site + path,
            content_type="text/html",
            etag='"1"',
            last_modified="Wed, 01 May 2024 12:00:00 GMT",
            bytes=1000,
            elapsed_ms=12.5,
            fetched_at=NOON,
        ),
        document=Document(
            url=site + path,
            markdown=markdown,
            content_hash=content,
            canonical_url=site + path,
            title="Page",
            lang="en",
            published_at=NOON,
            html_bytes=5000,
            html_tokens=1000,
            tokens=20,
            structured="{}",
            prices=(Price(amount=Decimal("9.99"), currency="EUR", name="Ticket"),),
        ),
        chunks=tuple(
            Chunk(
                chunk_id=f"{content[:8]}-{path}-{number}",
                chunk_index=number,
                text=markdown,
                heading_path=("Page", "Part"),
                anchor="part",
                token_count=10,
                start=0,
                end=len(markdown),
            )
            for number in range(chunks)
        ),
        links=(Link(url=site + link, rel="next"),),
        html=html,
    )


def failure(path: str = "/gone", outcome: Outcome = Outcome.NOT_FOUND, site: str = SITE) -> Failure:
    answered = Exchange(status=404, final_url=site + path, bytes=10, fetched_at=NOON)
    return Failure(entry=entry(path, site), outcome=outcome, detail="404", exchange=answered)


def sighting(path: str = "/", site: str = SITE, method: Method = Method.LINK) -> Sighting:
    sitemap = None if method is Method.LINK else f"{site}/{method}.xml"
    attribution = Attribution(method=method, sitemap=sitemap, referrer=site)
    return Sighting(entry=Entry(site=site, url=site + path, attribution=attribution))


def sitemap(path: str = "/sitemap.xml", site: str = SITE, entries: int = 3) -> SitemapRead:
    return SitemapRead(
        site=site,
        url=site + path,
        method=Method.ROBOTS,
        kind="urlset",
        exchange=Exchange(status=200, final_url=site + path, bytes=500, fetched_at=NOON),
        entries=entries,
        lastmod_max=NOON,
        complete=True,
        sha256="0" * 64,
    )


def alert(
    kind: str = "no_sitemap",
    subject: str = SITE,
    site: str = SITE,
    severity: Severity = Severity.WARNING,
) -> Alert:
    return Alert(
        site=site,
        kind=kind,
        severity=severity,
        subject=subject,
        message="none was found",
        value=1.0,
    )


def end(rows: int, site: str = SITE, status: str = "complete", notes: int = 0) -> SiteEnd:
    return SiteEnd(
        site=site,
        rows=rows,
        notes=notes,
        status=status,
        requests=rows + 2,
        bytes=1000,
        started_at=NOON,
        ended_at=NOON.replace(minute=1),
    )
