"""This run against the last: what is new, updated or unchanged, and what is kept of the old.

The baseline of a site is its corpus as the run found it. It is held as two sorted rows of
64-bit hashes, 16 bytes a page, because every site of a run needs one at the same time.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field

from flows.records import Change
from flows.urls import hash64


@dataclass(frozen=True, slots=True)
class Baseline:
    """What was stored of a site before this run: hashes of its URLs and of their contents."""

    urls: "array[int]" = field(default_factory=lambda: array("Q"))
    """Sorted."""
    contents: "array[int]" = field(default_factory=lambda: array("Q"))
    """In the order of `urls`."""

    def __len__(self) -> int:
        """Return how many pages were stored."""
        return len(self.urls)

    def place(self, url: str) -> int | None:
        """Return where a URL stands among those that were stored, or None."""
        key = hash64(url)
        at = bisect_left(self.urls, key)
        return at if at < len(self.urls) and self.urls[at] == key else None

    def content(self, url: str) -> int | None:
        """Return the hash of what was stored for `url`, or None when nothing was."""
        at = self.place(url)
        return None if at is None else self.contents[at]


def baseline(stored: Iterable[tuple[str, str]]) -> Baseline:
    """Return the baseline of pages given as (URL, content hash)."""
    pairs = sorted((hash64(url), hash64(content)) for url, content in stored)
    return Baseline(
        array("Q", (url for url, _ in pairs)), array("Q", (content for _, content in pairs))
    )


def change(url: str, content_hash: str, before: Baseline, *, is_current: bool = True) -> Change:
    """Return what happened to a page that is read now; `is_current` when no setting changed.

    >>> before = baseline([("https://a.test/", "c0ffee")])
    >>> change("https://a.test/", "c0ffee", before).value
    'unchanged'
    >>> change("https://a.test/", "decade", before).value
    'updated'
    >>> change("https://a.test/new", "c0ffee", before).value
    'new'
    >>> change("https://a.test/", "c0ffee", before, is_current=False).value
    'updated'
    """
    stored = before.content(url)
    if stored is None:
        return Change.NEW
    same = is_current and stored == hash64(content_hash)
    return Change.UNCHANGED if same else Change.UPDATED
