"""The rules of one robots.txt group, and what they say of a path (RFC 9309 §2.2.2, §2.2.3).

No rule is ever tried that need not be: plain ones are looked up by their length, and one with
wildcards is asked only when its longest literal stands in the path. So the cost of a verdict does
not grow with the number of plain rules, and with that of wildcards only as one search in a text.
"""

import re
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

_HARMLESS = re.compile(r"%(2[146789BC]|3[ABD]|40|5[BD])").sub
"""Escapes of characters that mean nothing to a path: sites write them either way."""


MOST_SEARCHES = 32
"""Texts that are looked for in many URLs at once; with more of them each URL is looked up."""


class _Wildcard(NamedTuple):
    """A pattern with asterisks."""

    priority: int
    allow: bool
    key: str
    """Its longest literal."""
    literals: tuple[str, ...]
    """What stands between the asterisks, before the first and after the last."""
    anchored: bool


class Rules:
    """Allow and Disallow lines, ready to be asked."""

    def __init__(self, lines: Iterable[tuple[bool, str]]) -> None:
        """Read pairs of whether a line allows, and its pattern."""
        self._exact: dict[str, bool] = {}
        self._prefixes: dict[str, bool] = {}
        self._wildcards: list[_Wildcard] = []
        forbids = False
        for allow, pattern in lines:
            forbids = forbids or not allow
            self._add(allow, pattern)
        self._lengths = sorted(set(map(len, self._prefixes)), reverse=True) if forbids else []
        self._wildcards.sort(key=lambda rule: (rule.priority, rule.allow), reverse=True)
        self._trivial = not forbids
        plain = [*self._prefixes.items(), *self._exact.items()]
        self._heads = [text for text, allow in plain if not allow]
        self._keys = [rule.key for rule in self._wildcards if not rule.allow]
        """One of these stands at the beginning of, or in, each path that is forbidden."""

    def allow_all(self, lines: str, origin: str) -> bool:
        """Say whether surely none of many URLs is forbidden, for the price of a few searches.

        `lines` holds canonical URLs of `origin`, a line feed in front of each. That it says no
        means nothing.
        """
        if self._trivial:
            return True
        if len(self._heads) + len(self._keys) > MOST_SEARCHES or "%" in lines or "*" in lines:
            return False
        heads = (f"\n{origin}{head}" for head in self._heads)
        return not any(sign in lines for sign in chain(heads, self._keys))

    def allow(self, path: str) -> bool:
        """Return what the most specific matching rule says of a canonical path with its query.

        Of equally long rules the one that allows wins; without a match all is allowed.
        """
        if self._trivial:
            return True
        path = literal(path)
        length, allowed = self._plain(path)
        for rule in self._wildcards:
            if rule.priority < length:
                break
            if rule.key in path and _matches(rule, path):
                return rule.allow or (allowed and rule.priority == length)
        return allowed

    def _add(self, allow: bool, pattern: str) -> None:
        anchored = pattern.endswith("$")
        literals = tuple(map(literal, pattern.removesuffix("$").split("*")))
        if len(literals) > 1:
            size = sum(map(len, literals)) + len(literals) - 1 + anchored
            key = max(literals, key=len)
            self._wildcards.append(_Wildcard(size, allow, key, literals, anchored))
        else:
            plain = self._exact if anchored else self._prefixes
            plain[literals[0]] = allow or plain.get(literals[0], False)

    def _plain(self, path: str) -> tuple[int, bool]:
        """Return the length and the word of the longest rule without wildcards."""
        if path in self._exact:
            return len(path) + 1, self._exact[path]
        for length in self._lengths:
            head = path[:length]  # the whole path where that is shorter
            said = self._prefixes.get(head)
            if said is not None:
                return len(head), said
        return -1, True


def literal(path: str) -> str:
    """Return a canonical path as rules are compared with it: an asterisk of its own is escaped."""
    if "%" in path:
        path = _HARMLESS(lambda found: chr(int(found[1], 16)), path)
    return path.replace("*", "%2A") if "*" in path else path


def _matches(rule: _Wildcard, path: str) -> bool:
    first, *middle, last = rule.literals
    if not path.startswith(first):
        return False
    at = len(first)
    for text in middle:
        found = path.find(text, at)
        if found < 0:
            return False
        at = found + len(text)
    if rule.anchored:
        return path.endswith(last) and len(path) - len(last) >= at
    return path.find(last, at) >= 0
