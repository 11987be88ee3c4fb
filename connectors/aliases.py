"""Pages that came from another address than was asked for: whose text is it?"""

from collections.abc import Collection, Iterator

from flows import urls
from flows.records import Failure, Outcome, Page

HELD = 256
"""Redirected pages of a site that may wait for its end."""


class Aliases:
    """Holds redirected pages back until it is known which URLs of the site have a row of their own.

    A page that is asked for by its own address is stored there, and what redirects to it is a
    `duplicate` of it, whichever came first. A page that only redirects lead to is stored under the
    shortest of them.
    """

    def __init__(self, committed: Collection[int]) -> None:
        """Start with the hashes of URLs that have their row already."""
        self._committed = committed
        self._own: set[int] = set()
        self._held: list[Page] = []

    def __len__(self) -> int:
        """Return how many pages are held back."""
        return len(self._held)

    def know(self, url: str) -> None:
        """Hear that a URL is asked for by its own address."""
        self._own.add(urls.hash64(url))

    def hold(self, page: Page) -> bool:
        """Take a redirected page in; say no to any other, and when too many are held."""
        held = page.base_url != page.entry.url and len(self._held) < HELD
        if held:
            self._held.append(page)
        return held

    def release(self) -> Iterator[Page | Failure]:
        """Yield what becomes of the pages held: one page for each address that has no row."""
        held, self._held = self._held, []
        stored: dict[str, str] = {}
        for page in sorted(held, key=lambda page: (len(page.entry.url), page.entry.url)):
            there = urls.hash64(page.base_url)
            if there in self._own or there in self._committed:
                yield _duplicate(page, page.base_url)
            elif page.base_url in stored:
                yield _duplicate(page, stored[page.base_url])
            else:
                stored[page.base_url] = page.entry.url
                yield page


def _duplicate(page: Page, of: str) -> Failure:
    return Failure(
        entry=page.entry,
        outcome=Outcome.DUPLICATE,
        detail=f"redirects to {page.base_url}",
        exchange=page.exchange,
        duplicate_of=of,
        confirmed=page.moved,
    )
