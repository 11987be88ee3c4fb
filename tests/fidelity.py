"""How much of a page's structure its Markdown keeps, part by part, from 0 to 1.

The page marks its main content with the attribute `data-gold` and what is none of it with
`data-drop`; the Markdown is rendered to HTML, and both are read in the same way.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urljoin

import lxml.html
from lxml.html import HtmlElement
from markdown_it import MarkdownIt

WEIGHTS = {
    "text": 0.25,
    "code": 0.20,
    "headings": 0.15,
    "tables": 0.12,
    "lists": 0.10,
    "links": 0.08,
    "inline": 0.05,
    "images": 0.05,
}
"""What each part counts for, where a page has it."""
UNSEEN = (
    "script",
    "style",
    "noscript",
    "template",
    "svg",
    "button",
    "select",
    "input",
    "nav",
    "annotation",
)
PARTING = frozenset(
    "p div li ul ol dl dt dd table tr td th pre blockquote section article aside main header "  # noqa: SIM905
    "h1 h2 h3 h4 h5 h6 figure figcaption details summary label br thead tbody".split()
)
"""Elements beside which words do not run together."""
_WORD = re.compile(r"\w+")
_RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@dataclass
class Structure:
    """What a reader of a page finds in it."""

    text: list[str] = field(default_factory=list)
    headings: list[tuple[str, str]] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    tables: list[tuple[str, ...]] = field(default_factory=list)
    lists: list[tuple[str, int, bool]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    inline: list[str] = field(default_factory=list)


def measure(html: str, markdown: str, url: str) -> dict[str, float]:
    """Return the parts' scores of Markdown made from a marked page, and their mean as `all`."""
    wanted = _structure(_gold(html), url)
    rendered = lxml.html.fragment_fromstring(_RENDERER.render(markdown), create_parent="div")
    got = _structure(rendered, url)
    scores = {}
    for part in WEIGHTS:
        left, right = Counter(getattr(wanted, part)), Counter(getattr(got, part))
        if left or right:
            scores[part] = 2 * (left & right).total() / (left.total() + right.total())
    weight = sum(WEIGHTS[part] for part in scores)
    scores["all"] = sum(WEIGHTS[part] * score for part, score in scores.items()) / weight
    return scores


def _gold(html: str) -> HtmlElement:
    """Return what is marked as main content, without what is marked to go."""
    tree = lxml.html.document_fromstring(html)
    root = tree.xpath("//*[@data-gold]")[0]
    for gone in [*root.xpath(".//*[@data-drop]"), *root.iter(*UNSEEN)]:
        if gone.getparent() is not None:
            gone.drop_tree()
    return root


def _structure(root: HtmlElement, url: str) -> Structure:
    """Return what an element holds."""
    return Structure(
        text=_WORD.findall(_text(root).casefold()),
        headings=[(e.tag, _line(e)) for e in root.iter("h1", "h2", "h3", "h4", "h5", "h6")],
        code=[_code(e) for e in root.iter("pre")],
        tables=list(_rows(root)),
        lists=[_item(e) for e in root.iter("li")],
        links=[urljoin(url, h) for a in root.iter("a") if (h := a.get("href")) and _line(a)],
        images=[urljoin(url, e.get("data-src") or e.get("src")) for e in root.iter("img")],
        inline=[_line(e) for e in root.iter("code", "kbd") if not _inside(e, "pre")],
    )


def _text(element: HtmlElement, skipped: Iterable[HtmlElement] = ()) -> str:
    """Return the text of an element, its blocks parted by spaces."""
    gone = set(skipped)
    parts = [element.text or ""]
    for child in element:
        if child not in gone:
            parts.append(_text(child, gone))
        parts.append(child.tail or "")
    space = " " if element.tag in PARTING else ""
    return f"{space}{''.join(parts)}{space}"


def _line(element: HtmlElement) -> str:
    return " ".join(_text(element).replace("\u200b", "").split())


def _code(pre: HtmlElement) -> str:
    """Return the code of a block, byte for byte but for line ends around it."""
    for line_break in pre.iter("br"):
        line_break.tail = "\n" + (line_break.tail or "")
    return pre.text_content().strip("\n").rstrip()


def _rows(root: HtmlElement) -> Iterator[tuple[str, ...]]:
    """Yield the rows of tables that hold no code; empty cells may be filled in either way."""
    for table in root.iter("table"):
        rows = [[_line(c) for c in row.iter("td", "th")] for row in table.iter("tr")]
        if table.find(".//pre") is None and len(rows) > 1 and max(map(len, rows)) > 1:
            yield from filter(None, (tuple(filter(None, row)) for row in rows))


def _item(item: HtmlElement) -> tuple[str, int, bool]:
    """Return the own words of a list's item, how deep it is, and whether it is numbered."""
    inner = item.iter("ul", "ol", "pre", "table")
    words = " ".join(_text(item, inner).split())
    depth = sum(1 for _ in item.iterancestors("ul", "ol"))
    return words, depth, item.getparent().tag == "ol"


def _inside(element: HtmlElement, tag: str) -> bool:
    return next(element.iterancestors(tag), None) is not None
