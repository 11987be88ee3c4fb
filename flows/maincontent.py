"""Which part of a page is its main content.

trafilatura says which words are; the page's own tree says where they are. The words it kept are
found again in the tree by their neighbours (shingles of four), and the smallest element around
them is the main content. Chrome that stands inside is taken out.
"""

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate

import trafilatura
from lxml import etree
from lxml.html import HtmlElement

SHINGLE = 4
"""Consecutive words by which a passage is recognized."""
COVER = 0.92
"""Share of trafilatura's words that the main content has to hold."""
UNREAD = frozenset(
    "script style template svg button select textarea iframe canvas object head input".split()
)
"""Elements whose words no reader sees."""
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)


@dataclass(slots=True)
class Survey:
    """The words of a tree in their order, and which of them trafilatura kept."""

    root: HtmlElement
    spans: dict[HtmlElement, tuple[int, int]]
    """Which of the words lie within an element."""
    kept: list[int]
    """Words kept before each position."""
    linked: list[int]
    """Words in links before each position."""

    def words(self, element: HtmlElement) -> int:
        start, end = self.spans.get(element, (0, 0))
        return end - start

    def kept_words(self, element: HtmlElement) -> int:
        start, end = self.spans.get(element, (0, 0))
        return self.kept[end] - self.kept[start]

    def linked_words(self, element: HtmlElement) -> int:
        start, end = self.spans.get(element, (0, 0))
        return self.linked[end] - self.linked[start]


def survey(root: HtmlElement, kept_text: str) -> Survey:
    """Return where the words of `kept_text` are in the tree."""
    words, spans, links = _words(root)
    own = _WORD.findall(kept_text)
    known = set(zip(own, own[1:], own[2:], own[3:], strict=False))
    marks = bytearray(len(words) + SHINGLE)
    for at, shingle in enumerate(zip(words, words[1:], words[2:], words[3:], strict=False)):
        if shingle in known:
            marks[at : at + SHINGLE] = b"\1\1\1\1"
    flags = bytearray(len(words))
    for start, end in links:
        flags[start:end] = b"\1" * (end - start)
    return Survey(root, spans, [0, *accumulate(marks[: len(words)])], [0, *accumulate(flags)])


def _words(root: HtmlElement):
    """Return the words below `root`, the span of each element, and the spans of links."""
    words: list[str] = []
    starts: dict[HtmlElement, int] = {}
    spans: dict[HtmlElement, tuple[int, int]] = {}
    links: list[tuple[int, int]] = []
    find = _WORD.findall
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            starts[element] = len(words)
            if element.tag in UNREAD:
                walk.skip_subtree()
            elif element.text:
                words += find(element.text)
        else:
            span = (starts[element], len(words))
            spans[element] = span
            if element.tag == "a":
                links.append(span)
            if element.tail and element is not root:
                words += find(element.tail)
    return words, spans, links


def tightest(found: Survey) -> HtmlElement | None:
    """Return the smallest element that holds what was kept."""
    total = found.kept[-1]
    if not total:
        return None
    node = found.root
    while True:
        child = max(node, key=found.kept_words, default=None)
        if child is None or found.kept_words(child) < COVER * total:
            return node
        node = child


HINTS = re.compile(
    r"(?<!has-)(?<!with-)(?<!no-)\b(?:bread-?crumbs?|pagination|pager|page-?nav|prev-?next|next-?prev|(?:post|article|page|site|doc|entry)s?-(?:nav|navigation|footer-nav)"
    r"|nav|navbar|navigation|menu|share|sharing|share-?(?:bar|buttons?|links?)|sharedaddy|addtoany|social(?:-?(?:links|share|media|icons))?"
    r"|related(?:-?(?:posts?|articles?|content|links|products|stories|items))?|recommend(?:ed|ations?)?|you-?may-?(?:also-?)?like|also-?like|upsells?|cross-?sells?|more-?(?:stories|from|on|posts)"
    r"|newsletter|subscribe|subscription|sign-?up|cookies?|consent|gdpr|toc|table-?of-?contents|on-?this-?page|skip-?(?:link|to-?content)|edit-?(?:this-?)?(?:page|link|section|post)|editsection|mw-editsection"
    r"|feedback|helpful|comment-?form|respond|reply-?form|advert(?:isement|s|ising)?|ads?|sponsor(?:ed)?|promo|outbrain|taboola|sidebar|popup|modal|overlay|toolbar"
    r"|author-?(?:box|bio|card|info)|byline|(?:post|entry|article)-?meta|postmetadata|metadata|tags?|tag-?(?:list|cloud|links)|(?:post|entry|article)-?tags|back-?to-?top|copyright|footer|noprint|printfooter|catlinks|navbox|last-?updated|source-?file|content-?tabs-?nav|copy-?button)\b",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"([a-z])([A-Z])")


@functools.lru_cache(maxsize=4096)
def hinted(names: str) -> bool:
    """Tell whether class or id words speak of chrome."""
    return HINTS.search(_CAMEL.sub(r"\1-\2", names).replace("_", "-")) is not None


