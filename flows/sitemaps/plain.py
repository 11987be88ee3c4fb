"""Entries written as nearly all are, found by one expression each: a fraction of the work of tags.

The expression knows only what is well-formed, without comments and sections, and leaves all else to
`elements`. Both make the same records of the same text.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

NAMES = ("loc", "lastmod", "changefreq", "priority")
"""The texts of an entry."""

FEW, MANY = 1 << 9, 1 << 18
"""Characters that are looked at together: the more, the longer all of it has been plain, and none
where something else comes in between, lest they be looked at again and again."""

LONG = 1 << 12
"""Characters within which an entry that has come as a whole is expected to end."""

_ALTERNATE = re.compile(
    r"<[\w.\-]+:link\s+rel=[\"']alternate[\"']\s+hreflang=[\"']([^\"'<>&]*)[\"']"
    r"\s+href=[\"']([^\"'<>]*)[\"']\s*/>"
).findall


class Run(NamedTuple):
    """Entries that follow each other: what each of them says, column by column."""

    whole: Sequence[str]
    """Their text with the space behind it."""
    loc: Sequence[str]
    lastmod: Sequence[str]
    changefreq: Sequence[str]
    priority: Sequence[str]
    """Empty where absent, all four."""
    extension: Sequence[str]
    """The last element of another namespace, with one level of more such elements in it."""


class Plain:
    """Finds the entries of a urlset whose tags have a prefix, as long as they are plain."""

    def __init__(self, prefix: str) -> None:
        """Prepare for a prefix, empty for none."""
        self.prefix = prefix
        self._prefix = f"{prefix}:" if prefix else ""
        self._all, self._one = _expressions(self._prefix)
        self._begin, self._end = f"<{self._prefix}url>", f"</{self._prefix}url>"
        self._window = 0
        self._alike = True
        """Whether all entries so far have the same texts in the same order."""

    def entries(self, text: str, at: int) -> Run | None:
        """Return some entries that follow each other from `at`; none when what is there is not."""
        one = self._one(text, at) if text.startswith(self._begin, at) else None
        if one is None:
            if self._window and text.find(self._end, at, at + LONG) >= 0:
                self._window = 0  # what is there has an end: it is not that the rest is to come
            return None
        if self._alike and self._window and (run := self._uniform(one[0], text, at)):
            return run
        found: list[tuple[str, ...]] = self._all(text, at, at + self._window)
        if not _follow(text, at, [entry[0] for entry in found]):
            found = list(_adjacent(text, at, found))
            self._window = 0
        else:
            self._window = min(2 * self._window, MANY) or FEW
        columns: list[Sequence[str]] = list(zip(*(found or [one.groups("")]), strict=True))
        return Run._make(columns[: len(Run._fields)])

    def _uniform(self, first: str, text: str, at: int) -> Run | None:
        """Return entries that are written as the first one is; none when that does not go on."""
        names = tuple(re.findall(rf"<{re.escape(self._prefix)}(\w+)>", first)[1:])
        if not names:
            return None  # one that says nothing; parts of nothing would not be told apart
        found = _written(self._prefix, names)(text, at, at + self._window)
        if not found and len(first) > self._window:
            return None
        columns: list[Sequence[str]] = list(zip(*found, strict=True))
        self._alike = bool(columns) and _follow(text, at, columns[0])
        if not self._alike:
            return None
        self._window = min(2 * self._window, MANY)
        absent = ("",) * len(found)
        texts = dict(zip(names, columns[1:], strict=True))
        return Run._make([columns[0], *(texts.get(name, absent) for name in NAMES), absent])


def _follow(text: str, at: int, parts: Sequence[str]) -> bool:
    """Say whether parts of a text follow each other from `at`."""
    return text.startswith("".join(parts), at)


def _adjacent(text: str, at: int, found: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    for entry in found:
        if not text.startswith(entry[0], at):
            return
        yield entry
        at += len(entry[0])


@lru_cache(maxsize=64)
def _expressions(own: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return what finds all plain entries, and what reads one."""
    own = re.escape(own)
    foreign = rf"(?!{own})[\w.\-:]+" if own else r"[\w.\-]+:[\w.\-]+"
    texts = "|".join(_text(own, name) for name in NAMES)
    inner = rf"(?>(?:<(?P<i>(?![\w.\-]+:link\b){foreign}){_rest('[^<]*+', 'i')}[^<]*+)*)"
    extension = rf"<(?P<o>{foreign}){_rest(f'[^<]*+{inner}', 'o')}\s*+"
    # Space in front would be searched again from each of its characters.
    entry = re.compile(rf"(<{own}url>\s*+(?>(?:{texts}|({extension}))*)</{own}url>\s*+)")
    return entry.findall, entry.match


@lru_cache(maxsize=64)
def _written(own: str, names: tuple[str, ...]) -> Callable[..., Any]:
    """Return what finds all entries that have just the texts `names`, in this order."""
    if len(set(names)) < len(names) or not set(names) <= set(NAMES):
        return lambda *_: []
    own = re.escape(own)
    texts = "".join(_text(own, name) for name in names)
    return re.compile(rf"(<{own}url>\s*+{texts}</{own}url>\s*+)").findall


def _text(own: str, name: str) -> str:
    """Return the expression for one text of an entry."""
    plain = "<" if name == "loc" else "<&"
    return rf"<{own}{name}>(?!\s*<)([^{plain}]{{1,4096}}+)</{own}{name}>\s*+"


def alternates(text: str) -> list[tuple[str, str]] | None:
    """Return language and address of the alternates in an entry, or None when one is not plain."""
    found: list[tuple[str, str]] = _ALTERNATE(text)
    return found if len(found) == text.count(":link") else None


def _rest(content: str, name: str) -> str:
    """Return what follows the name of an element, up to its end."""
    return rf"(?>(?:\s[^<>]*+)?)(?:(?<=/)>|(?<!/)>{content}</(?P={name})>)"
