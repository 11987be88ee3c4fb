"""What travels the stream: frozen records, built once and never changed.

Every record pickles (it may change process), carries its own identity and attribution, and
leaves what is absent as None. Times are aware and in UTC, sizes are bytes; other units stand in
the name or in the line under the field.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from itertools import compress
from typing import Any, NamedTuple, Self


class Method(StrEnum):
    """How a URL, or a sitemap, was found."""

    ROBOTS = "robots"
    PROBE = "probe"
    HTML = "html"
    GIVEN = "given"
    LLMS = "llms"
    LINK = "link"
    PAGINATION = "pagination"
    CANONICAL = "canonical"
    INVENTORY = "inventory"
    PATTERN = "pattern"
    RENDER = "render"


class Change(StrEnum):
    """A URL of this run against the last complete run of its site."""

    NEW = "new"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REMOVED = "removed"


class Outcome(StrEnum):
    """How a URL left the stream; a closed list, described in docs/data-format.md."""

    OK = "ok"
    DISCOVERED = "discovered"
    NOT_MODIFIED = "not_modified"
    UNCHANGED = "unchanged"
    # refused before a request
    ROBOTS_DISALLOWED = "robots_disallowed"
    OFF_ORIGIN = "off_origin"
    INVALID_URL = "invalid_url"
    NOT_HTML = "not_html"
    POLICY_DENIED = "policy_denied"
    BUDGET = "budget"
    # after a request
    REDIRECT_LOOP = "redirect_loop"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    REDIRECTED_HOME = "redirected_home"
    AUTH_REQUIRED = "auth_required"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    GONE = "gone"
    UNAVAILABLE_LEGAL = "unavailable_legal"
    HTTP_ERROR = "http_error"
    SERVER_ERROR = "server_error"
    RATE_LIMITED = "rate_limited"
    BLOCKED = "blocked"
    TIMEOUT = "timeout"
    CONNECTION_ERROR = "connection_error"
    DNS_ERROR = "dns_error"
    TLS_ERROR = "tls_error"
    PROTOCOL_ERROR = "protocol_error"
    HEADERS_TOO_LARGE = "headers_too_large"
    TOO_LARGE = "too_large"
    TRUNCATED = "truncated"
    DECODE_ERROR = "decode_error"
    # after reading the page
    NOINDEX = "noindex"
    NON_CANONICAL = "non_canonical"
    DUPLICATE = "duplicate"
    EMPTY = "empty"
    THIN = "thin"
    SOFT_404 = "soft_404"
    SOFT_ERROR = "soft_error"
    LOGIN_REQUIRED = "login_required"
    CONSENT_WALL = "consent_wall"
    META_REFRESH = "meta_refresh"
    JS_REQUIRED = "js_required"
    PARSE_ERROR = "parse_error"
    # the run ended first
    NOT_REACHED = "not_reached"
    COULD_NOT_VERIFY = "could_not_verify"
    # not of this run: known from an earlier one
    UNDECLARED = "undeclared"


class Severity(StrEnum):
    """How much an alert matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """Where a URL was declared, and how that place was found."""

    method: Method
    sitemap: str | None = None
    """The sitemap that declared it; None for links."""
    referrer: str | None = None
    """The page that linked it; None for sitemap entries."""
    depth: int = 0
    """Sitemap nesting for entries, link distance from a declared page for links."""
    phase: int = 1
    """1 static, 2 rendered, 3 inferred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternate:
    """One `hreflang` alternate of a page."""

    lang: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One link of a page: its target as an absolute URL, and its `rel` words."""

    url: str
    rel: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One declared or linked URL, canonical where it can be; `site` is the site's start origin."""

    site: str
    url: str
    attribution: Attribution
    lastmod: datetime | None = None
    """Aware, UTC; None when absent or unreadable. A hint: sites write anything here."""
    lastmod_raw: str | None = None
    changefreq: str | None = None
    priority: float | None = None
    """0.0 to 1.0 as declared; None, not 0.5, when absent."""
    alternates: tuple[Alternate, ...] = ()
    ai_signals: str | None = None
    """What robots.txt says of the use of the site's pages by AI, as `flows.signals` writes it."""


