"""Where in the tree the kept words are."""

from lxml import etree
from lxml.html import HtmlElement

from flows.maincontent import words
from flows.maincontent.chrome import Trimming
from flows.maincontent.words import Survey

COVER = 0.92
"""Share of the kept words that the main content has to hold."""
CONTAINERS = frozenset(
    "body main article section div td center form fieldset details aside header footer "  # noqa: SIM905
    "nav".split()
)
"""Elements that hold a text; others, a list or a block of code, are part of one."""
TITLES = 4
"""Elements called a title that are looked at."""
_TITLES = etree.XPath(
    "descendant::*[self::div or self::p]"
    "[contains(concat(' ', normalize-space(@class), ' '), ' title ')]"
)
SLACK = 60
"""Further words that may come in with the page's heading, besides a quarter of what is there."""
KIND = 2
"""Further words of a heading that holds all words of the title: "Class" and the like."""
ALIKE = 0.6
"""Share of a heading's words that the page's title must have for one to be the other."""


def node(found: Survey) -> HtmlElement | None:
    """Return the smallest element that holds what was kept, or None when nothing was."""
    needed = COVER * min(found.kept_before[-1], found.own)
    if not needed:
        return None
    inner = found.page.root
    while True:
        child = max(inner, key=found.kept, default=None)
        if child is None or found.kept(child) < needed:
            break
        inner = child
    outer = (up for up in inner.iterancestors() if up.tag in CONTAINERS)
    return inner if inner.tag in CONTAINERS else next(outer, found.page.root)


def landmark(inner: HtmlElement, trimming: Trimming) -> HtmlElement:
    """Return the page's own main element around `inner`, where that is no more than twice as much.

    For pages of reference, of which trafilatura likes to keep the longest part alone.
    """
    if _is_landmark(inner):
        return inner
    outer = next((up for up in inner.iterancestors() if _is_landmark(up)), None)
    if outer is None or trimming.size(outer) > 2 * trimming.size(inner):
        return inner
    return outer


def name_heading(root: HtmlElement, title: str | None) -> None:
    """Make a first-level heading of what a page calls its title, where it has no such heading."""
    if next(root.iter("h1"), None) is not None:
        return
    told = set(words.split((title or "").casefold()))
    for element in _TITLES(root)[:TITLES]:
        own = words.split("".join(map(str, element.itertext())).casefold())
        if own and told.issuperset(own):
            element.tag = "h1"
            return


def heading(found: Survey, inner: HtmlElement, title: str | None) -> HtmlElement | None:
    """Return the page's heading, within `inner` or before it; None where there is none."""
    told = set(words.split((title or "").casefold()))
    start = found.span(inner)[0]
    inside: list[HtmlElement] = []
    before: list[HtmlElement] = []
    for element in found.page.root.iter("h1", "h2"):
        if is_within(found, element, inner):
            inside.append(element)
        elif 0 < found.span(element)[1] <= start:
            before.append(element)
    free = _unlinked(found, before)[::-1]
    titles = [e for e in free if e.tag == "h1" and _alike(e, told)]
    if titles and not any(e.tag == "h1" for e in inside):
        return titles[0]
    for near in (inside, free):
        named = next((e for e in near if _alike(e, told)), None)
        own = near if near is inside else [e for e in near if not _is_link(found, e)]
        first = next((e for e in own if e.tag == "h1"), None)
        if named is not None or first is not None:
            return first if named is None else named
    return None


def _is_link(found: Survey, element: HtmlElement) -> bool:
    """Tell whether a heading is a link, as a site's name is."""
    return found.linked(element) == found.words(element)


def is_within(found: Survey, element: HtmlElement, outer: HtmlElement) -> bool:
    """Tell whether an element with words lies within another."""
    (start, end), (first, last) = found.span(outer), found.span(element)
    return start <= first < last <= end


def _unlinked(found: Survey, headings: list[HtmlElement]) -> list[HtmlElement]:
    """Return the headings that are no links, or all where all are."""
    return [e for e in headings if not _is_link(found, e)] or headings


def around(inner: HtmlElement, title: HtmlElement, trimming: Trimming) -> HtmlElement | None:
    """Return the element around `inner` and its heading, unless much else would come with it."""
    above = set(title.iterancestors())
    outer = next((up for up in inner.iterancestors() if up in above), None)
    if outer is None:
        return None
    size = trimming.size(inner, title)
    return outer if trimming.size(outer, title) <= size * 5 / 4 + SLACK else None


def _is_landmark(element: HtmlElement) -> bool:
    return element.tag in ("main", "article") or element.get("role") == "main"


def _alike(element: HtmlElement, told: set[str]) -> bool:
    """Tell whether a heading says what the title says, or that and what kind of thing it is."""
    own = words.split("".join(map(str, element.itertext())).casefold())
    if told and told <= set(own) and len(own) <= len(told) + KIND:
        return True
    return bool(own) and sum(word in told for word in own) >= ALIKE * max(len(own), len(told) / 2)
