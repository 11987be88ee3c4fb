"""Every knob, typed, with unit and default; read once from the environment."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from flows import tokens, urls
from flows.secret import NONE, Secret
from flows.settings import knobs
from flows.settings.knobs import Knob, Network, stated
from flows.settings.sites import Site

__all__ = ["PREFIX", "Knob", "Settings", "Site", "manual", "names", "package_version", "stated"]

PREFIX = "INGEST_"


def package_version() -> str:
    """Return the version of the installed project, or `0` when it runs from a bare checkout."""
    try:
        return version("sitewax")
    except PackageNotFoundError:
        return "0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a run is told; each field is the variable `INGEST_` and its name in capitals."""

    sites: tuple[Site, ...] = ()
    """Start URLs separated by white space or commas, or the path of a `.toml` or `.txt` file
    (one a line); unset: the demo site."""
    sitemaps: tuple[str, ...] = ()
    """Extra sitemap URLs, read for the site of the same origin (method `given`)."""
    out: Path = Path("data")
    """Dataset folder; made when it is missing."""
    user_agent: str = f"sitewax/{package_version()} (+https://sitewax.example/bot)"
    """User agent sent with each request: set your own contact URL. Its first word up to `/` is
    the product token matched in robots.txt."""
    allow_networks: tuple[Network, ...] = ()
    """Networks that may be reached although they are not public, e.g. `127.0.0.1/32`."""
    rate: float = 2.0
    """Requests per second to one site; 0 = no pacing (own hosts only). A slower Crawl-delay of
    robots.txt wins."""
    concurrency: int = 4
    """Requests in flight to one site."""
    total_concurrency: int = 64
    """Requests in flight from one process."""
    links: bool = True
    """Follow the links of pages; `flows.discover` starts from 0."""
    ai_signals: str = "obey"
    """`obey`: what a site's signals keep from being read by AI (`ai-input=no`, `noai`) is left out
    as `policy_denied`; `ignore`: signals are recorded only."""
    max_pages: int = 50_000
    """Pages fetched from one site; 0 = no limit. The rest is left out as `budget`."""
    max_sitemaps: int = 1_000
    """Sitemaps read of one site."""
    max_depth: int = 5
    """Nesting of sitemap indexes that is followed."""
    max_seconds: float = 0.0
    """Seconds after which a site's remaining URLs are left out as `not_reached`; 0 = no limit."""
    retry_waits_s: tuple[float, ...] = (5.0, 20.0)
    """Seconds waited before a page is asked again after a server error, one number a try."""
    verify_after_s: float = 15.0
    """Seconds between the last page of a site and its verification round."""
    verify_urls: int = 60
    """Failed URLs that are asked once more in the verification round; 0 = none."""
    verify_seconds: float = 150.0
    """Seconds that the verification round of a site may take."""
    recheck_days: float = 7.0
    """Days after which a page is asked for although its `lastmod` is trusted and has not moved
    (up to twice as many, so that not all are due at once); 0 = `lastmod` saves no request."""
    max_removed: float = 0.3
    """Part of a site's stored pages that may be removed at once; more (and at least 20) is
    withheld with an alert until the next run finds the same. 1 = no limit."""
    markdown: bool = False
    """Take a page as Markdown where its server offers that, by content negotiation or by a link
    `rel=alternate` of the type `text/markdown`, which costs a request more."""
    chunk_tokens: int = 512
    """Most tokens of a chunk."""
    chunk_overlap: int = 0
    """Tokens repeated from the chunk before."""
    encoding: str = "cl100k_base"
    """tiktoken encoding by which tokens are counted."""
    extract_workers: int = 0
    """Extraction processes; 0 = cores of this machine divided by the processes of the cluster."""
    extract_seconds: float = 30.0
    """Seconds after which the extraction of one page is given up and its process replaced."""
    index: Secret = NONE
    """Vector store that follows the run, e.g. `lancedb://data/index/lancedb`; unset: none. Table
    and embedder are those of `flows.index`."""
    render: bool = False
    """Render script shells in a browser (extra `render`)."""
    render_pages: int = 200
    """Pages rendered of one site."""
    keep_html: bool = False
    """Keep each page's HTML in `pages.html`, so that chunks can be cut again without fetching."""
    every: float = 0.0
    """Continuous mode: seconds between the starts of two runs, which one process does one after the
    other, its sites started evenly in between; 0 = one run."""
    alert_webhook: Secret = NONE
    """Address to which the end of each run is posted as JSON, with its alerts; it may be on any
    network, and is never shown. A failure of it never fails the run."""
    log: str = "text"
    """`text`, or `json` for one object a line."""
    demo_port: int = 8642
    """Loopback port of the demo site, which is served when `INGEST_SITES` is unset; 0 = any."""
    demo_edition: int = 1
    """Edition of the demo site, 1 to 3: what a further run finds changed in it."""

    @classmethod
    def from_env(cls, env: Mapping[str, str], **defaults: object) -> "Settings":
        """Return what `env` states over `defaults`, or raise ValueError in one line."""
        told = defaults | stated(cls, env, PREFIX, command="flows.ingest")
        return _checked(cls(**told))  # type: ignore[arg-type]  # read by type

    @property
    def product_token(self) -> str:
        """The name that robots.txt groups are matched against (RFC 9309 §2.2.1)."""
        return re.split(r"[/\s]", self.user_agent, maxsplit=1)[0]

    def page_budget(self, site: Site | None) -> int:
        """Return how many pages of a site may be fetched, 0 for no limit."""
        own = site.max_pages if site else None
        return self.max_pages if own is None else own

    @property
    def content_hash(self) -> str:
        """Hex digest of what decides a page's stored form: a change of it re-processes pages."""
        return _digest(self._reading, self.chunk_tokens, self.chunk_overlap, self.encoding)

    @property
    def reading_hash(self) -> str:
        """Hex digest of what decides a page's Markdown: the rest of `content_hash` is the cut."""
        return _digest(self._reading)

    @property
    def _reading(self) -> tuple[object, ...]:
        return package_version(), self.markdown


