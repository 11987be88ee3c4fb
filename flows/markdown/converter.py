"""The walk over the page's tree that writes Markdown."""

import re
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field
from enum import Enum

from lxml import etree
from lxml.html import HtmlElement
from markdownify import ATX, MarkdownConverter

from flows.markdown import code, inline, maths, tables
from flows.markdown.inline import BREAK

SKIPPED = frozenset(
    "script style template svg button select textarea iframe canvas object embed audio video map dialog "
    "head title link meta input noscript datalist progress meter area source track param col colgroup".split()
)
"""Elements whose content is not the page's text."""
BLOCKS = frozenset(
    "address article aside body center dd details dialog div fieldset figcaption figure footer form header "
    "hgroup html legend main nav p section tbody td tfoot th thead tr caption table search optgroup".split()
)
"""Elements that only begin and end a paragraph."""
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
MARKED = {
    "b": "strong",
    "strong": "strong",
    "em": "em",
    "i": "em",
    "del": "del",
    "s": "del",
    "strike": "del",
}
"""Elements written with marks around their words, and the kind that must not nest."""
CODES = frozenset({"code", "kbd", "samp", "tt"})
LISTS = frozenset({"ul", "ol", "menu", "dir"})
HAS_BLOCK = BLOCKS | HEADINGS | LISTS | {"li", "pre", "blockquote", "dl", "dt", "hr"}
DEPTH = 12
"""Lists and quotes within each other that are still marked."""
LOOKED_AT = 64
"""Descendants searched for a block."""
SUBSTANTIAL = 400
"""Characters from which what is said to readers without scripts is more than a warning."""
SMALL = 24
"""Characters of a raised or lowered text that keeps its mark."""
_SIGN = re.compile(r"[\s\W_]*\Z")
_PERMALINK = re.compile(
    r"(?:^|[\s_-])(?:headerlink|header-anchor|header-link|hash-link|anchor(?:-?link|js-link)?|permalink|heading-(?:anchor|link)"
    r"|doc-anchor|direct-link|deep-?link|sl-anchor-link)(?:$|[\s_-])",
    re.IGNORECASE,
)
_PERMALINK_WORDS = re.compile(
    r"\s*(?:permalink|permanent link|direct link|link|anchor|copy link|section titled|edit)\b.{0,80}\Z",
    re.IGNORECASE | re.DOTALL,
)
_KINDS = "note|tip|hint|info|important|warning|caution|danger|error|attention|seealso|example|question|success|failure|bug|abstract|todo|quote"
_ADMONITION = re.compile(
    r"(?:^|[\s_-])(?:admonition|admonitionblock|callout|custom-block|markdown-alert|notecard|theme-admonition)(?:$|[\s_-])"
)
_ALERT = re.compile(r"(?:^|\s)(?:alert|notice)(?:\s|$)")
_KIND = re.compile(rf"(?:^|[\s_-])({_KINDS})(?:$|[\s_-])", re.IGNORECASE)
_TITLE = re.compile(
    r"(?:admonition|alert|callout|custom-block|notecard|notice)[-_]*(?:title|heading|header|label)",
    re.IGNORECASE,
)


class Kind(Enum):
    """What an open element collects."""

    BLOCKS = 1
    ITEMS = 2
    WORDS = 3
    CELL = 4


