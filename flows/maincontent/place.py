"""Where in the tree the kept words are."""

from collections.abc import Iterator

from lxml.html import HtmlElement

from flows.maincontent import chrome
from flows.maincontent.chrome import Manner
from flows.maincontent.words import Survey, words

COVER = 0.92
"""Share of the kept words that the main content has to hold."""
CONTAINERS = frozenset(
    "body main article section div td center form fieldset details aside header footer nav".split()  # noqa: SIM905
)
"""Elements that hold a text; others, a list or a block of code, are part of one."""
SLACK = 60
"""Further words that may come in with the page's heading, besides a quarter of what is there."""
ALIKE = 0.6
"""Share of a heading's words that the page's title must have for one to be the other."""


def node(found: Survey) -> HtmlElement | None:
    """Return the smallest element that holds what was kept, or None when nothing was."""
    needed = COVER * min(found.kept_before[-1], found.own)
    if not needed:
        return None
    inner = found.root
    while True:
        child = max(inner, key=found.kept, default=None)
        if child is None or found.kept(child) < needed:
            break
        inner = child
    outer = (up for up in inner.iterancestors() if up.tag in CONTAINERS)
    return inner if inner.tag in CONTAINERS else next(outer, found.root)


def heading(found: Survey, inner: HtmlElement, title: str | None) -> HtmlElement | None:
    """Return the page's heading where it stands before `inner`; None where there is none."""
    start = found.spans[inner][0]
    headings = list(found.root.iter("h1", "h2"))
    told = set(words((title or "").casefold()))
    if any(h.tag == "h1" or _alike(h, told) for h in headings if _is_within(h, inner)):
        return None
    before = [h for h in headings if h in found.spans and found.spans[h][1] <= start]
    named = [h for h in before if _alike(h, told)]
    if named:
        return named[-1]
    return next((h for h in reversed(before) if h.tag == "h1"), None)


def around(
    found: Survey, inner: HtmlElement, title: HtmlElement, manner: Manner
) -> HtmlElement | None:
    """Return the element around `inner` and its heading, unless much else would come with it."""
    above = set(title.iterancestors())
    outer = next((up for up in inner.iterancestors() if up in above), None)
    if outer is None:
        return None
    gained = _size(found, outer, title, manner) - _size(found, inner, title, manner)
    return outer if gained <= SLACK + found.words(inner) / 4 else None


def landmark(found: Survey, inner: HtmlElement) -> HtmlElement:
    """Return the page's own main element around `inner`, where that is no more than twice as much.

    For pages of reference, of which trafilatura likes to keep the longest part alone.
    """
    outer = next((up for up in inner.iterancestors() if _is_landmark(up)), None)
    if outer is None:
        return inner
    gained = _size(found, outer, None, Manner.REFERENCE) - _size(
        found, inner, None, Manner.REFERENCE
    )
    return outer if gained <= found.words(inner) else inner


def _is_landmark(element: HtmlElement) -> bool:
    return element.tag in ("main", "article") or element.get("role") == "main"


def _alike(element: HtmlElement, told: set[str]) -> bool:
    """Tell whether a heading says what the title says."""
    own = words("".join(map(str, element.itertext())).casefold())
    return bool(own) and sum(word in told for word in own) >= ALIKE * max(len(own), len(told) / 2)


def _is_within(element: HtmlElement, outer: HtmlElement) -> bool:
    return element is outer or any(up is outer for up in element.iterancestors())


def _size(found: Survey, element: HtmlElement, title: HtmlElement | None, manner: Manner) -> int:
    """Return the words of an element without its chrome."""
    without = chrome.within(found, element, manner, title)
    return found.words(element) - sum(map(found.words, without))
