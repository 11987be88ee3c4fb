"""The page's own DOM as Markdown: headings, code, tables, lists and links as the page has them."""

from dataclasses import dataclass

from lxml.html import HtmlElement

from flows.markdown.converter import Converter


@dataclass(frozen=True, slots=True)
class Written:
    """Markdown, and the ids of its headings."""

    text: str
    anchors: tuple[tuple[str, str], ...] = ()
    """A heading's words as written, and its id on the page, in order."""


def convert(node: HtmlElement, base_url: str) -> str:
    """Return the content of `node` as Markdown, links resolved against `base_url`."""
    return write(node, base_url).text


def write(node: HtmlElement, base_url: str) -> Written:
    """Return the content of `node` as Markdown with the ids of its headings."""
    converter = Converter(base_url)
    text = converter.write(node)
    return Written(text, tuple(converter.anchors))
