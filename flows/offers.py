"""Pages that their server offers as Markdown: the text as it is stored, and its links.

The text is the server's own, but for what a reader does not see (front matter, comments) and for
links, which are made absolute. Code is left as it is.
"""

import html
import re
from collections.abc import Iterator

from markdown_it import MarkdownIt

from flows import charset, outline, walls
from flows.facts.declared import words
from flows.markdown.inline import Base
from flows.records import Offer

MAX_HEAD = 200
"""Lines of front matter."""
_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(`{3,}|~{3,})")
_TARGET = re.compile(
    r"(?P<code>(?<!`)(`++)(?:[^`]++|(?!\2(?!`))`++){0,99}+\2(?!`))"
    r"|(?P<open>\]\(\s{0,9}<?|^ {0,3}\[[^\]\[]{1,999}\]:\s{0,9}<?"
    r"|\b(?:href|src)\s{0,9}=\s{0,9}[\"'])"
    r"(?P<url>[^\s<>()\"']+(?:\([^\s<>()\"']*\)[^\s<>()\"']*)*)"
)
_COMMENT = re.compile(r"<!--.*?-->")
_TITLE = re.compile(r"""title\s*[:=]\s*(["']?)(.+?)\1\s*\Z""", re.IGNORECASE)
_AUTOLINK = re.compile(r"<(https?://[^\s<>]+)>")
_RULES = {"---": ("---", "..."), "+++": ("+++",)}


def read(offer: Offer) -> tuple[str, str | None]:
    r"""Return the Markdown of an offer as it is stored, and its title: its first heading.

    >>> read(Offer(body=b"---\ntitle: T\n---\n# Boats\n\n[a](b)\n", url="https://a.test/c/d"))
    ('# Boats\n\n[a](https://a.test/c/b)', 'Boats')
    """
    head, body = _parted(_lines(offer))
    base = Base(offer.url)
    text = "\n".join(_rewritten(body, base)).strip("\n").rstrip()
    return text, _first_heading(text) or _named(head)


def links(offer: Offer) -> Iterator[str]:
    """Yield the targets of an offer's links as written, those in code left out."""
    for line in _seen(_lines(offer)):
        found = [] if line.startswith("\0") else _TARGET.finditer(line)
        yield from (at["url"] for at in found if at["url"])
        yield from _AUTOLINK.findall(line)


def as_html(text: str, title: str | None) -> str:
    """Return a short text as a page, by which walls are told; of a longer one, its title."""
    body = _renderer().render(text) if len(text) <= walls.MAX_LETTERS else ""
    return f"<html><head><title>{html.escape(title or '')}</title></head><body>{body}</body></html>"


def _renderer() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def _lines(offer: Offer) -> list[str]:
    """Return the lines of an offer; Markdown is UTF-8 unless its header says otherwise."""
    text = charset.decode(offer.body, offer.charset or "utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _parted(lines: list[str]) -> tuple[list[str], list[str]]:
    """Return front matter and text."""
    ends = _RULES.get(lines[0].rstrip(), ())
    for number, line in enumerate(lines[1 : MAX_HEAD + 1], start=1):
        if line.rstrip() in ends:
            return lines[1:number], lines[number + 1 :]
    return [], lines


def _seen(lines: list[str]) -> Iterator[str]:
    r"""Yield lines without comments; those of fenced code are marked by a NUL before them."""
    fence, hidden = "", False
    for line in lines:
        opening = _FENCE.match(line)
        if fence:
            closes = opening and opening[1].startswith(fence) and not line[opening.end() :].strip()
            fence = "" if closes else fence
            yield "\0" + line
        elif hidden or (opening is None and "<!--" in line):
            shown, hidden = _uncommented(line, hidden=hidden)
            if shown.strip():
                yield shown
        elif opening:
            fence = opening[1]
            yield "\0" + line
        else:
            yield line


def _uncommented(line: str, *, hidden: bool) -> tuple[str, bool]:
    """Return what is to be seen of a line, and whether a comment goes on after it."""
    if hidden:
        _, end, line = line.partition("-->")
        if not end:
            return "", True
    shown, opened, _ = (_COMMENT.sub("", line) if "-->" in line else line).partition("<!--")
    return shown, bool(opened)


def _rewritten(lines: list[str], base: Base) -> Iterator[str]:
    def absolute(found: re.Match[str]) -> str:
        return found[0] if found["code"] else found["open"] + base.absolute(found["url"])

    for line in _seen(lines):
        yield line[1:] if line.startswith("\0") else _TARGET.sub(absolute, line)


def _first_heading(text: str) -> str | None:
    heads = (block.title for block in outline.blocks(text) if block.kind == "heading")
    return next(filter(None, map(words, heads)), None)


def _named(head: list[str]) -> str | None:
    """Return the title that front matter gives."""
    found = next(filter(None, map(_TITLE.match, head)), None)
    return words(found[2]) if found else None
