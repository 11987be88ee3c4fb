"""The walk over the page's tree, and what is written on the way."""

from collections import Counter
from collections.abc import Callable
from collections.abc import Set as AbstractSet

from lxml import etree
from lxml.html import HtmlElement

from flows.elements import Holders
from flows.markdown import inline, links
from flows.markdown.frames import Frame, Kind
from flows.markdown.inline import BREAK
from flows.markdown.kinds import HEADINGS
from flows.markdown.spelling import Spelling

Opens = Callable[["Writer", HtmlElement], bool]
"""Opens an element; False when what is inside has been dealt with or is left out."""
Closes = Callable[["Writer", HtmlElement], None]


class Writer:
    """Writes elements as Markdown; the walk keeps its own stack, so nesting costs no recursion."""

    def __init__(
        self, base_url: str, without: AbstractSet[HtmlElement], opens: Opens, closes: Closes
    ) -> None:
        """Take what links are relative to, what to leave out, and what elements do."""
        self.spelling = Spelling(base_url)
        self.holders = Holders()
        self.anchors: list[tuple[str, str]] = []
        self.active: Counter[str] = Counter()
        """How many frames of each name are open."""
        self._without = without
        self._opens = opens
        self._closes = closes
        self._stack: list[Frame] = []

    def write(self, node: HtmlElement) -> str:
        """Return `node` as Markdown, without white space around it."""
        return "\n\n".join(self.walk(node, Kind.BLOCKS).blocks)

    def walk(self, node: HtmlElement, kind: Kind) -> Frame:
        """Return a frame with all that `node` holds."""
        # A heading has to be opened as one; other elements are only what holds their content.
        opened = kind is Kind.BLOCKS and node.tag in HEADINGS
        root = Frame(node.getparent() if opened else node, kind, "root")  # type: ignore[arg-type]
        outer, self._stack = self._stack, [root]
        events = etree.iterwalk(node, events=("start", "end", "comment", "pi"))
        for event, element in events:
            if event == "start":
                inside = (element is node and not opened) or (
                    element not in self._without and self._opens(self, element)
                )
                if inside:
                    self.text(element.text)
                else:
                    events.skip_subtree()
            elif element is not node or opened:
                if event == "end":
                    self._closes(self, element)
                self.text(element.tail if element is not node else None)
        self.flush()
        self._stack = outer
        return root

    @property
    def top(self) -> Frame:
        """The innermost open frame."""
        return self._stack[-1]

    def depth(self) -> int:
        """Return how many lists and quotes are open."""
        return self.active["item"] + self.active["quote"] + self.active["note"]

    def push(self, element: HtmlElement, kind: Kind, name: str) -> bool:
        """Open a frame, and go on inside."""
        if kind is not Kind.WORDS:
            self.flush()
        self._stack.append(Frame(element, kind, name))
        self.active[name] += 1
        return True

    def pop(self) -> Frame:
        """Close the innermost frame."""
        self.flush()
        frame = self._stack.pop()
        self.active[frame.name] -= 1
        return frame

    def text(self, text: str | None) -> None:
        """Add words of the page."""
        if not text:
            return
        frame = self._stack[-1]
        if text.isspace():
            if frame.words or frame.kind in (Kind.WORDS, Kind.CELL):
                frame.words.append(" ")
            return
        words = inline.escape(text)
        if self.active["link"] and ("[" in words or "]" in words):
            words = inline.escape_brackets(words)
        frame.words.append(words)

    def raw(self, text: str) -> None:
        """Add Markdown to the open paragraph."""
        if text:
            self._stack[-1].words.append(text)

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

    def boundary(self) -> None:
        """Begin or end a block: a new paragraph, or a space where only words may stand."""
        kind = self.top.kind
        if kind is Kind.WORDS:
            self.raw(" ")
        elif kind is Kind.CELL:
            self.raw(BREAK)
        else:
            self.flush()

    def flush(self) -> None:
        """End the open paragraph."""
        frame = self.top
        if not frame.words or frame.kind in (Kind.WORDS, Kind.CELL):
            return
        words = "".join(frame.words)
        frame.words.clear()
        frame.blocks.extend(self.linked(text) for text in inline.paragraphs(words))

    def linked(self, text: str) -> str:
        """Return a block, its words in the link that goes around it and is not written yet."""
        frame = self.top
        if frame.link and "](" not in text and not links.is_sign(text):
            text, frame.link = inline.link(inline.escape_brackets(text), frame.link), ""
        return text
