"""What was wrong with a file of a site, in the words of the alert kinds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One kind of fault of one file, however often it occurs in it."""

    kind: str
    """An alert kind of docs/data-format.md."""
    subject: str
    """The URL of the file."""
    detail: str
    """For people: how often, and the first examples."""
