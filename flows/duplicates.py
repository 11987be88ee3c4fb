"""One content of a site is stored once; the other addresses point at the stored one."""

from collections.abc import Iterable

from flows.urls import hash64


class Contents:
    """The contents of a site that this run has stored, and the URL of each."""

    __slots__ = ("_urls",)

    def __init__(self, stored: Iterable[tuple[str, str]] = ()) -> None:
        """Start from pages stored already, given as (URL, content hash)."""
        self._urls: dict[int, str] = {hash64(content): url for url, content in stored}

    def claim(self, url: str, content_hash: str) -> str | None:
        """Return the other URL that has this content, or None: then `url` has it from now on.

        >>> contents = Contents()
        >>> contents.claim("https://a.test/", "c0ffee")
        >>> contents.claim("https://a.test/index.html", "c0ffee")
        'https://a.test/'
        """
        first = self._urls.setdefault(hash64(content_hash), url)
        return None if first == url else first
