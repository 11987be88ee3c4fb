"""What becomes of the pages of one site: stored, the same as before, a duplicate, or gone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from connectors.dataset import Run
from flows import alerts, changes, removals
from flows.duplicates import Contents
from flows.records import Alert, Change, Failure, Outcome, Reading, SiteEnd
from flows.remembered import SAME
from flows.urls import hash64

MOST_HELD: Final = 32
"""Pages of a site whose content is stored under another address, kept until that one was asked."""
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
    address of it.
    """

    def __init__(self, run: Run, site: str, max_removed: float) -> None:
        """Read what is stored of the site, and what this run has stored already."""
        self._site = site
        self._max_removed = max_removed
        self._memory = run.memory(site)
        self._contents = Contents(run.stored(site), self._memory.contents())
        self._leaving: list[Failure] = []
        self._moved: list[Failure] = []
        self._held: list[Reading] = []
        self._withheld: Alert | None = None

    @property
    def is_known(self) -> bool:
        """Whether pages of the site were stored before this run."""
        return bool(len(self._memory))

    def take(self, row: Failure | Reading) -> Iterator[Decided]:
        """Take a URL in, and yield those that are decided now."""
        if isinstance(row, Reading):
            yield from self._page(row)
        else:
            yield from self._failure(row)

    def end(self, end: SiteEnd) -> Iterator[Decided]:
        """Yield what had to wait for the end of the site."""
        gone = self._gone(end)
        leaving = gone | {failure.entry.url for failure in self._moved}
        for reading in self._held:
            rival = self._rival(reading)
            stays = rival is not None and rival not in leaving
            yield self._duplicate(reading, rival) if rival and stays else self._stored(reading)
        for failure in self._leaving:
            removed = Change.REMOVED if failure.entry.url in gone else None
            yield Decided(row=failure, outcome=failure.outcome, change=removed)
        yield from self._moves(leaving)

    def alert(self) -> Alert | None:
        """Return the alert that so many pages are gone that none was removed."""
        return self._withheld

    def _page(self, reading: Reading) -> Iterator[Decided]:
        if self._rival(reading) is not None and len(self._held) < MOST_HELD:
            self._held.append(reading)
            return
        yield self._stored(reading)
        at = self._memory.before.place(reading.entry.url)
        if at is not None:
            content = self._memory.before.contents[at]
            if content != hash64(reading.document.content_hash):
                self._contents.leaves(reading.entry.url, content)
            yield from self._settle()

    def _rival(self, reading: Reading) -> str | None:
        return self._contents.rival(reading.entry.url, reading.document.content_hash)

    def _stored(self, reading: Reading) -> Decided:
        """Return a page as stored, or as the duplicate of one that is stored for sure."""
        url, content = reading.entry.url, reading.document.content_hash
        other = self._contents.claim(url, content)
        if other is not None:
            return self._duplicate(reading, other)
        was = self._memory.of(url)
        change = changes.change(
            url, content, self._memory.before, is_current=was is None or was.is_current
        )
        same = change is Change.UNCHANGED
        return Decided(
            row=reading, outcome=Outcome.UNCHANGED if same else Outcome.OK, change=change
        )

    def _duplicate(self, reading: Reading, of: str) -> Decided:
        change = Change.REMOVED if self._is_stored(reading.entry.url) else None
        return Decided(row=reading, outcome=Outcome.DUPLICATE, change=change, duplicate_of=of)

    def _failure(self, failure: Failure) -> Iterator[Decided]:
        """Decide on a URL that was not read; a stored page of it stays unless there is proof."""
        outcome, at = failure.outcome, self._memory.before.place(failure.entry.url)
        if at is None:
            yield Decided(row=failure, outcome=outcome, duplicate_of=failure.duplicate_of)
        elif outcome is Outcome.DUPLICATE:
            self._moved.append(failure)
        elif removals.is_word_of_site(failure):
            self._leaving.append(failure)
        else:
            change = Change.UNCHANGED if outcome in SAME else None
            yield Decided(row=failure, outcome=outcome, change=change)
            self._contents.stays(failure.entry.url, self._memory.before.contents[at])
            yield from self._settle()

    def _settle(self) -> Iterator[Decided]:
        """Yield the pages held whose rival is known by now to stay, or to have changed."""
        waiting, self._held = self._held, []
        for reading in waiting:
            if self._rival(reading) is None:
                yield self._stored(reading)
            else:
                self._held.append(reading)

    def _gone(self, end: SiteEnd) -> set[str]:
        """Return the URLs that are removed: not those that are too many to believe it at once."""
        if end.status not in _ENDED:
            return set()
        leaving = {failure.entry.url for failure in self._leaving}
        confirmed = {url for url in leaving if self._is_confirmed(url)}
        first, stored = len(leaving - confirmed), len(self._memory)
        if not removals.are_too_many(first, stored, self._max_removed):
            return leaving
        said = f"{first:,} of {stored:,} pages are gone: they stay until the next run agrees"
        most = max(stored * self._max_removed, removals.AT_LEAST - 1)
        self._withheld = alerts.alert(self._site, "pages_removed", self._site, said, first, most)
        return confirmed

    def _is_confirmed(self, url: str) -> bool:
        """Say whether the run before has found a page gone, and did not believe it."""
        was = self._memory.of(url) if self._memory.withheld else None
        return was is not None and was.was_leaving

    def _moves(self, leaving: set[str]) -> Iterator[Decided]:
        """Yield the pages that lead to another one: they leave when that one is stored."""
        stored, before = self._contents.stored(), self._memory.before
        for failure in self._moved:
            to = failure.duplicate_of or ""
            is_stored = hash64(to) in stored or (before.place(to) is not None and to not in leaving)
            yield Decided(
                row=failure,
                outcome=failure.outcome,
                change=Change.REMOVED if is_stored else None,
                duplicate_of=failure.duplicate_of,
            )

    def _is_stored(self, url: str) -> bool:
        return self._memory.before.place(url) is not None