class Listed(str):
    """A finished list, which may follow a paragraph of its item without a blank line."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Frame:
    """An element that is open, and what has been written in it."""

    element: HtmlElement
    kind: Kind
    name: str
    words: list[str] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    items: list[tuple[int, list[str]]] = field(default_factory=list)
    link: str = ""
    """Target for the first words, of a link around whole blocks."""


class Converter(MarkdownConverter):  # type: ignore[misc]  # markdownify ships no types
    """markdownify's converter on lxml's tree: the tree is not parsed twice and may be any depth.

    An element is converted when it ends, by the method `convert_<name>` as in markdownify; the
    walk itself keeps a stack of its own, so nesting costs no recursion.
    """

    def __init__(self, base_url: str, without: Set[HtmlElement] = frozenset()) -> None:
        super().__init__(heading_style=ATX, bullets="-*", strip_document=None)
        self.base = inline.Base(base_url)
        self.without = without
        self.anchors: list[tuple[str, str]] = []
        self.stack: list[Frame] = []
        self.active: Counter[str] = Counter()
        self.pending_ids: list[str] = []

    def write(self, node: HtmlElement) -> str:
        """Return `node` as Markdown, without white space around it."""
        root = self.walk(node, Kind.BLOCKS)
        return "\n\n".join(root.blocks)

    def walk(self, node: HtmlElement, kind: Kind) -> Frame:
        """Return the frame of `node` with all it holds written."""
        outer, self.stack = self.stack, [Frame(node, kind, "root")]
        root = self.stack[0]
        events = etree.iterwalk(node, events=("start", "end", "comment", "pi"))
        for event, element in events:
            if event == "start":
                if element is node:
                    self.text(element.text)
                elif self.start(element):
                    self.text(element.text)
                else:
                    events.skip_subtree()
            elif element is not node:
                if event == "end":
                    self.end(element)
                self.text(element.tail)
        self.flush()
        self.stack = outer
        return root

    # what is open

    @property
    def top(self) -> Frame:
        """The innermost open frame."""
        return self.stack[-1]

    def text(self, text: str | None) -> None:
        """Add words of the page."""
        if text:
            words = inline.escape(text)
            if self.active["a"] and ("[" in words or "]" in words):
                words = inline.escape_brackets(words)
            self.stack[-1].words.append(words)

    def raw(self, text: str) -> None:
        """Add Markdown to the open paragraph."""
        if text:
            self.stack[-1].words.append(text)

    def block(self, text: str) -> None:
        """Add a finished block, or its words where no block may stand."""
        if not text:
            return
        if self.top.kind in (Kind.BLOCKS, Kind.ITEMS):
            self.flush()
            self.top.blocks.append(text)
        else:
            self.boundary()
            self.raw(text if "\n" not in text else inline.one_line(text))
            self.boundary()

    def flush(self) -> None:
        """End the open paragraph."""
        frame = self.top
        if not frame.words or frame.kind in (Kind.WORDS, Kind.CELL):
            return
        words = "".join(frame.words)
        frame.words.clear()
        for text in inline.paragraphs(words):
            frame.blocks.append(self.linked(frame, text))

    def linked(self, frame: Frame, text: str) -> str:
        """Return text inside the link that goes around this block, at its first words."""
        if frame.link and "](" not in text and not _SIGN.match(text):
            text, frame.link = inline.link(inline.escape_brackets(text), frame.link), ""
        return text

    def boundary(self) -> None:
        """Begin or end a block: a new paragraph, or a space where only words may stand."""
        kind = self.top.kind
        if kind is Kind.WORDS:
            self.raw(" ")
        elif kind is Kind.CELL:
            self.raw(BREAK)
        else:
            self.flush()

    def push(self, element: HtmlElement, kind: Kind, name: str) -> bool:
        """Open a frame."""
        if kind is not Kind.WORDS:
            self.flush()
        self.stack.append(Frame(element, kind, name))
        self.active[name] += 1
        return True

    # elements that begin

    def start(self, element: HtmlElement) -> bool:
        """Open an element; False when what is inside has been dealt with or is left out."""
        tag = element.tag
        if element in self.without:
            return False
        if tag == "span" and not element.get("class"):
            return True
        if tag in SKIPPED:
            return self.start_skipped(element)
        shown = maths.formula(element) if tag in ("span", "div", "math", "mjx-container") else None
        if shown is not None:
            self.start_formula(shown)
            return False
        if tag in BLOCKS:
            return self.start_block(element)
        starter = STARTERS.get(tag)
        return True if starter is None else bool(getattr(self, starter)(element))

    def start_skipped(self, element: HtmlElement) -> bool:
        """Leave an element out, but for a formula's source, a task's box and an image's stand-in."""
        if element.tag == "script":
            self.start_formula(maths.formula(element) or "")
        elif element.tag == "input" and element.get("type") == "checkbox" and self.top.name == "li":
            self.raw("[x] " if element.get("checked") is not None else "[ ] ")
        elif element.tag == "noscript":
            return self.start_noscript(element)
        return False

    def start_noscript(self, element: HtmlElement) -> bool:
        """Open what is for readers without scripts where it is the page itself, or an image's source."""
        before = element.getprevious()
        if element.find("img") is not None:
            return before is None or before.tag != "img"
        self.boundary()
        return len("".join(element.itertext())) > SUBSTANTIAL

    def start_formula(self, shown: str) -> None:
        """Write a formula, one on display as a block."""
        if shown.startswith("$$") and self.top.kind is Kind.BLOCKS:
            self.block(shown)
        else:
            self.raw(shown)

    def start_block(self, element: HtmlElement) -> bool:
        """Begin a paragraph; an admonition becomes a quote, its title bold."""
        names = element.get("class")
        if _is_noise(element):
            return False
        if element.tag == "table":
            return self.start_table(element)
        if names and self.top.kind is Kind.BLOCKS:
            if (
                _TITLE.search(names)
                and self.active["admonition"]
                and not has_block(element, BLOCKS - {"div", "p"})
            ):
                return self.push(element, Kind.WORDS, "bold")
            if self.depth() < DEPTH and is_admonition(element, names):
                return self.push(element, Kind.BLOCKS, "admonition")
        self.boundary()
        return True

    def depth(self) -> int:
        """How many lists and quotes are open."""
        return self.active["li"] + self.active["blockquote"] + self.active["admonition"]

    def start_heading(self, element: HtmlElement) -> bool:
        """Open a heading."""
        if self.top.kind in (Kind.WORDS, Kind.CELL):
            self.boundary()
            return True
        self.flush()
        return self.push(element, Kind.WORDS, "heading")

    def start_marked(self, element: HtmlElement) -> bool:
        """Open emphasis, unless it is open already or holds blocks."""
        kind = MARKED[element.tag]
        if self.active[kind] or self.active["heading"] or self.active["bold"] or has_block(element):
            return True
        return self.push(element, Kind.WORDS, kind)

    def start_a(self, element: HtmlElement) -> bool:
        """Open a link; a permalink sign is left out, an anchor without a target is no link."""
        href = element.get("href")
        if href is None:
            return True
        if is_permalink(element, href, heading=bool(self.active["heading"])):
            return False
        if self.active["a"] or not self.base.absolute(href):
            return True
        if has_block(element):
            self.boundary()
            if self.top.kind is Kind.BLOCKS:
                self.top.link = self.base.absolute(href)
            return True
        return self.push(element, Kind.WORDS, "a")

    def start_code(self, element: HtmlElement) -> bool:
        """Write inline code; code with line breaks of its own is a block."""
        if element.find("br") is not None and self.top.kind is Kind.BLOCKS:
            return self.start_pre(element)
        if len(element) and element.find(".//pre") is not None:
            return True
        text = (
            "".join(element.itertext())
            if not len(element) or _PLAIN(element)
            else code.text_of(element)
        )
        span = inline.code_span(text)
        if span:
            inner = element[0] if len(element) == 1 and element[0].tag == "a" else None
            if (
                inner is not None
                and not self.active["a"]
                and (target := self.base.absolute(inner.get("href") or ""))
            ):
                if inner.get("href") and "".join(inner.itertext()).strip() == text.strip():
                    span = f"[{span}]({target})"
            if self.top.words and self.top.words[-1].endswith("`"):
                self.raw(" ")
            lead, tail = " " * text[:1].isspace(), " " * text[-1:].isspace()
            self.raw(f"{lead}{span}{tail}")
        return False

    def start_pre(self, element: HtmlElement) -> bool:
        """Write a block of code."""
        text = code.text_of(element)
        if text.strip():
            if self.top.kind in (Kind.WORDS, Kind.CELL):
                self.boundary()
                self.raw(BREAK.join(inline.code_span(line) for line in text.splitlines()))
                self.boundary()
            else:
                self.block(code.fenced(text, code.language_of(element)))
        return False

    def start_br(self, element: HtmlElement) -> bool:
        """Break the line."""
        self.raw(BREAK)
        return True

    def start_hr(self, element: HtmlElement) -> bool:
        """Write a rule."""
        if self.top.kind is Kind.BLOCKS:
            self.flush()
            if self.top.blocks and self.top.blocks[-1] != "---":
                self.top.blocks.append("---")
        return True

    def start_img(self, element: HtmlElement) -> bool:
        """Write an image with its real source."""
        self.raw(image(element, self.base))
        return True

    def start_blockquote(self, element: HtmlElement) -> bool:
        """Open a quote."""
        if self.top.kind in (Kind.WORDS, Kind.CELL) or self.depth() >= DEPTH:
            self.boundary()
            return True
        if is_admonition(element, element.get("class") or ""):
            return self.push(element, Kind.BLOCKS, "admonition")
        return self.push(element, Kind.BLOCKS, "blockquote")

    def start_list(self, element: HtmlElement) -> bool:
        """Open a list."""
        if self.top.kind is Kind.CELL:
            self.raw("<ul>" if element.tag != "ol" else "<ol>")
            return True
        if self.top.kind is Kind.WORDS or self.depth() >= DEPTH:
            self.boundary()
            return True
        return self.push(element, Kind.ITEMS, "list")

    def start_li(self, element: HtmlElement) -> bool:
        """Open an item of a list."""
        if self.top.kind is Kind.CELL:
            self.raw("<li>")
            return True
        if _is_noise(element):
            return False
        if self.top.kind is not Kind.ITEMS:
            self.boundary()
            return True
        return self.push(element, Kind.BLOCKS, "li")

    def start_dl(self, element: HtmlElement) -> bool:
        self.boundary()
        return True

    def start_dt(self, element: HtmlElement) -> bool:
        """Open a term."""
        if self.top.kind is not Kind.BLOCKS or has_block(element):
            self.boundary()
            return True
        self.flush()
        return self.push(element, Kind.WORDS, "bold")

    def start_sup(self, element: HtmlElement) -> bool:
        """Open raised or lowered text."""
        if (
            self.active["sup"]
            or len("".join(element.itertext())) > SMALL
            or element.find(".//a") is not None
        ):
            return True
        return self.push(element, Kind.WORDS, "sup")

    def start_q(self, element: HtmlElement) -> bool:
        self.raw('"')
        return True

    def start_table(self, element: HtmlElement) -> bool:
        """Write a table of data; one of code as code; one of the layout block by block."""
        listing = code.listing(element)
        if listing is not None:
            self.block(listing)
            return False
        rows = tables.rows_of(element)
        if self.top.kind is Kind.BLOCKS and tables.is_data(element, rows):
            caption = element.find("caption")
            if caption is not None:
                self.block(inline.escape_start(self.cell(caption)))
            self.block(tables.written(element, rows, self.cell))
            return False
        self.boundary()
        return True

    def cell(self, element: HtmlElement) -> str:
        """Return the content of a table's cell on one line."""
        words = " ".join("".join(self.walk(element, Kind.CELL).words).split())
        words = _AROUND.sub(r"\1", words).strip(BREAK + " ")
        text = "<br>".join(part for line in words.split(BREAK) if (part := line.strip()))
        return text.replace("|", "\\|")

    # elements that end

    def end(self, element: HtmlElement) -> None:
        """Close an element."""
        tag = element.tag
        if self.top.element is element and len(self.stack) > 1:
            self.flush()
            frame = self.stack.pop()
            self.active[frame.name] -= 1
            getattr(self, f"end_{frame.name}")(frame)
        elif tag in HAS_BLOCK or tag in LISTS:
            self.end_block(tag)
        elif tag == "a":
            if self.top.link:
                self.flush()
                self.top.link = ""
        elif tag == "q":
            self.raw('"')

    def end_block(self, tag: str) -> None:
        """End a paragraph."""
        if self.top.kind is Kind.CELL and (tag == "li" or tag in LISTS):
            self.raw({"li": "</li>", "ol": "</ol>"}.get(tag, "</ul>"))
        else:
            self.boundary()

    def end_heading(self, frame: Frame) -> None:
        """Write a heading."""
        text = inline.one_line("".join(frame.words))
        if not text:
            return
        if text.endswith("#"):
            text = text[:-1] + "\\#"
        text = self.linked(self.top, text)
        self.block(
            str(self.convert_hN(int(frame.element.tag[1]), frame.element, text, set())).strip("\n")
        )
        anchor = anchor_of(frame.element)
        if anchor:
            self.anchors.append((text, anchor))

    def end_bold(self, frame: Frame) -> None:
        """Write a term or a title as a paragraph of its own."""
        text = inline.one_line("".join(frame.words))
        if text:
            self.block(f"**{text}**" if "**" not in text else text)

    def end_strong(self, frame: Frame) -> None:
        self.marked(frame, "**")

    def end_em(self, frame: Frame) -> None:
        self.marked(frame, "*")

    def end_del(self, frame: Frame) -> None:
        self.marked(frame, "~~")

    def marked(self, frame: Frame, mark: str) -> None:
        """Write words between marks, where Markdown would read them as such."""
        words = "".join(frame.words)
        text = words.strip()
        if not text.strip(BREAK + " "):
            self.raw(words)
            return
        lead, tail = " " * words[:1].isspace(), " " * words[-1:].isspace()
        before = self.top.words[-1] if self.top.words else ""
        following = (frame.element.tail or " ")[0]
        if (
            not lead
            and before.endswith(mark)
            and not before.endswith("\\" + mark)
            and before.startswith(mark)
        ):
            self.top.words[-1] = f"{before[: -len(mark)]}{text}{mark}{tail}"
            return
        opens = lead or not before or not _wordy(before[-1]) or _wordy(text[0])
        closes = tail or not _wordy(following) or _wordy(text[-1])
        clash = not lead and before.endswith("*")
        self.raw(f"{lead}{mark}{text}{mark}{tail}" if opens and closes and not clash else words)

    def end_a(self, frame: Frame) -> None:
        """Write a link."""
        words = "".join(frame.words)
        text = " ".join(words.split()).strip(BREAK + " ")
        target = self.base.absolute(frame.element.get("href") or "")
        lead, tail = " " * words[:1].isspace(), " " * words[-1:].isspace()
        if not text:
            self.raw(" " if words else "")
            return
        before = self.top.words
        if before and before[-1].endswith("!"):
            before[-1] = before[-1][:-1] + "\\!"
        self.raw(f"{lead}{inline.link(text, target)}{tail}")

    def end_sup(self, frame: Frame) -> None:
        words = "".join(frame.words)
        tag = frame.element.tag
        self.raw(f"<{tag}>{words.strip()}</{tag}>" if words.strip() else words)

    def end_blockquote(self, frame: Frame) -> None:
        """Write a quote."""
        text = "\n\n".join(frame.blocks)
        if text:
            self.block("\n".join(f"> {line}" if line else ">" for line in text.split("\n")))

    def end_admonition(self, frame: Frame) -> None:
        """Write an admonition as a quote that opens with its kind."""
        if frame.blocks and not frame.blocks[0].startswith("**"):
            found = _KIND.search(frame.element.get("class") or "")
            if found and not frame.blocks[0].lower().startswith(found[1].lower()):
                frame.blocks.insert(0, f"**{found[1].capitalize()}**")
        self.end_blockquote(frame)

    def end_li(self, frame: Frame) -> None:
        """Hand an item to its list."""
        if frame.blocks:
            value = frame.element.get("value") or ""
            number = int(value) if value.isascii() and value.isdigit() and len(value) < 9 else -1
            self.top.items.append((number, frame.blocks))

    def end_list(self, frame: Frame) -> None:
        """Write a list."""
        if frame.blocks:
            frame.items.append((-1, frame.blocks))
        if not frame.items:
            return
        if self.top.kind is Kind.ITEMS and self.top.items:
            self.top.items[-1][1].append(Listed(listed(frame, other=False)))
            return
        self.flush()
        follows = bool(self.top.blocks) and isinstance(self.top.blocks[-1], Listed)
        other = follows and self.top.blocks[-1][:1] in "-1" if follows else False
        self.block_list(Listed(listed(frame, other=other)))

    def block_list(self, text: Listed) -> None:
        if self.top.kind is Kind.ITEMS:
            self.top.items.append((-1, [text]))
        else:
            self.top.blocks.append(text)


