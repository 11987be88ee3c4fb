"""What an element does when it ends: hand on what was written in it, in Markdown."""

from collections.abc import Callable
from functools import partial

from lxml.html import HtmlElement

from flows import elements
from flows.markdown import inline, links, lists, notes
from flows.markdown.frames import Closed, Frame, Kind, Listed
from flows.markdown.inline import BREAK
from flows.markdown.kinds import LISTS, MARKED, PARTING
from flows.markdown.writer import Writer

_SPOKEN = frozenset(MARKED) | {"span"}
"""Elements that begin with their text: no mark stands between it and marks in front."""
_CELL_MARKS = {"li": "</li>", "ol": "</ol>"}


def close(writer: Writer, element: HtmlElement) -> None:
    """End an element."""
    if writer.top.element is element:
        frame = writer.pop()
        CLOSERS[frame.name](writer, frame)
        return
    tag = str(element.tag)
    if tag in PARTING:
        if writer.top.kind is Kind.CELL and (tag == "li" or tag in LISTS):
            writer.raw(_CELL_MARKS.get(tag, "</ul>"))
        else:
            writer.boundary()
    elif tag == "a" and writer.top.link:
        writer.flush()
        writer.top.link = ""
    elif tag == "q":
        writer.raw('"')


def _heading(writer: Writer, frame: Frame) -> None:
    text = inline.one_line("".join(frame.words))
    if not text:
        return
    if text.endswith("#"):
        text = text[:-1] + "\\#"
    text = writer.linked(text)
    writer.block(writer.spelling.spell(str(frame.element.tag), frame.element, text))
    anchor = links.anchor_of(frame.element)
    if anchor:
        writer.anchors.append((text, anchor))


def _title(writer: Writer, frame: Frame) -> None:
    """Write a term or a title as a paragraph of its own."""
    text = inline.one_line("".join(frame.words))
    if text:
        bold = text if "**" in text else writer.spelling.spell("strong", frame.element, text)
        writer.block(bold)


def _marked(tag: str, writer: Writer, frame: Frame) -> None:
    """Write words between marks, where Markdown would read them as such."""
    words = "".join(frame.words)
    text = words.strip()
    if not text.strip(BREAK + " "):
        writer.raw(words)
        return
    spelled = writer.spelling.spell(tag, frame.element, text)
    mark = spelled[: spelled.index(text)]
    lead, tail = " " * words[:1].isspace(), " " * words[-1:].isspace()
    before = writer.top.words[-1] if writer.top.words else ""
    if not lead and before == mark and isinstance(before, Closed):
        writer.top.words[-1:] = [text, _closed(mark, text), *filter(None, [tail])]
        return
    following = _following(frame.element)
    opens = lead or not before or not before[-1].isalnum() or text[0].isalnum()
    closes = tail or not following.isalnum() or text[-1].isalnum()
    clash = not lead and before.endswith("*")
    if opens and closes and not clash:
        end = mark if lead else _closed(mark, text)
        writer.top.words += [f"{lead}{mark}{text}", end, *filter(None, [tail])]
    else:
        writer.raw(words)


def _following(element: HtmlElement) -> str:
    """Return the sign that stands behind an element; a space where none is sure to."""
    beside = element.getnext()
    if element.tail or beside is None or beside.tag not in _SPOKEN:
        return (element.tail or " ")[0]
    return elements.beginning(beside, 1) or " "


def _closed(mark: str, text: str) -> str:
    """Return the mark after `text`, by which words marked in the same way can go on with it."""
    return mark if text.endswith("\\") else Closed(mark)


def _link(writer: Writer, frame: Frame) -> None:
    words = "".join(frame.words)
    text = " ".join(words.split()).strip(BREAK + " ")
    if not text:
        writer.raw(" " if words else "")
        return
    before = writer.top.words
    if before and before[-1].endswith("!"):
        before[-1] = before[-1][:-1] + "\\!"
    lead, tail = " " * words[:1].isspace(), " " * words[-1:].isspace()
    writer.raw(f"{lead}{writer.spelling.spell('a', frame.element, text)}{tail}")


def _raised(writer: Writer, frame: Frame) -> None:
    """Write raised or lowered text."""
    text = "".join(frame.words)
    spelled = writer.spelling.spell(str(frame.element.tag), frame.element, text.strip())
    writer.raw(spelled if text.strip() else text)


def _quote(writer: Writer, frame: Frame) -> None:
    text = "\n\n".join(frame.blocks)
    if text:
        writer.block(writer.spelling.spell("blockquote", frame.element, text))


def _note(writer: Writer, frame: Frame) -> None:
    """Write a note as a quote that opens with its kind."""
    frame.blocks = notes.titled(frame.element, frame.blocks)
    _quote(writer, frame)


def _item(writer: Writer, frame: Frame) -> None:
    """Hand an item to its list."""
    if frame.blocks:
        writer.top.items.append((lists.counted(frame.element.get("value"), -1), frame.blocks))


def _list(writer: Writer, frame: Frame) -> None:
    if frame.blocks:
        frame.items.append((-1, frame.blocks))
    if not frame.items:
        return
    if writer.top.kind is Kind.ITEMS:
        text = lists.written(frame, other=False)
        items = writer.top.items
        if items:
            items[-1][1].append(text)
        else:
            items.append((-1, [text]))
        return
    writer.flush()
    before = writer.top.blocks[-1] if writer.top.blocks else ""
    other = isinstance(before, Listed) and lists.is_other(before)
    writer.top.blocks.append(lists.written(frame, other=other))


CLOSERS: dict[str, Callable[[Writer, Frame], None]] = {
    "heading": _heading,
    "title": _title,
    "strong": partial(_marked, "strong"),
    "em": partial(_marked, "em"),
    "del": partial(_marked, "del"),
    "link": _link,
    "raised": _raised,
    "quote": _quote,
    "note": _note,
    "item": _item,
    "list": _list,
}
"""What each kind of frame does when it is closed."""
