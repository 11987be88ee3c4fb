"""Every knob, typed, with unit and default; read once from the environment."""

import ast
import hashlib
import inspect
import ipaddress
import os
import re
import tomllib
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from flows import urls

PREFIX = "INGEST_"
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def package_version() -> str:
    """Return the version of the installed project, or `0` when it runs from a bare checkout."""
    try:
        return version("sitewax")
    except PackageNotFoundError:
        return "0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One site to ingest: where it starts, and the settings that are its own."""

    origin: str
    """Scheme, host and port of the start URL: the `site` of every row."""
    start_url: str
    sitemaps: tuple[str, ...] = ()
    """Sitemaps handed to us, beside those the site declares."""
    rate: float | None = None
    """Requests per second; None: the general setting."""
    max_pages: int | None = None
    """Budget of pages; None: the general setting."""
    allow: tuple[str, ...] = ()
    """Regular expressions; when there are any, a URL must match one of them."""
    deny: tuple[str, ...] = ()
    """Regular expressions; a URL that matches one of them is refused."""
    headers: tuple[tuple[str, str], ...] = ()
    """Request headers sent to this site alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a run is told; each field is the variable `INGEST_` and its name in capitals."""

    sites: tuple[Site, ...] = ()
    """Start URLs separated by white space or commas, or the path of a `.toml` or `.txt` file (one a line); unset: the demo site."""
    sitemaps: tuple[str, ...] = ()
    """Extra sitemap URLs, read for the site of the same origin (method `given`)."""
    out: Path = Path("data")
    """Dataset folder; made when it is missing."""
    user_agent: str = f"sitewax/{package_version()} (+https://github.com/sitewax/sitewax)"
    """User agent sent with each request; its first word up to `/` is the product token matched in robots.txt."""
    allow_networks: tuple[Network, ...] = ()
    """Networks that may be reached although they are not public, e.g. `127.0.0.1/32`."""
    rate: float = 2.0
    """Requests per second to one site; 0 = no pacing (own hosts only). A slower Crawl-delay of robots.txt wins."""
    concurrency: int = 4
    """Requests in flight to one site."""
    total_concurrency: int = 64
    """Requests in flight from one process."""
    links: bool = True
    """Follow the links of pages; `flows.discover` starts from 0."""
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
    render: bool = False
    """Render script shells in a browser (extra `render`)."""
    render_pages: int = 200
    """Pages rendered of one site."""
    keep_html: bool = False
    """Keep each page's HTML in `pages.html`, so that chunks can be cut again without fetching."""
    every: float = 0.0
    """Seconds between the starts of two runs of the continuous mode; 0 = one run."""
    log: str = "text"
    """`text`, or `json` for one object a line."""
    demo_port: int = 8642
    """Loopback port at which the demo site is served when `INGEST_SITES` is unset; 0 = any free port."""

    @classmethod
    def from_env(cls, env: Mapping[str, str], **defaults: object) -> "Settings":
        """Return the settings that `env` states over `defaults`, or raise ValueError in one line."""
        unknown = sorted(name for name in env if name.startswith(PREFIX) and name not in names())
        if unknown:
            raise ValueError(f"{unknown[0]} is not a setting; see python -m flows.ingest --help")
        stated = {}
        for name, knob in names().items():
            if env.get(name, "").strip():
                stated[knob.field] = _read(name, knob.read, env[name].strip())
        return _checked(cls(**(defaults | stated)))  # type: ignore[arg-type]  # read by type above

    @property
    def product_token(self) -> str:
        """The name that robots.txt groups are matched against (RFC 9309 §2.2.1)."""
        return re.split(r"[/\s]", self.user_agent, maxsplit=1)[0]

    @property
    def content_hash(self) -> str:
        """Hex digest of what decides a page's stored form: a change of it re-processes pages."""
        decides = (package_version(), self.chunk_tokens, self.chunk_overlap, self.encoding)
        return hashlib.blake2b(repr(decides).encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Knob:
    """One environment variable: its field, reader, default as written, and meaning."""

    field: str
    read: Callable[[str], object]
    default: str
    meaning: str
