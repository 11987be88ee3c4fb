"""Links that do not end are followed for a bounded number of pages; honest ones to their end."""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import product

import pytest

from flows import discovery, policy, traps
from flows.records import Attribution, Entry, Failure, Link, Method, Outcome, Rules, Severity
from flows.settings import Settings, Site

SITE = "https://a.test"
Links = Callable[[str], list[str]]


def entry(path: str, method: Method = Method.LINK) -> Entry:
    return Entry(site=SITE, url=SITE + path, attribution=Attribution(method=method))


def crawled(links: Links, start: str = "/") -> tuple[list[str], Counter[str]]:
    """Follow links as a crawl does: the paths admitted, and the refused ones by their family."""
    gate = policy.Gate(Settings(sites=(Site(origin=SITE, start_url=SITE + "/"),), max_pages=0))
    gate.follow(Rules(site=SITE, origin=SITE, robots=""))
    seen = discovery.Seen()
    frontier = deque([entry(start, Method.GIVEN)])
    admitted, refused = [], Counter[str]()
    while frontier:
        decision = gate.decide(frontier.popleft())
        if isinstance(decision, Failure):
            assert decision.outcome is Outcome.BUDGET
            assert decision.detail
            refused[str(decision.trap)] += 1
            continue
        admitted.append(decision.url.removeprefix(SITE))
        found = [Link(url=SITE + path) for path in links(admitted[-1])]
        for new in discovery.entries(SITE, decision.url, found, depth=1):
            if isinstance(seen.take(new), Entry):
                frontier.append(new)
    return admitted, refused


def months(path: str) -> list[str]:
    """Link the next month and the one before, as if time had no end."""
    year, month = map(int, path.split("/")[2:4]) if path != "/" else (2024, 5)
    later, earlier = year * 12 + month, year * 12 + month - 2
    return [f"/calendar/{at // 12}/{at % 12 + 1:02d}/" for at in (later, earlier)]


def days(path: str) -> list[str]:
    at = date.fromisoformat(path.partition("day=")[2] or "2024-05-01")
    return [f"/events?day={at + timedelta(days=step)}" for step in (1, -1)]


def filters(path: str) -> list[str]:
    """Link every view that one more filter makes: 7 values of each of 4 filters."""
    said = dict(part.split("=") for part in path.partition("?")[2].split("&") if part)
    names = ("brand", "colour", "price", "size")
    return [
        "/shoes?" + "&".join(f"{name}={value}" for name, value in sorted((said | more).items()))
        for name in names
        for more in ({name: str(value)} for value in range(7))
        if name not in said
    ]


def deeper(path: str) -> list[str]:
    """Link with a slash missing: every page lies below the page before."""
    return [f"{path}{folder}/" for folder in ("about", "news")]


def new_folders(path: str) -> list[str]:
    return [f"{path}folder-{path.count('/')}x/"]


def visits(path: str) -> list[str]:
    """Link pages with an id of the visit that is new on every page."""
    number = sum(path.encode()) * 7919 + len(path)
    return [f"/{page}?visit={number * page:032x}" for page in range(1, 12)]


def next_pages(path: str) -> list[str]:
    return [f"/list?page={int(path.partition('page=')[2] or '1') + 1}"]


def folders_of_pages(path: str) -> list[str]:
    return [f"/tag/web/page/{int(path.split('/')[4] if path != '/' else '1') + 1}/"]


def numbers(path: str) -> list[str]:
    at = int(path.partition("=")[2] or "0")
    return [f"/item?id={at + step}" for step in range(1, 9)]


