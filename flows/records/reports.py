"""What a site's run has to tell beside its URLs: lists read, alerts, its end."""

from dataclasses import dataclass
from datetime import datetime

from flows.records.pages import Exchange
from flows.records.words import Method, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapRead:
    """One robots.txt, sitemap or feed, as it was read."""

    site: str
    url: str
    method: Method
    kind: str | None
    """`robots`, `urlset`, `index`, `text`, `rss`, `atom`; None when it could not be told."""
    parent: str | None = None
    depth: int = 0
    exchange: Exchange | None = None
    entries: int = 0
    lastmod_max: datetime | None = None
    complete: bool = False
    """Read to its end without a fault."""
    sha256: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """Something worth telling a person."""

    site: str
    kind: str
    severity: Severity
    subject: str
    message: str
    value: float | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteEnd:
    """A site has nothing more to say in this run."""

    site: str
    rows: int
    """Rows of `urls` that exist, or are on their way, for this site."""
    status: str
    """`complete`, `stopped_by_budget`, `failed_blocked` or `failed_unreachable`."""
    notes: int = 0
    """URLs seen again, sitemaps read and alerts of this site that were sent since this start."""
    detail: str | None = None
    crawl_delay_s: float | None = None
    requests: int = 0
    bytes: int = 0
    started_at: datetime | None = None
    ended_at: datetime | None = None
