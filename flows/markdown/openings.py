"""What an element does when it begins: open a frame, write what it is, or leave it out."""

from collections.abc import Callable

from lxml.html import HtmlElement

from flows import elements
from flows.markdown import code, inline, languages, links, listings, maths, notes, tables
from flows.markdown.frames import Kind
from flows.markdown.inline import BREAK
from flows.markdown.kinds import (
    BLOCKS,
    CODES,
    HEADINGS,
    LISTS,
    MARKED,
    SIMPLE,
    SKIPPED,
    has_block,
    text_of,
)
from flows.markdown.writer import Writer

DEPTH = 8
"""Lists and quotes within each other that are still marked."""
SUBSTANTIAL = 400
"""Characters from which what is said to readers without scripts is more than a warning."""
SMALL = 24
"""Characters of a raised or lowered text that keeps its mark."""
_INNER = frozenset({"span", "a", "b", "i", "em", "strong", "wbr", "var"})
"""Elements in inline code that are none of its tooling."""


def start(writer: Writer, element: HtmlElement) -> bool:
    """Open an element; False when what is inside has been dealt with or is left out."""
    tag = str(element.tag)
    names = element.get("class")
    if tag == "span" and not names:
        return True
    if tag in SKIPPED:
        return _skipped(writer, element)
    shown = maths.formula(element, writer.holders) if tag in maths.HOLDERS else None
    if shown is not None:
        _formula(writer, shown)
        return False
    if names and languages.is_label(element):
        return False
    if tag in BLOCKS:
        return _block(writer, element)
    opens = OPENERS.get(tag)
    return True if opens is None else opens(writer, element)


def _skipped(writer: Writer, element: HtmlElement) -> bool:
    """Leave an element out, but for a formula's source, a task's box and an image's stand-in."""
    if element.tag == "script":
        _formula(writer, maths.formula(element, writer.holders) or "")
    elif element.tag == "input" and element.get("type") == "checkbox":
        if writer.top.name == "item":
            writer.raw("[x] " if element.get("checked") is not None else "[ ] ")
    elif element.tag == "noscript":
        return _noscript(writer, element)
    return False


def _noscript(writer: Writer, element: HtmlElement) -> bool:
    """Open what readers without scripts see, where it is the page itself or an image's source."""
    before = element.getprevious()
    if element.find("img") is not None:
        return before is None or before.tag != "img"
    writer.boundary()
    return len(elements.beginning(element, SUBSTANTIAL + 1)) > SUBSTANTIAL


def _formula(writer: Writer, shown: str) -> None:
    """Write a formula, one on display as a block."""
    if shown.startswith("$$") and writer.top.kind is Kind.BLOCKS:
        writer.block(shown)
    else:
        writer.raw(shown)


def _block(writer: Writer, element: HtmlElement) -> bool:
    """Begin a paragraph; a note set apart becomes a quote, its title bold."""
    if element.tag == "table":
        return _table(writer, element)
    if code.is_fragment(element):
        return _pre(writer, element)
    if element.get("class") and writer.top.kind is Kind.BLOCKS:
        titled = writer.active["note"] and notes.is_title(element)
        if titled and not has_block(element, BLOCKS - SIMPLE):
            return writer.push(element, Kind.WORDS, "title")
        if notes.is_note(element) and writer.depth() < DEPTH:
            return writer.push(element, Kind.BLOCKS, "note")
    writer.boundary()
    return True


def _heading(writer: Writer, element: HtmlElement) -> bool:
    if writer.top.kind in (Kind.WORDS, Kind.CELL):
        writer.boundary()
        return True
    writer.flush()
    return writer.push(element, Kind.WORDS, "heading")


def _marked(writer: Writer, element: HtmlElement) -> bool:
    """Open emphasis, unless it is open already or holds blocks."""
    kind, active = MARKED[str(element.tag)], writer.active
    if active[kind] or active["heading"] or active["title"] or has_block(element):
        return True
    return writer.push(element, Kind.WORDS, kind)


def _link(writer: Writer, element: HtmlElement) -> bool:
    """Open a link; a permalink is left out, an anchor without a target is no link."""
    href = element.get("href")
    if href is None:
        return True
    if links.is_permalink(element, href, heading=bool(writer.active["heading"])):
        return False
    target = writer.spelling.base.absolute(href)
    if writer.active["link"] or not target:
        return True
    if has_block(element):
        writer.boundary()
        if writer.top.kind is Kind.BLOCKS:
            writer.top.link = target
        return True
    return writer.push(element, Kind.WORDS, "link")


def _code(writer: Writer, element: HtmlElement) -> bool:
    """Write inline code; code with line breaks of its own is a block."""
    if element.find("br") is not None and writer.top.kind is Kind.BLOCKS:
        return _pre(writer, element)
    if writer.holders.holds(element, "pre"):
        return True
    plain = all(inner.tag in _INNER for inner in element)
    text = text_of(element) if plain else code.text_of(element)
    span = inline.code_span(text)
    if not span:
        return False
    opening = code.opening_link(element)
    if opening is not None and not writer.active["link"]:
        span = writer.spelling.spell("a", opening, span)
    if writer.top.words and writer.top.words[-1].endswith("`"):
        writer.raw(" ")
    writer.raw(f"{' ' * text[:1].isspace()}{span}{' ' * text[-1:].isspace()}")
    return False


