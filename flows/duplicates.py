"""One content of a site is stored once; the other addresses point at the stored one."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from flows.records import Outcome
from flows.urls import hash64


class Fate(NamedTuple):
    """What became of a URL whose page was not stored."""

    outcome: Outcome
    duplicate_of: str | None = None


class Contents:
    """The contents of a site, and the URL that has each.

    What this run has stored is sure. Of what was stored before it is not known whether it stays
    until its URL has been asked for.
    """

    __slots__ = ("_before", "_urls")

    def __init__(
        self,
        stored: Iterable[tuple[str, str]] = (),
        before: Mapping[int, str] | None = None,
    ) -> None:
        """Start from pages of this run as (URL, content hash).

        `before` maps `hash64` of the contents that were stored before it to their URLs.
        """
        self._urls: dict[int, str] = {hash64(content): url for url, content in stored}
        self._before = dict(before or {})

    def claim(self, url: str, content_hash: str) -> str | None:
        """Return the other URL that has this content, or None: then `url` has it from now on.

        >>> contents = Contents()
        >>> contents.claim("https://a.test/", "c0ffee")
        >>> contents.claim("https://a.test/index.html", "c0ffee")
        'https://a.test/'
        """
        first = self._urls.setdefault(hash64(content_hash), url)
        return None if first == url else first

    def has(self, content_hash: str) -> bool:
        """Say whether a URL has this content for sure."""
        return hash64(content_hash) in self._urls

    def rival(self, url: str, content_hash: str) -> str | None:
        """Return the other URL that had this content before, while nobody has it for sure.

        >>> contents = Contents(before={hash64("c0ffee"): "https://a.test/old"})
        >>> contents.rival("https://a.test/new", "c0ffee")
        'https://a.test/old'
        >>> contents.claim("https://a.test/new", "c0ffee")
        >>> contents.rival("https://a.test/other", "c0ffee")
        """
        key = hash64(content_hash)
        other = None if key in self._urls else self._before.get(key)
        return None if other == url else other

    def stays(self, url: str, content: int) -> None:
        """Hear that a URL keeps the content that it had, given as its `hash64`."""
        self._urls.setdefault(content, url)

    def leaves(self, url: str, content: int) -> None:
        """Hear that a URL has another content than it had."""
        if self._before.get(content) == url:
            del self._before[content]

    def stored(self) -> set[int]:
        """Return `hash64` of the URLs that have a content for sure."""
        return {hash64(url) for url in self._urls.values()}
