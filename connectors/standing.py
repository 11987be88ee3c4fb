"""What becomes of the pages of one site: stored, the same as before, a duplicate, or gone."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from connectors.dataset import Run
from flows import alerts, changes, neighbours, removals, urls
from flows.duplicates import Contents, Fate
from flows.records import Alert, Change, Failure, Outcome, Reading, SiteEnd
from flows.remembered import SAME
from flows.urls import hash64

MOST_HELD: Final = 32
"""Pages of a site whose content is stored under another address, kept until that one was asked."""
MOST_PATIENT: Final = 8
"""Pages of a site that wait for the address which they name as their canonical one: a kill costs
them, and a site whose pages all name addresses that nobody asks for must not wait for its end."""
_ENDED: Final = ("complete", "stopped_by_budget")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A URL, how it left the run, and what that means for the corpus."""

    row: Failure | Reading
    outcome: Outcome
    change: Change | None = None
    duplicate_of: str | None = None


class Standing:
    """Decides on the URLs of a site, each as soon as it can be.

    A page that leaves the corpus waits for the end of its site: too many at once are no proof.
    So does a page with the content of a stored one that has not been asked yet: it may be the new
    address of it. A page that names another of the site as its canonical address waits for that.
    What redirects to a page is its duplicate only where that page is stored.
    """

    def __init__(self, run: Run, site: str, max_removed: float) -> None:
        """Read what is stored of the site, and what this run has stored already."""
        self._site = site
        self._max_removed = max_removed
        self._memory = run.memory(site)
        stored = list(run.stored(site))
        self._contents = Contents(stored, self._memory.contents())
        self._leaving: list[Decided] = []
        self._held: list[Reading] = []
        self._patient: dict[str, list[Reading]] = {}
        self._redirects: list[Failure] = []
        self._left_out: dict[int, Fate] = {}
        self._earlier = run.left_out
        self._withheld: Alert | None = None
        for url, content in stored:
            self._leaves(url, content)

    @property
    def is_known(self) -> bool:
        """Whether pages of the site were stored before this run."""
        return bool(len(self._memory))

    def take(self, row: Failure | Reading) -> Iterator[Decided]:
        """Take a URL in, and yield those that are decided now."""
        if isinstance(row, Reading) and self._defers(row):
            return
        yield from self._page(row) if isinstance(row, Reading) else self._failure(row)
        for reading in self._patient.pop(row.entry.url, ()):
            yield from self._page(reading)

    def end(self, end: SiteEnd) -> Iterator[Decided]:
        """Yield what had to wait for the end of the site."""
        patient, self._patient = self._patient, {}
        for reading in sorted(chain(*patient.values()), key=_by_address):
            yield from self._page(reading)
        waiting, self._held = self._held, []
        yield from self._led_elsewhere({reading.entry.url for reading in waiting})
        leaving = self._free_to_leave(end)
        for reading in waiting:
            rival = self._rival(reading)
            if rival is None or rival in leaving:
                yield from self._stored(reading)
            else:
                yield from self._duplicate(reading, rival)
        yield from self._led_elsewhere()
        leaving = self._free_to_leave(end)
        stored = self._contents.stored()
        for one in map(self._pointed, self._leaving):
            goes = one.row.entry.url in leaving and self._is_kept(one.duplicate_of, stored, leaving)
            yield one if one.change else replace(one, change=Change.REMOVED if goes else None)

    def alert(self) -> Alert | None:
        """Return the alert that so many pages are gone that none was removed."""
        return self._withheld

    def _defers(self, reading: Reading) -> bool:
        """Keep a page back until the address has come which it names as its canonical one."""
        url, better = reading.entry.url, reading.document.canonical_url
        if better in (None, url) or urls.origin(better or "") != urls.origin(url):
            return False
        if self._memory.before.place(url) is not None or self._is_taken(reading):
            return False
        if sum(map(len, self._patient.values())) >= MOST_PATIENT:
            return False
        self._patient.setdefault(better or "", []).append(reading)
        return True

    def _is_taken(self, reading: Reading) -> bool:
        """Say whether a page of this run has the content already."""
        return self._contents.has(reading.document.content_hash)

    def _page(self, reading: Reading) -> Iterator[Decided]:
        self._leaves(reading.entry.url, reading.document.content_hash)
        if self._rival(reading) is not None and len(self._held) < MOST_HELD:
            self._held.append(reading)
        else:
            yield from self._stored(reading)
        if self._memory.before.place(reading.entry.url) is not None:
            yield from self._settle()

    def _leaves(self, url: str, content_hash: str) -> None:
        """Hear what a page has now: what it had before is free, wherever its own may be stored."""
        content = self._memory.before.content(url)
        if content is not None and content != hash64(content_hash):
            self._contents.leaves(url, content)

    def _rival(self, reading: Reading) -> str | None:
        return self._contents.rival(reading.entry.url, reading.document.content_hash)

    def _stored(self, reading: Reading) -> Iterator[Decided]:
        """Yield a page as stored, or as the duplicate of one that is stored for sure."""
        url, content = reading.entry.url, reading.document.content_hash
        other = self._contents.claim(url, content)
        if other is not None:
            yield from self._duplicate(reading, other)
            return
        was = self._memory.of(url)
        is_current = was is None or was.is_current
        change = changes.change(url, content, self._memory.before, is_current=is_current)
        outcome = Outcome.UNCHANGED if change is Change.UNCHANGED else Outcome.OK
        yield Decided(row=reading, outcome=outcome, change=change)

    def _duplicate(self, reading: Reading, of: str) -> Iterator[Decided]:
        """Yield a page as a duplicate; one that is stored has to wait: are they all alike now?"""
        self._left_out[hash64(reading.entry.url)] = Fate(Outcome.DUPLICATE, of)
        light = replace(reading, document=replace(reading.document, markdown=""), html=None)
        decided = Decided(row=light, outcome=Outcome.DUPLICATE, duplicate_of=of)
        if self._memory.before.place(reading.entry.url) is None:
            yield decided
        else:
            self._leaving.append(decided)

    def _failure(self, failure: Failure) -> Iterator[Decided]:
        """Decide on a URL that was not read; what redirects waits for what it leads to."""
        if failure.outcome is Outcome.DUPLICATE:
            self._redirects.append(failure)
            return
        if failure.outcome not in SAME:
            self._left_out[hash64(failure.entry.url)] = Fate(failure.outcome)
        yield from self._unread(failure)

    def _unread(self, failure: Failure) -> Iterator[Decided]:
        """Decide on a URL that was not read; a stored page of it stays unless there is proof."""
        outcome, at = failure.outcome, self._memory.before.place(failure.entry.url)
        was = self._memory.of(failure.entry.url)
        decided = Decided(row=failure, outcome=outcome, duplicate_of=failure.duplicate_of)
        if at is None:
            yield decided
        elif removals.is_word_of_site(failure, was.final_url if was else None):
            self._leaving.append(decided)
        else:
            yield replace(decided, change=Change.UNCHANGED if outcome in SAME else None)
            self._contents.stays(failure.entry.url, self._memory.before.contents[at])
            yield from self._settle()

    def _led_elsewhere(self, open_: Collection[str] = ()) -> Iterator[Decided]:
        """Yield what redirects; what leads to one of `open_` waits until it is known what that is.

        It may leave meanwhile: its new address is waiting for that.
        """
        waiting, self._redirects = self._redirects, []
        if waiting:
            targets = {one.duplicate_of for one in waiting if one.duplicate_of}
            self._left_out = self._earlier(self._site, targets) | self._left_out
        for failure in waiting:
            is_known = self._memory.before.place(failure.entry.url) is not None
            if failure.duplicate_of in open_ and not (is_known and failure.confirmed):
                self._redirects.append(failure)
            else:
                yield from self._unread(self._led(failure))

    def _pointed(self, one: Decided) -> Decided:
        """Return what leads to a page that had to wait with what has become of that."""
        if not isinstance(one.row, Failure) or one.outcome is not Outcome.DUPLICATE:
            return one
        led = self._led(one.row)
        change = Change.UNCHANGED if led.outcome in SAME else None
        return replace(
            one, row=led, outcome=led.outcome, change=change, duplicate_of=led.duplicate_of
        )

    def _led(self, failure: Failure) -> Failure:
        """Return a redirect as what it leads to: where that is not stored, it proves nothing."""
        fate = self._left_out.get(hash64(failure.duplicate_of or ""))
        if fate is None:
            return failure
        if fate.duplicate_of not in (None, failure.entry.url):
            return replace(failure, duplicate_of=fate.duplicate_of)
        outcome = Outcome.UNCHANGED if fate.duplicate_of else fate.outcome  # to its own text
        detail = f"{failure.detail}: {outcome}"
        return replace(failure, outcome=outcome, duplicate_of=None, confirmed=False, detail=detail)

    def _settle(self) -> Iterator[Decided]:
        """Yield the pages held whose rival is known by now to stay, or to have changed."""
        waiting, self._held = self._held, []
        for reading in waiting:
            if self._rival(reading) is None:
                yield from self._stored(reading)
            else:
                self._held.append(reading)

    def _free_to_leave(self, end: SiteEnd) -> set[str]:
        """Return the URLs that may leave: not those that are too many to believe it at once."""
        if end.status not in _ENDED:
            return set()
        leaving = {one.row.entry.url for one in self._leaving}
        doubtful = {url for url in self._lost() if not self._is_confirmed(url)}
        count, stored = len(doubtful), len(self._memory)
        if not removals.are_too_many(count, stored, self._max_removed):
            return leaving
        said = f"{count:,} of {stored:,} pages are gone: they stay until the next run agrees"
        most = max(stored * self._max_removed, removals.AT_LEAST - 1)
        self._withheld = alerts.alert(self._site, "pages_removed", self._site, said, count, most)
        return leaving - doubtful

    def _lost(self) -> Iterator[str]:
        """Yield the URLs of which nothing is left elsewhere: all but those that have moved.

        Where many lead to one page, or have the words of one page, they have not moved there.
        """
        targets = Counter(one.duplicate_of for one in self._leaving)
        for one in self._leaving:
            is_redirect = isinstance(one.row, Failure) and one.duplicate_of is not None
            if not is_redirect or targets[one.duplicate_of] > 1:
                yield one.row.entry.url

    def _is_confirmed(self, url: str) -> bool:
        """Say whether the run before has found a page gone, and did not believe it."""
        was = self._memory.of(url) if self._memory.withheld else None
        return was is not None and was.was_leaving

    def _is_kept(self, target: str | None, stored: set[int], leaving: set[str]) -> bool:
        """Say whether what a page is a duplicate of, if it is one, is stored after this run."""
        if target is None or hash64(target) in stored:
            return True
        return self._memory.before.place(target) is not None and target not in leaving


def _by_address(reading: Reading) -> tuple[int, int, str]:
    return neighbours.rank(reading.entry.url)
