"""When a page says it was published and changed."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from flows.facts.declared import Declared
from flows.facts.texts import subjects
from flows.sitemaps import parse_lastmod

FIRST_YEAR = 1990
"""There was no Web before."""
PUBLISHED = (
    "article:published_time",
    "og:article:published_time",
    "datepublished",
    "article.published",
    "dc.date.issued",
    "dcterms.created",
    "dcterms.date",
    "dc.date",
    "citation_publication_date",
    "parsely-pub-date",
    "sailthru.date",
    "pubdate",
    "publish_date",
    "publication_date",
    "date",
)
"""Names of `meta` that hold a first date."""
MODIFIED = (
    "article:modified_time",
    "og:updated_time",
    "datemodified",
    "dcterms.modified",
    "dc.date.modified",
    "last-modified",
    "revised",
)
"""Names of `meta` that hold the date of the last change."""


def published(page: Declared) -> datetime | None:
    """Return when a page was published."""
    return _first(
        [
            *(node.get("datePublished") for node in subjects(page)),
            *page.meta(*PUBLISHED),
            *(e.get("datetime") or e.get("content") for e in page.item("datePublished")),
            *_times(page, "publish", "posted", "entry-date", "dt-published"),
            *(node.get("datePublished") for node in page.nodes),
        ]
    )


def modified(page: Declared) -> datetime | None:
    """Return when a page was last changed."""
    return _first(
        [
            *(node.get("dateModified") for node in subjects(page)),
            *page.meta(*MODIFIED),
            *(e.get("datetime") or e.get("content") for e in page.item("dateModified")),
            *_times(page, "updated", "modified"),
            *(node.get("dateModified") for node in page.nodes),
        ]
    )


def _times(page: Declared, *words: str) -> Iterator[str | None]:
    """Yield the `time` elements whose class speaks of one of `words`."""
    for element in page.tree.iter("time"):
        names = (element.get("class") or "").lower()
        if any(word in names for word in words):
            yield element.get("datetime")


def _first(values: Iterable[object]) -> datetime | None:
    """Return the first value that is a date of the Web's time."""
    for value in values:
        moment = parse_lastmod(value) if isinstance(value, str) else None
        if moment is not None and moment.astimezone(UTC).year >= FIRST_YEAR:
            return moment
    return None
