"""The words of a page's tree in their order, and which of them trafilatura kept."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from lxml import etree
from lxml.html import HtmlElement

SHINGLE = 4
"""Consecutive words by which a passage is recognized."""
MENU = 3
"""Words of a link below which, on average, a page's links are those of menus."""
UNREAD = frozenset(
    "script style template svg button select textarea iframe canvas object head input".split()  # noqa: SIM905
)
"""Elements whose words no reader sees."""
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)

Span = tuple[int, int]
"""From which to which word of a page."""


def split(text: str) -> list[str]:
    """Return the words of a text; one character each of a script that does not part its words.

    >>> split("A word, 三字")
    ['A', 'word', '三', '字']
    """
    return _WORD.findall(text)


@dataclass(frozen=True, slots=True)
class Text:
    """The words of a page, and what of them each element holds."""

    root: HtmlElement
    words: list[str]
    spans: dict[HtmlElement, Span]
    """Which of the words lie within an element; unread elements have none."""
    linked_before: list[int]
    """Words in links before each position."""
    links: int
    """Links that have words."""
    within: int
    """Elements around each element, all together."""

    def has_menus(self) -> bool:
        """Tell whether the links are short, as those of menus are, and those of lists are not."""
        return self.linked_before[-1] < MENU * self.links

    def plain(self) -> int:
        """Return how many words stand outside links."""
        return len(self.words) - self.linked_before[-1]


@dataclass(frozen=True, slots=True)
class Survey:
    """Which words of a page were kept."""

    page: Text
    kept_before: list[int]
    """Words kept before each position."""
    own: int
    """Words that trafilatura kept; a page may show them more than once."""

    def __contains__(self, element: HtmlElement) -> bool:
        """Tell whether an element is read."""
        return element in self.page.spans

    def span(self, element: HtmlElement) -> Span:
        """Return which words an element has."""
        return self.page.spans.get(element, (0, 0))

    def words(self, element: HtmlElement) -> int:
        """Return how many words an element has."""
        start, end = self.span(element)
        return end - start

    def kept(self, element: HtmlElement) -> int:
        """Return how many of its words were kept."""
        start, end = self.span(element)
        return self.kept_before[end] - self.kept_before[start]

    def linked(self, element: HtmlElement) -> int:
        """Return how many of its words are in links."""
        start, end = self.span(element)
        return self.page.linked_before[end] - self.page.linked_before[start]

    def share(self) -> float:
        """Return the share of trafilatura's words that the page shows."""
        return min(1.0, self.kept_before[-1] / self.own) if self.own else 0.0

    def including(self, spans: Iterable[Span]) -> "Survey":
        """Return a survey in which the words of `spans` count as kept too."""
        before = self.kept_before
        kept = bytearray(b - a for a, b in pairwise(before))
        for start, end in spans:
            kept[start:end] = b"\1" * (end - start)
        return replace(self, kept_before=[0, *accumulate(kept)])


def survey(page: Text, kept_text: str) -> Survey:
    """Return where the words of `kept_text` are in the page, found by their neighbours."""
    own = split(kept_text)
    size = min(SHINGLE, len(own))
    marks = bytearray(len(page.words))
    if size:
        known = set(zip(*(own[n:] for n in range(size)), strict=False))
        shingles = zip(*(page.words[n:] for n in range(size)), strict=False)
        passage = b"\1" * size
        for at, shingle in enumerate(shingles):
            if shingle in known:
                marks[at : at + size] = passage
    return Survey(page, [0, *accumulate(marks)], len(own))


def read(root: HtmlElement) -> Text:
    """Return the words below `root`."""
    words: list[str] = []
    starts: list[int] = []
    spans: dict[HtmlElement, Span] = {}
    links: list[Span] = []
    find = _WORD.findall
    within = 0
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            within += len(starts)
            if element.tag in UNREAD:
                walk.skip_subtree()
                starts.append(-1)
                continue
            starts.append(len(words))
            if text := element.text:
                words += find(text)
            continue
        start = starts.pop()
        if start >= 0:
            spans[element] = (start, len(words))
            if element.tag == "a" and start < len(words):
                links.append((start, len(words)))
        if element is not root and (text := element.tail):
            words += find(text)
    return Text(root, words, spans, _before(links, len(words)), len(links), within)


def _before(spans: Iterable[Span], size: int) -> list[int]:
    """Return how many positions before each one lie in a span."""
    marks = bytearray(size)
    for start, end in spans:
        marks[start:end] = b"\1" * (end - start)
    return [0, *accumulate(marks)]
