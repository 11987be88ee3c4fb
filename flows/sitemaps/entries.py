"""One entry of a sitemap or feed while its tags are read, and the record that it makes."""

from flows import urls
from flows.records import Declared
from flows.sitemaps.records import MAX_ALTERNATES, Child, Maker

TEXTS = {
    "url": frozenset({"loc", "lastmod", "changefreq", "priority"}),
    "sitemap": frozenset({"loc", "lastmod"}),
    "item": frozenset({"link", "guid", "pubdate"}),
    "entry": frozenset({"updated", "published", "modified"}),
}
"""The children of an entry whose text is read, by the name of the entry."""

MAX_TEXT = 8 * urls.MAX_LENGTH
"""Characters of a text that are kept: the longest URL, each character of it as a reference."""

PAGE_TYPES = ("text/html", "application/xhtml+xml")
"""Types of an Atom link that leads to a page."""


class Entry:
    """An open entry."""

    def __init__(self, name: str, prefix: str, level: int, about: str | None = None) -> None:
        """Begin the entry `name` at a depth; `about` is the address in its own tag (RSS 1.0)."""
        self.name = name
        self.prefix = prefix
        self.level = level
        self.spoiled = False
        """Whether a text of it is not whole."""
        self.bare = Text(name, level)
        """What stands in it outside of any child."""
        self._texts: dict[str, str] = {}
        self._alternates: list[tuple[str, str]] = []
        self._links: dict[bool, str] = {}
        """What an Atom entry is of: the first address of a page, the first of anything else."""
        self._about = about

    def reads(self, prefix: str, name: str, *, same: bool) -> bool:
        """Return whether the text of a child is read; `same` when it is of the entry's namespace.

        An `image:loc` is no page, and an `atom:link` of an RSS item no link of it.
        """
        return (same and name in TEXTS[self.name]) or (prefix, name) == ("dc", "date")

    def keep(self, name: str, text: str) -> None:
        """Take the text of a child; the last of its name counts, unless there is nothing in it."""
        if text.strip() or name not in self._texts:
            self._texts[name] = text

    def link(self, attributes: dict[str, str]) -> None:
        """Take the attributes of a `link`: an alternate of the page, or what the entry is of."""
        href = attributes.get("href", "")
        if not href.strip() or attributes.get("rel", "alternate").strip().lower() != "alternate":
            return
        if self.name == "entry":
            page = attributes.get("type", PAGE_TYPES[0]).strip().lower().startswith(PAGE_TYPES)
            self._links.setdefault(page, href)
        elif len(self._alternates) < MAX_ALTERNATES and "hreflang" in attributes:
            self._alternates.append((attributes["hreflang"], href))

    def make(self, maker: Maker) -> Declared | Child | None:
        """Return the record of the entry, or None when it has no address."""
        text = self._texts.get
        if self.name == "sitemap":
            return maker.child(text("loc", ""), text("lastmod"))
        if self.name == "url":
            return maker.declared(
                text("loc", ""),
                text("lastmod"),
                text("changefreq"),
                text("priority"),
                self._alternates,
            )
        dates = ("pubdate", "updated", "modified", "date", "published")
        date = next((text(name) for name in dates if name in self._texts), None)
        return maker.declared(self._address(), date)

    @property
    def has_address(self) -> bool:
        """Whether the entry names a place at all."""
        return bool(self._texts.get("loc") or self._address())

    def _address(self) -> str:
        """Return the address that a feed entry gives, by the most certain way."""
        guid = self._texts.get("guid", "")
        known = (self._texts.get("link"), self._links.get(True), self._links.get(False))
        return next(filter(None, known), None) or self._about or (urls.canonical(guid) or "")


class Text:
    """The text of one element while it is read."""

    def __init__(self, name: str, level: int) -> None:
        """Begin the text of the element `name` at a depth."""
        self.name = name
        self.level = level
        self._pieces: list[str] = []
        self._size = 0
        self._spoiled = False

    def add(self, text: str) -> None:
        """Take more of it, as far as it is kept; space in front is not."""
        if not self._size:
            text = text.lstrip()
        if self._size < MAX_TEXT:
            self._pieces.append(text[: MAX_TEXT - self._size])
        self._size += len(text)

    @property
    def is_cut(self) -> bool:
        """Whether there is more than is kept."""
        return self._size > MAX_TEXT

    def spoil(self) -> None:
        """Take note that something is missing."""
        self._spoiled = True

    @property
    def whole(self) -> str | None:
        """The text, or None when it is not whole."""
        return None if self._spoiled else "".join(self._pieces)
