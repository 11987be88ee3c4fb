"""The elements of urlset, index, RSS and Atom files: which of them are entries of ours."""

import re

from flows import urls
from flows.sitemaps import plain
from flows.sitemaps.entries import Entry, Text
from flows.sitemaps.faults import Faults
from flows.sitemaps.plain import Plain
from flows.sitemaps.records import Found, Maker
from flows.sitemaps.references import References

ROOTS = {
    "urlset": "urlset",
    "sitemapindex": "index",
    "rss": "rss",
    "rdf": "rss",
    "feed": "atom",
}
"""The kind of a file by its root element, in any namespace and prefix."""

ENTRIES = {
    "urlset": frozenset({"url", "sitemap"}),
    "index": frozenset({"url", "sitemap"}),
    "rss": frozenset({"item"}),
    "atom": frozenset({"entry"}),
}
"""The entries of each kind: each counts as what it is called, whatever its file is."""

PAGE = {"html", "head", "body"}
"""Elements that make a file a web page."""

MAX_DEPTH = 64
"""Open elements that are remembered; sitemaps and feeds need less than ten."""

MAX_PREFIX = 16
"""Characters of a prefix whose entries are skimmed."""

MAX_JUNK = 1_000
"""Tags before the root; printed warnings have a few."""

_SPACE = re.compile(r"\s*+").match
_NO_ADDRESS = re.compile(r"guid.*\bisPermaLink\s*=\s*.false", re.IGNORECASE | re.DOTALL).match
"""A name of an RSS item that is none of a place."""


