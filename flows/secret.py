"""A text that is not shown: keys, and addresses with a password in them."""

from typing import Final


class Secret:
    """A text whose `repr` hides it.

    >>> Secret("sk-1"), str(Secret("sk-1")), Secret("sk-1").reveal(), bool(Secret())
    (Secret(***), '***', 'sk-1', False)
    """

    __slots__ = ("_text",)

    def __init__(self, text: str = "") -> None:
        """Hide `text`."""
        self._text = text

    def reveal(self) -> str:
        """Return the text itself, for the one place that needs it."""
        return self._text

    def __bool__(self) -> bool:
        """Return whether there is a text at all."""
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        """Return whether the other hides the same text."""
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        """Return the hash of the text."""
        return hash(self._text)

    def __repr__(self) -> str:
        """Return what may be shown."""
        return f"Secret({self})"

    def __str__(self) -> str:
        """Return what may be shown."""
        return "***" if self._text else ""


NONE: Final = Secret()
"""No text: what a setting is that nobody made."""
