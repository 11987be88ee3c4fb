"""What an element of a page holds, found out without reading it again and again.

Elements lie within each other, up to two thousand deep. What asks each of them about all that is
in it reads the innermost text two thousand times.
"""

import re

from lxml import etree
from lxml.etree import _Element
from lxml.html import HtmlElement

MOST_NAMES = 2_000
"""Characters of an attribute that are kept."""
WHOLE = frozenset(
    "content alt alttext href src srcset data-src data-srcset data-lazy-src data-original "  # noqa: SIM905
    "data-lazy data-orig-file title value".split()
)
"""Attributes that are kept whole: they hold text or an address, and each is read once."""
MOST_ATTRIBUTES = 500
"""Attributes of a long tag with which it is read: the parser compares each with all others."""
_LONG_TAG = re.compile(r"(<[a-zA-Z][^\s<>/]{0,30})[\s/][^<>]{8192,}(?=>)")
_LONG = etree.XPath(f"descendant-or-self::*/@*[string-length() > {MOST_NAMES}]")


def beginning(element: _Element, most: int) -> str:
    """Return the first `most` characters of an element, as they stand in the page.

    >>> import lxml.html
    >>> beginning(lxml.html.fromstring("<p>one <b>two</b> three"), 6)
    'one tw'
    """
    parts, left = [], most
    for text in element.itertext():
        parts.append(str(text))
        left -= len(text)
        if left <= 0:
            break
    return "".join(parts)[:most]


def around(root: HtmlElement, *tags: str) -> set[HtmlElement]:
    """Return the elements around those of some kinds."""
    found: set[HtmlElement] = set()
    for element in root.iter(*tags):
        for up in element.iterancestors():
            if up in found:
                break
            found.add(up)
    return found


class Holders:
    """Tells which elements of a tree hold others of a kind; the tree must stay as it is."""

    def __init__(self) -> None:
        """Look nothing up yet."""
        self._known: dict[str, set[HtmlElement]] = {}

    def holds(self, element: HtmlElement, *tags: str) -> bool:
        """Tell whether an element of one of these kinds is anywhere within."""
        return len(element) > 0 and any(element in self._around(element, tag) for tag in tags)

    def _around(self, element: HtmlElement, tag: str) -> set[HtmlElement]:
        found = self._known.get(tag)
        if found is None:
            root = element.getroottree().getroot()
            found = self._known[tag] = around(root, tag)
        return found


def without_crowds(text: str) -> str:
    """Return a page without the attributes of tags that have thousands of them."""
    return _LONG_TAG.sub(lambda tag: tag[int(tag[0].count("=") > MOST_ATTRIBUTES)], text)


def shorten_names(root: HtmlElement) -> None:
    """Cut the attributes of a tree that are read once for each element beside or below."""
    for value in _LONG(root):
        name, element = value.attrname, value.getparent()
        if name not in WHOLE:
            element.set(name, str(value)[:MOST_NAMES])
