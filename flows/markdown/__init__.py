"""The page's own DOM as Markdown: headings, code, tables, lists and links as the page has them."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lxml.html import HtmlElement

from flows.markdown import closings, openings
from flows.markdown.writer import Writer


@dataclass(frozen=True, slots=True)
class Written:
    """Markdown, and the ids of its headings."""

    text: str
    anchors: tuple[tuple[str, str], ...] = ()
    """A heading's words as written, and its id on the page, in order."""


def write(
    nodes: Sequence[HtmlElement], base_url: str, without: AbstractSet[HtmlElement] = frozenset()
) -> Written:
    """Return the content of consecutive elements as Markdown, but for the elements in `without`.

    Links are resolved against `base_url`.
    """
    writer = Writer(base_url, without, openings.start, closings.close)
    text = "\n\n".join(filter(None, map(writer.write, nodes)))
    return Written(text, tuple(writer.anchors))
