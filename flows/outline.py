"""What a Markdown text is made of: its blocks with their spans, and the headings above each.

Blocks are read by markdown-it-py's block rules alone; inline markup is not parsed, and a span is
a pair of character offsets. Together the spans cover every word of the text.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

KINDS = {
    "heading_open": "heading",
    "paragraph_open": "text",
    "fence": "fence",
    "table_open": "table",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "list_item_open": "item",
    "blockquote_open": "quote",
    "html_block": "lines",
    "code_block": "lines",
    "hr": "text",
}
"""Block tokens of markdown-it, and what we call them."""
LEAVES = frozenset({"heading", "text", "fence", "table", "lines"})
MAX_TITLE = 2_000
"""Characters of a heading that are read as its title."""
SIGNS = "\\*_`"
"""Characters of which no title consists."""
_BREAK = re.compile(r"\r\n|\n|\r")
_HEADING_LINE = re.compile(r" {0,3}#{1,6}([ \t]|$)")
_LINK = re.compile(r"\\.|!?\[((?>(?:[^\[\]\\]++|\\.)*))\]\((?>(?:[^()]++|\([^()]*+\))*)\)")
_CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_MARKS = re.compile(r"\\([!-/:-@\[-`{-~])|\*+|~~|(?<![^\W_])_+|_+(?![^\W_])|</?(?:sup|sub|br)>")


@dataclass(slots=True)
class Block:
    """A block of Markdown: `text[start:end]`, and the blocks within it."""

    kind: str
    start: int
    end: int
    level: int = 0
    """Of a heading: 1 to 6."""
    title: str = ""
    """Of a heading: its words without markup."""
    children: list["Block"] = field(default_factory=list)


@dataclass(slots=True)
class Section:
    """Consecutive blocks under one heading path; the first blocks are the headings themselves."""

    path: tuple[str, ...]
    title: str
    blocks: list[Block]
    position: int = -1
    """Which heading of the document is the innermost one, counted from 0; -1 before the first."""


@functools.cache
def _parser() -> MarkdownIt:
    """Return a parser of blocks alone; reference definitions stay text, for they must be kept."""
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def blocks(text: str) -> list[Block]:
    """Return the outermost blocks of `text`, in order; each ends where the next one starts."""
    offsets = [0, *(found.end() for found in _BREAK.finditer(text)), len(text)]
    root = Block("root", 0, len(text))
    stack = [root]
    tokens = _parser().parse(text)
    for position, token in enumerate(tokens):
        if token.nesting < 0 and KINDS.get(token.type[:-5] + "open") is not None:
            stack.pop()
        elif token.map is not None and (kind := KINDS.get(token.type)) is not None:
            block = Block(kind, offsets[token.map[0]], offsets[min(token.map[1], len(offsets) - 1)])
            _title(block, token, tokens, position, text)
            stack[-1].children.append(block)
            if token.nesting > 0:
                stack.append(block)
    _close_gaps(root)
    return root.children


def _title(block: Block, token: Token, tokens: list[Token], position: int, text: str) -> None:
    """Give a heading its level and words; one behind a list or quote mark is plain text."""
    if block.kind != "heading":
        return
    if token.level and not _HEADING_LINE.match(text, block.start):
        block.kind = "text"
        return
    block.level = int(token.tag[1])
    block.title = plain(tokens[position + 1].content[:MAX_TITLE])


def _close_gaps(root: Block) -> None:
    """Let each block reach to the start of its follower, so that no character is lost."""
    pending = [root]
    while pending:
        parent = pending.pop()
        children = parent.children
        if children:
            children[0].start = parent.start
            for block, following in pairwise(children):
                block.end = following.start
            children[-1].end = parent.end
            pending.extend(children)


def plain(text: str) -> str:
    r"""Return inline Markdown without its markup.

    >>> plain(r"The `max_tokens` *option* of [a\_b](https://a.test/)")
    'The max_tokens option of a_b'
    """
    text = _LINK.sub(_inside, _LINK.sub(_inside, text))
    parts, end = [], 0
    for found in _CODE.finditer(text):
        parts += [_MARKS.sub(r"\1", text[end : found.start()]), found[2].strip()]
        end = found.end()
    return " ".join("".join([*parts, _MARKS.sub(r"\1", text[end:])]).split())


def _inside(found: re.Match[str]) -> str:
    """Return the words of a link; an escaped character, which opens none, stays as it is."""
    return found[0] if found[1] is None else found[1]


def sections(text: str) -> Iterator[Section]:
    """Yield the parts of `text` between headings.

    A heading with nothing under it but a deeper heading opens that one's section, so that no
    heading is left without words where it has some.
    """
    above: list[Block] = []
    current = Section((), "", [])
    position = -1
    for block in _flat(blocks(text)):
        if block.kind == "heading":
            position += 1
            alone = all(b.kind == "heading" for b in current.blocks)
            if current.blocks and not (alone and above and block.level > above[-1].level):
                yield current
                current = Section((), "", [])
            while above and above[-1].level >= block.level:
                above.pop()
            above.append(block)
            current.path = tuple(b.title for b in above if b.title.strip(SIGNS))
            current.title, current.position = block.title, position
        current.blocks.append(block)
    if current.blocks:
        yield current


def _flat(found: list[Block]) -> Iterator[Block]:
    """Yield blocks; one that holds a heading deeper inside is opened up."""
    pending = found[::-1]
    while pending:
        block = pending.pop()
        if block.kind not in LEAVES and _holds_heading(block):
            pending.extend(block.children[::-1])
        else:
            yield block


def _holds_heading(block: Block) -> bool:
    """Tell whether a heading is anywhere within."""
    pending = list(block.children)
    while pending:
        child = pending.pop()
        if child.kind == "heading":
            return True
        pending.extend(child.children)
    return False
