"""Which part of a page is its main content.

trafilatura says which words are; the page's own tree says where they are. The words it kept are
found again in the tree by their neighbours, and the smallest element around them is the main
content. Chrome that stands inside is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import trafilatura
from lxml.html import HtmlElement

from flows.maincontent import chrome, place, series
from flows.maincontent.chrome import Manner
from flows.maincontent.words import survey

FOUND = 0.5
"""Share of trafilatura's words that the tree must show; else they come from somewhere else."""


@dataclass(frozen=True, slots=True)
class Main:
    """The main content of a page."""

    nodes: Sequence[HtmlElement]
    """Elements of the page, in its order; none when only `text` is known."""
    without: frozenset[HtmlElement]
    """Elements within the nodes that are none of it."""
    way: str
    """`node`, `blocks` (a node and the heading above it), `trafilatura`, `body`."""
    text: str = ""
    """trafilatura's own Markdown, where its words are not in the tree (JSON-LD has them)."""


def find(tree: HtmlElement, url: str, title: str | None = None) -> Main:
    """Return where the main content of a page is; the whole body where nothing can be told."""
    body = tree.find("body")
    root = tree if body is None else body
    kept = trafilatura.bare_extraction(
        tree, url=url, include_comments=False, include_formatting=True, include_links=True
    )
    if kept is None:
        return Main([root], frozenset(root.iter("nav")), "body")
    found = survey(root, " ".join(kept.body.itertext()))
    if found.share() < FOUND and len(kept.text) > len(" ".join(root.itertext())) * FOUND:
        return Main([], frozenset(), "trafilatura", kept.text)
    node = place.node(found)
    if node is None:
        return Main([root], frozenset(root.iter("nav")), "body")
    node, members = series.around(found, node)
    found = found.including(members or series.beside(found, node))
    manner = chrome.manner(tree, node)
    if manner is Manner.REFERENCE:
        node = place.landmark(found, node)
    heading = place.heading(found, node, title)
    if heading is not None:
        outer = place.around(found, node, heading, manner)
        if outer is None:
            return Main([heading, node], chrome.within(found, node, manner), "blocks")
        node = outer
    return Main([node], chrome.within(found, node, manner, heading), "node")