STARTERS = {
    **dict.fromkeys(HEADINGS, "start_heading"),
    **dict.fromkeys(MARKED, "start_marked"),
    **dict.fromkeys(CODES, "start_code"),
    **dict.fromkeys(LISTS, "start_list"),
    **{
        tag: f"start_{tag}"
        for tag in ("a", "pre", "br", "hr", "img", "blockquote", "li", "dl", "dt", "q")
    },
    **dict.fromkeys(("listing", "xmp", "plaintext"), "start_pre"),
    **dict.fromkeys(("sup", "sub"), "start_sup"),
    "summary": "start_dt",
    "dd": "start_dl",
}
"""Elements that need more than their words, and the method that opens them."""
_AROUND = re.compile(r"[\0 ]*(</?(?:ul|ol|li)>)[\0 ]*")


def _wordy(character: str) -> bool:
    """Tell whether Markdown takes a character for a part of a word."""
    return character.isalnum()


def _PLAIN(element: HtmlElement) -> bool:
    return all(n.tag in ("span", "a", "b", "i", "em", "strong", "wbr", "var") for n in element)


def has_block(element: HtmlElement, blocks: frozenset[str] = HAS_BLOCK) -> bool:
    """Tell whether an element holds a block, near its beginning."""
    if not len(element):
        return False
    for number, inner in enumerate(element.iterdescendants()):
        if inner.tag in blocks:
            return True
        if number > LOOKED_AT:
            return False
    return False


