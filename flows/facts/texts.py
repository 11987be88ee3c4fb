"""Title, description, language and author of a page."""

import re
from collections.abc import Iterator
from itertools import islice

from flows.facts import linked
from flows.facts.declared import Declared, text_of, words
from flows.facts.linked import Node

ARTICLES = frozenset(
    "Article NewsArticle BlogPosting TechArticle ScholarlyArticle Report ReportageNewsArticle "  # noqa: SIM905
    "SocialMediaPosting DiscussionForumPosting Question Review Recipe HowTo Product Book Course "
    "Event JobPosting Movie VideoObject SoftwareApplication Dataset APIReference".split()
)
"""Types of what a page may be about (schema.org)."""
MAX_HEADINGS = 16
"""First-level headings that are compared with the title."""
MAX_AUTHORS = 16
"""Elements of microdata that are asked for an author."""
MAX_AUTHOR = 300
"""Characters of an author; longer ones are lists of links or whole biographies."""
MAX_DESCRIPTION = 4_000
"""Characters of a description."""
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
_SEPARATOR = re.compile(r"\s+[|\u2013\u2014\u00b7\u2022\u00bb\u00ab:/~-]+\s+|\s*[|\u00bb]\s*")
_ADDRESS = re.compile(r"https?://|^@|^www\.", re.IGNORECASE)
_BY = re.compile(r"^(?:written\s+)?by\s*:?\s+", re.IGNORECASE)


def subjects(page: Declared) -> Iterator[Node]:
    """Yield the objects of linked data that a page may be about."""
    return (node for node in page.nodes if not ARTICLES.isdisjoint(linked.kinds(node)))


def title(page: Declared) -> str | None:
    """Return the title of a page, without the name of its site where that can be told."""
    declared = page.meta("og:title", "twitter:title")
    whole = next(filter(None, map(words, declared)), None) or _first(page, "title")
    headings = list(filter(None, map(text_of, islice(page.tree.iter("h1"), MAX_HEADINGS))))
    if whole is None:
        return next(iter(headings), None)
    parts = {part.casefold() for part in [whole, *_SEPARATOR.split(whole)]}
    named = [heading for heading in headings if heading.casefold() in parts]
    # The first of several headings may be the site's own, and so may a part of the title.
    if named and (len(headings) == 1 or named[-1] != headings[0]):
        return named[-1]
    return _without_site(page, whole)


def description(page: Declared) -> str | None:
    """Return what a page says it is about."""
    named = page.meta("description", "og:description", "twitter:description", "dc.description")
    found = next((text for text in named if words(text)), None)
    return words(found, MAX_DESCRIPTION)


def language(page: Declared) -> str | None:
    """Return the language that a page declares, as a language tag."""
    root = page.tree
    body = root.find("body")
    stated = [root.get("lang"), root.get("xml:lang"), None if body is None else body.get("lang")]
    metas = page.meta("content-language", "dc.language", "language", "og:locale")
    for value in [*stated, *metas]:
        tag = (value or "").partition(",")[0].strip().replace("_", "-")
        if _LANGUAGE.fullmatch(tag):
            return tag
    return None


def author(page: Declared) -> str | None:
    """Return who wrote a page, several names parted by commas."""
    for names in _authors(page):
        told = [_BY.sub("", n) for n in map(words, names) if n and not _ADDRESS.search(n)]
        line = ", ".join(dict.fromkeys(name for name in told if name))
        if line and len(line) <= MAX_AUTHOR:
            return line
    return None


def _authors(page: Declared) -> Iterator[list[str | None]]:
    """Yield the lists of names, the best first."""
    for node in subjects(page):
        yield [linked.name_of(person) for person in linked.listed(node.get("author"))]
    for name in ("author", "article:author", "dc.creator", "citation_author", "parsely-author"):
        yield list(page.meta(name))
    for element in islice(page.item("author"), MAX_AUTHORS):
        inner = next((e for e in element.iter() if "name" in (e.get("itemprop") or "")), element)
        yield [inner.get("content") or text_of(inner)]
    links = (link for link in page.tree.iter("a") if link.get("rel") == "author")
    yield list(map(text_of, islice(links, MAX_AUTHORS)))


def _first(page: Declared, tag: str) -> str | None:
    """Return the text of the first element of a kind that has one."""
    return next(filter(None, map(text_of, page.tree.iter(tag))), None)


def _without_site(page: Declared, whole: str | None) -> str | None:
    """Return a title without the site's name at its end or start."""
    site = next(filter(None, map(words, page.meta("og:site_name", "application-name"))), None)
    if whole is None or site is None:
        return whole
    parts = [part for part in _SEPARATOR.split(whole) if part.casefold() != site.casefold()]
    return parts[0] if len(parts) == 1 else whole