@pytest.mark.parametrize(
    ("links", "rule", "most"),
    [
        (months, "calendar", traps.CALENDAR),
        (days, "calendar", traps.CALENDAR),
        (filters, "facets", 1 + 28 + 294 + 300),
        (deeper, "repetition", 50),
        (new_folders, "depth", traps.DEPTH),
        (visits, "visits", traps.VISITS),
        (next_pages, "pagination", traps.LISTING),
        (folders_of_pages, "pagination", traps.LISTING),
        (numbers, "numbers", traps.NUMBERED),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_an_endless_site_ends_by_itself_and_says_by_which_rule(
    links: Links, rule: str, most: int
) -> None:
    admitted, refused = crawled(links)

    assert 1 < len(admitted) <= most + 1
    assert rule in {family.partition(" ")[0] for family in refused}


def test_an_id_of_the_visit_in_the_usual_spellings_makes_no_new_page() -> None:
    def shop(path: str) -> list[str]:
        visit = f"{sum(path.encode()):032X}"
        return [
            spelled
            for page in range(5)
            for spelled in (
                f"/p{page};jsessionid={visit}",
                f"/p{page}?PHPSESSID={visit.lower()}",
                f"/p{page}?sid={visit}",
            )
        ]

    admitted, refused = crawled(shop)

    assert sorted(admitted) == ["/", "/p0", "/p1", "/p2", "/p3", "/p4"]
    assert not refused


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("/a;jsessionid=1A2B.node1?x=1", "/a?x=1"),
        ("/a?x=1&PHPSESSID=abc", "/a?x=1"),
        ("/a?PHPSESSID=abc&x=1", "/a?x=1"),
        ("/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "/a.aspx"),
        ("/thread.php?s=0123456789abcdef0123456789abcdef&t=1", "/thread.php?t=1"),
        ("/a?sid=7", "/a?sid=7"),
        ("/a?s=search+words", "/a?s=search+words"),
        ("/a?mysid=0123456789abcdef0", "/a?mysid=0123456789abcdef0"),
    ],
)
def test_only_what_is_an_id_of_a_visit_is_taken_out(url: str, bare: str) -> None:
    assert traps.without_visit(SITE + url) == SITE + bare


HONEST: dict[str, Iterator[str]] = {
    "a handbook of numbered pages": (f"/docs/{n}" for n in range(5_000)),
    "a handbook by version": (
        f"/{v}.{n}/guide/chapter-{c}" for v, n, c in product(range(5), range(9), range(60))
    ),
    "a shop's lists": (
        f"/shop/{shelf}?page={n}" for shelf, n in product(("hats", "shoes"), range(1, 201))
    ),
    "ordered lists": (
        f"/list?order={order}&page={n}" for order, n in product("abcde", range(1, 201))
    ),
    "a blog's months": (f"/{y}/{m:02d}/" for y, m in product(range(1995, 2025), range(1, 13))),
    "a blog's articles": (
        f"/{y}/{m:02d}/{d:02d}/title-of-{y}-{m}-{d}"
        for y, m, d in product(range(2020, 2024), range(1, 13), range(1, 29))
    ),
    "numbered articles under their dates": (
        f"/2024/{m:02d}/{d:02d}/article{m * 1000 + n}.html"
        for m, d, n in product(range(1, 13), range(1, 29), range(9))
    ),
    "a forum": (f"/viewtopic.php?f={n % 9}&t={n}" for n in range(2_500)),
    "long topics": (f"/viewtopic.php?t={n}&start={at}" for n in range(500) for at in (0, 15, 30)),
    "books by chapter and verse": (f"/b/{n}/{n}/{n}" for n in range(1, 60)),
    "weblog entries by number": (f"/?p={n}" for n in range(3_000)),
    "packages below versions": iter(
        ["/javadoc/24/docs/api/java.base/java/util/concurrent/locks/Lock.html"]
    ),
    "a word that comes twice": iter(["/junit/5.0/docs/api/org.junit.api/org/junit/jupiter/api/A"]),
}


@pytest.mark.parametrize("paths", HONEST.values(), ids=HONEST)
def test_an_honest_site_is_followed_to_its_end(paths: Iterator[str]) -> None:
    known = list(paths)

    admitted, refused = crawled(lambda path: known if path == "/" else [])

    assert not refused
    assert set(admitted) == {"/", *known}


def test_what_a_list_declares_is_neither_counted_nor_refused() -> None:
    counted = traps.Traps()
    for n in range(2 * traps.CALENDAR):
        declared = entry(f"/calendar/2024/05/?view={n}", Method.ROBOTS)
        assert counted.refusal(declared) is None
        counted.count(declared)

    assert counted.refusal(entry("/calendar/2024/06/?view=1")) is None
    assert counted.refusal(entry("/a/a/a/a", Method.PROBE)) is None


def test_one_alert_says_how_much_was_refused_and_where() -> None:
    refused = {"calendar /c/#": 7, "facets /a?*&*&*": 4_000, "numbers /n/#": 2, "visits any": 1}

    told = traps.alert(SITE, refused)

    assert (told.kind, told.severity, told.subject) == ("crawl_budget", Severity.WARNING, SITE)
    assert told.value == 4_010
    assert "4,000 of facets /a?*&*&*" in told.message
    assert "1 more pattern" in told.message


def test_pagination_is_bounded_by_its_method_where_no_number_tells() -> None:
    counted = traps.Traps()
    for n in range(traps.LISTING):
        counted.count(entry(f"/feed?cursor=c{n}z", Method.PAGINATION))

    family = counted.refusal(entry("/feed?cursor=onward", Method.PAGINATION))

    assert family is not None
    assert family.rule == "pagination"
