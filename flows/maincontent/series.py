"""Posts of a thread and the like: elements of one kind, of which trafilatura often keeps one."""

import re
from collections import defaultdict
from itertools import islice

from lxml.html import HtmlElement

from flows.maincontent.words import Span, Survey

FEWEST = 2
"""Elements of one kind that make a series."""
WEIGHT = 0.2
"""Words that the others must have together, as a share of the longest one's."""
LINKED = 0.3
"""Share of words in links above which a series is a list of links."""
MOST = 2_000
"""Elements of one kind that are looked at."""
_DIGITS = re.compile(r"\d+")


def kind(element: HtmlElement) -> tuple[str, str] | None:
    """Return what a template would call an element, or None where it has no name."""
    names = element.get("class")
    return (str(element.tag), _DIGITS.sub("", names)) if names else None


def around(found: Survey, node: HtmlElement) -> tuple[HtmlElement, list[Span]]:
    """Return the element around the series that `node` is one of, and the spans of its members.

    Returns `node` and no spans where it is alone.
    """
    own = kind(node)
    if own is None:
        return node, []
    peers = [e for e in islice(found.page.root.iter(own[0]), MOST) if kind(e) == own]
    members = [e for e in peers if found.words(e)]
    if not is_series(found, members):
        return node, []
    outer = _common(members)
    branches = {_branch(e, outer) for e in members}
    alike = len(branches) == len(members) and len({kind(b) for b in branches}) == 1
    # A question and its answers stand in different places, and both are marked as texts.
    marked = node.get("itemprop") == "text" and len(branches) >= FEWEST
    if outer is None or not (alike or marked):
        return node, []
    return outer, [found.span(e) for e in members]


def is_series(found: Survey, members: list[HtmlElement]) -> bool:
    """Tell whether elements of one kind are texts beside each other."""
    sizes = [found.words(e) for e in members]
    linked = sum(map(found.linked, members))
    return (
        len(members) >= FEWEST
        and sum(sizes) - max(sizes) >= WEIGHT * max(sizes)
        and linked <= LINKED * sum(sizes)
    )


def beside(found: Survey, node: HtmlElement) -> list[Span]:
    """Return the spans of children of `node` that are of one kind with kept ones."""
    groups: dict[tuple[str, str], list[HtmlElement]] = defaultdict(list)
    for child in node:
        name = kind(child)
        if name and found.words(child):
            groups[name].append(child)
    return [
        found.span(member)
        for members in groups.values()
        if is_series(found, members) and any(found.kept(m) > found.words(m) / 2 for m in members)
        for member in members
    ]


def _common(members: list[HtmlElement]) -> HtmlElement | None:
    """Return the smallest element around all members."""
    first = list(members[0].iterancestors())
    last = set(members[-1].iterancestors())
    return next((up for up in first if up in last), None)


def _branch(element: HtmlElement, outer: HtmlElement | None) -> HtmlElement:
    """Return the child of `outer` that `element` is in."""
    inner = element
    for up in element.iterancestors():
        if up is outer:
            break
        inner = up
    return inner
