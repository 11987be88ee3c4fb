"""The start tags of an HTML page, in time that grows with the page alone.

For what tags say by themselves, such as links. What stands inside of what is the business of a
tree, which has its price: minutes for one element of 100,000 attributes, and nothing below 256
levels. Tags are told apart as the HTML standard does it (§13.2.5).
"""

import re
from collections.abc import Container, Iterator
from html import unescape

RAW = ("script", "style", "textarea", "title", "xmp", "iframe")
"""Elements whose content is text, whatever it looks like; a `noscript` is read as a page."""

_VALUE = r"""\s*+=\s*+(?:"[^"]*+"|'[^']*+'|(?!["'])[^\s>]++|(?=>|\Z))"""
_TAG = re.compile(
    rf"""<(?:
        !--(?:.*?--!?>|.*)
      | [!?/][^>]*+
      | ([a-z][^\s/>]*+)((?>(?:[\s/]++|[^\s/>][^\s/>=]*+(?>(?:{_VALUE})?))*))(>|\Z)
    )""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
).search
_ATTRIBUTE = re.compile(
    r"""([^\s/>][^\s/>=]*+)(?>(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|(?!["'])([^\s>]++)|(?=>|\Z)))?)"""
).findall
_RAW_END = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search for name in RAW}
_REFERENCE = re.compile(
    r"&(?:#[0-9]{1,8};?|#[xX][0-9a-fA-F]{1,7};?|[A-Za-z][A-Za-z0-9]{0,31}(?:;|(?![A-Za-z0-9=])))"
).sub


def read(text: str, wanted: Container[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield name and attributes of each start tag whose name is `wanted`, in order.

    Names are in lower case, values as the page means them; the first of two attributes of one name
    counts. What stands in comments, scripts and other texts is no tag, and one that the end of the
    page cuts off is none. Never raises.

    >>> list(read('<!--<a>--><p><A Href="/x?a=1&amp;b" href=y>', {"a"}))
    [('a', {'href': '/x?a=1&b'})]
    """
    at = 0
    while found := _TAG(text, at):
        at = found.end()
        if found[1] is None:
            continue
        name = found[1].lower()
        if name in wanted and found[3]:
            yield name, _attributes(found[2])
        elif name in _RAW_END:
            end = _RAW_END[name](text, at)
            at = end.start() if end else len(text)


def _attributes(text: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE(text):
        values.setdefault(name.lower(), _meant(double or single or bare))
    return values


def _meant(value: str) -> str:
    """Return a value with its references resolved: `&copy=1` holds none (§13.2.5.73)."""
    return _REFERENCE(lambda found: unescape(found[0]), value) if "&" in value else value