class Elements:
    """Makes records of tags and text; the handler of `markup`."""

    def __init__(self, maker: Maker, faults: Faults) -> None:
        """Begin a file."""
        self.kind: str | None = None
        self.lost = False
        """Whether a fault cost an entry."""
        self.skimming = False
        self.over = False
        self._maker = maker
        self._faults = faults
        self._references = References(faults)
        self._found: list[Found] = []
        self._names: frozenset[str] = frozenset()
        """What the entries are called."""
        self._prefix = ""
        self._spaces: dict[str, str] = {}
        """Namespaces by prefix, as the root declares them."""
        self._may_skim = False
        """Whether the root is a urlset whose entries may be plain."""
        self._plain: Plain | None = None
        self._junk = 0
        self._open: list[str] = []
        self._deeper = 0
        """Open elements beyond the depth that is remembered."""
        self._entry: Entry | None = None
        self._text: Text | None = None
        """The text that is being read, of a child of the entry."""

    @property
    def closed(self) -> bool:
        """Whether every element has ended."""
        return self.kind is not None and not self._open and not self._deeper

    def take(self) -> list[Found]:
        """Return the records made since the last call."""
        found, self._found = self._found, []
        return found

    def skim(self, text: str, at: int) -> int:
        """Read plain entries, and the space before the first."""
        if space := _SPACE(text, at):
            at = space.end()
        while self._plain and (run := self._plain.entries(text, at)):
            columns = None if any(run.extension) else self._maker.columns(run)
            if columns is not None:
                self._found.append(columns)
                at += sum(map(len, run.whole))
                continue
            for entry in zip(*run, strict=True):
                if not self._read(*entry):
                    return at
                at += len(entry[0])
        return at

    def _read(
        self, whole: str, loc: str, lastmod: str, frequency: str, priority: str, extension: str
    ) -> bool:
        """Read one plain entry; say no when its tags must tell."""
        links = self._alternates(whole) if extension else ()
        if links is None:
            return False
        address = self._references.resolve(loc)
        if address is None:
            self._lose()
        elif record := self._maker.declared(address, lastmod, frequency, priority, links):
            self._found.append(record)
        return True

    def _alternates(self, entry: str) -> list[tuple[str, str]] | None:
        """Return the alternates of a plain entry, or None when its tags must tell."""
        links = plain.alternates(entry) if ":link" in entry else []
        if links is None or "&" not in entry:
            return links
        return [(lang, self._references.resolve(href) or "") for lang, href in links]

    def start(self, name: str, attributes: str) -> None:
        """Take a start tag."""
        prefix, _, local = name.rpartition(":")
        local = local.lower()
        if self._text is not None:
            self._malformed(f"<{name}> inside a text")
            self._text.spoil()
        if self._deeper or len(self._open) >= MAX_DEPTH:
            self._deeper += 1
            self._malformed(f"more than {MAX_DEPTH} open elements")
            return
        if not self._open and not self._root(prefix, local, attributes):
            return
        if self._entry and (local, prefix) == (self._entry.name, self._entry.prefix):
            self._malformed(f"<{name}> inside the one before")
            del self._open[self._entry.level - 1 :]
            self._finish(self._entry)
        self._open.append(name)
        if self._entry is None:
            self._begin(prefix, local, attributes)
        elif len(self._open) == self._entry.level + 1:
            self._child(self._entry, prefix, local, attributes)
        self.skimming = self._may_skim and len(self._open) == 1 and self._entry is None

    def end(self, name: str) -> None:
        """Take an end tag."""
        if self._deeper:
            self._deeper -= 1
            return
        if self._open and self._open[-1] == name:
            self._open.pop()
        else:
            self._unmatched(name)
        depth = len(self._open)
        if self._text is not None and depth < self._text.level:
            self._keep(self._text)
        if self._entry is not None and depth < self._entry.level:
            self._finish(self._entry)
        self.skimming = self._may_skim and depth == 1 and self._entry is None

    def text(self, text: str) -> None:
        """Take text; outside of what is read only its presence may be a fault."""
        if self._text is not None:
            self._text.add(text)
        elif self._entry is not None:
            if len(self._open) == self._entry.level:
                self._entry.bare.add(text)
        elif not self._open and not text.isspace():
            self._malformed("text outside the root element")

    def broken(self) -> None:
        """Take note of a `<` that begins no tag: it may have been meant as an entry's."""
        self._malformed("a < that begins no tag")
        self.lost = True
        if self._text is not None:
            self._text.spoil()
        if self._entry is not None:
            self._entry.bare.spoil()

    def doctype(self, name: str, *, dangerous: bool) -> None:
        """Take a document type: a page's, or one whose entities are not to be trusted."""
        if name.lower() == "html":
            self._page()
        elif dangerous:
            self._faults.once("sitemap_dtd", f"<!DOCTYPE {name}> with definitions")
            self._references.defined = True

    def _root(self, prefix: str, local: str, attributes: str) -> bool:
        """Take an element that no other contains; return whether it is the root, or an entry."""
        kind = ROOTS.get(local)
        if kind is not None:
            if self.kind is not None:
                self._malformed("more than one root element")
            self._rooted(kind, prefix)
            self._declare(self._references.attributes(attributes))
            self._plan(kind, prefix)
            return True
        if self.kind is None and local in PAGE:
            self._page()
            return False
        self._malformed(f"<{local}> outside the root element")
        if self.kind is None and local in ENTRIES["urlset"]:
            self._rooted("urlset" if local == "url" else "index", prefix)
        self._junk += 1
        self.over = self.kind is None and self._junk > MAX_JUNK
        return local in self._names

    def _rooted(self, kind: str, prefix: str) -> None:
        self.kind = self.kind or kind
        self._names = ENTRIES[kind]
        self._prefix = prefix
        self._may_skim = False

    def _declare(self, attributes: dict[str, str]) -> None:
        """Take what the root says of namespaces, and of what addresses are relative to."""
        self._spaces = {
            name.removeprefix("xmlns").removeprefix(":"): value
            for name, value in attributes.items()
            if name.partition(":")[0] == "xmlns"
        }
        base = attributes.get("xml:base")
        if base is not None:
            self._maker.base = urls.canonical(base, self._maker.base) or self._maker.base

    def _plan(self, kind: str, prefix: str) -> None:
        """Let plain entries be skimmed, unless a second prefix says the same as the root's.

        Of several roots only those with the prefix of the first: to prepare for one takes long.
        """
        own = self._spaces.get(prefix)
        twice = own is not None and list(self._spaces.values()).count(own) > 1
        if kind != "urlset" or twice or len(prefix) > MAX_PREFIX:
            return
        self._plain = self._plain or Plain(prefix)
        self._may_skim = self._plain.prefix == prefix

    def _page(self) -> None:
        self.kind = "html"
        self.over = True

    def _same(self, prefix: str, other: str) -> bool:
        """Return whether two prefixes stand for one namespace."""
        space = self._spaces.get(prefix)
        return prefix == other or (space is not None and space == self._spaces.get(other))

    def _begin(self, prefix: str, local: str, attributes: str) -> None:
        """Open an entry, when the element is one."""
        # The items of RSS 1.0 are not of the namespace of their root.
        if local in self._names and (not prefix or self._same(prefix, self._prefix)):
            about = self._references.attributes(attributes).get("rdf:about") if attributes else None
            self._entry = Entry(local, prefix, len(self._open), about)

    def _child(self, entry: Entry, prefix: str, local: str, attributes: str) -> None:
        same = self._same(prefix, entry.prefix)
        if local == "link" and (entry.name == "url" or (entry.name == "entry" and same)):
            entry.link(self._references.attributes(attributes))
        elif entry.reads(prefix, local, same=same) and not _NO_ADDRESS(local + attributes):
            self._text = Text(local, len(self._open))

    def _keep(self, text: Text) -> None:
        self._text = None
        resolved = self._references.resolve(text.whole) if text.whole is not None else None
        if resolved is not None and text.is_cut and len(resolved) <= urls.MAX_LENGTH:
            resolved = None  # what is left of it could be taken for a URL
        if self._entry and resolved is None:
            self._entry.spoiled = True
        elif self._entry and resolved is not None:
            self._entry.keep(text.name, resolved)

    def _finish(self, entry: Entry) -> None:
        entry.spoiled = entry.spoiled or self._text is not None
        self._entry, self._text = None, None
        if not entry.spoiled and not entry.has_address:
            self._keep_bare(entry)
        if entry.spoiled and not entry.has_address:
            self._lose()
        elif record := entry.make(self._maker):
            self._found.append(record)

    def _keep_bare(self, entry: Entry) -> None:
        """Take an address that stands in an entry as it is, for want of its `loc`."""
        bare = (self._references.resolve(entry.bare.whole or "") or "").strip()
        if entry.name in ENTRIES["urlset"] and urls.canonical(bare):
            self._faults.add("loc_missing", f"an address that stands in no loc: {bare}")
            entry.keep("loc", bare)

    def _lose(self) -> None:
        self.lost = True
        self._faults.add("loc_invalid", "an address that is not whole")

    def _unmatched(self, name: str) -> None:
        """Take an end tag that does not end the innermost element: it ends what it can."""
        self._malformed(f"</{name}> where something else is open")
        if self._text is not None:
            del self._open[self._text.level - 1 :]
        for at in range(len(self._open) - 1, -1, -1):
            if self._open[at].lower() == name.lower():
                del self._open[at:]
                return

    def _malformed(self, what: str) -> None:
        self._faults.once("sitemap_malformed", what)