def _digest(*decides: object) -> str:
    return hashlib.blake2b(repr(decides).encode(), digest_size=8).hexdigest()


def names(record: type = Settings, prefix: str = PREFIX) -> dict[str, Knob]:
    """Return every variable by its name, in the order of the fields of a record."""
    return knobs.names(record, prefix)


def manual(command: str, about: str, known: Mapping[str, Knob] | None = None) -> str:
    """Return the text of `--help`: how to call `command`, and every setting."""
    return knobs.manual(command, about, known or names())


def _checked(settings: Settings) -> Settings:
    """Return the settings as they came, or raise ValueError naming the first that cannot be."""
    for name, floor in _AT_LEAST.items():
        if getattr(settings, name) < floor:
            raise ValueError(f"{PREFIX}{name.upper()} must be at least {floor}")
    if settings.chunk_overlap >= settings.chunk_tokens // 2:
        raise ValueError(f"{PREFIX}CHUNK_OVERLAP must be less than half of {PREFIX}CHUNK_TOKENS")
    if settings.ai_signals not in ("obey", "ignore"):
        said = settings.ai_signals
        raise ValueError(f"{PREFIX}AI_SIGNALS must be obey or ignore, not {said!r}")
    if settings.log not in ("text", "json"):
        raise ValueError(f"{PREFIX}LOG must be text or json, not {settings.log!r}")
    if not re.fullmatch(r"[A-Za-z_-]+", settings.product_token):
        raise ValueError(f"{PREFIX}USER_AGENT must begin with a product token of letters, - and _")
    if not settings.user_agent.isascii() or not settings.user_agent.isprintable():
        raise ValueError(f"{PREFIX}USER_AGENT must be printable ASCII")
    if settings.out.exists() and not settings.out.is_dir():
        raise ValueError(f"{PREFIX}OUT is not a folder: {settings.out}")
    _check_webhook(settings.alert_webhook)
    try:
        tokens.check(settings.encoding)
    except ValueError as why:
        raise ValueError(f"{PREFIX}ENCODING: {why}") from None
    return replace(settings, sites=_with_sitemaps(settings.sites, settings.sitemaps))


def _check_webhook(address: Secret) -> None:
    """Raise ValueError when that is no address, without showing it."""
    if address and urls.origin(address.reveal()) is None:
        raise ValueError(f"{PREFIX}ALERT_WEBHOOK must be an http or https URL")


_AT_LEAST: dict[str, float] = {
    "rate": 0,
    "concurrency": 1,
    "total_concurrency": 1,
    "max_pages": 0,
    "max_sitemaps": 0,
    "max_depth": 0,
    "max_seconds": 0,
    "verify_after_s": 0,
    "verify_urls": 0,
    "verify_seconds": 0,
    "recheck_days": 0,
    "max_removed": 0,
    "chunk_tokens": 32,
    "chunk_overlap": 0,
    "extract_workers": 0,
    "extract_seconds": 0.1,
    "render_pages": 0,
    "every": 0,
    "demo_port": 0,
    "demo_edition": 1,
}


def _with_sitemaps(sites: tuple[Site, ...], given: tuple[str, ...]) -> tuple[Site, ...]:
    """Return the sites, each with the given sitemaps of its origin; a stray one goes to all."""
    origins = {site.origin for site in sites}
    return tuple(
        replace(
            site,
            sitemaps=site.sitemaps
            + tuple(
                g for g in given if urls.origin(g) == site.origin or urls.origin(g) not in origins
            ),
        )
        for site in sites
    )
