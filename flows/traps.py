"""Links that do not end: which of them are followed, and where it is enough.

Calendars, filters, page numbers and ids of a visit make more addresses than a site has pages. No
address is refused for its looks alone, apart from paths without an end. The addresses that links
find are counted in *families*, which differ in numbers, dates or values only; when as many of a
family have been admitted as the longest honest one has, the rest of it is left out. What a
sitemap declares is neither counted nor refused.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from flows import alerts, urls
from flows.records import Alert, Entry, Method

LINKED = frozenset({Method.LINK, Method.PAGINATION, Method.CANONICAL})
"""Methods by which pages lead to URLs: these alone are judged here."""

DEPTH = 16
"""Segments of a path. Reference works that put versions above package names need 12 to 14."""

REPETITIONS = 3
"""Times that a path may not hold one segment: a relative link that lacks its slash adds the same
folders with every page. Honest paths repeat a word once (`/api/…/api/`); numbers do not count,
for `/1/1/1` is book, chapter and verse. The number is that of Apache Nutch's default filter."""

LISTING = 1_000
"""Pages of one list: more entries than anybody pages through, ten times the usual longest."""

CALENDAR = 500
"""URLs that differ in a date at their end: forty years of months. Articles that have a date
in their path and a title behind it are no calendar."""

NUMBERED = 10_000
"""URLs that differ in numbers, or in the value of one parameter: as many pages as the largest
handbooks, shops and forums number without listing them in a sitemap."""

FACETS = ((3, 300, 3_000), (2, 3_000, 10_000))
"""So many parameters beside the page number, and how many URLs of one path, of the whole site.
Two are a forum's (`?f=2&t=17`) or a list and its order; three and more combine filters, and ten
values of three filters are a thousand views of the same goods."""

VISITS = 1_000
"""URLs of a site that differ in a long hexadecimal value of one parameter."""

PAGE_NUMBERS = (
    "page",
    "pg",
    "paged",
    "pageno",
    "page_no",
    "pagenum",
    "page_num",
    "pagenumber",
    "seite",
    "pagina",
    "offset",
    "start",
    "startat",
    "skip",
    "from",
)
"""Parameters that number the pages of a list."""

DATE_PARTS = ("year", "yr", "month", "mon", "day", "date", "week")
"""Parameters that are a date, or a part of one, when their value is a number."""

