"""What robots.txt says: the sitemaps it names, and whether a URL may be fetched (RFC 9309).

The lines are read here, `flows.rules` judges. What the status of a robots.txt means is decided in
`flows.discovery`.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from flows import urls
from flows.problems import Problem
from flows.rules import Rules

MAX_BYTES = 500 * 1024
"""Bytes of a robots.txt that are read (RFC 9309 §2.5: at least 500 kibibytes)."""

MAX_WILDCARDS = 5_000
"""Asterisks in the rules of our group that are kept: each may cost a search in every URL."""

VERDICTS = 4_096
"""Paths whose verdict is remembered."""

EXAMPLES = 3
"""Offending values quoted in the detail of a problem."""

_LINE = re.compile(
    r"""[\s\ufeff]*
    (user[-\s]?agent|allow|dis+all?[oa]w|diasllow|crawl[-\s]?delay|site-?maps?|content-signals?)
    [ \t]*[: \t]([^#]*)""",
    re.IGNORECASE | re.VERBOSE,
).match
"""A line of ours, in the spellings that crawlers forgive, and its value."""

_FIELDS = {
    "us": "agent",
    "al": "allow",
    "di": "disallow",
    "cr": "delay",
    "si": "sitemap",
    "co": "signal",
}
"""What a line is, by the first two letters of its name."""

_RULES = {"allow", "disallow"}
_TOKEN = re.compile(r"[A-Za-z0-9_-]+|\*(?=\s|$)").match
_SECONDS = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.ASCII).fullmatch
_HOST = re.compile(r"^https?://[^/]*", re.IGNORECASE).sub
_NEXT_URL = re.compile(r"\s+(?=https?://)", re.IGNORECASE).split
_MARKUP = re.compile(r"\s*<(?P<page>!doctype\s+html|html|head|body)?", re.IGNORECASE).match
_AI_INPUT = re.compile(r"\bai-input\s*=\s*(yes|no)\b", re.IGNORECASE).findall


@dataclass(frozen=True, slots=True, kw_only=True)
class Robots:
    """A robots.txt as it was read: what holds for every crawler."""

    text: str
    """What a `Rulebook` reads: at most 500 KiB, line feeds alone; empty when it was a web page."""
    sitemaps: tuple[str, ...] = ()
    """Canonical, each once, in the order of the file."""
    problems: tuple[Problem, ...] = ()


def parse(data: bytes, url: str) -> Robots:
    """Return what the robots.txt at `url` says, however it is written. Never raises.

    Source: RFC 9309 §2.2 to §2.5; sitemaps.org for the Sitemap lines.

    >>> parse(b"Sitemap: /all.xml", "https://example.org/robots.txt").sitemaps
    ('https://example.org/all.xml',)
    """
    problems = []
    if len(data) > MAX_BYTES:
        detail = f"only the first {MAX_BYTES} of {len(data)} bytes are read"
        problems.append(Problem(kind="robots_too_large", subject=url, detail=detail))
    text = "\n".join(re.split("\r\n?|\n", _decode(_cut(data))))
    if _is_foreign(text):
        detail = f"begins with {text.strip()[:60]!r}"
        problems.append(Problem(kind="robots_not_text", subject=url, detail=detail))
    if _is_page(text):
        text = ""
    sitemaps, faults = _sitemaps(text, url)
    return Robots(text=text, sitemaps=sitemaps, problems=(*problems, *faults))


class Rulebook:
    """The rules of one crawler on one site: the group of its product token, else the group `*`.

    Equal rules count once and their number is bounded, and so are the remembered verdicts: no file
    makes a verdict dear. A record of the stream carries the text, never this object.
    """

    def __init__(self, text: str, token: str, subject: str = "robots.txt") -> None:
        """Read `text`, the `Robots.text` of a site, for the product token of a user agent.

        `subject` names the file in problems.
        """
        group = _group(text, token)
        rules = list(_kept(group))
        self._rules = Rules(rules)
        self._allow = lru_cache(maxsize=VERDICTS)(self._rules.allow)
        delays = [float(value) for field, value in group if field == "delay" and _SECONDS(value)]
        self.crawl_delay_s: float | None = delays[-1] if delays else None
        """Seconds between two requests: the last value that is a number."""
        signals = dict.fromkeys(value for field, value in group if field == "signal" and value)
        self.content_signal: str | None = ", ".join(signals) or None
        """The `Content-Signal` values of the group as written; recorded, not obeyed here."""
        self.problems: tuple[Problem, ...] = tuple(_faults(group, len(rules), subject))

    @classmethod
    def nothing(cls) -> Self:
        """Return the rules of a site whose robots.txt cannot be reached: all is disallowed."""
        return cls("User-agent: *\nDisallow: /", "*")

    @property
    def ai_input_allowed(self) -> bool | None:
        """Whether pages may be given to a language model as input; None when it is not said."""
        said = {word.lower() for word in _AI_INPUT(self.content_signal or "")}
        return None if not said else "no" not in said

    def allows(self, url: str) -> bool:
        """Return whether `url`, a page of this site, may be fetched; robots.txt itself always may.

        Source: RFC 9309 §2.2.2 and §2.2.3.
        """
        whole = urls.canonical(url)
        return whole is not None and self.allows_path(whole[whole.index("/", len("https://")) :])

    def allows_path(self, path: str) -> bool:
        """Return the same for path and query of a canonical URL."""
        return self._allow(path) or path.partition("?")[0] == "/robots.txt"

    def allows_all(self, lines: str, origin: str) -> bool:
        """Say whether surely all of many URLs are allowed: see `Rules.allow_all`."""
        return self._rules.allow_all(lines, origin)


