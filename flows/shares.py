"""A page budget that the lists of a site exceed: who gets what of it.

A part is handed out as the lists come, so that the first pages are asked for at once. The rest
waits until they have been read and is then spread over them, to each its newest pages. What waits
is bounded by the budget, and by the length of the addresses: what can no longer be chosen is given
back at once.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from flows.records import Attribution, Entries

AT_ONCE = 10
"""One page in so many of the budget is handed out while the lists are read."""

MOST_SIZE = 64 << 20
"""Characters of addresses that wait; 75,000 usual ones have six million."""

_NEVER = datetime.min.replace(tzinfo=UTC)


class Shares:
    """What the lists of one site wait to get of its page budget."""

    def __init__(self, budget: int) -> None:
        """Share out `budget` pages; below 0 there is no bound, and nothing waits."""
        self._budget = budget
        self._at_once = budget // AT_ONCE
        self._lists: dict[Attribution, list[Entries]] = {}
        self.waiting = 0
        """How many URLs wait."""
        self._size = 0

    def at_once(self, entries: Entries) -> tuple[Entries, Entries]:
        """Return what may be fetched now, and what has to wait."""
        if self._budget < 0:
            return entries, entries.first(0)
        now = entries.first(self._at_once)
        self._at_once -= len(now)
        return now, entries.after(len(now))

    def wait(self, entries: Entries) -> list[Entries]:
        """Let URLs wait; return those, of all that wait, that cannot be chosen any more."""
        self._lists.setdefault(entries.attribution, []).append(entries)
        self.waiting += len(entries)
        self._size += entries.size
        most = self._budget
        if self._size > MOST_SIZE:
            most = min(most, self.waiting // 2)
        elif self.waiting <= self._budget + self._budget // 2:
            return []
        kept, rest = self._cut(most)
        self._lists = {some.attribution: [some] for some in kept}
        self.waiting, self._size = together(kept), sum(some.size for some in kept)
        return rest

    def deal(self, left: int) -> tuple[list[Entries], list[Entries]]:
        """Return who of all that wait is chosen for the `left` pages of the budget, and who not.

        Nothing is left to be shared from then on.
        """
        dealt = self._cut(left)
        self._lists, self.waiting, self._size = {}, 0, 0
        self._budget, self._at_once = min(self._budget, 0), 0
        return dealt

    def _cut(self, total: int) -> tuple[list[Entries], list[Entries]]:
        lists = list(map(Entries.joined, self._lists.values()))
        shares = _parts([len(some) for some in lists], total)
        cut = [_newest(some, share) for some, share in zip(lists, shares, strict=True)]
        return [kept for kept, _ in cut if kept], [rest for _, rest in cut if rest]


def _parts(sizes: Sequence[int], total: int) -> Iterator[int]:
    """Yield for each list how many of `total` pages it gets; what is odd goes to the first."""
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


def _newest(entries: Entries, count: int) -> tuple[Entries, Entries]:
    """Return the `count` with the newest `lastmod`, and the others."""
    if count >= len(entries):
        return entries, entries.first(0)
    dates = [lastmod or _NEVER for lastmod in entries.declared.lastmod]
    order = sorted(range(len(dates)), key=dates.__getitem__, reverse=True)
    columns = entries.declared.each(lambda column: [column[at] for at in order])
    ordered = replace(entries, declared=columns)
    return ordered.first(count), ordered.after(count)
