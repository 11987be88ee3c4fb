"""The sites that a run is told of: URLs, or a file of them with settings of their own."""

import math
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from flows import urls


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


def split(text: str) -> list[str]:
    """Return the words between white space and commas."""
    return [word for word in re.split(r"[\s,]+", text) if word]


def read(name: str, text: str) -> tuple[Site, ...]:
    """Return the sites of a list of URLs, or of the file it names, once for each origin."""
    words = split(text)
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
    host = re.split(r"[/?#]", url)[0]
    if host not in {"", "localhost"} and not set(host) & set(".:@"):
        raise ValueError(f"{name}: no host has the name {url!r}; if one does, write https://{url}")
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
    return tuple(url(str(one)) for one in value)


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


def at_least_zero(value: object) -> float:
    """Return the number that a text or a value of a table is; ValueError below zero."""
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise ValueError(f"not a number of at least 0: {value!r}")
    return number


_TABLE: dict[str, Callable[[object], object]] = {
    "sitemaps": _table_urls,
    "rate": at_least_zero,
    "max_pages": lambda value: int(at_least_zero(value)),
    "allow": _patterns,
    "deny": _patterns,
    "headers": _table_headers,
}
"""Readers of the per-site settings of a `sites.toml`."""


def url(text: str) -> str:
    """Return the canonical URL that is written; ValueError when it is none."""
    found = urls.canonical(text)
    if found is None:
        raise ValueError(f"not an http or https URL: {text!r}")
    return found
