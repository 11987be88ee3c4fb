"""The page's own DOM as Markdown: headings, code, tables, lists and links as the page has them."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from lxml.html import HtmlElement

from flows.markdown.converter import Converter


@dataclass(frozen=True, slots=True)
class Written:
    """Markdown, and the ids of its headings."""

    text: str
    anchors: tuple[tuple[str, str], ...] = ()
    """A heading's words as written, and its id on the page, in order."""


def write(
    nodes: Sequence[HtmlElement], base_url: str, without: Set[HtmlElement] = frozenset()
) -> Written:
    """Return the content of consecutive elements as Markdown, but for the elements in `without`.

    Links are resolved against `base_url`.
    """
    converter = Converter(base_url, without)
    text = "\n\n".join(filter(None, map(converter.write, nodes)))
    return Written(text, tuple(converter.anchors))
