"""What an open element collects while the tree is walked."""

from dataclasses import dataclass, field
from enum import Enum

from lxml.html import HtmlElement


class Kind(Enum):
    """What may stand in an element."""

    BLOCKS = 1
    ITEMS = 2
    WORDS = 3
    CELL = 4
    """Words of a table's cell, on one line."""


class Listed(str):
    """A finished list, which may follow a paragraph of its item without a blank line."""

    __slots__ = ()


class Closed(str):
    """The mark after emphasized words, with which emphasized words right behind can go on."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Frame:
    """An element that is open, and what has been written in it."""

    element: HtmlElement
    kind: Kind
    name: str
    """What closes it: a function of `closings`."""
    words: list[str] = field(default_factory=list)
    """The open paragraph."""
    blocks: list[str] = field(default_factory=list)
    items: list[tuple[int, list[str]]] = field(default_factory=list)
    """Of a list: an item's number, or -1, and its blocks."""
    link: str = ""
    """Target for the first words, of a link around whole blocks."""
