"""A page budget that the lists of a site exceed: who gets what of it.

A part is handed out as the lists come, so that the first pages are asked for at once. The rest
waits until they have been read and is then spread over them, to each its newest pages. What waits
is bounded by the budget: what can no longer be chosen is given back at once.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from flows.records import Attribution, Columns, Declared, Entries

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
            return entries, entries.first(0)
        now = entries.first(self._at_once)
        self._at_once -= len(now)
        return now, entries.after(len(now))

    def wait(self, entries: Entries) -> list[Entries]:
        """Let URLs wait; return those, of all that wait, that cannot be chosen any more."""
        self._lists.setdefault(entries.attribution, (entries, []))[1].extend(
            entries.declared.rows()
        )
        self.waiting += len(entries)
        if self.waiting <= self._budget + self._budget // 2:
            return []
        rest = list(self._cut(self._budget))
        self.waiting = sum(len(held) for _, held in self._lists.values())
        return rest

    def deal(self, left: int) -> tuple[list[Entries], list[Entries]]:
        """Return who of all that wait is chosen for the `left` pages of the budget, and who not.

        Nothing is left to be shared from then on.
        """
        rest = list(self._cut(left))
        kept = [_entries(like, held) for like, held in self._lists.values()]
        self._lists, self.waiting = {}, 0
        self._budget, self._at_once = min(self._budget, 0), 0
        return kept, rest

    def _cut(self, total: int) -> Iterator[Entries]:
        """Leave each list its share of `total` pages, the newest; yield the others."""
        shares = list(self._parts(total))
        for (like, held), share in zip(self._lists.values(), shares, strict=True):
            if share < len(held):
                held.sort(key=_lastmod, reverse=True)
                yield _entries(like, held[share:])
                del held[share:]

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


def _entries(like: Entries, declared: list[Declared]) -> Entries:
    return replace(like, declared=Columns.of(declared))


def together(parts: Iterable[Entries]) -> int:
    """Return how many URLs there are in all parts."""
    return sum(map(len, parts))


def _lastmod(one: Declared) -> datetime:
    return one.lastmod or _NEVER
