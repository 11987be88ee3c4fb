"""A page budget that the lists of a site exceed: who gets what of it.

A part is handed out as the lists come, so that the first pages are asked for at once. The rest
waits until they have been read and is then spread over them, to each its newest pages. What waits
is bounded by the budget: what can no longer be chosen is given back at once.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from flows.records import Attribution, Declared, Entries

AT_ONCE = 10
"""One page in so many of the budget is handed out while the lists are read."""

_NEVER = datetime.min.replace(tzinfo=UTC)


class Shares:
    """What the lists of one site wait to get of its page budget."""

    def __init__(self, budget: int) -> None:
        """Share out `budget` pages; below 0 there is no bound, and nothing waits."""
        self._budget = budget
        self._at_once = budget // AT_ONCE
        self._lists: dict[Attribution, tuple[Entries, list[Declared]]] = {}
        self.waiting = 0
        """How many URLs wait."""

    def at_once(self, entries: Entries) -> tuple[Entries, Entries]:
        """Return what may be fetched now, and what has to wait."""
        if self._budget < 0:
            return entries, entries.only(())
        now = entries.only(entries.declared[: self._at_once])
        self._at_once -= len(now)
        return now, entries.only(entries.declared[len(now) :])

    def wait(self, entries: Entries) -> list[Entries]:
        """Let URLs wait; return those, of all that wait, that cannot be chosen any more."""
        self._lists.setdefault(entries.attribution, (entries, []))[1].extend(entries.declared)
        self.waiting += len(entries)
        if self.waiting <= self._budget + self._budget // 2:
            return []
        kept, rest = self._cut(self._budget)
        for some in kept:
            self._lists[some.attribution][1][:] = some.declared
        self.waiting = together(kept)
        return rest

    def deal(self, left: int) -> tuple[list[Entries], list[Entries]]:
        """Return who of all that wait is chosen for the `left` pages of the budget, and who not.

        Nothing is left to be shared from then on.
        """
        dealt = self._cut(left)
        self._lists, self.waiting = {}, 0
        self._budget, self._at_once = min(self._budget, 0), 0
        return dealt

    def _cut(self, total: int) -> tuple[list[Entries], list[Entries]]:
        kept, rest = [], []
        for (like, held), share in zip(self._lists.values(), self._parts(total), strict=True):
            newest = sorted(held, key=_lastmod, reverse=True) if share < len(held) else held
            kept.append(replace(like, declared=newest[:share]))
            rest.append(replace(like, declared=newest[share:]))
        return kept, [some for some in rest if some]

    def _parts(self, total: int) -> Iterator[int]:
        """Yield for each list how many of `total` pages it gets; what is odd goes to the first."""
        sizes = [len(held) for _, held in self._lists.values()]
        most = level(sizes, total)
        odd = total - sum(min(size, most) for size in sizes)
        for size in sizes:
            more = min(odd, 1) if size > most else 0
            odd -= more
            yield min(size, most) + more


def level(sizes: Collection[int], total: int) -> int:
    """Return the most that each of several may have, so that all have at most `total` together.

    >>> level([2, 50, 70], 42)
    20
    """
    left = total
    for at, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - at)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def together(parts: Iterable[Entries]) -> int:
    """Return how many URLs there are in all parts."""
    return sum(map(len, parts))


def _lastmod(one: Declared) -> datetime:
    return one.lastmod or _NEVER
