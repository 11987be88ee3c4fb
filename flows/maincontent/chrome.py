"""What stands inside the main content and is none of it: navigation, boxes, related links."""

import re
from collections.abc import Iterator
from enum import Enum

from lxml.html import HtmlElement

from flows.maincontent import names
from flows.maincontent.words import Span, Survey

PART = 0.3
"""Share of the main content's words above which an element is more than chrome."""
NEVER = frozenset("body main article h1 h2 h3 h4 pre code table tbody tr".split())  # noqa: SIM905
"""Elements that no name of theirs makes chrome."""
BLOCKS = frozenset(
    "div section aside header footer article p figure details center fieldset form ul ol dl".split()  # noqa: SIM905
)
"""Elements that may be left out because trafilatura left them out."""
LISTS = frozenset({"ul", "ol", "dl"})
SHOWN = frozenset({"figure", "picture", "img", "pre", "table", "thead", "tbody", "tr", "td", "th"})
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BOXES = frozenset({"footer", "aside", "form"})


class Manner(Enum):
    """What kind of page it is, and so how far trafilatura's choice of blocks is followed."""

    PROSE = 1
    """One text from beginning to end; what was left out is another."""
    REFERENCE = 2
    """Documentation: its tables, lists of links and short entries are easily left out."""
    MIXED = 3


ARTICLE = frozenset({"article", "blog", "news", "newsarticle", "blogposting"})
"""Values of `og:type` for a page that is one text."""
_MAKERS = re.compile(
    r"sphinx|mkdocs|docusaurus|vitepress|vuepress|javadoc|rustdoc|docbook|asciidoc|doxygen|mdbook"
    r"|gitbook|jsdoc|typedoc|pdoc|antora|docfx|yard|mediawiki|readthedocs",
    re.IGNORECASE,
)
"""Programs that make documentation, by the generator they name."""
_ASIDES = re.compile(r"quote|onebox|foot-?note|admonition|callout|notice|\bnote\b|\btip\b|warning")
"""Names of what stands aside and belongs to the text."""


def is_article(tree: HtmlElement) -> bool:
    """Tell whether a page calls itself an article."""
    for meta in tree.iter("meta"):
        name = (meta.get("property") or meta.get("name") or "").lower()
        if name == "og:type":
            return (meta.get("content") or "").lower().strip() in ARTICLE
        if name.startswith("article:"):
            return True
    return False


def manner(tree: HtmlElement, node: HtmlElement) -> Manner:
    """Return what kind of page this is."""
    if is_article(tree):
        return Manner.PROSE
    if next(node.iter("pre", "code"), None) is not None or _generator(tree):
        return Manner.REFERENCE
    return Manner.MIXED


def _generator(tree: HtmlElement) -> bool:
    """Tell whether a program for documentation made the page."""
    made = (m.get("content") or "" for m in tree.iter("meta") if m.get("name") == "generator")
    return any(_MAKERS.search(name) for name in made)


def within(
    found: Survey, node: HtmlElement, kind: Manner, title: HtmlElement | None = None
) -> frozenset[HtmlElement]:
    """Return the elements within `node` that are chrome; none of them lies in another.

    The page's heading, `title`, is not, nor is what is around it.
    """
    return frozenset(_within(found, node, kind, title))


def _within(
    found: Survey, node: HtmlElement, kind: Manner, title: HtmlElement | None
) -> Iterator[HtmlElement]:
    most = PART * max(1, found.kept(node))
    kept = _kept_span(found, node)
    spared = set() if title is None else {title, *title.iterancestors()}
    pending = list(node)[::-1]
    while pending:
        element = pending.pop()
        if element not in found.spans:
            continue
        if (
            found.kept(element) < most
            and element not in spared
            and (is_chrome(found, element) or is_excess(found, element, kept, kind))
        ):
            yield element
        else:
            pending.extend(list(element)[::-1])


def is_chrome(found: Survey, element: HtmlElement) -> bool:
    """Tell whether an element is chrome by its kind or its name."""
    tag, classes = element.tag, element.get("class") or ""
    if tag == "nav":
        return True
    share = found.kept(element) / max(1, found.words(element))
    if tag in BOXES and share < 0.5 and not _ASIDES.search(classes.lower()):
        return True
    if tag in NEVER:
        return False
    for name in (classes, element.get("id"), element.get("role")):
        said = names.spoken(name) if name else None
        if said is names.CONTENTS and found.linked(element) > found.words(element) / 2:
            return tag in BLOCKS
        if said is names.USUALLY or (said and name is not classes):
            return share <= 0.5 and not (name == element.get("id") and is_section(element, name))
        if said is names.ALWAYS:
            return True
    return False


def is_section(element: HtmlElement, name: str) -> bool:
    """Tell whether an element is a section whose id is made from its own heading."""
    heading = next(element.iter(*HEADINGS), None)
    if heading is None:
        return False
    text = re.sub(r"[^\w]+", "-", "".join(map(str, heading.itertext())).strip().lower())
    return name.lower().strip("-_") in text


def is_excess(found: Survey, element: HtmlElement, kept: Span, kind: Manner) -> bool:
    """Tell whether a block that trafilatura left out should be left out."""
    words, tag = found.words(element), element.tag
    if not words or found.kept(element) > words / 10:
        return False
    density = found.linked(element) / words
    start, end = found.spans[element]
    if end <= kept[0]:
        return _is_before(element, density, kind)
    if tag not in BLOCKS:
        return False
    if start >= kept[1]:
        if kind is Manner.REFERENCE:
            return density > 0.5 and tag != "p"
        return not _is_dense(element) or density > 0.5
    if kind is Manner.PROSE:
        return tag not in LISTS and not _is_dense(element)
    return kind is Manner.MIXED and density > 0.6 and tag not in LISTS


def _is_before(element: HtmlElement, density: float, kind: Manner) -> bool:
    """Tell whether what stands before the first kept word should be left out."""
    if element.tag in HEADINGS or element.find(".//h1") is not None:
        return False
    if kind is Manner.PROSE:
        return element.tag not in SHOWN
    if element.tag not in BLOCKS:
        return False
    if kind is Manner.REFERENCE:
        return density > 0.5 and element.tag != "p"
    return not _is_dense(element) or density > 0.5


def _is_dense(element: HtmlElement) -> bool:
    """Tell whether an element holds code or a table."""
    return (
        element.tag in ("pre", "code")
        or element.find(".//pre") is not None
        or (element.find(".//table") is not None)
    )


def _kept_span(found: Survey, node: HtmlElement) -> Span:
    """Return from which to which word of `node` kept ones stand."""
    start, end = found.spans[node]
    before = found.kept_before
    while start < end and before[start + 1] == before[start]:
        start += 1
    while end > start and before[end] == before[end - 1]:
        end -= 1
    return start, end
