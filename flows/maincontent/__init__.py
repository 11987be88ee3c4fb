"""Which part of a page is its main content.

trafilatura says which words are; the page's own tree says where they are. The words it kept are
found again in the tree by their neighbours, and the smallest element around them is the main
content. Chrome that stands inside is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import trafilatura
from lxml.html import HtmlElement

from flows.maincontent import manner, place, series, words
from flows.maincontent.chrome import Trimming
from flows.maincontent.manner import Manner
from flows.maincontent.words import Survey, Text

MOST_ELEMENTS = 50_000
"""Elements of a page that trafilatura is asked about: beyond, its time grows with their square."""
MOST_BESIDE = 10_000
"""Elements beside each other with which it is asked: it counts them again for each of them."""
MOST_WITHIN = 1_000_000
"""Elements around elements, all together, with which it is asked: it looks up and down for each."""
MOST_WORDS = 400_000
"""Words of a page that are looked up among those trafilatura keeps: beyond, they take 200 MB."""
MOST_CLAIMED = 20_000
"""Cells that the cells of a page's tables may claim by spanning rows and columns."""
MOST_DIGITS = 5
"""Digits of a span that are read."""
ENOUGH = 0.3
"""Share of a page's words outside links that the quick extraction has to keep."""
MUCH = 2
"""Words that the quick extraction may keep, as a multiple of those outside links."""
FOUND = 0.5
"""Share of trafilatura's words that the tree must show; else they come from somewhere else."""


@dataclass(frozen=True, slots=True)
class Main:
    """The main content of a page."""

    nodes: Sequence[HtmlElement]
    """Elements of the page, in its order; none where only `text` is known."""
    without: frozenset[HtmlElement]
    """Elements within the nodes that are none of it."""
    way: str
    """`node`, `blocks` (a node and the heading above it), `trafilatura`, `body`."""
    text: str = ""
    """trafilatura's own Markdown, where its words are not in the tree but in JSON-LD, say."""


def find(tree: HtmlElement, title: str | None = None) -> Main:
    """Return where the main content of a page is; the whole body where nothing can be told.

    `title` is the page's, by which its heading is known.
    """
    body = tree.find("body")
    place.name_heading(tree if body is None else body, title)
    page = words.read(tree if body is None else body)
    _bound_spans(tree)
    if _is_too_much(page):
        return _whole(page.root)
    found = _kept(tree, page)
    if found.share() < FOUND and found.own > page.plain():
        text = trafilatura.extract(tree, output_format="markdown", include_comments=False)
        return Main((), frozenset(), "trafilatura", text or "")
    node = place.node(found)
    return _whole(page.root) if node is None else _around(found, node, tree, title)


def _is_too_much(page: Text) -> bool:
    """Tell whether trafilatura would take more time than grows with the size of a page."""
    return (
        len(page.spans) > MOST_ELEMENTS
        or len(page.words) > MOST_WORDS
        or page.within > MOST_WITHIN
        or sum(len(element) ** 2 for element in page.spans) > MOST_BESIDE**2
    )


def _whole(root: HtmlElement) -> Main:
    """Return all of a page, or what the page itself calls its main part."""
    named = [*root.iter("main"), *root.iter("article")]
    node = named[0] if len(named) == 1 else root
    return Main([node], frozenset(node.iter("nav", "footer")), "body")


def _bound_spans(tree: HtmlElement) -> None:
    """Let no cell span others where all together claim too many: every one would be written."""
    spanning = [
        cell for cell in tree.iter("td", "th") if cell.get("colspan") or cell.get("rowspan")
    ]
    if sum(map(_claimed, spanning)) > MOST_CLAIMED:
        for cell in spanning:
            cell.attrib.pop("colspan", None)
            cell.attrib.pop("rowspan", None)


def _claimed(cell: HtmlElement) -> int:
    """Return how many cells one cell takes."""
    size = 1
    for name in ("colspan", "rowspan"):
        value = (cell.get(name) or "").strip()
        size *= int(value[:MOST_DIGITS]) if value.isascii() and value.isdigit() else 1
    return size


def _kept(tree: HtmlElement, page: Text) -> Survey:
    """Return which words trafilatura keeps, asked again with all its means where that is doubtful.

    Its quick way costs two thirds and finds the same on most pages; where it does not, it keeps
    little, or all of a page and its menus (measured on public gold sets: asking so is better than
    always asking for all). Posts of a thread it takes for comments, which are content but under
    what calls itself an article.
    """
    found = words.survey(page, _extracted(tree, fast=True))
    much = page.has_menus() and found.own > MUCH * page.plain()
    if found.own and found.own >= ENOUGH * page.plain() and not much:
        return found
    comments = not manner.is_article(tree)
    more = words.survey(page, _extracted(tree, fast=False, comments=comments))
    return more if more.own else found


def _extracted(tree: HtmlElement, *, fast: bool, comments: bool = False) -> str:
    """Return the text that trafilatura extracts; nothing for a page nested too deep for it."""
    try:
        kept = trafilatura.bare_extraction(
            tree,
            output_format="txt",
            include_comments=comments,
            include_formatting=False,
            fast=fast,
        )
    except RecursionError:
        return ""
    body = getattr(kept, "body", None)
    return "" if body is None else " ".join(map(str, body.itertext()))


def _around(found: Survey, node: HtmlElement, tree: HtmlElement, title: str | None) -> Main:
    """Return what belongs to the smallest element that holds the kept words."""
    node, members = series.around(found, node)
    members = members or series.beside(found, node)
    if members:
        found = found.including(members)
    kind = manner.of(tree, node)
    trimming = Trimming(found, kind)
    if kind is Manner.REFERENCE:
        node = place.landmark(node, trimming)
    heading = place.heading(found, node, title)
    if heading is None or place.is_within(found, heading, node):
        return Main([node], trimming.within(node, heading), "node")
    outer = place.around(node, heading, trimming)
    if outer is None:
        return Main([heading, node], trimming.within(node), "blocks")
    return Main([outer], trimming.within(outer, heading), "node")
