"""Where on its page a heading can be reached."""

import re
from collections.abc import Sequence

from flows.outline import Section
from flows.records import Document

_DROPPED = re.compile(r"[^\w\- ]")


def of(document: Document, sections: Sequence[Section]) -> list[str]:
    """Return an anchor for each heading, in order and unique: the page's own, else a slug."""
    own = iter(document.anchors)
    title, anchor = next(own, ("", ""))
    taken = {anchor for _, anchor in document.anchors}
    given: dict[str, None] = {}
    for block in (b for section in sections for b in section.blocks if b.kind == "heading"):
        if anchor and title == block.title and anchor not in given:
            given[anchor] = None
            title, anchor = next(own, ("", ""))
        else:
            given[_slug(block.title, taken)] = None
    return list(given)


def _slug(title: str, taken: set[str]) -> str:
    """Return the anchor that GitHub would give a heading, made unique as it does."""
    base = _DROPPED.sub("", title.strip().lower()).replace(" ", "-") or "section"
    slug, number = base, 0
    while slug in taken:
        number += 1
        slug = f"{base}-{number}"
    taken.add(slug)
    return slug
