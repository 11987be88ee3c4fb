"""What stands inside the main content and is none of it: navigation, boxes, related links."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from lxml.html import HtmlElement

from flows import elements
from flows.maincontent import names
from flows.maincontent.manner import Manner
from flows.maincontent.words import Span, Survey

PART = 0.3
"""Share of the main content's words above which an element is more than chrome."""
MOSTLY = 0.5
"""Share of an element's words from which trafilatura has kept it."""
UNKEPT = 0.1
"""Share of an element's words up to which trafilatura has left it out."""
LINKS = {Manner.PROSE: 0.5, Manner.REFERENCE: 0.8, Manner.MIXED: 0.5}
"""Share of words in links above which a block at the edge is a block of links."""
CONTENTS = 0.5
"""The same for a table of contents."""
RELATED = 0.6
"""The same for a block in the middle."""
INVITATION = 12
"""Words of a part without what readers say; a heading, a count and a link have some eight."""
NEVER = frozenset("body main article h1 h2 h3 h4 pre code table tbody tr".split())  # noqa: SIM905
"""Elements that no name of theirs makes chrome."""
BLOCKS = frozenset(
    "div section aside header footer article p details center fieldset form ul ol "  # noqa: SIM905
    "dl".split()
)
"""Elements that may be left out because trafilatura left them out."""
LISTS = frozenset({"ul", "ol", "dl"})
SHOWN = frozenset({"figure", "picture", "img", "pre", "table", "thead", "tbody", "tr", "td", "th"})
"""Elements that are kept before the first word of an article."""
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
MOST_HEADING = 1_000
"""Characters of a heading that an id is compared with."""
BOXES = frozenset({"footer", "aside", "form"})
_ASIDES = re.compile(r"quote|onebox|foot-?note|admonition|callout|\bnote\b|\btip\b|\bwarning\b")
"""Names of what stands aside and belongs to the text."""


