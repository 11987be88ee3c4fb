"""What a site declares is found, attributed, and told where it could not be read."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from connectors import explorer
from connectors.crawl import Crawl, Held
from connectors.dataset import Dataset
from connectors.explorer import explore
from connectors.fetcher import SITEMAP, Fetcher
from connectors.guest import Guest
from connectors.loop import EventLoop
from flows.politeness import Pace
from flows.records import Alert, Entries, Entry, Method, Rules, SitemapRead
from flows.settings import Settings
from flows.settings import Site as SiteSettings
from flows.sitemaps import reader
from tests.loopback import Answer, Site, index, page, urlset

ROBOTS = "User-agent: *\nDisallow: /no/\nCrawl-delay: 0\n"


def robots(text: str = ROBOTS) -> Answer:
    return Answer(text.encode(), "text/plain")


@contextmanager
def served(answers: Callable[[str], Mapping[str, Answer]]) -> Iterator[Site]:
    with Site(answers) as site:
        yield site


def explored(site: Site, folder: Path, origin: str | None = None, **more: Any) -> list[Any]:
    """Return all that discovery finds of a site, in its order; any host name is loopback."""
    origin = origin or site.origin
    own = SiteSettings(origin=origin, start_url=origin + "/", sitemaps=more.pop("sitemaps", ()))
    settings = Settings(sites=(own,), rate=0, retry_waits_s=(0.0,), **more)

    async def resolve(_: str) -> list[str]:
        return ["127.0.0.1"]

    async def found(loop: EventLoop) -> list[Any]:
        fetcher = Fetcher("sitewax-test", [ip_network("127.0.0.1/32")], resolve=resolve)
        crawl = Crawl(
            own,
            settings,
            loop=loop,
            guest_of=lambda at: Guest(fetcher, at, Pace(0), retry_waits_s=(0.0,)),
            held=Held(),
            committed=set(),
        )
        await explore(crawl, Dataset(folder).open_run("s", "0"))
        await fetcher.aclose()
        items: list[Any] = []
        while True:
            try:
                items += crawl.discovered()
            except StopIteration:
                return items

    loop = EventLoop()
    try:
        return asyncio.run(found(loop))
    finally:
        loop.close()


def entries(items: list[Any]) -> dict[str, Entry]:
    lists = [item if isinstance(item, Entries) else [item] for item in items]
    return {e.url: e for some in lists for e in some if isinstance(e, Entry)}


def alerts(items: list[Any]) -> set[str]:
    return {item.kind for item in items if isinstance(item, Alert)}


def sitemaps(items: list[Any]) -> dict[str, SitemapRead]:
    return {item.url: item for item in items if isinstance(item, SitemapRead)}


def test_the_rules_come_before_every_entry(tmp_path: Path) -> None:
    with served(
        lambda at: {
            "/robots.txt": robots(f"{ROBOTS}Sitemap: {at}/s.xml"),
            "/s.xml": urlset(f"{at}/p"),
            "/": page("Home", "/p"),
        }
    ) as site:
        items = explored(site, tmp_path)

    kinds = [type(item) for item in items if isinstance(item, Rules | Entry | Entries)]
    assert kinds[0] is Rules
    assert kinds.count(Rules) == 1


def test_each_way_of_finding_is_the_method_of_what_it_found(tmp_path: Path) -> None:
    with served(
        lambda at: {
            "/robots.txt": robots(f"{ROBOTS}Sitemap: {at}/named.xml"),
            "/": page("Home", "/footer-site-map.xml"),
            "/named.xml": index(f"{at}/child.xml"),
            "/child.xml": urlset(f"{at}/by-robots"),
            "/given.xml": urlset(f"{at}/by-given"),
            "/footer-site-map.xml": urlset(f"{at}/by-html"),
            "/sitemap.xml": urlset(f"{at}/by-probe"),
            "/llms.txt": Answer(b"# Us\n- [Guide](/by-llms): how\n", "text/plain"),
        }
    ) as site:
        items = explored(site, tmp_path, sitemaps=(f"{site.origin}/given.xml",))
    found = entries(items)

    for method in (Method.ROBOTS, Method.GIVEN, Method.HTML, Method.PROBE, Method.LLMS):
        assert found[f"{site.origin}/by-{method}"].attribution.method is method
    child = found[f"{site.origin}/by-robots"].attribution
    assert (child.sitemap, child.depth) == (f"{site.origin}/child.xml", 1)
    assert sitemaps(items)[f"{site.origin}/child.xml"].parent == f"{site.origin}/named.xml"
    assert found[f"{site.origin}/"].attribution.method is Method.GIVEN
    assert not alerts(items)


def test_the_start_page_is_asked_for_once_and_not_issued_where_links_are_off(
    tmp_path: Path,
) -> None:
    with served(lambda _: {"/robots.txt": robots(), "/": page("Home")}) as site:
        items = explored(site, tmp_path, links=False)

    assert entries(items) == {}
    assert site.log.count("/") == 1


def test_a_site_that_moved_to_another_spelling_of_its_name_is_read_there(tmp_path: Path) -> None:
    def moved(at: str) -> dict[str, Answer]:
        port = at.rpartition(":")[2]
        there = f"http://www.site.test:{port}"
        return {
            "/robots.txt": robots(),
            "/": Answer(status=301, headers=(("Location", f"{there}/home"),)),
            "/home": page("Home"),
            "/sitemap.xml": urlset(f"{there}/p"),
        }

    with served(moved) as site:
        port = site.origin.rpartition(":")[2]
        items = explored(site, tmp_path, origin=f"http://site.test:{port}")
    (rules,) = (item for item in items if isinstance(item, Rules))

    assert (rules.site, rules.origin) == (
        f"http://site.test:{port}",
        f"http://www.site.test:{port}",
    )
    assert "origin_moved" in alerts(items)
    assert set(entries(items)) == {f"{rules.origin}/home", f"{rules.origin}/p"}
    assert {entry.site for entry in entries(items).values()} == {rules.site}


def test_a_site_that_redirects_to_another_name_stays_where_it_is_and_is_told_of(
    tmp_path: Path,
) -> None:
    def parked(at: str) -> dict[str, Answer]:
        port = at.rpartition(":")[2]
        elsewhere = f"http://other.test:{port}/"
        return {
            "/robots.txt": robots(),
            "/": Answer(status=302, headers=(("Location", elsewhere),)),
        }

    with served(parked) as site:
        port = site.origin.rpartition(":")[2]
        items = explored(site, tmp_path, origin=f"http://site.test:{port}")
    (rules,) = (item for item in items if isinstance(item, Rules))

    assert rules.origin == rules.site
    assert "origin_moved" in alerts(items)


def with_map(answer: Answer, **more: Answer) -> Callable[[str], dict[str, Answer]]:
    """Return a site whose robots.txt names one sitemap, which answers so."""
    return lambda at: {
        "/robots.txt": robots(f"{ROBOTS}Sitemap: {at}/s.xml"),
        "/": page("Home"),
        "/s.xml": answer,
        **{f"/{name}.xml": other for name, other in more.items()},
    }


LATER = (("Retry-After", "86400"),)
CHALLENGE = Answer(b"", status=403, headers=(("cf-mitigated", "challenge"),))

FAULTS = {
    "sitemap_http_error": with_map(Answer(b"gone", status=404)),
    "sitemap_rate_limited": with_map(Answer(b"", status=429, headers=LATER)),
    "sitemap_empty": with_map(Answer(status=204)),
    "sitemap_not_xml": with_map(page("A page, and no sitemap")),
    "sitemap_redirected": with_map(
        Answer(status=301, headers=(("Location", "/new.xml"),)), new=urlset("/p")
    ),
    "content_type_mismatch": with_map(Answer(urlset("http://a.test/").body, "text/html")),
    "sitemap_cross_host": with_map(index("http://other.test/s.xml")),
    "sitemap_cycle": lambda at: with_map(index(f"{at}/s.xml"))(at),
    "sitemap_too_deep": lambda at: with_map(
        index(f"{at}/1.xml"), **{str(n): index(f"{at}/{n + 1}.xml") for n in range(1, 9)}
    )(at),
    "sitemap_blocked_by_robots": lambda at: {
        "/robots.txt": robots(f"{ROBOTS}Sitemap: {at}/no/s.xml"),
        "/no/s.xml": urlset(f"{at}/p"),
    },
    "robots_forbidden": lambda _: {"/robots.txt": Answer(b"", status=403)},
    "robots_unreachable": lambda _: {"/robots.txt": Answer(b"", status=500)},
    "robots_rate_limited": lambda _: {"/robots.txt": Answer(b"", status=429, headers=LATER)},
    "robots_redirect_loop": lambda _: {
        "/robots.txt": Answer(status=302, headers=(("Location", "/robots.txt"),))
    },
    "robots_not_text": lambda _: {"/robots.txt": page("Home")},
    "robots_sitemap_relative": lambda _: {"/robots.txt": robots(f"{ROBOTS}Sitemap: /s.xml")},
    "crawl_delay_invalid": lambda _: {"/robots.txt": robots("User-agent: *\nCrawl-delay: soon\n")},
    "blocked_pages": lambda _: {"/robots.txt": robots(), "/": CHALLENGE},
    "no_sitemap": lambda _: {"/robots.txt": robots(), "/": page("Home")},
}


@pytest.mark.parametrize("kind", FAULTS)
def test_lost_coverage_is_told(kind: str, tmp_path: Path) -> None:
    with served(FAULTS[kind]) as site:
        items = explored(site, tmp_path)

    assert kind in alerts(items)


def test_sitemaps_over_a_limit_are_read_and_told_once_a_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MAX_URLS", 2)

    def large(at: str) -> dict[str, Answer]:
        maps = {str(n): urlset(*(f"{at}/{n}{page}" for page in "abc")) for n in range(3)}
        return with_map(index(*(f"{at}/{n}.xml" for n in maps)), **maps)(at)

    with served(large) as site:
        items = explored(site, tmp_path, links=False)

    assert len(entries(items)) == 9
    (told,) = (a for a in items if isinstance(a, Alert) and a.kind == "sitemap_over_limit")
    assert told.message.startswith("4 sitemaps")


class Late(dict[str, Answer]):
    """Answers of which that of the sitemap comes too late."""

    def get(self, path: str, default: Any = None) -> Any:
        if path == "/s.xml":
            time.sleep(0.6)
        return super().get(path, default)


def test_a_sitemap_that_does_not_arrive_in_time_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, hurried = Guest.open, replace(SITEMAP, deadline_s=0.2)
    monkeypatch.setattr(Guest, "open", lambda guest, url: usual(guest, url, hurried))
    with served(with_map(urlset("/p"))) as site:
        site.routes = Late(site.routes)
        items = explored(site, tmp_path)

    assert "sitemap_timeout" in alerts(items)


def test_the_budget_of_sitemaps_is_kept_and_told(tmp_path: Path) -> None:
    def wide(at: str) -> dict[str, Answer]:
        maps = {str(n): urlset(f"{at}/{n}") for n in range(9)}
        return with_map(index(*(f"{at}/{n}.xml" for n in maps)), **maps)(at)

    with served(wide) as site:
        items = explored(site, tmp_path, max_sitemaps=3, links=False)

    assert "sitemap_budget" in alerts(items)
    assert len(entries(items)) == 2


def test_a_crawl_delay_that_is_not_waited_for_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explorer, "CRAWL_DELAY_CEILING_S", 0.01)
    with served(lambda _: {"/robots.txt": robots("User-agent: *\nCrawl-delay: 0.02\n")}) as site:
        items = explored(site, tmp_path)

    assert "crawl_delay_invalid" in alerts(items)


@pytest.mark.parametrize("kind", ["robots_unreachable", "robots_rate_limited"])
def test_a_site_whose_rules_cannot_be_read_is_asked_for_nothing_else(
    kind: str, tmp_path: Path
) -> None:
    with served(FAULTS[kind]) as site:
        items = explored(site, tmp_path)

    assert set(site.log) == {"/robots.txt"}
    assert entries(items) == {}
    assert [item.robots for item in items if isinstance(item, Rules)] == [None]
