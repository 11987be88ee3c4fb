"""Entries written as nearly all are, found by one expression each: a fraction of the work of tags.

The expression knows only what is well-formed, without comments and sections, and leaves all else to
`elements`. Both make the same records of the same text.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

NAMES = ("loc", "lastmod", "changefreq", "priority")
"""The texts of an entry."""

FEW, MANY = 1 << 9, 1 << 17
"""Characters that are looked at together: the more, the longer all of it has been plain, and none
where something else comes in between, lest they be looked at again and again."""

LONG = 1 << 12
"""Characters within which an entry that has come as a whole is expected to end."""

_ALTERNATE = re.compile(
    r"<[\w.\-]+:link\s+rel=[\"']alternate[\"']\s+hreflang=[\"']([^\"'<>&]*)[\"']"
    r"\s+href=[\"']([^\"'<>]*)[\"']\s*/>"
).findall


class Plain:
    """Finds the entries of a urlset whose tags have a prefix, as long as they are plain.

    An entry is given as its whole text with the space behind it, the texts in the order of
    `NAMES`, empty where absent, and the last of its extensions: elements of other namespaces,
    with one level of more such elements in them.
    """

    def __init__(self, prefix: str) -> None:
        """Prepare for a prefix, empty for none."""
        self._all, self._one = _expressions(prefix)
        name = f"{prefix}:url" if prefix else "url"
        self._begin, self._end = f"<{name}>", f"</{name}>"
        self._window = 0

    def entries(self, text: str, at: int) -> list[tuple[str, ...]]:
        """Return some entries that follow each other from `at`; none when what is there is not."""
        one = self._one(text, at) if text.startswith(self._begin, at) else None
        if one is None:
            if self._window and text.find(self._end, at, at + LONG) >= 0:
                self._window = 0  # what is there has an end: it is not that the rest is to come
            return []
        found: list[tuple[str, ...]] = self._all(text, at, at + self._window)
        if not text.startswith("".join([entry[0] for entry in found]), at):
            found = list(_adjacent(text, at, found))
            self._window = 0
        else:
            self._window = min(2 * self._window, MANY) or FEW
        return found or [one.groups("")]


def _adjacent(text: str, at: int, found: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    for entry in found:
        if not text.startswith(entry[0], at):
            return
        yield entry
        at += len(entry[0])


@lru_cache(maxsize=64)
def _expressions(prefix: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    own = re.escape(f"{prefix}:") if prefix else ""
    foreign = rf"(?!{own})[\w.\-:]+" if prefix else r"[\w.\-]+:[\w.\-]+"
    texts = "|".join(
        rf"<{own}{name}>(?!\s*<)([^<{'' if name == 'loc' else '&'}]{{1,4096}}+)</{own}{name}>\s*+"
        for name in NAMES
    )
    inner = rf"(?:<(?P<i>(?![\w.\-]+:link\b){foreign}){_rest('[^<]*+', 'i')}[^<]*+)*+"
    extension = rf"<(?P<o>{foreign}){_rest(f'[^<]*+{inner}', 'o')}\s*+"
    # Space in front would be searched again from each of its characters.
    entry = re.compile(rf"(<{own}url>\s*+(?:{texts}|({extension}))*+</{own}url>\s*+)")
    return entry.findall, entry.match


def alternates(text: str) -> list[tuple[str, str]] | None:
    """Return language and address of the alternates in an entry, or None when one is not plain."""
    found: list[tuple[str, str]] = _ALTERNATE(text)
    return found if len(found) == text.count(":link") else None


def _rest(content: str, name: str) -> str:
    """Return what follows the name of an element, up to its end."""
    return rf"(?:\s[^<>]*+)?+(?:(?<=/)>|(?<!/)>{content}</(?P={name})>)"
