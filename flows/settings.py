"""Every knob, typed, with unit and default; read once from the environment."""

import ast
import hashlib
import inspect
import ipaddress
import math
import re
import textwrap
import tomllib
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from flows import tokens, urls
from flows.secret import NONE, Secret

PREFIX = "INGEST_"
NOTHING = "–"  # noqa: RUF001  # an en dash is what tables print
"""How an empty default is written."""

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
    starts: tuple[str, ...] = ()
    """Further start URLs of the same origin."""
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


@dataclass(frozen=True, slots=True)
class Knob:
    """One environment variable: its field, reader, default as written, and meaning."""

    field: str
    read: Callable[[str, str], object]
    """Takes the variable's name and text; raises ValueError in one line."""
    default: str
    meaning: str


def stated(record: type, env: Mapping[str, str], prefix: str, *, command: str) -> dict[str, object]:
    """Return the fields of a record of settings that `env` states; ValueError in one line."""
    known = names(record, prefix)
    unknown = sorted(name for name in env if name.startswith(prefix) and name not in known)
    if unknown:
        raise ValueError(f"{unknown[0]} is not a setting; see python -m {command} --help")
    return {
        knob.field: knob.read(name, env[name].strip())
        for name, knob in known.items()
        if env.get(name, "").strip()
    }


@cache
def names(record: type = Settings, prefix: str = PREFIX) -> dict[str, Knob]:
    """Return every variable by its name, in the order of the fields."""
    meanings = _field_docs(record)
    hints = typing.get_type_hints(record)
    return {
        prefix + f.name.upper(): Knob(
            field=f.name,
            read=_READERS[hints[f.name]],
            default=_as_written(f.default),
            meaning=meanings[f.name],
        )
        for f in fields(record)
    }


def manual(command: str, about: str, knobs: Mapping[str, Knob] | None = None) -> str:
    """Return the text of `--help`: how to call `command`, and every setting."""
    lines = [
        f"{about}\n\n    {command}\n\nSettings are environment variables (default in brackets):\n"
    ]
    for name, knob in (knobs or names()).items():
        lines.append(f"  {name} [{knob.default}]")
        lines.append(
            textwrap.fill(knob.meaning, 96, initial_indent=" " * 6, subsequent_indent=" " * 6)
        )
    return "\n".join(lines) + "\n"


