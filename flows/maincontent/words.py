"""The words of a page's tree in their order, and which of them trafilatura kept."""

import re
from dataclasses import dataclass, replace
from itertools import accumulate

from lxml import etree
from lxml.html import HtmlElement

SHINGLE = 4
"""Consecutive words by which a passage is recognized."""
UNREAD = frozenset(
    "script style template svg button select textarea iframe canvas object head input".split()  # noqa: SIM905
)
"""Elements whose words no reader sees."""
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
"""A word, or one character of a script that does not part its words."""

Span = tuple[int, int]


@dataclass(slots=True)
class Survey:
    """What each element holds, as sums over the words before each position."""

    root: HtmlElement
    spans: dict[HtmlElement, Span]
    """Which of the words lie within an element; unread elements have none."""
    kept_before: list[int]
    linked_before: list[int]
    own: int
    """Words that trafilatura kept; a page may show them more than once."""

    def words(self, element: HtmlElement) -> int:
        """Return how many words an element has."""
        start, end = self.spans.get(element, (0, 0))
        return end - start

    def kept(self, element: HtmlElement) -> int:
        """Return how many of its words were kept."""
        start, end = self.spans.get(element, (0, 0))
        return self.kept_before[end] - self.kept_before[start]

    def linked(self, element: HtmlElement) -> int:
        """Return how many of its words are in links."""
        start, end = self.spans.get(element, (0, 0))
        return self.linked_before[end] - self.linked_before[start]

    def including(self, spans: list[Span]) -> "Survey":
        """Return a survey in which the words of `spans` count as kept."""
        if not spans:
            return self
        before = self.kept_before
        kept = bytearray(b - a for a, b in zip(before, before[1:], strict=False))
        for start, end in spans:
            kept[start:end] = b"\1" * (end - start)
        return replace(self, kept_before=[0, *accumulate(kept)])

    def share(self) -> float:
        """Return the share of trafilatura's words that the tree shows."""
        return min(1.0, self.kept_before[-1] / self.own) if self.own else 0.0


def words(text: str) -> list[str]:
    """Return the words of a text.

    >>> words("A word, 三字")
    ['A', 'word', '三', '字']
    """
    return _WORD.findall(text)


def survey(root: HtmlElement, kept_text: str) -> Survey:
    """Return where the words of `kept_text` are in the tree."""
    words, spans, links = _read(root)
    own = _WORD.findall(kept_text)
    size = min(SHINGLE, len(own))
    kept = _marks(words, own, size)
    linked = bytearray(len(words))
    for start, end in links:
        linked[start:end] = b"\1" * (end - start)
    return Survey(root, spans, [0, *accumulate(kept)], [0, *accumulate(linked)], len(own))


def _marks(words: list[str], own: list[str], size: int) -> bytearray:
    """Return a mark for each word that stands among the same neighbours as a kept one."""
    marks = bytearray(len(words))
    if size:
        known = set(zip(*(own[n:] for n in range(size)), strict=False))
        passage = b"\1" * size
        for at, shingle in enumerate(zip(*(words[n:] for n in range(size)), strict=False)):
            if shingle in known:
                marks[at : at + size] = passage
    return marks


def _read(root: HtmlElement) -> tuple[list[str], dict[HtmlElement, Span], list[Span]]:
    """Return the words below `root`, the span of each element, and the spans of links."""
    words: list[str] = []
    starts: list[int] = []
    spans: dict[HtmlElement, Span] = {}
    links: list[Span] = []
    find = _WORD.findall
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "start":
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
            if element.tag == "a":
                links.append((start, len(words)))
        if element is not root and (text := element.tail):
            words += find(text)
    return words, spans, links
