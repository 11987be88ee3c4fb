"""Elements by what they are to a reader."""

from itertools import islice

from lxml.html import HtmlElement

SKIPPED = frozenset(
    "script style template svg button select textarea iframe canvas object embed audio video "  # noqa: SIM905
    "map dialog head title link meta input noscript datalist progress meter area param col "
    "colgroup".split()
)
"""Elements whose content is not the page's text."""
BLOCKS = frozenset(
    "address article aside body center dd details dialog div fieldset figcaption figure footer "  # noqa: SIM905
    "form header hgroup html label legend main nav p section tbody td tfoot th thead tr caption "
    "table search optgroup".split()
)
"""Elements that only begin and end a paragraph."""
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
MARKED = {
    "b": "strong",
    "strong": "strong",
    "em": "em",
    "i": "em",
    "s": "del",
    "strike": "del",
    "del": "del",
}
"""Elements written with marks around their words, and the kind that must not nest."""
CODES = frozenset({"code", "kbd", "samp", "tt"})
LISTS = frozenset({"ul", "ol", "menu", "dir"})
PARTING = BLOCKS | HEADINGS | LISTS | {"li", "pre", "blockquote", "dl", "dt", "hr"}
"""Elements that end the paragraph before them."""
SIMPLE = frozenset({"div", "p"})
LOOKED_AT = 64
"""Descendants that are searched for a block."""


def has_block(element: HtmlElement, blocks: frozenset[str] = PARTING) -> bool:
    """Tell whether an element holds a block, near its beginning."""
    if not len(element):
        return False
    return any(inner.tag in blocks for inner in islice(element.iterdescendants(), LOOKED_AT))


def text_of(element: HtmlElement) -> str:
    """Return all characters of an element, as they stand in the page."""
    return "".join(map(str, element.itertext()))