def _field_docs(record: type) -> dict[str, str]:
    """Return the docstring under each field of a class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(record))).body[0]
    assert isinstance(body, ast.ClassDef)  # noqa: S101  # getsource of a class
    docs = {}
    for above, below in zip(body.body, body.body[1:], strict=False):
        if isinstance(above, ast.AnnAssign) and isinstance(below, ast.Expr):
            docs[ast.unparse(above.target)] = " ".join(ast.literal_eval(below.value).split())
    return docs


def _as_written(value: object) -> str:
    """Return a default in the spelling that the environment would use."""
    match value:
        case bool():
            return str(int(value))
        case tuple():
            return ",".join(map(_as_written, value)) or NOTHING
        case float():
            return f"{value:g}"
    return str(value) or NOTHING


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


def _split(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,]+", text) if word]


def _sites(name: str, text: str) -> tuple[Site, ...]:
    """Return the sites of a list of URLs, or of the file it names, once for each origin."""
    words = _split(text)
    if len(words) == 1 and words[0].endswith((".toml", ".txt")) and "://" not in words[0]:
        stated = list(_sites_of_file(name, Path(words[0])))
    else:
        stated = [_site(name, word) for word in words]
    if not stated:
        raise ValueError(f"{name} names no site")
    merged: dict[str, Site] = {}
    name = f"{name} ({words[0]})" if words[0].endswith(".toml") else name
    for site in stated:
        merged[site.origin] = _joined(name, merged.get(site.origin), site)
    return tuple(merged.values())


def _joined(name: str, first: Site | None, site: Site) -> Site:
    """Return a site with the start URL of a second mention of it; settings stand in one place."""
    if first is None:
        return site
    if replace(site, start_url=first.start_url) != Site(
        origin=first.origin, start_url=first.start_url
    ):
        raise ValueError(f"{name}: {site.origin} is named twice; its settings belong in one place")
    known = (first.start_url, *first.starts)
    return first if site.start_url in known else replace(first, starts=(*known[1:], site.start_url))


def _site(name: str, url: str) -> Site:
    start = urls.canonical(url if "://" in url else f"https://{url}")
    origin = start and urls.origin(start)
    if not start or not origin or "@" in url:
        raise ValueError(f"{name}: not an http or https URL: {url!r}")
    return Site(origin=origin, start_url=start)


def _sites_of_file(name: str, path: Path) -> Iterator[Site]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as why:
        raise ValueError(
            f"{name}: cannot read {path}: {getattr(why, 'strerror', None) or why}"
        ) from None
    if path.suffix == ".txt":
        for line in text.splitlines():
            if words := line.split("#", 1)[0].split() if not line.lstrip().startswith("#") else []:
                yield _site(f"{name} ({path})", words[0])
        return
    try:
        tables = tomllib.loads(text).get("site", [])
    except tomllib.TOMLDecodeError as why:
        raise ValueError(f"{name}: {path}: {why}") from None
    if not isinstance(tables, list):
        raise ValueError(f"{name}: {path}: write each site as a [[site]] table")  # noqa: TRY004  # a setting
    for table in tables:
        yield _site_of_table(f"{name} ({path})", table)


def _site_of_table(name: str, table: dict[str, object]) -> Site:
    """Return the site that a `[[site]]` table states: `url`, and any of the per-site settings."""
    site = _site(name, str(table.pop("url", "")))
    unknown = sorted(set(table) - set(_TABLE))
    if unknown:
        raise ValueError(f"{name}: {site.origin}: {unknown[0]!r} is not a setting of a site")
    own = {key: _own(f"{name}: {site.origin}", key, value) for key, value in table.items()}
    return replace(site, **own)  # type: ignore[arg-type]


def _own(name: str, key: str, value: object) -> object:
    """Return a per-site setting as it is used; one that cannot be read is told with its key."""
    try:
        return _TABLE[key](value)
    except (TypeError, ValueError, re.error) as why:
        raise ValueError(f"{name}: {key}: {why}") from None


def _patterns(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("not a list of regular expressions")
    return tuple(re.compile(str(pattern)).pattern for pattern in value)


def _table_urls(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("not a list of URLs")
    return tuple(_url(str(url)) for url in value)


_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}").fullmatch
"""A name of a header (RFC 9110 §5.1, `token`)."""


def _table_headers(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise TypeError("not a table of names and values")
    pairs = tuple((str(key), str(val)) for key, val in value.items())
    for header, text in pairs:
        if not _HEADER(header) or any(ord(letter) < 32 for letter in text):
            raise ValueError(f"not a request header: {header!r}")
    return pairs


def _at_least_zero(value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise ValueError(f"not a number of at least 0: {value!r}")
    return number


_TABLE: dict[str, Callable[[object], object]] = {
    "sitemaps": _table_urls,
    "rate": _at_least_zero,
    "max_pages": lambda value: int(_at_least_zero(value)),
    "allow": _patterns,
    "deny": _patterns,
    "headers": _table_headers,
}
"""Readers of the per-site settings of a `sites.toml`."""


def _url(text: str) -> str:
    url = urls.canonical(text)
    if url is None:
        raise ValueError(f"not an http or https URL: {text!r}")
    return url


def _reader(read: Callable[[str], object], expected: str) -> Callable[[str, str], object]:
    """Return a reader that says, when `read` fails, which variable wants what."""

    def checked(name: str, text: str) -> object:
        try:
            return read(text)
        except ValueError:
            raise ValueError(f"{name} must be {expected}, not {text!r}") from None

    return checked


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


_READERS: dict[object, Callable[[str, str], object]] = {
    tuple[Site, ...]: _sites,
    tuple[str, ...]: _reader(lambda text: tuple(map(_url, _split(text))), "http or https URLs"),
    tuple[float, ...]: _reader(
        lambda text: tuple(map(_at_least_zero, _split(text))), "seconds, e.g. 5,20"
    ),
    tuple[Network, ...]: _reader(
        lambda text: tuple(map(ipaddress.ip_network, _split(text))), "networks, e.g. 127.0.0.1/32"
    ),
    Path: lambda _, text: Path(text),
    Secret: lambda _, text: Secret(text),
    str: lambda _, text: text,
    bool: _reader(
        lambda text: {"0": False, "1": True}[text] if text in "01" else int("?"), "0 or 1"
    ),
    int: _reader(int, "a whole number"),
    float: _reader(_number, "a number"),
}
