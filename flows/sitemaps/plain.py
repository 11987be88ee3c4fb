"""Entries written as nearly all are, found by one expression each: a fraction of the work of tags.

The expression knows only what is well-formed, without comments and sections, and leaves all else to
`elements`. Both make the same records of the same text.
"""

import re
from collections.abc import Callable
from functools import lru_cache

NAMES = ("loc", "lastmod", "changefreq", "priority")
"""The texts of an entry."""

_ALTERNATE = re.compile(
    r"<[\w.\-]+:link\s+rel=[\"']alternate[\"']\s+hreflang=[\"']([^\"'<>&]*)[\"']"
    r"\s+href=[\"']([^\"'<>]*)[\"']\s*/>"
).findall


@lru_cache(maxsize=64)
def entry(prefix: str) -> Callable[[str, int], re.Match[str] | None]:
    """Return what matches an entry of a urlset whose tags have `prefix`, and the space before it.

    The first groups are the texts in the order of `NAMES`, None where absent; the next is the last
    of its extensions: elements of other namespaces, with one level of more such elements in them.
    """
    own = re.escape(f"{prefix}:") if prefix else ""
    foreign = rf"(?!{own})[\w.\-:]+" if prefix else r"[\w.\-]+:[\w.\-]+"
    texts = "|".join(
        rf"<{own}{name}>([^<{'' if name == 'loc' else '&'}]{{0,4096}}+)</{own}{name}>\s*+"
        for name in NAMES
    )
    inner = rf"(?:<(?P<i>(?![\w.\-]+:link\b){foreign}){_rest('[^<]*+', 'i')}[^<]*+)*+"
    extension = rf"<(?P<o>{foreign}){_rest(f'[^<]*+{inner}', 'o')}\s*+"
    return re.compile(rf"\s*+<{own}url>\s*+(?:{texts}|({extension}))*+</{own}url>").match


def alternates(text: str) -> list[tuple[str, str]] | None:
    """Return language and address of the alternates in an entry, or None when one is not plain."""
    found: list[tuple[str, str]] = _ALTERNATE(text)
    return found if len(found) == text.count(":link") else None


def _rest(content: str, name: str) -> str:
    """Return what follows the name of an element, up to its end."""
    return rf"(?:\s[^<>]*+)?+(?:(?<=/)>|(?<!/)>{content}</(?P={name})>)"
