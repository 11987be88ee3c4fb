"""The links of an HTML page: where they point, and what their `rel` says."""

import re
from collections.abc import Callable
from itertools import islice

from flows import charset as charsets
from flows import offers, tags, urls, walls
from flows.records import Link, Page

MAX_LINKS = 10_000
"""Links of one page that are kept, in document order."""

ANCHOR_WORDS = frozenset({"nofollow", "ugc", "sponsored", "next", "prev", "alternate", "sitemap"})
"""Words of `rel` kept for `a` and `area`; the others say nothing about where to go."""

LINK_WORDS = frozenset({"alternate", "canonical", "feed", "next", "prev", "sitemap"})
"""Words of which a `link` must have one: the others load icons, scripts and styles."""

ELEMENTS = frozenset({"a", "area", "link", "base", "meta"})
"""Elements that are links, or say something of all links of a page."""

_SAME = {"previous": "prev"}
_NOWHERE = re.compile(r"[\x00-\x20]*(?:#|(?!https?:)[a-z][a-z0-9+.\-]*:|$)", re.IGNORECASE).match
_FROM_ROOT = re.compile(r"/(?![/\\])[!-~]*").fullmatch
_WORDS = re.compile(r"[^\s,;]+").findall

Attributes = dict[str, str]


def read(body: bytes, base_url: str, charset: str | None = None) -> tuple[Link, ...]:
    """Return the links of a page in document order, each once for its URL and `rel`.

    URLs are absolute and canonical, of any host; what leads to no http page, or to a part of the
    same one, is left out. Where a `meta` refresh sends a reader on is a link as well, its `rel` is
    `refresh`. `rel` holds the words in lower case, for `link rel=alternate` its type
    too; a page-wide `nofollow` is added to every link. `charset` is that of the Content-Type.
    Never raises.

    >>> read(b'<base href="/b/"><a rel="NoFollow" href="c#d">c</a>', "https://example.org/")
    (Link(url='https://example.org/b/c', rel='nofollow'),)
    """
    elements = list(tags.read(charsets.decode(body, charset), ELEMENTS))
    resolve = _resolver(_base(elements, base_url))
    extra = ("nofollow",) if _is_nofollow(elements) else ()
    found: dict[Link, None] = {}
    for name, attributes in elements:
        rel = _rel(name, attributes)
        target = resolve(_href(name, attributes, base_url)) if rel is not None else None
        if rel is None or target is None:
            continue
        found[Link(url=target, rel=" ".join(dict.fromkeys((*rel, *extra))))] = None
        if len(found) == MAX_LINKS:
            break
    return tuple(found)


def of(page: Page) -> tuple[Link, ...]:
    """Return the links of a page, of one that came as Markdown those of its text."""
    if page.offer is None or not page.is_markdown:
        return read(page.body, page.base_url, page.charset)
    resolve = _resolver(page.offer.url)
    targets = dict.fromkeys(filter(None, map(resolve, offers.links(page.offer))))
    return tuple(Link(url=target) for target in islice(targets, MAX_LINKS))


def alternate(page: Page) -> str | None:
    """Return where a page says that it is to be had as Markdown, or None."""
    if page.offer is not None or b"text/markdown" not in page.body:
        return None
    named = (link.url for link in read(page.body, page.base_url, page.charset) if _is_offer(link))
    return next(named, None)


def _is_offer(link: Link) -> bool:
    return {"alternate", "text/markdown"} <= set(link.rel.split())


def _base(elements: list[tuple[str, Attributes]], base_url: str) -> str:
    """Return what relative links are relative to: the first `base` with an `href`, or the page."""
    hrefs = (attributes.get("href") for name, attributes in elements if name == "base")
    named = next(filter(None, hrefs), None)
    return (named and urls.canonical(named, base_url)) or base_url


def _is_nofollow(elements: list[tuple[str, Attributes]]) -> bool:
    """Return whether a robots meta element asks not to follow any link."""
    return any(
        not {"nofollow", "none"}.isdisjoint(_WORDS(attributes.get("content", "").lower()))
        for name, attributes in elements
        if name == "meta" and attributes.get("name", "").strip().lower() == "robots"
    )


def _resolver(base: str) -> Callable[[str | None], str | None]:
    """Return a function from an `href` to its URL; the links of one page repeat themselves."""
    origin = urls.origin(base)
    known: dict[str | None, str | None] = {None: None}

    def resolve(href: str | None) -> str | None:
        if href not in known:
            known[href] = find(href or "")
        return known[href]

    def find(href: str) -> str | None:
        if _NOWHERE(href):
            return None
        target = href.partition("#")[0]
        if origin and _FROM_ROOT(target):
            return urls.canonical(origin + target)
        return urls.canonical(target, base)

    return resolve


def _href(name: str, attributes: Attributes, base_url: str) -> str | None:
    """Return where an element leads, as written."""
    if name == "meta":
        return walls.sends_on(attributes.get("content", ""), base_url)
    return attributes.get("href")


def _rel(name: str, attributes: Attributes) -> tuple[str, ...] | None:
    """Return the words that count of an element's `rel`, or None when it is no link."""
    if name == "meta":
        is_refresh = attributes.get("http-equiv", "").strip().lower() == "refresh"
        return ("refresh",) if is_refresh else None
    if name == "base":
        return None
    said = attributes.get("rel")
    words = [_SAME.get(word, word) for word in _WORDS(said.lower())] if said else []
    if name != "link":
        return tuple(word for word in words if word in ANCHOR_WORDS)
    if LINK_WORDS.isdisjoint(words) or "stylesheet" in words:
        return None
    kind = attributes.get("type", "").partition(";")[0].strip().lower()
    return (*words, *([kind] if kind and "alternate" in words else ()))