STRUCTURE = frozenset(
    {
        "pre",
        "table",
        "thead",
        "tbody",
        "tr",
        "td",
        "th",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "code",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "math",
        "sup",
        "sub",
        "em",
        "strong",
        "b",
        "i",
        "a",
        "img",
        "br",
        "hr",
    }
)


def is_article(tree) -> bool:
    """Tell whether a page calls itself an article."""
    for meta in tree.iterfind(".//meta"):
        name = (meta.get("property") or meta.get("name") or "").lower()
        if name == "og:type":
            return (meta.get("content") or "").lower().strip() in (
                "article",
                "blog",
                "news",
                "newsarticle",
                "blogposting",
            )
        if name.startswith("article:"):
            return True
    return False


def trimmed(found: Survey, node: HtmlElement, strict=None) -> list[HtmlElement]:
    """Return the elements within `node` that are chrome."""
    out: list[HtmlElement] = []
    total = max(1, found.kept_words(node))
    start, end = found.spans[node]
    a, b = start, end
    while a < b and found.kept[a + 1] == found.kept[a]:
        a += 1
    while b > a and found.kept[b] == found.kept[b - 1]:
        b -= 1
    pending = list(node)[::-1]
    while pending:
        element = pending.pop()
        tag = element.tag
        if tag in UNREAD or element not in found.spans:
            continue
        words, kept = found.words(element), found.kept_words(element)
        share = kept / words if words else 0
        drop = False
        if tag == "nav":
            drop = True
        elif tag in ("footer", "aside", "form") and share < 0.5:
            drop = not (tag == "aside" and markdown_admonition(element))
        elif kept < 0.3 * total:
            names = f"{element.get('class') or ''} {element.get('id') or ''} {element.get('role') or ''}"
            drop = (
                len(names) > 2
                and hinted(names)
                and tag
                not in (
                    "body",
                    "main",
                    "article",
                    "h1",
                    "h2",
                    "h3",
                    "h4",
                    "pre",
                    "code",
                    "table",
                    "tbody",
                    "tr",
                )
            )
        if not drop and strict is not None and words and share <= 0.1:
            drop = excess(found, element, words, (a, b), strict)
            if not drop:
                continue
        if drop and kept < 0.3 * total:
            out.append(element)
        else:
            pending.extend(list(element)[::-1])
    return out


def excess(found, element, words, between, strict):
    tag = element.tag
    s, e = found.spans[element]
    density = found.linked_words(element) / words
    where = -1 if e <= between[0] else 1 if s >= between[1] else 0
    if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
        return where > 0
    if where:
        if where < 0 and element.find(".//h1") is not None:
            return False
        return POLICY["edges"](tag, words, density, where, element)
    if strict:
        return POLICY["strict"](tag, words, density, element)
    return POLICY["loose"](tag, words, density, element)


def _code(element):
    return (
        element.tag in ("pre", "code")
        or element.find(".//pre") is not None
        or element.find(".//table") is not None
    )


POLICY = {
    "edges": lambda tag, words, density, where, el: not _code(el) or density > 0.5,
    "strict": lambda tag, words, density, el: not (tag in STRUCTURE or _code(el)),
    "loose": lambda tag, words, density, el: density > 0.6 and tag not in STRUCTURE,
}


def markdown_admonition(element):
    from flows.markdown import converter

    return converter.is_admonition(element, element.get("class") or "")


def choose(tree, kept_text):
    body = tree.find("body")
    root = body if body is not None else tree
    found = survey(root, kept_text)
    node = tightest(found)
    if node is None:
        return found, None, []
    node = climbed(found, node)
    return found, node, trimmed(found, node, is_article(tree))


def climbed(found, node):
    """Include the page's title heading where it stands close by."""
    while True:
        if node is found.root or node.find(".//h1") is not None or node.tag == "h1":
            return node
        near = [h for h in found.root.iter("h1")]
        if len(near) != 1:
            return node
        parent = node
        h1 = near[0]
        ups = set(h1.iterancestors())
        while parent is not None and parent not in ups:
            parent = parent.getparent()
        if parent is None or parent is found.root and False:
            return node
        extra = found.words(parent) - found.words(node)
        lost = sum(found.words(e) for e in trimmed(found, parent)) - sum(
            found.words(e) for e in trimmed(found, node)
        )
        if extra - lost <= 60 + 0.25 * found.words(node):
            return parent
        return node


@dataclass(frozen=True, slots=True)
class Main:
    """The main content of a page."""

    node: HtmlElement
    chrome: frozenset[HtmlElement]
    """Elements within the node that are none of it."""
    way: str
    """How it was found: `node` or `body`."""


def find(tree: HtmlElement, url: str) -> Main:
    """Return where the main content of a page is; the whole body where nothing can be told."""
    kept = trafilatura.bare_extraction(
        tree,
        url=url,
        output_format="txt",
        include_comments=False,
        include_formatting=True,
        include_links=True,
    )
    _, node, dropped = choose(tree, " ".join(kept.body.itertext()) if kept else "")
    if node is None:
        body = tree.find("body")
        return Main(tree if body is None else body, frozenset(), "body")
    return Main(node, frozenset(dropped), "node")
