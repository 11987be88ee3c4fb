"""The language of a block of code, where the page states it."""

import re
from itertools import islice, takewhile

from lxml.html import HtmlElement

NO_LANGUAGE = frozenset(
    "default none text plaintext plain txt source highlighter highlight notranslate auto "  # noqa: SIM905
    "nohighlight no-highlight unknown undefined wrapper block line lines container inline "
    "copy code".split()
)
"""Words in a language's place that name none."""
KNOWN = frozenset(
    "bash c c++ clojure console cpp cs csharp css dart diff docker dockerfile elixir erlang go "  # noqa: SIM905
    "graphql groovy haskell html http ini java javascript js json jsx julia kotlin less lua make "
    "makefile markdown md nginx objc perl php plaintext powershell py python r ruby rust scala "
    "scss sh shell sql swift toml ts tsx typescript vim vue xml yaml yml zig".split()
)
"""Languages read from a bare class word, where no prefix says that it is one."""
AROUND = frozenset({"div", "figure", "td", "tr", "tbody", "table", "pre", "span"})
"""Elements around code that may state its language."""
NEAR = 4
"""Elements around code that are asked."""
LABEL = 20
"""Characters of the longest name of a language."""
_DATA = ("data-lang", "data-language", "data-enlighter-language", "data-code-lang")
_PREFIXED = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-(?!er)|brush:\s*|sourceCode\s+"
    r"|src\s+src-)([\w+#.-]+)"
)
_WORD = re.compile(r"[\w+#.-]{1,30}\Z")
_FAMILY = re.compile(r"(?:^|\s)(?:hljs|highlight|prettyprint|rust|shiki|chroma)(?:\s|$)")


def of(element: HtmlElement) -> str:
    """Return the language that an element of code or those around it state, or nothing."""
    above = takewhile(lambda node: node.tag in AROUND, element.iterancestors())
    inner = islice(element.iter("code"), 1)
    return next(filter(None, map(_stated, [*inner, element, *islice(above, NEAR)])), "")


def is_label(element: HtmlElement) -> bool:
    """Tell whether an element beside a block of code only names its language."""
    text = (element.text or "").strip().lower()
    if not text or len(text) > LABEL or len(element):
        return False
    beside = (element.getnext(), element.getprevious())
    return any(near is not None and near.tag == "pre" and of(near) == text for near in beside)


def _stated(node: HtmlElement) -> str:
    """Return the language that the attributes of one element name."""
    for name in _DATA:
        value = (node.get(name) or "").strip().lower()
        if value and _WORD.match(value):
            return "" if value in NO_LANGUAGE else value
    names = node.get("class") or ""
    for found in _PREFIXED.finditer(names):
        value = found[1].lower().rstrip(".;")
        if value not in NO_LANGUAGE:
            return value
    if _FAMILY.search(names) or node.tag == "code":
        return next((word for word in names.lower().split() if word in KNOWN), "")
    return ""
