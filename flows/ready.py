"""Pages that their server offers as Markdown: the text as it is stored.

It is the server's own, but for what a reader does not see (front matter, comments) and for links,
which are made absolute. Code is left as it is.
"""

import html
import re
from collections.abc import Iterator

from markdown_it import MarkdownIt

from flows import offers, outline, walls
from flows.facts.declared import words
from flows.markdown.inline import Base
from flows.records import Offer

_TITLE = re.compile(r"""title\s*[:=]\s*(["']?)(.+?)\1\s*\Z""", re.IGNORECASE)


def read(offer: Offer) -> tuple[str, str | None]:
    r"""Return the Markdown of an offer as it is stored, and its title: its first heading.

    >>> read(Offer(body=b"---\ntitle: T\n---\n# Boats\n\n[a](b)\n", url="https://a.test/c/d"))
    ('# Boats\n\n[a](https://a.test/c/b)', 'Boats')
    """
    head, body = offers.parted(offers.lines(offer))
    base = Base(offer.url)
    text = "\n".join(_rewritten(body, base)).strip("\n").rstrip()
    return text, _first_heading(text) or _named(head)


def as_html(text: str, title: str | None) -> str:
    """Return a short text as a page, by which walls are told; of a longer one, its title."""
    body = _renderer().render(text) if len(text) <= walls.MAX_LETTERS else ""
    return f"<html><head><title>{html.escape(title or '')}</title></head><body>{body}</body></html>"


def _renderer() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def _rewritten(lines: list[str], base: Base) -> Iterator[str]:
    def absolute(found: re.Match[str]) -> str:
        return found[0] if found["code"] else found["open"] + base.absolute(found["url"])

    for line in offers.seen(lines):
        yield line[1:] if line.startswith("\0") else offers.TARGET.sub(absolute, line)


def _first_heading(text: str) -> str | None:
    heads = (block.title for block in outline.blocks(text) if block.kind == "heading")
    return next(filter(None, map(words, heads)), None)


def _named(head: list[str]) -> str | None:
    """Return the title that front matter gives."""
    found = next(filter(None, map(_TITLE.match, head)), None)
    return words(found[2]) if found else None
