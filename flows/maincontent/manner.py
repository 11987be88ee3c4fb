"""What kind of page it is, and so how far trafilatura's choice of blocks is followed."""

import re
from enum import Enum
from itertools import islice

from lxml.html import HtmlElement

FEW_CODES = 3
"""Pieces of inline code from which a page is documentation."""
ARTICLE = frozenset({"article", "blog", "news", "newsarticle", "blogposting"})
"""Values of `og:type` for a page that is one text."""
_MAKERS = re.compile(
    r"sphinx|mkdocs|docusaurus|vitepress|vuepress|javadoc|rustdoc|docbook|asciidoc|doxygen|mdbook"
    r"|gitbook|jsdoc|typedoc|pdoc|antora|docfx|yard|mediawiki|readthedocs",
    re.IGNORECASE,
)
"""Programs that make documentation, by the generator they name."""


class Manner(Enum):
    """What kind of page it is."""

    PROSE = 1
    """One text from beginning to end; what was left out is another."""
    REFERENCE = 2
    """Documentation: its tables, lists of links and short entries are easily left out."""
    MIXED = 3


def of(tree: HtmlElement, node: HtmlElement) -> Manner:
    """Return what kind of page it is whose main content is about `node`."""
    if is_article(tree):
        return Manner.PROSE
    codes = islice(node.iter("code"), FEW_CODES)
    has_code = next(node.iter("pre"), None) is not None or len(list(codes)) == FEW_CODES
    return Manner.REFERENCE if has_code or _is_made(tree) else Manner.MIXED


def is_article(tree: HtmlElement) -> bool:
    """Tell whether a page calls itself an article."""
    for meta in tree.iter("meta"):
        name = (meta.get("property") or meta.get("name") or "").lower()
        if name == "og:type":
            return (meta.get("content") or "").lower().strip() in ARTICLE
        if name.startswith("article:"):
            return True
    return False


def _is_made(tree: HtmlElement) -> bool:
    """Tell whether a program for documentation made the page."""
    makers = (m for m in tree.iter("meta") if (m.get("name") or "").lower() == "generator")
    return any(_MAKERS.search(maker.get("content") or "") for maker in makers)