def listed(frame: Frame, *, other: bool) -> str:
    """Return the items of a list; `other` takes the second kind of mark, to part two lists."""
    ordered = frame.element.tag == "ol"
    start = frame.element.get("start") or ""
    number = int(start) if start.isascii() and start.isdigit() and len(start) < 9 else 1
    lines, loose = [], False
    for value, blocks in frame.items:
        number = value if ordered and value >= 0 else number
        mark = f"{number}{')' if other else '.'} " if ordered else ("* " if other else "- ")
        number += 1
        text = blocks[0]
        for block in blocks[1:]:
            tight = isinstance(block, Listed)
            loose = loose or not tight
            text += ("\n" if tight else "\n\n") + block
        pad = " " * len(mark)
        lines.append(
            mark
            + "\n".join(
                pad + line if line and n else line for n, line in enumerate(text.split("\n"))
            )
        )
    return ("\n\n" if loose else "\n").join(lines)


def is_permalink(element: HtmlElement, href: str, *, heading: bool) -> bool:
    """Tell whether a link only points at the place where it stands."""
    names = element.get("class") or ""
    marked = bool(_PERMALINK.search(names))
    if not marked and "#" not in href:
        return False
    text = "".join(element.itertext())
    if _SIGN.match(text) and element.find(".//img") is None:
        return marked or heading or text.strip() in ("¶", "#", "§", "🔗", "↩", "↩︎", "\uf0c1")
    return marked and bool(_PERMALINK_WORDS.match(text))


