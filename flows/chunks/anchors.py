"""Where on its page a heading can be reached."""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Sequence

from flows import outline
from flows.outline import Section
from flows.records import Document

_DROPPED = re.compile(r"[^\w\- ]")


def of(document: Document, sections: Sequence[Section]) -> list[str]:
    """Return an anchor for each heading, in order and unique: the page's own, else a slug."""
    own: defaultdict[str, deque[str]] = defaultdict(deque)
    for title, anchor in dict.fromkeys(document.anchors):
        own[outline.plain(title[: outline.MAX_TITLE])].append(anchor)
    slugs = _Slugs({anchor for _, anchor in document.anchors})
    given: dict[str, None] = {}
    for block in (b for section in sections for b in section.blocks if b.kind == "heading"):
        named = own.get(block.title)
        anchor = named.popleft() if named else ""
        given[anchor if anchor and anchor not in given else slugs.of(block.title)] = None
    return list(given)


class _Slugs:
    """Gives headings the anchors that GitHub would give them, numbered where they repeat."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._numbers: Counter[str] = Counter()

    def of(self, title: str) -> str:
        """Return the anchor of a heading that has none of its own."""
        base = _DROPPED.sub("", title.strip().lower()).replace(" ", "-") or "section"
        slug = base
        while slug in self._taken:
            self._numbers[base] += 1
            slug = f"{base}-{self._numbers[base]}"
        self._taken.add(slug)
        return slug
