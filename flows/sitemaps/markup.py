"""Markup as a stream of tags and text, well-formed or not (XML 1.0, forgivingly).

Why no XML parser: a strict one loses a file at its first `&`, a recovering one invents text there
and hands out the half URL at a cut, and either costs more than reading a list of tags. No document
type is obeyed, no entity is expanded, nothing is fetched, nothing is kept but the open tags.
"""

import re
from typing import Protocol

from flows.sitemaps.faults import Faults

MAX_TOKEN = 1 << 16
"""Characters of a tag or document type; what is longer is skipped."""

_TAG = re.compile(
    r"""([^<]*+)<(/?)([^\s<>/!?="'&;]++)
        ((?>(?:[^<>"'/]++|"[^<"]*+"|'[^<']*+'|/(?!>))*))
        (/?)>""",
    re.VERBOSE,
).match
_DOCTYPE = re.compile(r"<!doctype\s+([^\s>\[]+)([^<>\[]*)([>\[])", re.IGNORECASE).match
_COMMENT, _CDATA, _DECLARATION = "<!--", "<![CDATA[", "<!doctype"
_LOOK_AHEAD = len(_CDATA)


class Handler(Protocol):
    """What is told about tags and text."""

    skimming: bool
    """Whether `skim` may be asked now."""
    over: bool
    """Whether nothing more is wanted."""

    def skim(self, text: str, at: int) -> int:
        """Read what can be read at once from `at` on; return where that ends."""

    def start(self, name: str, attributes: str) -> None:
        """Take a start tag."""

    def end(self, name: str) -> None:
        """Take an end tag, or the end of an empty element."""

    def text(self, text: str) -> None:
        """Take text in any pieces, its references not resolved."""

    def broken(self) -> None:
        """Take note of something that is no markup."""

    def doctype(self, name: str, *, dangerous: bool) -> None:
        """Take a document type; dangerous when it defines or refers to anything."""


class Markup:
    """Takes text in any pieces and tells its tags to a handler. Never raises."""

    def __init__(self, handler: Handler, faults: Faults) -> None:
        """Begin a file."""
        self._handler = handler
        self._faults = faults
        self._rest = ""
        self._ends: list[str] = []
        """What ends the comment, instruction or section that is being read."""
        self._verbatim = False
        """Whether that is text."""
        self._begun = False

    def feed(self, text: str, *, final: bool = False) -> None:
        """Read on; `final` when nothing will follow."""
        handler, buffer, at = self._handler, self._rest + text, 0
        while at < len(buffer) and not handler.over:
            if self._ends:
                then = self._skip(buffer, at, final=final)
            elif handler.skimming and (then := handler.skim(buffer, at)) > at:
                pass
            elif (tag := _TAG(buffer, at)) and tag.end() - tag.end(1) <= MAX_TOKEN:
                self._tell(*tag.groups())
                then = tag.end()
            elif buffer[at] != "<":
                then = buffer.find("<", at)
                then = then if then >= 0 else len(buffer)
                handler.text(buffer[at:then])
            else:
                then = self._other(buffer, at, final=final)
            if then == at:
                break
            at, self._begun = then, True
        self._rest = buffer[at:] if not handler.over else ""

    def _tell(self, text: str, slash: str, name: str, attributes: str, empty: str) -> None:
        """Tell the text before a tag, and the tag."""
        if text:
            self._handler.text(text)
        if not slash:
            self._handler.start(name, attributes)
        if slash or empty:
            self._handler.end(name)

    def _other(self, buffer: str, at: int, *, final: bool) -> int:
        """Read what else a `<` may begin; return `at` when more text is needed to tell."""
        head = buffer[at : at + _LOOK_AHEAD]
        if len(head) < _LOOK_AHEAD and head[1:2] in {"", "!", "?"} and not final:
            return at
        if head.startswith(_COMMENT):
            return self._section(at + len(_COMMENT), "-->")
        if head == _CDATA:
            self._verbatim = True
            return self._section(at + len(_CDATA), "]]>")
        if head.startswith("<?"):
            if self._begun and re.match(r"<\?xml\s", head):
                self._faults.once("sitemap_malformed", "something before the XML declaration")
            return self._section(at + len("<?"), "?>")
        if head.lower() == _DECLARATION and (found := _DOCTYPE(buffer, at)):
            return self._doctype(found)
        return self._junk(buffer, at, final=final)

    def _section(self, at: int, *ends: str) -> int:
        self._ends = list(ends)
        return at

    def _skip(self, buffer: str, at: int, *, final: bool) -> int:
        """Read on to the end of a comment, instruction or section."""
        mark = self._ends[0]
        end = buffer.find(mark, at)
        stop = end if end >= 0 else max(at, len(buffer) - (0 if final else len(mark) - 1))
        if self._verbatim and stop > at:
            self._handler.text(buffer[at:stop].replace("&", "&amp;"))
        if end < 0:
            return stop
        self._ends = self._ends[1:]
        self._verbatim = False
        return end + len(mark)

    def _doctype(self, found: re.Match[str]) -> int:
        name, external, last = found.groups()
        self._handler.doctype(name, dangerous=last == "[" or bool(external.strip()))
        return self._section(found.end(), "]", ">") if last == "[" else found.end()

    def _junk(self, buffer: str, at: int, *, final: bool) -> int:
        """Leave out a `<` that begins no tag, up to the next one, when that is certain."""
        then = buffer.find("<", at + 1)
        if then < 0 and not final and len(buffer) - at <= MAX_TOKEN:
            return at
        if then >= 0 or not final:
            self._handler.broken()
        return then if then >= 0 else len(buffer)
