"""What the demo site answers: its pages as they lie in `pages/`, robots.txt and sitemaps."""

import gzip
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from functools import cache
from xml.sax.saxutils import escape

from connectors.demo.editions import Listed, missing, pages
from flows.settings import package_version

HTML = "text/html; charset=utf-8"
XML = "application/xml; charset=utf-8"
TYPES = {".html": HTML, ".svg": "image/svg+xml"}
XMLNS = "http://www.sitemaps.org/schemas/sitemap/0.9"
INDEX = "/sitemap_index.xml"
SITEMAPS = {"guide": "/sitemaps/guide.xml", "more": "/sitemaps/more.xml.gz"}
"""The index's children: one plain, one gzip."""
ROBOTS = "User-agent: *\nDisallow: /drafts/\n\nSitemap: {origin}" + INDEX + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A body with its validators; those of an error page are None."""

    body: bytes
    content_type: str
    etag: str | None = None
    modified: datetime | None = None

    def is_fresh(self, if_none_match: str | None, if_modified_since: str | None) -> bool:
        """Return whether the client's copy will do (RFC 9110 §13.2.2: an ETag outweighs a date)."""
        if if_none_match is not None:
            tags = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
            return "*" in tags or self.etag in tags
        since = _http_date(if_modified_since)
        return since is not None and self.modified is not None and self.modified <= since

    def headers(self, *, with_length: bool) -> Iterator[tuple[str, str]]:
        """Yield the header fields of the answer; one without a body (304) states no length."""
        yield "Content-Type", self.content_type
        if with_length:
            yield "Content-Length", str(len(self.body))
        if self.etag is not None:
            yield "ETag", self.etag
        if self.modified is not None:
            yield "Last-Modified", format_datetime(self.modified, usegmt=True)


NOT_FOUND = Answer(
    body=b"<!doctype html><title>Not found</title><h1>There is no such page.</h1>\n",
    content_type=HTML,
)


@cache
def signature(edition: int = 1) -> str:
    """Return the Server header: equal for two processes exactly when they serve the same site."""
    digest = hashlib.blake2b(digest_size=4)
    for page in pages(edition):
        digest.update(repr(page).encode() + page.body())
    return f"sitewax-demo/{package_version()} ({digest.hexdigest()})"


def answers(origin: str, edition: int = 1) -> dict[str, Answer]:
    """Return what each path of an edition of the site at `origin` answers."""
    listed = pages(edition)
    newest = max(page.lastmod for page in listed)
    texts = {
        "/robots.txt": (ROBOTS.format(origin=origin), "text/plain; charset=utf-8"),
        INDEX: (_index(origin, listed, missing(edition)), XML),
        SITEMAPS["guide"]: (_urlset(origin, listed, "guide"), XML),
    }
    found = {path: _stored(body.encode(), kind, newest) for path, (body, kind) in texts.items()}
    packed = gzip.compress(_urlset(origin, listed, "more").encode(), mtime=0)
    found[SITEMAPS["more"]] = _stored(packed, "application/gzip", newest)
    for page in listed:
        kind = TYPES["." + page.file.rpartition(".")[2]]
        found[page.path] = _stored(page.body(), kind, page.lastmod)
    return found


def _index(origin: str, listed: Iterable[Listed], absent: Iterable[str]) -> str:
    def newest(name: str | None) -> datetime:
        return max(page.lastmod for page in listed if name is None or page.sitemap == name)

    children = [(origin + path, newest(name)) for name, path in SITEMAPS.items()]
    children += [(origin + path, newest(None)) for path in absent]
    return _xml("sitemapindex", "sitemap", children)


def _urlset(origin: str, listed: Iterable[Listed], name: str) -> str:
    named = ((origin + page.path, page.lastmod) for page in listed if page.sitemap == name)
    return _xml("urlset", "url", named)


def _xml(root: str, element: str, entries: Iterable[tuple[str, datetime]]) -> str:
    lines = (
        f"  <{element}><loc>{escape(url)}</loc><lastmod>{lastmod.isoformat()}</lastmod></{element}>"
        for url, lastmod in entries
    )
    start = f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{XMLNS}">'
    return "\n".join((start, *lines, f"</{root}>", ""))


def _stored(body: bytes, content_type: str, modified: datetime) -> Answer:
    etag = f'"{hashlib.blake2b(body, digest_size=8).hexdigest()}"'
    return Answer(body=body, content_type=content_type, etag=etag, modified=modified)


def _http_date(text: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(text or "")
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
