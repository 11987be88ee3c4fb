"""What a page knows of itself: title, language, dates, canonical URL, prices, directives.

Everything is read from the page's tree as it is declared there; what is absent stays None, and
nothing is guessed from running text.
"""

from dataclasses import dataclass
from datetime import datetime

from lxml.html import HtmlElement

from flows.facts import dates, declared, prices, robots, structured, texts
from flows.records import Price


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is declared; None where nothing is."""

    base_url: str
    """What links are relative to: the first `base` of the page, else its own URL."""
    canonical_url: str | None
    title: str | None
    description: str | None
    lang: str | None
    author: str | None
    published_at: datetime | None
    modified_at: datetime | None
    noindex: str | None
    """The directive that keeps the page out of indexes, for people."""
    structured: str | None
    """JSON-LD, OpenGraph and `hreflang` alternates as JSON text."""
    prices: tuple[Price, ...]


def read(tree: HtmlElement, url: str, robots_tag: str | None = None) -> Facts:
    """Return the facts of a page that came from `url` with the X-Robots-Tag lines `robots_tag`."""
    page = declared.read(tree, url)
    return Facts(
        base_url=page.base_url,
        canonical_url=declared.canonical(page),
        title=texts.title(page),
        description=texts.description(page),
        lang=texts.language(page),
        author=texts.author(page),
        published_at=dates.published(page),
        modified_at=dates.modified(page),
        noindex=robots.noindex(page.metas.get("robots", ()), robots_tag),
        structured=structured.as_json(page),
        prices=prices.stated(page),
    )
