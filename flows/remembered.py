"""What the last run knew of a stored page, so that this one need not fetch it for nothing."""

from dataclasses import dataclass

from flows.records import Attribution, Method, Outcome

STORED = (Outcome.OK, Outcome.UNCHANGED, Outcome.NOT_MODIFIED)
"""Outcomes after which the corpus holds the page as the site has it."""

BY_LINK = frozenset({Method.LINK, Method.PAGINATION, Method.CANONICAL})


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A page that is stored, and how it was found."""

    etag: str | None = None
    last_modified: str | None = None
    method: Method = Method.INVENTORY
    referrer: str | None = None
    depth: int = 0

    @property
    def attribution(self) -> Attribution:
        """How the page is found in a run in which nobody else names it.

        A page that is not modified is not read, so its links still stand; what a sitemap declared
        and declares no more is asked for as part of the inventory.
        """
        if self.method in BY_LINK:
            return Attribution(method=self.method, referrer=self.referrer, depth=self.depth)
        return Attribution(method=Method.INVENTORY)
