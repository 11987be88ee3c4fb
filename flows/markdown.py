"""The page's own DOM as Markdown."""

from lxml import etree
from lxml.html import HtmlElement
from markdownify import MarkdownConverter


def convert(node: HtmlElement, base_url: str) -> str:
    """Return the content of `node` as Markdown, links resolved against `base_url`."""
    html = etree.tostring(node, encoding="unicode", method="html")
    return str(MarkdownConverter(heading_style="atx", bullets="-").convert(html)).strip() + "\n"
