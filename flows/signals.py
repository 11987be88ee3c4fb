"""What a site says of the use of its pages by artificial intelligence.

None of it is a standard. `Content-Signal` lines of robots.txt (contentsignals.org) name three uses:
`search`, `ai-input` (a model reads the page to answer) and `ai-train`. `noai` and `noimageai` are
words in robots `meta` elements and X-Robots-Tag headers; the signals are met there as well. All
are recorded. What forbids that a model reads the text is what a reader of ours can obey:
`ai-input=no`, and `noai`, which names no use and so means each.
"""

import re
from collections.abc import Iterable

from lxml.html import HtmlElement

from flows.facts import robots

PLACES = ("robots", "content-signal")
"""Names of `meta` elements that are read."""

_SIGNAL = re.compile(r"no(?:image)?ai|noml|(?:ai-\w+|train-ai|search)=[\w-]+").fullmatch
_USE = re.compile(r"(?<![a-z-])([a-z][a-z-]*+)\s*+=\s*+([a-z-]+)", re.IGNORECASE).findall
_WORDS = re.compile(r"[\s,;]+").split
_EQUALS = re.compile(r"(?<!\s)\s*=\s*")


def of_robots(content_signal: str | None) -> str | None:
    """Return what the Content-Signal lines of our group say, in one form, or None.

    >>> of_robots("Search = yes,AI-Train=no")
    'robots.txt: search=yes, ai-train=no'
    """
    uses = (f"{use}={value}".lower() for use, value in _USE(content_signal or ""))
    return _said("robots.txt", uses)


def of_page(tree: HtmlElement, robots_tag: str | None = None) -> str | None:
    r"""Return what a page and its X-Robots-Tag lines say, in one form, or None.

    What a header says to a named user agent is not for us.

    >>> import lxml.html
    >>> page = lxml.html.fromstring('<html><meta name=Robots content="noindex, NoAI"><p>x')
    >>> of_page(page, "otherbot: noai\nai-train=no")
    'X-Robots-Tag: ai-train=no; meta: noai'
    """
    metas = [
        word
        for meta in tree.iter("meta")
        if (meta.get("name") or "").strip().lower() in PLACES
        for word in _WORDS(_EQUALS.sub("=", meta.get("content") or "").lower())
    ]
    lines = robots.for_all(_EQUALS.sub("=", robots_tag or ""))
    return joined(
        _said("X-Robots-Tag", filter(_SIGNAL, lines)), _said("meta", filter(_SIGNAL, metas))
    )


def denial(said: str | None) -> str | None:
    """Return the part of what is said that forbids a model to read the page, or None.

    >>> denial("robots.txt: ai-train=no; meta: noimageai, ai-input=no")
    'meta: ai-input=no'
    >>> denial("X-Robots-Tag: noimageai, ai-train=no") is None
    True
    """
    for part in (said or "").split("; "):
        place, _, words = part.partition(": ")
        for word in words.split(", "):
            if word in ("noai", "ai-input=no"):
                return f"{place}: {word}"
    return None


def joined(*parts: str | None) -> str | None:
    """Return the parts that say something, or None."""
    return "; ".join(filter(None, parts)) or None


def _said(place: str, words: Iterable[str]) -> str | None:
    text = ", ".join(dict.fromkeys(words))
    return f"{place}: {text}" if text else None
