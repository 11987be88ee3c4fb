"""Tables that only number the lines of a block of code."""

import re
from itertools import islice

from lxml.html import HtmlElement

from flows import elements
from flows.markdown import code, inline, languages
from flows.markdown.kinds import text_of

MADE = re.compile(
    r"(?:^|\s|-)(?:hljs-ln|blob|js-file-line-container|highlighttable|rouge-table|crayon-table"
    r"|lntable)"
)
"""Class words of such tables with a row for each line."""
LOOKED_AT = 200
"""Characters of a cell that tell a number from code."""
_NUMBERS = re.compile(r"[\s\d]*\Z")


def written(table: HtmlElement) -> str | None:
    """Return the code of a table as a fenced block, or None for a table of anything else."""
    cells = list(islice(table.iter("td", "th"), 3))
    if len(cells) < 2 or not _is_listing(table, cells):
        return None
    cells = list(table.iter("td", "th"))
    held = [c for c in cells if not code.is_tooling(c) and not _NUMBERS.match(_beginning(c))]
    named = [c for c in held if "filename" in (c.get("class") or "")]
    held = [c for c in held if c not in named]
    text = "\n".join(map(code.text_of, held))
    if not text.strip():
        return None
    block = next(held[0].iter("pre", "code"), held[0])
    fence = code.fenced(text, languages.of(block) or languages.of(table))
    return "\n\n".join([*(inline.one_line(inline.escape(text_of(c))) for c in named), fence])


def _is_listing(table: HtmlElement, cells: list[HtmlElement]) -> bool:
    """Tell whether the first column holds line numbers and the second code."""
    numbered = code.names_tooling(cells[0])
    if len(cells) == 2:
        text = elements.beginning(cells[0], LOOKED_AT)
        holds_code = numbered or cells[1].find(".//pre") is not None
        return bool(holds_code and text.strip() and _NUMBERS.match(text))
    return numbered or MADE.search(table.get("class") or "") is not None


def _beginning(cell: HtmlElement) -> str:
    """Return the first characters of a cell; a blank one is a line without characters."""
    return elements.beginning(cell, LOOKED_AT) or " "
