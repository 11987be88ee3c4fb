"""What became of a URL that was admitted: the exchange, the page, its document and chunks."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from flows.records.entries import Entry, Link
from flows.records.words import Outcome


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