def _cut(data: bytes) -> bytes:
    """Return the whole lines within the size limit."""
    if len(data) <= MAX_BYTES:
        return data
    head = data[:MAX_BYTES]
    return head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1]


def _decode(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")


def _is_foreign(text: str) -> bool:
    return _MARKUP(text) is not None or "\0" in text


def _is_page(text: str) -> bool:
    """Return whether `text` is markup; rules below a printed warning are rules all the same."""
    found = _MARKUP(text)
    if found is None:
        return False
    return found["page"] is not None or not any(f == "agent" for f, _ in _lines(text))


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the field and value of each line that has one we know."""
    for line in text.split("\n"):
        found = _LINE(line)
        if found:
            yield _FIELDS[found[1][:2].lower()], found[2].strip()


def _sitemaps(text: str, url: str) -> tuple[tuple[str, ...], list[Problem]]:
    """Return the sitemaps named, and what was wrong with the naming."""
    named = [part for f, v in _lines(text) if f == "sitemap" and v for part in _NEXT_URL(v)]
    found = {value: urls.declared(value, url) for value in named}
    relative = [value for value, known in found.items() if known and not urls.canonical(value)]
    junk = [value for value, known in found.items() if not known]
    faults = (("robots_sitemap_relative", relative), ("loc_invalid", junk))
    problems = [Problem(kind=k, subject=url, detail=_quoted(v)) for k, v in faults if v]
    return tuple(dict.fromkeys(filter(None, found.values()))), problems


def _group(text: str, token: str) -> list[tuple[str, str]]:
    """Return the lines of the groups that name `token`, else of those that name `*`.

    Only Allow, Disallow and Crawl-delay end a list of agents: other records must not interfere
    (RFC 9309 §2.2.4), and a Crawl-delay meant for one crawler must not slow the next.
    """
    own = _agent(token) or "*"
    groups: dict[str, list[tuple[str, str]]] = {}
    agents: set[str] = set()
    naming = False
    for field, value in _lines(text):
        if field == "agent":
            agents = {_agent(value), *(agents if naming else ())} & {own, "*"}
            groups.update({agent: groups.get(agent, []) for agent in agents})
            naming = True
        elif field != "sitemap":
            naming = naming and field == "signal"
            for agent in agents:
                groups[agent].append((field, value))
    return groups.get(own, groups.get("*", []))


def _agent(text: str) -> str:
    """Return the product token that `text` begins with, in lower case; empty when there is none."""
    found = _TOKEN(text.strip())
    return found[0].lower() if found else ""


def _kept(group: list[tuple[str, str]]) -> Iterator[tuple[bool, str]]:
    """Yield the distinct rules of a group within the bounds: whether one allows, and its pattern.

    A whole URL is no pattern, but whoever writes one means its path.
    """
    wildcards = 0
    rules = dict.fromkeys(line for line in group if line[0] in _RULES and line[1])
    for field, value in rules:
        wildcards += value.count("*")
        if wildcards <= MAX_WILDCARDS or "*" not in value:
            yield field == "allow", urls.encode(_HOST("", value))


def _faults(group: list[tuple[str, str]], kept: int, subject: str) -> Iterator[Problem]:
    """Yield what is wrong with the lines of a group."""
    bad = [value for field, value in group if field == "delay" and not _SECONDS(value)]
    if bad:
        yield Problem(kind="crawl_delay_invalid", subject=subject, detail=_quoted(bad))
    rules = len({line for line in group if line[0] in _RULES and line[1]})
    if rules > kept:
        detail = f"{kept} of {rules} rules are kept"
        yield Problem(kind="robots_too_large", subject=subject, detail=detail)


def _quoted(values: list[str]) -> str:
    examples = ", ".join(repr(value[:80]) for value in values[:EXAMPLES])
    return f"{len(values)}: {examples}"