def _pre(writer: Writer, element: HtmlElement) -> bool:
    """Write a block of code, or its lines where no block may stand."""
    text = code.text_of(element)
    if not text.strip():
        return False
    if writer.top.kind in (Kind.WORDS, Kind.CELL):
        writer.boundary()
        writer.raw(BREAK.join(map(inline.code_span, text.splitlines())))
        writer.boundary()
    else:
        writer.block(code.fenced(text, languages.of(element)))
    return False


def _break(writer: Writer, element: HtmlElement) -> bool:
    writer.raw(BREAK)
    return True


def _rule(writer: Writer, element: HtmlElement) -> bool:
    if writer.top.kind is Kind.BLOCKS:
        writer.flush()
        rule = writer.spelling.spell("hr", element, "")
        if writer.top.blocks and writer.top.blocks[-1] != rule:
            writer.top.blocks.append(rule)
    return True


def _image(writer: Writer, element: HtmlElement) -> bool:
    writer.raw(writer.spelling.spell("img", element, ""))
    return True


def _quote(writer: Writer, element: HtmlElement) -> bool:
    if writer.top.kind in (Kind.WORDS, Kind.CELL) or writer.depth() >= DEPTH:
        writer.boundary()
        return True
    return writer.push(element, Kind.BLOCKS, "note" if notes.is_note(element) else "quote")


def _list(writer: Writer, element: HtmlElement) -> bool:
    if writer.top.kind is Kind.CELL:
        writer.raw("<ol>" if element.tag == "ol" else "<ul>")
        return True
    deep = writer.depth() >= DEPTH or writer.active["list"] > DEPTH
    if writer.top.kind is Kind.WORDS or deep:
        writer.boundary()
        return True
    return writer.push(element, Kind.ITEMS, "list")


def _item(writer: Writer, element: HtmlElement) -> bool:
    if writer.top.kind is Kind.CELL:
        writer.raw("<li>")
        return True
    if writer.top.kind is not Kind.ITEMS:
        writer.boundary()
        return True
    return writer.push(element, Kind.BLOCKS, "item")


def _parts(writer: Writer, element: HtmlElement) -> bool:
    writer.boundary()
    return True


def _term(writer: Writer, element: HtmlElement) -> bool:
    """Open the term of a definition, or what stands on a closed `details`."""
    if writer.top.kind is not Kind.BLOCKS or has_block(element):
        writer.boundary()
        return True
    writer.flush()
    return writer.push(element, Kind.WORDS, "title")


def _raised(writer: Writer, element: HtmlElement) -> bool:
    """Open raised or lowered text."""
    if writer.active["raised"] or writer.holders.holds(element, "a"):
        return True
    if len(elements.beginning(element, SMALL + 1)) > SMALL:
        return True
    return writer.push(element, Kind.WORDS, "raised")


def _quoted(writer: Writer, element: HtmlElement) -> bool:
    writer.raw('"')
    return True


def _table(writer: Writer, element: HtmlElement) -> bool:
    """Write a table of data; one of code as code; one of the layout block by block."""
    listing = listings.written(element)
    if listing is not None:
        writer.block(listing)
        return False
    rows = tables.rows_of(element)
    if writer.top.kind is not Kind.BLOCKS or not tables.is_data(element, rows, writer.holders):
        writer.boundary()
        return not _placed(writer, element, rows)
    caption = element.find("caption")
    if caption is not None:
        writer.block(inline.escape_start(_cell(writer, caption)))
    writer.block(tables.written(element, rows, lambda cell: _cell(writer, cell)))
    return False


def _placed(writer: Writer, element: HtmlElement, rows: tables.Rows) -> bool:
    """Write a table that is data under headings of its own, or one line; False for others."""
    is_line = tables.is_line(rows)
    headed = any(tables.holds_heading(row, writer.holders) for row in rows)
    if writer.top.kind is not Kind.BLOCKS or not (headed or is_line):
        return False
    parts = tables.parts(rows, writer.holders)
    if len(parts) < 2 and not is_line:
        return False
    heads = [tables.holds_heading(part[0], writer.holders) for part in parts]
    if not all(head or _is_plain(part) for head, part in zip(heads, parts, strict=True)):
        return False
    for head, part in zip(heads, parts, strict=True):
        if head:
            for block in writer.walk(part[0][0], Kind.BLOCKS).blocks:
                writer.block(block)
        elif tables.is_data(element, part, writer.holders):
            writer.block(tables.written(element, part, lambda cell: _cell(writer, cell)))
        else:
            cells = (_cell(writer, cell) for row in part for cell in row)
            writer.block(inline.escape_start(" ".join(filter(None, cells))))
    return True


def _is_plain(part: tables.Rows) -> bool:
    """Tell whether no cell holds a block."""
    return not any(has_block(cell) for row in part for cell in row)


def _cell(writer: Writer, element: HtmlElement) -> str:
    """Return the content of a table's cell on one line."""
    return tables.one_line("".join(writer.walk(element, Kind.CELL).words))


OPENERS: dict[str, Callable[[Writer, HtmlElement], bool]] = {
    **dict.fromkeys(HEADINGS, _heading),
    **dict.fromkeys(MARKED, _marked),
    **dict.fromkeys(CODES, _code),
    **dict.fromkeys(LISTS, _list),
    **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), _pre),
    **dict.fromkeys(("sup", "sub"), _raised),
    **dict.fromkeys(("dt", "summary"), _term),
    "a": _link,
    "br": _break,
    "hr": _rule,
    "img": _image,
    "blockquote": _quote,
    "li": _item,
    "dl": _parts,
    "q": _quoted,
}
"""Elements that need more than their words, and what opens them."""
