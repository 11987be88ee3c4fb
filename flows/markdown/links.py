"""Links of a page that are its text, and those that only point at where they stand."""

import re

from lxml.html import HtmlElement

from flows.elements import beginning

MOST_WORDS = 200
"""Characters of a link that only points at where it stands."""
_SIGN = re.compile(r"[\s\W_]*\Z")
_SIGNS = frozenset({"¶", "#", "§", "🔗", "↩", "↩︎", "↑", "^", "\uf0c1"})
_PERMALINK = re.compile(
    r"(?:^|[\s_-])(?:headerlink|header-anchor|header-link|hash-link|anchor(?:-?link|js-link)?"
    r"|permalink|heading-(?:anchor|link)|doc-anchor|direct-link|deep-?link|sl-anchor-link"
    r"|src|srclink|viewcode-(?:link|back))"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
_WORDS = re.compile(
    r"\s*(?:(?:permalink|permanent link|direct link|link|anchor|copy link|section titled|edit)\b"
    r".{0,80}|source|src|\[source\])\Z",
    re.IGNORECASE | re.DOTALL,
)


def is_sign(text: str) -> bool:
    """Tell whether a text has no letters or digits."""
    return _SIGN.match(text) is not None


def is_permalink(element: HtmlElement, href: str, *, heading: bool) -> bool:
    """Tell whether a link only points at the place where it stands; `heading`: in a heading."""
    marked = _PERMALINK.search(element.get("class") or "") is not None
    if not marked and "#" not in href:
        return False
    text = beginning(element, MOST_WORDS)
    if len(text) == MOST_WORDS:
        return False
    if is_sign(text) and element.find(".//img") is None:
        return marked or heading or text.strip() in _SIGNS
    return marked and _WORDS.match(text) is not None


def anchor_of(heading: HtmlElement) -> str:
    """Return the id by which a heading can be reached: its own, or of what it opens."""
    own = heading.get("id")
    if own:
        return own
    for inner in heading.iter("a", "span"):
        found = inner.get("id") or inner.get("name")
        if found:
            return found
    parent = heading.getparent()
    if parent is not None and parent.tag in ("section", "div", "article") and parent[0] is heading:
        return parent.get("id") or ""
    return ""