def is_admonition(element: HtmlElement, names: str) -> bool:
    """Tell whether an element is a note set apart from the text."""
    if element.tag not in ("div", "aside", "section", "blockquote", "details", "p") or not names:
        return False
    return bool(_ADMONITION.search(names) or (_ALERT.search(names) and _KIND.search(names)))


def _is_noise(element: HtmlElement) -> bool:
    """Tell whether an element is hidden for good."""
    return False


def anchor_of(element: HtmlElement) -> str:
    """Return the id by which a heading can be reached: its own, or of what it opens."""
    own = element.get("id")
    if own:
        return own
    for inner in element.iter("a", "span"):
        found = inner.get("id") or inner.get("name")
        if found:
            return str(found)
    parent = element.getparent()
    if parent is not None and parent.tag in ("section", "div", "article") and parent[0] is element:
        return parent.get("id") or ""
    return ""


def image(element: HtmlElement, base: inline.Base) -> str:
    """Return an image as Markdown; emoji as their characters, nothing for a placeholder."""
    alt = " ".join((element.get("alt") or "").split())
    if "emoji" in (element.get("class") or "") and alt:
        return alt
    source = source_of(element)
    target = base.absolute(source) if source else ""
    if not target or (element.get("width") in ("0", "1") and element.get("height") in ("0", "1")):
        return ""
    return f"![{inline.escape_brackets(inline.escape(alt))}]({target})"


def source_of(element: HtmlElement) -> str:
    """Return where an image really is: lazy loading keeps that beside `src`."""
    source = (element.get("src") or "").strip()
    lazy = next((v for n in _LAZY if (v := (element.get(n) or "").strip())), "")
    if lazy and not lazy.startswith("data:") and " " not in lazy:
        return lazy
    if source and not source.startswith("data:"):
        return source
    candidates = element.get("srcset") or element.get("data-srcset") or ""
    parent = element.getparent()
    if not candidates and parent is not None and parent.tag == "picture":
        candidates = next(
            (s.get("srcset") or s.get("data-srcset") or "" for s in parent.iter("source")), ""
        )
    return candidates.split(",")[0].strip().split(" ")[0]


_LAZY = ("data-src", "data-lazy-src", "data-original", "data-lazy", "data-orig-file")
