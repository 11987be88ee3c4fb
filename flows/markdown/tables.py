"""Tables of a page: which ones hold data, and how those are written."""

import re
from collections.abc import Callable, Iterator

from lxml.html import HtmlElement

from flows import elements
from flows.elements import Holders
from flows.markdown.inline import BREAK
from flows.markdown.kinds import HEADINGS, has_block

MAX_SPAN = 64
"""Columns that one cell may claim."""
MAX_REACHED = 256
"""Columns in which a cell above is followed down: without a bound, cells that span add up."""
PADDED = 24
"""Columns up to which every row is written at full width."""
CELL_TEXT = 2000
"""Characters beyond which a cell without a header row is a part of the layout."""
MOST_PIPES = 1_000
"""Pipes of a cell that are escaped: parsers join what is between them again for each."""
LINE = 400
"""Characters of a table that is a line of words."""
_PARTS = frozenset({"thead", "tbody", "tfoot"})
_CELLS = frozenset({"td", "th"})
_LAYOUT_INSIDE = ("table", "pre", "h1", "h2", "h3", "h4", "form", "article", "section")

_AROUND = re.compile(r"[\0 ]*(</?(?:ul|ol|li)>)[\0 ]*")

Rows = list[list[HtmlElement]]


def rows_of(table: HtmlElement) -> Rows:
    """Return the cells of a table's own rows; rows without cells are left out."""
    rows = []
    for child in table:
        if child.tag == "tr":
            rows.append([c for c in child if c.tag in _CELLS])
        elif child.tag in _PARTS:
            rows.extend([c for c in row if c.tag in _CELLS] for row in child if row.tag == "tr")
    return [row for row in rows if row]


def is_data(table: HtmlElement, rows: Rows, holders: Holders) -> bool:
    """Tell whether a table is one for a reader; the others only place things on the page."""
    if table.get("role") in ("presentation", "none") or len(rows) < 2 or max(map(len, rows)) < 2:
        return False
    headed = any(cell.tag == "th" for cell in rows[0])
    for cell in (c for row in rows for c in row):
        if holders.holds(cell, "pre"):
            return False
        if not headed and (holders.holds(cell, *_LAYOUT_INSIDE) or _is_long(cell)):
            return False
    return True


def _is_long(cell: HtmlElement) -> bool:
    return len(cell) > 0 and len(elements.beginning(cell, CELL_TEXT + 1)) > CELL_TEXT


def parts(rows: Rows, holders: Holders) -> list[Rows]:
    """Return the rows between headings that stand in a table; a heading's row is a part alone."""
    found: list[Rows] = [[]]
    for row in rows:
        if holds_heading(row, holders):
            found += [[row], []]
        elif any(text.strip() for cell in row for text in cell.itertext()):
            found[-1].append(row)
    return list(filter(None, found))


def holds_heading(row: list[HtmlElement], holders: Holders) -> bool:
    """Tell whether a row is nothing but a heading."""
    return len(row) == 1 and holders.holds(row[0], *HEADINGS)


def is_line(rows: Rows) -> bool:
    """Tell whether rows are one line that a table only spaces out."""
    if len(rows) != 1 or any(map(has_block, rows[0])):
        return False
    left = LINE
    for cell in rows[0]:
        left -= len(elements.beginning(cell, left + 1))
        if left < 0:
            return False
    return True


def written(table: HtmlElement, rows: Rows, convert: Callable[[HtmlElement], str]) -> str:
    """Return a table as Markdown; `convert` gives the words of one cell on one line."""
    lines = [list(_spread(row, convert)) for row in _spanned(rows)]
    header = 0 if _is_header(table, rows) else None
    lines = [line for n, line in enumerate(lines) if any(line) or n == header]
    if not lines:
        return ""
    width = max(map(len, lines))
    head = lines.pop(0) if header == 0 else []
    pad = width if width <= PADDED else 0
    rule = "|" + " --- |" * width
    return "\n".join([_line(head, width), rule, *(_line(line, pad) for line in lines)])


def one_line(words: str) -> str:
    r"""Return the words of a cell so that they stay in it.

    >>> one_line("a | b\0 c")
    'a \\| b<br>c'
    """
    text = _AROUND.sub(r"\1", " ".join(words.split())).strip(BREAK + " ")
    lines = (line.strip() for line in text.split(BREAK))
    pipe = "\\|" if text.count("|") <= MOST_PIPES else "&#124;"
    return "<br>".join(filter(None, lines)).replace("|", pipe)


def _line(cells: list[str], width: int) -> str:
    """Return one row, filled up with empty cells."""
    return "| " + " | ".join(cells + [""] * (width - len(cells))) + " |"


def _spread(row: list[HtmlElement | None], convert: Callable[[HtmlElement], str]) -> Iterator[str]:
    """Yield the words of a row's cells, an empty cell for each further column they span."""
    for cell in row:
        yield "" if cell is None else convert(cell)


def _spanned(rows: Rows) -> Iterator[list[HtmlElement | None]]:
    """Yield the rows with None where a cell beside or above reaches over."""
    below: dict[int, int] = {}
    for row in rows:
        line: list[HtmlElement | None] = []
        cells = iter(row)
        while True:
            while below.get(len(line), 0) > 0:
                below[len(line)] -= 1
                line.append(None)
            cell = next(cells, None)
            if cell is None:
                break
            wide, high = _span(cell, "colspan"), _span(cell, "rowspan")
            for offset in range(wide):
                if high > 1 and len(line) < MAX_REACHED:
                    below[len(line)] = high - 1
                line.append(None if offset else cell)
        yield line


def _span(cell: HtmlElement, name: str) -> int:
    """Return how many columns or rows a cell takes."""
    value = (cell.get(name) or "").strip()
    return (
        max(1, min(MAX_SPAN, int(value)))
        if value.isascii() and value.isdigit() and len(value) < 6
        else 1
    )


def _is_header(table: HtmlElement, rows: Rows) -> bool:
    """Tell whether the first row names the columns; where nothing says so, it is taken to.

    A first row that opens with a name for the row itself, as every other row does, is data.
    """
    if table.find("thead") is not None or all(c.tag == "th" for c in rows[0]):
        return True
    return rows[0][0].tag == "td"