_SESSION = re.compile(
    r"""(?:;|(?<=[?&]))
        (?:jsessionid|phpsessid|aspsessionid\w*|sessionid|session_id|cfid|cftoken|oscsid|zenid)
        =[^/?&;]*&?
      | (?<=[?&])(?:sid|s)=[0-9a-f]{16,}(?:&|$)
      | /\(S\([0-9a-z]{20,}\)\)(?=/)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DIGIT = re.compile("[0-9]").search
_NUMBER = re.compile(
    r"""[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}
      | (?<![0-9A-Za-z])(?=[a-f]*[0-9])[0-9a-f]{8,}(?![0-9A-Za-z])
      | [0-9]+
    """,
    re.IGNORECASE | re.VERBOSE,
)
_PAGE_SEGMENT = re.compile(r"(?<=/)(page|seite|pagina)([/-]?)[0-9]+(?=/|$)", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_DATED = re.compile(
    r"""(?<![^/])(?:19|20)[0-9]{2}
        (?:[-/._](?:1[0-2]|0?[1-9])(?:[-/._](?:3[01]|[12][0-9]|0?[1-9]))?
          |(?:1[0-2]|0[1-9])(?:3[01]|[12][0-9]|0[1-9])
          |-?w[0-9]{1,2})
        (?=/|$|[.][a-z]+$)
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Year and month, day or week, in folders of their own. Six digits are more often a number."""


Parameters = Sequence[tuple[str, str]]


class Family(NamedTuple):
    """URLs that one rule takes together."""

    rule: str
    pattern: str
    """The path and query of its members, `#` for any number and `*` for any value."""
    most: int

    def __str__(self) -> str:
        """Return rule and pattern, for people."""
        return f"{self.rule} {self.pattern}"


class Traps:
    """What links have found of one site, counted by family.

    Cost: about 100 bytes for each family; a URL without numbers and parameters is in none.
    """

    def __init__(self) -> None:
        """Start with nothing counted."""
        self._met: Counter[int] = Counter()

    def refusal(self, entry: Entry) -> Family | None:
        """Return the family that a linked URL is one too many of, or None when it may pass."""
        found = families(entry)
        return next((f for f in found if self._met[urls.hash64(str(f))] >= f.most), None)

    def count(self, entry: Entry) -> None:
        """Count a linked URL that was admitted."""
        self._met.update(urls.hash64(str(family)) for family in families(entry))


def families(entry: Entry) -> list[Family]:
    """Return the families of a linked URL; a declared one has none.

    >>> from flows.records import Attribution
    >>> at = Attribution(method=Method.LINK)
    >>> shelf = Entry(site="", url="https://a.test/shop/7?colour=red&page=3", attribution=at)
    >>> [str(family) for family in families(shelf)]
    ['pagination /shop/7?colour=red&page=#', 'numbers /shop/#?colour=*']
    """
    if entry.attribution.method not in LINKED:
        return []
    path, _, query = entry.url[entry.url.index("/", len("https://")) :].partition("?")
    endless = list(_without_end(path))
    if not query and not _DIGIT(path):
        return endless
    said = [_parameter(part) for part in query.split("&") if part]
    return [
        *endless,
        *_listings(path, said, entry.attribution.method),
        *_calendars(path, said),
        *_filters(path, said),
        *_visits(said),
    ]


def without_visit(url: str) -> str:
    """Return a canonical URL without the id of a visit, so that all visits know one page.

    >>> without_visit("https://a.test/shop;jsessionid=8A2F?PHPSESSID=1&item=7")
    'https://a.test/shop?item=7'
    """
    if "=" not in url and "/(" not in url:
        return url
    bare = _SESSION.sub("", url)
    return bare if bare == url else bare.rstrip("?&")


def alert(site: str, refused: Mapping[str, int]) -> Alert:
    """Return the alert that links did not end: how many were refused, by family."""
    most = sorted(refused.items(), key=lambda item: (-item[1], item[0]))
    told = "; ".join(f"{count:,} of {family}" for family, count in most[:3])
    more = f"; and {len(most) - 3:,} more patterns" if len(most) > 3 else ""
    total = sum(refused.values())
    message = f"{total:,} links that do not end are not followed: {told}{more}"
    return alerts.alert(site, "crawl_budget", site, message, total)


def _without_end(path: str) -> Iterator[Family]:
    """Yield what no path may be: most is none."""
    segments = [segment for segment in path.split("/") if segment]
    if len(segments) > DEPTH:
        yield Family("depth", f"more than {DEPTH} segments", 0)
    if len(segments) - len(set(segments)) < REPETITIONS - 1:
        return
    words = Counter(segment for segment in segments if not segment.isdigit())
    if max(words.values(), default=0) >= REPETITIONS:
        yield Family("repetition", f"a segment {REPETITIONS} times", 0)


def _listings(path: str, said: Parameters, method: Method) -> Iterator[Family]:
    """Yield the list of which a URL is a page: all but the page number is the same."""
    shelf = _PAGE_SEGMENT.sub(r"\1\2#", path)
    same = [(name, "#" if _is_page_number(name, value) else value) for name, value in said]
    if shelf != path or same != list(said):
        yield Family("pagination", shelf + _query(same), LISTING)
    elif method is Method.PAGINATION:
        yield Family("pagination", _NUMBER.sub("#", path) + _any_of(said), LISTING)


def _calendars(path: str, said: Parameters) -> Iterator[Family]:
    """Yield the calendar of which a URL is a leaf: a date, and no number behind it."""
    dates = list(_DATED.finditer(path))
    dated = any(_is_date(name, value) for name, value in said)
    if dated or (dates and not _NUMBER.search(path, dates[-1].end())):
        yield Family("calendar", _NUMBER.sub("#", path) + _any_of(said), CALENDAR)


def _filters(path: str, said: Parameters) -> Iterator[Family]:
    """Yield what differs in numbers and values, by how many parameters there are to combine."""
    shape = _NUMBER.sub("#", path)
    combined = [(name, value) for name, value in said if not _is_page_number(name, value)]
    for parameters, of_path, of_site in FACETS:
        if len(combined) >= parameters:
            views = "?" + "&".join("*" * parameters)
            yield Family("facets", shape + views, of_path)
            yield Family("facets", "any path" + views, of_site)
    if len(combined) <= 1 and (combined or "#" in shape):
        yield Family("numbers", shape + _any_of(combined), NUMBERED)


def _visits(said: Parameters) -> Iterator[Family]:
    for name, value in said:
        if _HEX.fullmatch(value):
            yield Family("visits", f"any path?{name}=*", VISITS)


def _parameter(part: str) -> tuple[str, str]:
    name, _, value = part.partition("=")
    return name, value


def _is_page_number(name: str, value: str) -> bool:
    return value.isdigit() and name.lower() in PAGE_NUMBERS


def _is_date(name: str, value: str) -> bool:
    return bool(_DATED.fullmatch(value)) or (value.isdigit() and name.lower() in DATE_PARTS)


def _any_of(said: Parameters) -> str:
    return _query([(name, "*") for name, _ in said])


def _query(said: Parameters) -> str:
    """Return a query in which the order of the parameters does not matter."""
    text = "&".join(f"{name}={value}" for name, value in sorted(said))
    return f"?{text}" if text else ""
