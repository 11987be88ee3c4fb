"""Notes set apart from the text: admonitions, callouts, alerts."""

import re

from lxml.html import HtmlElement

_ELEMENTS = frozenset({"div", "aside", "section", "blockquote", "details", "p"})
_NAMES = re.compile(
    r"(?:^|[\s_-])(?:admonition|admonitionblock|callout|custom-block|markdown-alert|notecard"
    r"|theme-admonition)(?:$|[\s_-])"
)
_ALERT = re.compile(r"(?:^|\s)(?:alert|notice)(?:\s|$)")
_KIND = re.compile(
    r"(?:^|[\s_-])(note|tip|hint|info|important|warning|caution|danger|error|attention|seealso"
    r"|example|question|success|failure|bug|abstract|todo|quote)(?:$|[\s_-])",
    re.IGNORECASE,
)
_TITLE = re.compile(
    r"(?:admonition|alert|callout|custom-block|notecard|notice)[-_]*(?:title|heading|header|label)",
    re.IGNORECASE,
)


def is_note(element: HtmlElement) -> bool:
    """Tell whether an element is a note set apart from the text."""
    names = element.get("class")
    if not names or element.tag not in _ELEMENTS:
        return False
    return bool(_NAMES.search(names) or (_ALERT.search(names) and _KIND.search(names)))


def is_title(element: HtmlElement) -> bool:
    """Tell whether an element within a note is its title."""
    return _TITLE.search(element.get("class") or "") is not None


def titled(element: HtmlElement, blocks: list[str]) -> list[str]:
    """Return the blocks of a note, its kind before them where they do not say it."""
    found = _KIND.search(element.get("class") or "")
    if not blocks or not found or blocks[0].startswith(("**", "#")):
        return blocks
    if blocks[0].lower().startswith(found[1].lower()):
        return blocks
    return [f"**{found[1].capitalize()}**", *blocks]
