"""Where in the tree the kept words are."""

from lxml.html import HtmlElement

from flows.maincontent import chrome
from flows.maincontent.survey import Survey

COVER = 0.92
"""Share of the kept words that the main content has to hold."""
SLACK = 60
"""Further words that may come in with the page's heading, besides a quarter of what is there."""


def node(found: Survey) -> HtmlElement | None:
    """Return the smallest element that holds what was kept, or None when nothing was."""
    needed = COVER * min(found.kept_before[-1], found.own)
    if not needed:
        return None
    inner = found.root
    while True:
        child = max(inner, key=found.kept, default=None)
        if child is None or found.kept(child) < needed:
            return inner
        inner = child


def with_title(found: Survey, inner: HtmlElement, *, prose: bool) -> HtmlElement:
    """Return the element around `inner` and the page's heading, where that is near."""
    headings = list(found.root.iter("h1"))
    if len(headings) != 1 or inner.tag == "h1" or inner.find(".//h1") is not None:
        return inner
    above = set(headings[0].iterancestors())
    outer = next((up for up in inner.iterancestors() if up in above), None)
    if outer is None:
        return inner
    gained = _size(found, outer, prose=prose) - _size(found, inner, prose=prose)
    return outer if gained <= SLACK + found.words(inner) / 4 else inner


def _size(found: Survey, element: HtmlElement, *, prose: bool) -> int:
    """Return the words of an element without its chrome."""
    without = chrome.within(found, element, prose=prose)
    return found.words(element) - sum(map(found.words, without))