class Trimming:
    """Tells, for one page, what in an element is chrome."""

    def __init__(self, found: Survey, manner: Manner) -> None:
        """Take what was kept of the page, and what kind of page it is."""
        self._found = found
        self._manner = manner
        self._dense = _holders(found.page.root, "pre", "code", "table")
        self._titled = _holders(found.page.root, "h1")
        self._holders = elements.Holders()
        self._known: dict[tuple[HtmlElement, HtmlElement | None], frozenset[HtmlElement]] = {}

    def within(self, node: HtmlElement, title: HtmlElement | None = None) -> frozenset[HtmlElement]:
        """Return the elements within `node` that are chrome; none of them lies in another.

        The page's heading, `title`, is not, nor is what is around it.
        """
        known = self._known.get((node, title))
        if known is None:
            spared = {title, *title.iterancestors()} if title is not None else frozenset()
            known = self._known[node, title] = frozenset(self._within(node, spared))
        return known

    def size(self, node: HtmlElement, title: HtmlElement | None = None) -> int:
        """Return the words of an element without its chrome."""
        return self._found.words(node) - sum(map(self._found.words, self.within(node, title)))

    def _within(
        self, node: HtmlElement, spared: AbstractSet[HtmlElement | None]
    ) -> Iterator[HtmlElement]:
        spans, before = self._found.page.spans, self._found.kept_before
        most = PART * max(1, self._found.kept(node))
        content = _kept_span(self._found, node)
        pending = node[::-1]
        while pending:
            element = pending.pop()
            span = spans.get(element)
            if span is None:
                continue
            words, kept = span[1] - span[0], before[span[1]] - before[span[0]]
            if kept < most and element not in spared and self._is_out(element, span, kept, content):
                yield element
            elif len(element) and not (element.tag == "blockquote" and kept >= MOSTLY * words):
                pending += element[::-1]

    def _is_out(self, element: HtmlElement, span: Span, kept: int, content: Span) -> bool:
        """Tell whether an element of `kept` words is chrome, or left out by trafilatura."""
        words = span[1] - span[0]
        if self.is_chrome(element, kept / max(1, words)):
            return True
        return 0 < words >= kept / UNKEPT and self.is_excess(element, span, content)

    def is_chrome(self, element: HtmlElement, kept: float) -> bool:
        """Tell whether an element is chrome by its kind or its names; `kept` is a share."""
        tag, classes = element.tag, (element.get("class") or "").lower()
        if tag == "nav":
            return True
        if tag in NEVER or (classes and _ASIDES.search(classes)):
            return False
        if tag in BOXES and kept < MOSTLY:
            return True
        said = names.spoken(element.get("class") or "") if classes else None
        if said is names.CONTENTS:
            return tag in BLOCKS and self._density(element) > CONTENTS
        if said is names.SHARING:
            return self._leads_on(element) or not self._holders.holds(element, "img")
        if self._is_invitation(element):
            return True
        if said in (names.ALWAYS, names.USUALLY):
            return said is names.ALWAYS or kept <= MOSTLY
        return kept <= MOSTLY and _is_chrome_by_id(element, kept)

    def _is_invitation(self, element: HtmlElement) -> bool:
        """Tell whether a part for what readers say holds only its heading and a link to say it."""
        said = (names.spoken(element.get(name) or "") for name in ("class", "id"))
        if names.TALK not in said or self._found.words(element) > INVITATION:
            return False
        return self._holders.holds(element, *HEADINGS) and self._leads_on(element)

    def _leads_on(self, element: HtmlElement) -> bool:
        return element.tag == "a" or self._holders.holds(element, "a", "button")

    def is_excess(self, element: HtmlElement, span: Span, content: Span) -> bool:
        """Tell whether a block that trafilatura left out should be left out.

        `content` is from which to which word of the main content kept ones stand.
        """
        start, end = span
        if end <= content[0] and self._manner is Manner.PROSE:
            return element.tag not in SHOWN and not self._is_heading(element)
        if element.tag not in BLOCKS:
            return False
        if end <= content[0] or start >= content[1]:
            return self._is_edge(element)
        if self._manner is Manner.PROSE:
            return element.tag not in LISTS and element not in self._dense
        linked = self._manner is Manner.MIXED and self._density(element) > RELATED
        return linked and element.tag not in LISTS

    def _is_edge(self, element: HtmlElement) -> bool:
        """Tell whether a block before the first kept word, or after the last, is none of it."""
        density = self._density(element)
        if self._is_heading(element) and density < 1:
            return False  # a heading that is a link leads elsewhere, as a site's name does
        if density > LINKS[self._manner]:
            return element.tag != "p" or self._manner is not Manner.REFERENCE
        return self._manner is not Manner.REFERENCE and element not in self._dense

    def _is_heading(self, element: HtmlElement) -> bool:
        return element.tag in HEADINGS or element in self._titled

    def _density(self, element: HtmlElement) -> float:
        return self._found.linked(element) / max(1, self._found.words(element))


def _holders(root: HtmlElement, *tags: str) -> set[HtmlElement]:
    """Return the elements of some kinds and all elements around one."""
    return {*root.iter(*tags), *elements.around(root, *tags)}


def _is_chrome_by_id(element: HtmlElement, kept: float) -> bool:
    """Tell whether an id or role speaks of chrome; an id may come from a section's heading."""
    role, name = element.get("role"), element.get("id")
    if role and names.spoken(role) not in (None, names.TALK):
        return True
    if not name or names.spoken(name) not in (names.ALWAYS, names.SHARING, names.USUALLY):
        return False
    section = kept > UNKEPT or "section" in (element.tag, element.get("class"))
    heading = next(element.iter(*HEADINGS), None) if section else None
    text = "" if heading is None else elements.beginning(heading, MOST_HEADING)
    return name.lower().strip("-_") not in re.sub(r"\W+", "-", text.strip().lower())


def _kept_span(found: Survey, node: HtmlElement) -> Span:
    """Return from which to which word of `node` kept ones stand."""
    start, end = found.span(node)
    before = found.kept_before
    while start < end and before[start + 1] == before[start]:
        start += 1
    while end > start and before[end] == before[end - 1]:
        end -= 1
    return start, end
