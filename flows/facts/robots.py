"""Whether a page wants to be in an index: robots `meta` and the X-Robots-Tag header."""

import re
from collections.abc import Iterable, Iterator

FORBID = frozenset({"noindex", "none"})
"""Directives that keep a page out (developers.google.com, robots meta tag)."""
VALUED = frozenset(
    {
        "max-snippet",
        "max-image-preview",
        "max-video-preview",
        "unavailable_after",
        "unavailable-after",
    }
)
"""Directives with a colon of their own, which is no user agent's."""
_NAMED = re.compile(r"\s*([A-Za-z][\w-]*)\s*:\s*(.*)", re.DOTALL)
_WORDS = re.compile(r"[\s,;]+")


def noindex(metas: Iterable[str], header: str | None = None) -> str | None:
    r"""Return what keeps a page out of indexes, in words, or None when nothing does.

    `metas` are the contents of robots `meta` elements, `header` the X-Robots-Tag lines. What a
    header says to a named user agent is not for us.

    >>> noindex(["NOINDEX, follow"])
    'robots meta says noindex'
    >>> noindex([], "otherbot: noindex, nofollow\nall") is None
    True
    """
    for content in metas:
        said = FORBID.intersection(_WORDS.split(content.lower()))
        if said:
            return f"robots meta says {min(said)}"
    said = FORBID.intersection(for_all(header or ""))
    return f"X-Robots-Tag says {min(said)}" if said else None


def for_all(header: str) -> Iterator[str]:
    """Yield the directives of header lines that are meant for everybody."""
    for line in header.splitlines():
        agent = None
        for part in line.split(","):
            found = _NAMED.match(part)
            if found and found[1].lower() not in VALUED:
                agent, part = found[1], found[2]  # noqa: PLW2901  # what is left of the part
            if agent is None or agent == "*":
                yield from _WORDS.split(part.strip().lower())
