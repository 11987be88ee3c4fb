"""What a server offers as Markdown, as far as fetching needs it: its lines, and its links."""

import re
from collections.abc import Iterator

from flows import charset
from flows.records import Offer

MAX_HEAD = 200
"""Lines of front matter."""

TARGET = re.compile(
    r"(?P<code>(?<!`)(`++)(?>(?:[^`]++|(?!\2(?!`))`++){0,99})\2(?!`))"
    r"|(?P<open>\]\(\s{0,9}<?|^ {0,3}\[[^\]\[]{1,999}\]:\s{0,9}<?"
    r"|\b(?:href|src)\s{0,9}=\s{0,9}[\"'])"
    r"(?P<url>[^\s<>()\"']+(?:\([^\s<>()\"']*\)[^\s<>()\"']*)*)"
)
"""The address of a link, apart from code; what stands before it is `open`."""

_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(`{3,}|~{3,})")
_COMMENT = re.compile(r"<!--.*?-->")
_AUTOLINK = re.compile(r"<(https?://[^\s<>]+)>")
_RULES = {"---": ("---", "..."), "+++": ("+++",)}


def links(offer: Offer) -> Iterator[str]:
    """Yield the targets of an offer's links as written, those in code left out."""
    for line in seen(lines(offer)):
        found = [] if line.startswith("\0") else TARGET.finditer(line)
        yield from (at["url"] for at in found if at["url"])
        yield from _AUTOLINK.findall(line)


def lines(offer: Offer) -> list[str]:
    """Return the lines of an offer; Markdown is UTF-8 unless its header says otherwise."""
    text = charset.decode(offer.body, offer.charset or "utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def parted(lines: list[str]) -> tuple[list[str], list[str]]:
    """Return front matter and text."""
    ends = _RULES.get(lines[0].rstrip(), ())
    for number, line in enumerate(lines[1 : MAX_HEAD + 1], start=1):
        if line.rstrip() in ends:
            return lines[1:number], lines[number + 1 :]
    return [], lines


def seen(lines: list[str]) -> Iterator[str]:
    r"""Yield lines without comments; those of fenced code are marked by a NUL before them."""
    fence, hidden = "", False
    for line in lines:
        opening = _FENCE.match(line)
        if fence:
            closes = opening and opening[1].startswith(fence) and not line[opening.end() :].strip()
            fence = "" if closes else fence
            yield "\0" + line
        elif hidden or (opening is None and "<!--" in line):
            shown, hidden = _uncommented(line, hidden=hidden)
            if shown.strip():
                yield shown
        elif opening:
            fence = opening[1]
            yield "\0" + line
        else:
            yield line


def _uncommented(line: str, *, hidden: bool) -> tuple[str, bool]:
    """Return what is to be seen of a line, and whether a comment goes on after it."""
    if hidden:
        _, end, line = line.partition("-->")
        if not end:
            return "", True
    shown, opened, _ = (_COMMENT.sub("", line) if "-->" in line else line).partition("<!--")
    return shown, bool(opened)
