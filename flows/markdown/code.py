"""Code of a page as fenced blocks: the very characters, none of the tooling."""

import re

from lxml import etree
from lxml.html import HtmlElement

from flows.markdown import kinds

LINES = frozenset({"div", "li", "tr", "p"})
"""Elements in code that are a line each."""
LINE_NAMES = frozenset({"line", "token-line", "code-line", "view-line"})
"""Class words of further elements that are a line each."""
_GONE = frozenset(
    {"button", "script", "style", "svg", "select", "template", "textarea", "noscript"}
)
_KEPT = frozenset({"pre", "code", "table", "tbody", "tr"})
_TOOLING = re.compile(
    r"(?:^|\s|-|_)(?:linenos?|lineno|linenodiv|line-numbers?(?:-rows|-wrapper)?|line-number|lnt"
    r"|ln-num|gutter|hljs-ln-n|blob-num|viewcode-(?:back|link)|copy|copybtn|copy-button|clipboard|toolbar|cm-gutters?)"
    r"(?:$|\s|-|_)",
    re.IGNORECASE,
)
_TICKS = re.compile(r"`{3,}")


def fenced(text: str, language: str) -> str:
    r"""Return code as a fenced block whose fence is longer than any run inside.

    >>> fenced("x = 1", "python")
    '```python\nx = 1\n```'
    """
    longest = max(map(len, _TICKS.findall(text)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


class _Lines:
    """Collects text; a line's element begins a line and ends it, once."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._ended = False

    def add(self, text: str | None) -> None:
        """Add text, on a new line where one is due and it does not bring its own."""
        if text:
            if self._ended and text[0] != "\n" and not self.parts[-1].endswith("\n"):
                self.parts.append("\n")
            self._ended = False
            self.parts.append(text)

    def part(self) -> None:
        """Make a new line due."""
        self._ended = bool(self.parts)


def text_of(element: HtmlElement) -> str:
    """Return the characters of a code element: line breaks kept, line numbers and buttons gone."""
    lines = _Lines()
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, node in walk:
        tooling = node is not element and is_tooling(node)
        if node.tag in LINES and node is not element and not tooling:
            lines.part()
        if event == "end":
            lines.add("\n" if node.tag == "br" else None)
            lines.add(node.tail if node is not element else None)
        elif tooling:
            walk.skip_subtree()
        else:
            lines.add(node.text)
    text = "".join(lines.parts).replace("\r\n", "\n").replace("\r", "\n")
    own = _line_elements(element) if "\n" not in text.strip("\n") else []
    if len(own) > 1:
        return "\n".join(map(kinds.text_of, own))
    return text.strip("\n").rstrip()


def is_fragment(element: HtmlElement) -> bool:
    """Tell whether an element is code without `pre`: a fragment of lines, as Doxygen makes it."""
    names = (element.get("class") or "").split()
    return (
        "fragment" in names
        and len(element) > 0
        and element[0].tag == "div"
        and _is_line(element[0])
    )


def is_tooling(node: HtmlElement) -> bool:
    """Tell whether an element in code is no code: a number, a copy button."""
    return node.tag in _GONE or (node.tag not in _KEPT and names_tooling(node))


def names_tooling(node: HtmlElement) -> bool:
    """Tell whether the class of an element says that it numbers lines or copies them."""
    names = node.get("class")
    return bool(names) and _TOOLING.search(names or "") is not None


def opening_link(element: HtmlElement) -> HtmlElement | None:
    """Return the link that inline code begins with, if it does."""
    inner = element
    while len(inner) and not (inner.text or "").strip():
        inner = inner[0]
        if inner.tag == "a":
            return inner if inner.get("href") else None
    return None


def _line_elements(element: HtmlElement) -> list[HtmlElement]:
    """Return the children that are one line each, for lines with nothing between them."""
    inner = element
    while len(inner) == 1 and inner[0].tag in ("code", "span", "div"):
        inner = inner[0]
    return [node for node in inner if node.tag in ("span", "code") and _is_line(node)]


def _is_line(node: HtmlElement) -> bool:
    names = node.get("class") or node.get("data-line") or ""
    return not LINE_NAMES.isdisjoint(names.split())
