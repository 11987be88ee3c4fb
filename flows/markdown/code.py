"""Code of a page as fenced blocks: the very characters, the language, none of the tooling."""

import re
from collections.abc import Iterator

from lxml import etree
from lxml.html import HtmlElement

_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-(?!er)|brush:\s*|sourceCode\s+|src\s+src-)([\w+#.-]+)"
)
_WORD = re.compile(r"[\w+#.-]{1,30}\Z")
_FAMILY = re.compile(r"(?:^|\s)(?:hljs|highlight|prettyprint|rust|shiki|chroma)(?:\s|$)")
NO_LANGUAGE = frozenset(
    "default none text plaintext plain txt source highlighter highlight notranslate nohighlight no-highlight "
    "auto unknown undefined wrapper block line lines container inline copy code".split()
)
"""Words in a language's place that name none."""
KNOWN = frozenset(
    "bash c c++ clojure console cpp cs csharp css dart diff docker dockerfile elixir erlang go graphql "
    "groovy haskell html http ini java javascript js json jsx julia kotlin less lua make makefile markdown "
    "md nginx objc perl php plaintext powershell py python r ruby rust scala scss sh shell sql swift toml "
    "ts tsx typescript vim vue xml yaml yml zig".split()
)
"""Languages read from a bare class word, where no prefix says that it is one."""
_DATA = ("data-lang", "data-language", "data-enlighter-language", "data-code-lang")
_TOOLING = re.compile(
    r"(?:^|\s|-|_)(?:linenos?|lineno|linenodiv|line-numbers?(?:-rows|-wrapper)?|line-number|lnt|ln-num|gutter|hljs-ln-n"
    r"|blob-num|copy|copybtn|copy-button|clipboard|toolbar|cm-gutters?)(?:$|\s|-|_)",
    re.IGNORECASE,
)
_LINES = frozenset({"div", "li", "tr", "p"})
_GONE = frozenset(
    {"button", "script", "style", "svg", "select", "template", "textarea", "noscript"}
)
_NUMBERS = re.compile(r"[\s\d]*\Z")


def fenced(text: str, language: str) -> str:
    r"""Return code as a fenced block whose fence is longer than any run inside.

    >>> fenced("x = 1", "python")
    '```python\nx = 1\n```'
    """
    longest = max(map(len, re.findall(r"`{3,}", text)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def text_of(element: HtmlElement) -> str:
    """Return the characters of a code element: line breaks kept, line numbers and buttons gone."""
    parts: list[str] = []
    ended = False  # a line's element has ended, and no line break has come yet

    def add(text: str | None) -> None:
        nonlocal ended
        if text:
            if ended and text[0] != "\n" and parts and not parts[-1].endswith("\n"):
                parts.append("\n")
            ended = False
            parts.append(text)

    walk = etree.iterwalk(element, events=("start", "end"))
    for event, node in walk:
        if event == "start":
            if node is not element and is_tooling(node):
                walk.skip_subtree()
                continue
            ended = ended or (node.tag in _LINES and bool(parts))
            add(node.text)
            continue
        if node.tag == "br":
            add("\n")
        elif node.tag in _LINES and node is not element and not is_tooling(node):
            ended = True
        if node is not element:
            add(node.tail)
    text = "".join(parts).replace("\r\n", "\n").replace("\r", "\n")
    if _lacks_breaks(element, text):
        return "\n".join(_unbroken(element))
    return text.strip("\n").rstrip()


def is_tooling(node: HtmlElement) -> bool:
    """Tell whether an element in code is no code: a number, a copy button."""
    if node.tag in _GONE:
        return True
    names = node.get("class")
    return bool(
        names and _TOOLING.search(names) and node.tag not in ("pre", "code", "table", "tbody", "tr")
    )


def _lacks_breaks(element: HtmlElement, text: str) -> bool:
    """Tell whether lines are elements of their own with nothing between them."""
    return "\n" not in text.strip("\n") and len(_line_elements(element)) > 1


def _line_elements(element: HtmlElement) -> list[HtmlElement]:
    """Return the children that are one line each."""
    inner = element
    while len(inner) == 1 and inner[0].tag in ("code", "span", "div"):
        inner = inner[0]
    return [
        n
        for n in inner
        if n.tag in ("span", "code") and _is_line(n.get("class") or n.get("data-line"))
    ]


def _is_line(names: str | None) -> bool:
    return names is not None and any(
        n in ("line", "token-line", "code-line", "view-line") for n in names.split()
    )


def _unbroken(element: HtmlElement) -> Iterator[str]:
    for line in _line_elements(element):
        yield "".join(line.itertext())


def language_of(element: HtmlElement) -> str:
    """Return the language that an element of code or those around it state, or nothing."""
    inner = [n for n in element.iter("code")][:1]
    above = []
    node = element.getparent()
    while (
        node is not None
        and len(above) < 4
        and node.tag in ("div", "figure", "td", "tr", "tbody", "table", "pre", "span")
    ):
        above.append(node)
        node = node.getparent()
    for node in [*inner, element, *above]:
        found = _stated(node)
        if found:
            return found
    return ""


def _stated(node: HtmlElement) -> str:
    """Return the language that the attributes of one element name."""
    for name in _DATA:
        value = (node.get(name) or "").strip().lower()
        if value and _WORD.match(value):
            return "" if value in NO_LANGUAGE else value
    names = node.get("class") or ""
    for found in _LANGUAGE.finditer(names):
        value = found[1].lower().rstrip(".;")
        if value not in NO_LANGUAGE:
            return value
    if _FAMILY.search(names) or node.tag == "code":
        return next((w for w in names.lower().split() if w in KNOWN), "")
    return ""


def listing(table: HtmlElement) -> str | None:
    """Return the code of a table that only numbers its lines, fenced, or None for a real table."""
    cells = [c for c in table.iter("td", "th")]
    if not 1 < len(cells) or not _is_listing(table, cells):
        return None
    code = [c for c in cells if not is_tooling(c) and not _NUMBERS.match(_start(c))]
    if not code:
        return None
    text = "\n".join(text_of(c) for c in code)
    return (
        fenced(text, language_of(next(code[0].iter("pre", "code"), code[0])) or language_of(table))
        if text.strip()
        else None
    )


def _is_listing(table: HtmlElement, cells: list[HtmlElement]) -> bool:
    """Tell whether the first column holds line numbers and the second code."""
    if len(cells) == 2:
        has_pre = (
            cells[1].find(".//pre") is not None
            or _TOOLING.search(cells[0].get("class") or "") is not None
        )
        return bool(
            has_pre
            and _NUMBERS.match("".join(cells[0].itertext()))
            and "".join(cells[0].itertext()).strip()
        )
    names = table.get("class") or ""
    return bool(
        re.search(
            r"(?:^|\s|-)(?:hljs-ln|blob|js-file-line-container|highlighttable|rouge-table|crayon-table|lntable)",
            names,
        )
    ) or (_TOOLING.search(cells[0].get("class") or "") is not None)


def _start(cell: HtmlElement) -> str:
    """Return the first characters of a cell."""
    return "".join(cell.itertext())[:200] or " "
