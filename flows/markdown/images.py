"""Images: where they really are, and which of them are characters."""

from itertools import islice

from lxml.html import HtmlElement

_LAZY = ("data-src", "data-lazy-src", "data-original", "data-lazy", "data-orig-file")
"""Attributes that hold the source of an image that is loaded late."""
MAX_SOURCES = 8
"""Sources of a `picture`."""
_DOTS = frozenset({"0", "1"})
"""Widths and heights of images that only count readers."""


def emoji(element: HtmlElement) -> str:
    """Return the character that an image shows, or nothing when it shows none."""
    alt = (element.get("alt") or "").strip()
    return alt if "emoji" in (element.get("class") or "") and not alt.isascii() else ""


def is_dot(element: HtmlElement) -> bool:
    """Tell whether an image is too small to be seen."""
    return element.get("width") in _DOTS and element.get("height") in _DOTS


def source_of(element: HtmlElement) -> str:
    """Return where an image is: lazy loading keeps that beside `src`, `picture` around it."""
    source = (element.get("src") or "").strip()
    lazy = next((found for name in _LAZY if (found := (element.get(name) or "").strip())), "")
    if lazy and not lazy.startswith("data:") and " " not in lazy:
        return lazy
    if source and not source.startswith("data:"):
        return source
    return _candidates(element).split(",")[0].strip().split(" ")[0]


def _candidates(element: HtmlElement) -> str:
    """Return a `srcset`, of the image or of the `picture` around it."""
    # The parser takes what follows a `source` for its content, so the image may lie in one.
    above = islice(element.iterancestors(), MAX_SOURCES)
    picture = next((up for up in above if up.tag == "picture"), None)
    around = () if picture is None else islice(picture.iter("source"), MAX_SOURCES)
    stated = (e.get("srcset") or e.get("data-srcset") for e in (element, *around))
    return next(filter(None, stated), "")
