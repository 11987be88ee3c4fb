"""Inline Markdown: what has to be escaped, code spans, link targets."""

import re
from urllib.parse import urljoin

BREAK = "\0"
"""A line break in words that are not yet a paragraph; pages hold no NUL any more."""
MOST_ADDED = 8 << 20
"""Characters that a page may become longer by, from its links being made absolute."""
_SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|$)|`|(?<!\s)\*|\*(?!\s)|(?<![^\W_])_|_(?![^\W_])"
    r"|<(?=[A-Za-z/!?])|&(?=\#?\w+;)|~(?=~)|(?<=~)~|\](?=[(\[:])"
)
_BRACKET = re.compile(r"(?<!\\)[\[\]]")
_LINE_START = re.compile(r"(?:\#{1,6}|[-+*])(?=\s|$)|>|={2,}\s*$|-{2,}\s*$")
_NUMBERED = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_TICKS = re.compile(r"`+")
_UNSEEN = dict.fromkeys([0xAD, 0x200B, 0x2060, 0xFEFF])
_UNSAFE = {ord(c): f"%{ord(c):02X}" for c in ' <>"\\^`{|}'}
_AUTOLINK = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*")


def escape(text: str) -> str:
    r"""Return words of a page so that Markdown reads them as words.

    >>> escape("a_b and *c* <string>")
    'a_b and \\*c\\* \\<string>'
    """
    if not text.isascii():
        text = text.translate(_UNSEEN)
    return _SPECIAL.sub(r"\\\g<0>", text)


def escape_brackets(text: str) -> str:
    """Return the words of a link with its brackets escaped."""
    return _BRACKET.sub(r"\\\g<0>", text)


def escape_start(line: str) -> str:
    r"""Return a line that does not open a block by accident.

    >>> escape_start("1. May"), escape_start("# no heading")
    ('1\\. May', '\\# no heading')
    """
    first = line[:1]
    if first.isdigit():
        return _NUMBERED.sub(r"\1\\\2", line, count=1) if _NUMBERED.match(line) else line
    if first in "#-+*>=" and _LINE_START.match(line):
        return "\\" + line
    return line


def paragraphs(words: str) -> list[str]:
    """Return the paragraphs that words make; two line breaks in a row start a new one."""
    text = " ".join(words.split())
    if BREAK not in text:
        text = text.strip()
        return [escape_start(text)] if text else []
    found: list[list[str]] = [[]]
    for line in map(str.strip, text.split(BREAK)):
        if line:
            found[-1].append(escape_start(line))
        elif found[-1]:
            found.append([])
    return ["  \n".join(lines) for lines in found if lines]


def one_line(words: str) -> str:
    """Return words on one line."""
    return " ".join(words.replace(BREAK, " ").split())


def code_span(text: str) -> str:
    r"""Return text as inline code.

    >>> code_span("a `b`")
    '`` a `b` ``'
    """
    text = " ".join(text.split())
    if not text:
        return ""
    ticks = "`" * (max(map(len, _TICKS.findall(text)), default=0) + 1)
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def destination(url: str) -> str:
    """Return a URL so that it can stand between a link's parentheses.

    >>> destination("https://a.test/b c(d)")
    'https://a.test/b%20c(d)'
    """
    url = "".join(url.split("\n")).translate(_UNSAFE)
    if url.count("(") != url.count(")") or url.find(")") < url.find("("):
        url = url.replace("(", "%28").replace(")", "%29")
    return url


def link(text: str, url: str) -> str:
    """Return a link; one whose words are its target is written once."""
    if text.replace("\\", "") == url and _AUTOLINK.fullmatch(url):
        return f"<{url}>"
    return f"[{text}]({url})"


class Base:
    """Resolves the links of one page."""

    def __init__(self, url: str) -> None:
        """Take what they are relative to."""
        self.url = url
        self._known: dict[str, str] = {}
        self._added = 0

    def absolute(self, href: str) -> str:
        """Return `href` as an absolute URL, or the empty string for one that leads nowhere.

        Past `MOST_ADDED` none leads anywhere.
        """
        found = self._known.get(href)
        if found is None:
            found = self._known[href] = self._resolve(href.strip())
        self._added += max(0, len(found) - len(href))
        return found if self._added < MOST_ADDED else ""

    def _resolve(self, href: str) -> str:
        low = href[:11].lower()
        if low.startswith(("javascript:", "data:", "vbscript:", "blob:", "about:")):
            return ""
        try:
            return destination(urljoin(self.url, href))
        except ValueError:
            return ""