class Declared(NamedTuple):
    """What a list says of one URL."""

    url: str
    """Canonical; the text as written, or its beginning, when `invalid`."""
    lastmod: datetime | None = None
    """Aware, UTC; None when absent or unreadable."""
    lastmod_raw: str | None = None
    changefreq: str | None = None
    priority: float | None = None
    """0.0 to 1.0 as declared; None, not 0.5, when absent."""
    alternates: tuple[Alternate, ...] = ()
    invalid: bool = False
    """No http URL can be made of `url`."""


class Columns(NamedTuple):
    """What a list says of many URLs: the fields of `Declared`, column by column."""

    url: Sequence[str]
    lastmod: Sequence[datetime | None]
    lastmod_raw: Sequence[str | None]
    changefreq: Sequence[str | None]
    priority: Sequence[float | None]
    alternates: Sequence[tuple[Alternate, ...]]
    invalid: Sequence[bool]

    @classmethod
    def of(cls, declared: Iterable[Declared]) -> "Columns":
        """Return what is declared one by one."""
        rows = tuple(declared)
        return cls._make(zip(*rows, strict=True) if rows else ((),) * len(cls._fields))

    def each(self, change: Callable[[Sequence[Any]], Sequence[Any]]) -> "Columns":
        """Return what becomes of the columns."""
        return Columns._make(map(change, self))

    def rows(self) -> Iterator[Declared]:
        """Yield what is declared of each URL."""
        return map(Declared._make, zip(*self, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """URLs that one list declares, some hundred at a time: one by one they cost ten times as much.

    Each is what an `Entry` is, and iterating gives it.
    """

    site: str
    attribution: Attribution
    declared: Columns
    ai_signals: str | None = None
    """As in `Entry`."""

    def __len__(self) -> int:
        """Return how many they are."""
        return len(self.declared.url)

    def __iter__(self) -> Iterator[Entry]:
        """Yield them one by one."""
        return map(self._entry, self.declared.rows())

    def where(self, chosen: Sequence[bool]) -> Self:
        """Return those that are chosen."""
        if all(chosen):
            return self
        return replace(self, declared=self.declared.each(lambda c: tuple(compress(c, chosen))))

    def first(self, count: int) -> Self:
        """Return the first of them."""
        return replace(self, declared=self.declared.each(lambda c: c[:count]))

    def after(self, count: int) -> Self:
        """Return all but the first of them."""
        return replace(self, declared=self.declared.each(lambda c: c[count:]))

    def _entry(self, one: Declared) -> Entry:
        return Entry(
            site=self.site,
            url=one.url,
            attribution=self.attribution,
            lastmod=one.lastmod,
            lastmod_raw=one.lastmod_raw,
            changefreq=one.changefreq,
            priority=one.priority,
            alternates=one.alternates,
            ai_signals=self.ai_signals,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A URL that is known already, named again; folded into its row when the run ends."""

    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Sightings:
    """URLs of one list that are known already: as many `Sighting`s."""

    entries: Entries


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a site permits: emitted once by its source, before its first entry."""

    site: str
    origin: str
    """Where its pages live: `site`, or what the start URL turned out to be."""
    robots: str | None = None
    """robots.txt as text; None when nothing may be fetched because it could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllDeclared:
    """A site has named its last URL: emitted once by its source, after its last entry."""

    site: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One HTTP fetch, redirects and retries included, without its body."""

    status: int | None = None
    """None when no answer came."""
    final_url: str | None = None
    content_type: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    attempts: int = 1
    bytes: int = 0
    """Body bytes as they came over the wire."""
    elapsed_ms: float = 0.0
    fetched_at: datetime | None = None
    retry_after_s: float | None = None
    provider: str | None = None
    """Who blocked us, where the answer tells."""
    fingerprint: str | None = None
    """Digest of all that decides what is read of a page (`flows.remembered`)."""
    before: str | None = None
    """What came of the URL before it was asked for once more, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A page as Markdown, as its server offers it."""

    body: bytes
    url: str
    """Where it came from."""
    charset: str | None = None
    """The `charset` parameter of its Content-Type, as sent."""
    is_alternate: bool = False
    """Found by a link of the page, not in the page's own answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A fetched HTML response, its content encoding undone, its charset not yet."""

    entry: Entry
    exchange: Exchange
    body: bytes
    charset: str | None = None
    """The `charset` parameter of Content-Type, as sent."""
    robots_tag: str | None = None
    """The X-Robots-Tag header lines, joined by line ends."""
    links: tuple[Link, ...] = ()
    moved: bool = False
    """Whether redirects led here that say they are for good (301, 308)."""
    offer: Offer | None = None
    """The page as Markdown, where that is taken (`INGEST_MARKDOWN`)."""

    @property
    def is_markdown(self) -> bool:
        """Whether the body itself is Markdown."""
        return self.offer is not None and not self.offer.is_alternate

    @property
    def base_url(self) -> str:
        """Where the body came from."""
        return self.exchange.final_url or self.entry.url


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a URL was left out; `detail` is for people."""

    entry: Entry
    outcome: Outcome
    detail: str | None = None
    exchange: Exchange | None = None
    canonical_url: str | None = None
    links: tuple[Link, ...] = ()
    """Links of a page that was read and then left out: `noindex` does not mean `nofollow`."""
    duplicate_of: str | None = None
    """The URL under which the same page is stored."""
    trap: str | None = None
    """The family of links that do not end of which this is one too many (`flows.traps`)."""
    ai_signals: str | None = None
    """What the page itself says of its use by AI."""
    confirmed: bool = False
    """A second answer has said that there is no such page, or it leads elsewhere for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """URLs of one list that leave for one reason before a request: as many `Failure`s."""

    entries: Entries
    outcome: Outcome
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """A price the page states as data."""

    amount: Decimal
    currency: str | None = None
    """ISO 4217 code, when the page states one."""
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The main content of a page as Markdown, and what the page knows of itself."""

    url: str
    markdown: str
    content_hash: str
    """Hex blake2b-128 of the Markdown."""
    canonical_url: str | None = None
    title: str | None = None
    description: str | None = None
    lang: str | None = None
    author: str | None = None
    published_at: datetime | None = None
    modified_at: datetime | None = None
    html_bytes: int = 0
    html_tokens: int = 0
    tokens: int = 0
    structured: str | None = None
    """JSON-LD and OpenGraph as JSON text."""
    prices: tuple[Price, ...] = ()
    anchors: tuple[tuple[str, str], ...] = ()
    """Headings of the Markdown that have an id on the page, in order: their words and the id."""
    extraction: str | None = None
    """How the main content was found: `node`, `blocks`, `trafilatura`, `body`; `negotiated` and
    `alternate` where it is the server's own Markdown."""
    ai_signals: str | None = None
    """What the page says of its use by AI, as `flows.signals` writes it."""
    minhash: bytes | None = None
    """What finds pages with nearly the same words, as `flows.neighbours` makes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A passage of a document, cut at headings."""

    chunk_id: str
    chunk_index: int
    text: str
    heading_path: tuple[str, ...]
    """Outermost first."""
    anchor: str | None
    token_count: int
    start: int
    """First character of the chunk's own words in the document's Markdown."""
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A page that was read: its document and chunks, with the identity of the fetch."""

    entry: Entry
    exchange: Exchange
    document: Document
    chunks: tuple[Chunk, ...]
    links: tuple[Link, ...] = ()
    html: bytes | None = None
    """The page itself, when it is to be kept."""


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


Row = Failure | LeftOut | Reading | Sighting | Sightings | SitemapRead | Alert | SiteEnd
"""What the dataset takes."""
