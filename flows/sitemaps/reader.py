"""Reads one file, whatever kind of list it turns out to be."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from flows.problems import Problem
from flows.records import Columns, Declared
from flows.sitemaps import lines
from flows.sitemaps.decode import Decoder
from flows.sitemaps.elements import Elements
from flows.sitemaps.faults import Faults
from flows.sitemaps.markup import Markup
from flows.sitemaps.records import Child, Found, Maker
from flows.sitemaps.unpack import Unpacker

MAX_URLS = 50_000
"""URLs of one sitemap (sitemaps.org); more are read all the same."""

MAX_BYTES = 50 * 1024 * 1024
"""Unpacked bytes of one sitemap (sitemaps.org); more are read all the same."""

READ_BYTES = 1 << 30
"""Unpacked bytes after which reading stops."""

READ_URLS = 5_000_000
"""Entries after which reading stops, whatever is asked for."""

BARREN_BYTES = 1 << 23
"""Unpacked bytes without an entry after which reading stops: a bomb, or white space for ever."""

WINDOW = 4_096
"""Characters by which a file that does not begin with a tag must show what it is."""

_ROOT_AHEAD = re.compile(
    r"<(?:\?xml\s|(?:[\w.-]+:)?(?:urlset|sitemapindex|rss|rdf|feed)\b)", re.IGNORECASE
).search


class Reader:
    """Takes the bytes of a sitemap, as they come, and gives its entries as soon as they are whole.

    Memory stays flat: nothing is kept but counts, and what is not whole yet. Any cut of the bytes
    into pieces gives the same entries. Nothing is ever raised for what a site sends; what is wrong
    with it is in `problems`, and what was declared before a fault is given. An entry whose `loc`
    may be half a URL is not.

    >>> reader = Reader("https://example.org/sitemap.xml")
    >>> reader.feed(b"<urlset><url><loc>https://example.org/a</loc></url></urlset>")
    []
    >>> [entry.url for entry in reader.close()], reader.kind, reader.complete
    (['https://example.org/a'], 'urlset', True)
    """

    def __init__(self, url: str, now: datetime | None = None, max_urls: int | None = None) -> None:
        """Read the file that came from `url`, after redirects, as far as `max_urls` entries.

        With `now`, dates are judged.
        """
        self.complete = False
        """Whether the file was read to its end without a fault that may have cost an entry."""
        self.stopped = False
        """Whether the rest of the file need not be fetched: it will not be read."""
        self._max_urls = min(max_urls or READ_URLS, READ_URLS)
        self._faults = Faults(url)
        self._maker = Maker(url, self._faults, now)
        self._hash = hashlib.sha256()
        self._unpacker = Unpacker(self._faults)
        self._decoder = Decoder(self._faults)
        self._elements = Elements(self._maker, self._faults)
        self._markup = Markup(self._elements, self._faults)
        self._lines = lines.Lines()
        self._form: str | None = None
        """`markup` or `lines`, once that is known."""
        self._window = ""
        self._found: list[Declared | Child] = []
        self._unpacked = 0
        self._barren = 0

    @property
    def kind(self) -> str | None:
        """`urlset`, `index`, `text`, `rss`, `atom`; `html` for a page; None for none of them."""
        return "text" if self._form == "lines" else self._elements.kind

    @property
    def entries(self) -> int:
        """Entries with an address that were read so far, invalid ones included."""
        return self._maker.entries

    @property
    def lastmod_max(self) -> datetime | None:
        """The newest `lastmod` so far."""
        return self._maker.lastmod_max

    @property
    def sha256(self) -> str:
        """Hex SHA-256 of the bytes fed."""
        return self._hash.hexdigest()

    @property
    def problems(self) -> list[Problem]:
        """What was wrong so far: one problem for each kind, in the order of appearance."""
        return self._faults.problems()

    def feed(self, data: bytes) -> list[Declared | Child]:
        """Return the entries that are whole by now."""
        return [one for some in self.stream(data) for one in _one_by_one(some)]

    def stream(self, data: bytes) -> Iterator[list[Found]]:
        """Yield the entries that are whole by now, some at a time, as `data` is unpacked.

        64 KB may unpack to 64 MB: whoever takes these one by one holds a few hundred of them.
        """
        self._hash.update(data)
        if self.stopped:
            return
        for piece in self._unpacker.feed(data):
            self._read(piece)
            yield self._take()
            if self.stopped:
                return

    def close(self, complete: bool = True) -> list[Declared | Child]:
        """Return the last entries; `complete=False` when the transfer ended early."""
        if not self.stopped:
            for piece in self._unpacker.close():
                self._read(piece)
            self._give(self._decoder.close(), final=True)
            for line in self._lines.close(complete=complete and self._unpacker.whole):
                self._line(line)
        self._judge(complete=complete)
        self.stopped = True
        return list(_one_by_one(self._take()))

    def _take(self) -> list[Found]:
        found, self._found = self._found, []
        return [*found, *self._elements.take()]

    def _read(self, piece: bytes) -> None:
        """Read unpacked bytes, within bounds."""
        before = self.entries
        self._give(self._decoder.feed(piece), final=False)
        self._unpacked += len(piece)
        self._barren = self._barren + len(piece) if self.entries == before else 0
        if self.entries > self._max_urls:
            self._faults.add("sitemap_budget", f"left after {self.entries} entries")
            self.stopped = True
        elif self._unpacked > READ_BYTES or self._barren > BARREN_BYTES:
            self._faults.add("sitemap_too_large", f"left after {self._unpacked} unpacked bytes")
            self.stopped = True

    def _give(self, text: str, *, final: bool) -> None:
        """Give text to what reads its form."""
        if self._form is None:
            text = self._begin(text, final=final)
        if self._form == "markup":
            self._markup.feed(text, final=final)
            self.stopped = self.stopped or self._elements.over
        elif self._form == "lines":
            for line in self._lines.feed(text):
                self._line(line)

    def _begin(self, text: str, *, final: bool) -> str:
        """Tell the form by the first characters; return the text to begin with."""
        text = self._window + text
        content = text.lstrip()
        # Of white space in front it matters only that there is some.
        text = content if content is text else " " + content
        self._window = text
        if content.startswith("<"):
            self._form = "markup"
        elif content and (final or len(content) >= WINDOW):
            self._form = _form(content)
            self.stopped = self._form is None
        return text

    def _line(self, line: str) -> None:
        if line and not line.startswith("#") and (record := self._maker.declared(line)):
            self._found.append(record)

    def _judge(self, *, complete: bool) -> None:
        """Note what is wrong with the file as a whole."""
        read = self.kind not in {None, "html"}
        ended = self._elements.closed or (self._form == "lines" and self._unpacker.whole)
        cut = not complete or (read and not ended and not self.stopped)
        if cut:
            self._faults.add("sitemap_truncated", "no end: what came before is kept")
        elif self._window.strip() and not read:
            self._faults.add("sitemap_not_xml", "a web page" if self.kind else "no list of URLs")
        elif not self.entries:
            self._faults.add("sitemap_empty", "no entries")
        if self.entries > MAX_URLS:
            self._faults.add("sitemap_too_many_urls", f"{self.entries} entries")
        if self._unpacked > MAX_BYTES:
            self._faults.add("sitemap_too_large", f"{self._unpacked} unpacked bytes")
        if self.kind != "index":
            self._maker.check_dates()
        lost = self._elements.lost or self.stopped or not self._unpacker.whole
        self.complete = read and not cut and not lost


def _form(content: str) -> str | None:
    """Return the form of a text that does not begin with a tag."""
    head = content[:WINDOW]
    if len(content) > WINDOW and "\n" in head:
        head = head[: head.rindex("\n")]
    if lines.are_urls(head):
        return "lines"
    return "markup" if _ROOT_AHEAD(head) else None


def _one_by_one(found: Iterable[Found]) -> Iterator[Declared | Child]:
    for one in found:
        if isinstance(one, Columns):
            yield from one.rows()
        else:
            yield one
