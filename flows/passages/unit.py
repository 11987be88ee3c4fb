"""What stays together when a text is cut, and what a text is cut by."""

from collections.abc import Callable
from dataclasses import dataclass

LONGEST = 128
"""Characters of the longest token: a text of more than so many for each token is too long."""


@dataclass(slots=True)
class Unit:
    """`text[start:end]`, which stays together."""

    start: int
    end: int
    tokens: int = 0
    before: str = ""
    """What a text that starts here has to repeat: an opening fence, a table's header."""
    after: str = ""
    """What a text that ends here has to add: a closing fence."""
    closing: int = 0
    """Tokens of `after`."""
    heading: bool = False
    leading: bool = False
    """Whether it announces what follows ("such as:") and should not be a text's last words."""


@dataclass(frozen=True, slots=True)
class Source:
    """A Markdown text that is cut, and into how much."""

    text: str
    room: int
    """Most tokens of a unit, what it has to repeat included."""
    count: Callable[[str], int]
    """Tokens of a text."""

    def size(self, start: int, end: int) -> int:
        """Return the tokens of `text[start:end]`."""
        return self.count(self.text[start:end])

    def fitting(self, start: int, end: int) -> int:
        """Return the tokens of `text[start:end]`, or more than there is room for, uncounted."""
        long = end - start > LONGEST * self.room
        return self.room + 1 if long else self.size(start, end)
