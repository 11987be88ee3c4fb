"""Links are followed as pages mean them, and to an end where the site has none."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from flows import traps
from tests.flowing import comes, ingested
from tests.loopback import Answer, Site, page, urlset


class Endless(dict[str, Answer]):
    """Answers of a site that has a page for every address."""

    def __init__(self, answers: dict[str, Answer], links: Callable[[str], list[str]]) -> None:
        """Answer as told, and anything else with a page of the given links."""
        super().__init__(answers)
        self._links = links

    def get(self, path: str, _: Any = None) -> Answer:
        """Return the answer of a path."""
        if path.endswith((".xml", ".gz", ".txt", "/feed/")) or "sitemap" in path:
            return super().get(path, Answer(b"not here", status=404))
        return super().get(path) or page(f"Page {path}", *self._links(path))


def calendar(path: str) -> list[str]:
    year, month = map(int, (re.findall(r"\d+", path) or ["2024", "5"])[:2])
    at = year * 12 + month
    return [f"/calendar/{at // 12}/{at % 12 + 1}/", "/about"]


def filters(path: str) -> list[str]:
    said = dict(re.findall(r"(\w+)=(\w+)", path))
    return [
        "/shoes?" + "&".join(f"{k}={v}" for k, v in sorted({**said, name: str(value)}.items()))
        for name in ("brand", "colour", "price", "size")
        for value in range(6)
        if name not in said
    ]


def visits(path: str) -> list[str]:
    visit = f"{sum(path.encode()) * 7919:032x}"
    return [f"/p{n};jsessionid={visit}?sid={visit}" for n in range(5)]


def deeper(path: str) -> list[str]:
    return [f"{path.rstrip('/')}/{folder}/" for folder in ("about", "news")]


ENDLESS = {"calendar": calendar, "facets": filters, "visits": visits, "repetition": deeper}
DECLARED = {
    "calendar": [f"/calendar/1930/{n}/" for n in range(1, 5)],
    "facets": [f"/shoes?brand=x&colour=y&price=z&size={n}" for n in range(40, 44)],
    "visits": ["/p0", "/p1"],
    "repetition": ["/a/a/a/a/", "/" + "x/y/" * 10],
}


@pytest.fixture
def sites() -> Iterator[dict[str, Site]]:
    with ExitStack() as stack:
        served = {}
        for name, links in ENDLESS.items():
            site = stack.enter_context(Site(lambda _: {}))
            site.routes = Endless(
                {
                    "/robots.txt": Answer(b"User-agent: *\nAllow: /\n", "text/plain"),
                    "/sitemap.xml": urlset(*(site.origin + path for path in DECLARED[name])),
                },
                links,
            )
            served[name] = site
        yield served


def run(flow: str, sites: dict[str, Site], out: Path, **more: str) -> dict[str, Any]:
    ingested(list(sites.values()), out, "bytewax.run", flow, INGEST_LINKS="1", **more)
    (report,) = out.glob("runs/*/report.json")
    told: dict[str, Any] = json.loads(report.read_text())
    return told


def rows(out: Path, table: str) -> list[dict[str, Any]]:
    (folder,) = (out / "runs").iterdir()
    return ds.dataset(str(folder / table), format="parquet").to_table().to_pylist()


@pytest.mark.slow
def test_endless_sites_end_by_themselves_with_one_alert_and_all_that_is_declared(
    sites: dict[str, Site], tmp_path: Path
) -> None:
    report = run("flows.discover", sites, tmp_path)

    urls = rows(tmp_path, "urls")
    alarms = [row for row in rows(tmp_path, "alerts") if row["kind"] == "crawl_budget"]
    assert report["status"] == "complete"
    assert len({row["url"] for row in urls}) == len(urls)
    for rule, site in sites.items():
        mine = [row for row in urls if row["site"] == site.origin]
        found = {r["url"] for r in mine if r["outcome"] == "discovered"}
        assert {site.origin + path for path in DECLARED[rule]} <= found
        assert len(site.log) <= len(found) + 40
        refused = [row["detail"] for row in mine if row["outcome"] == "budget"]
        told = [row for row in alarms if row["site"] == site.origin]
        if rule == "visits":
            assert len(found) == 6
            assert not refused
            assert not told
        else:
            assert len(found) <= traps.CALENDAR + 100
            assert refused
            assert all(detail.startswith((f"trap: {rule}", "trap: depth")) for detail in refused)
            assert [row["value"] for row in told] == [len(refused)]
            assert rule in told[0]["message"]


def test_links_leave_half_of_the_budget_to_what_is_still_being_declared(tmp_path: Path) -> None:
    """The list is answered only when links have had their half, which is five pages."""

    def links(_: str) -> list[str]:
        return [f"/linked-{word}" for word in "abcdefghijklmnop"]

    class Late(Endless):
        def get(self, path: str, _: Any = None) -> Answer:
            if path == "/sitemap.xml":
                assert comes(lambda: sum("linked" in asked for asked in site.log) == 5)
            return super().get(path)

    with Site(lambda _: {}) as site:
        listed = [f"{site.origin}/listed-{word}" for word in "abcd"]
        robots = Answer(b"User-agent: *\nAllow: /\n", "text/plain")
        site.routes = Late({"/robots.txt": robots, "/sitemap.xml": urlset(*listed)}, links)
        report = run("flows.ingest", {"site": site}, tmp_path, INGEST_MAX_PAGES="10")

    by_url = {row["url"]: row["outcome"] for row in rows(tmp_path, "urls")}
    assert all(by_url[url] == "ok" for url in listed)
    assert sorted(by_url.values()).count("ok") == 10
    assert report["status"] == "stopped_by_budget"
    assert not [row for row in rows(tmp_path, "alerts") if row["kind"] == "crawl_budget"]


def test_links_are_followed_as_the_page_means_them(tmp_path: Path) -> None:
    def answers(_: str) -> dict[str, Answer]:
        head = '<base href="/docs/"><link rel="next" href="list?page=2">'
        links = "guide", "/elsewhere", "old/../guide#part"
        hidden = '<a rel="nofollow" href="/hidden">no</a> ' + "The words of the home page. " * 12
        return {
            "/": page("Home", *links, head=head, text=hidden),
            "/docs/list?page=2": page("Two", head='<link rel="next" href="/docs/list?page=3">'),
            "/docs/list?page=3": page("Three", "/docs/guide"),
            "/docs/guide": page("Guide", head='<link rel="canonical" href="/docs/the-guide">'),
            "/docs/the-guide": page("Guide", "/closed"),
            "/closed": page("Closed", "/beyond", head='<meta name="robots" content="nofollow">'),
            "/elsewhere": page("Elsewhere"),
        }

    with Site(answers) as site:
        run("flows.discover", {"site": site}, tmp_path)

    found = {row["url"].removeprefix(site.origin): row for row in rows(tmp_path, "urls")}
    assert {path: row["method"] for path, row in found.items()} == {
        "/": "given",
        "/docs/list?page=2": "pagination",
        "/docs/list?page=3": "pagination",
        "/docs/guide": "link",
        "/docs/the-guide": "canonical",
        "/closed": "link",
        "/elsewhere": "link",
    }
    assert "/hidden" not in site.log


@pytest.mark.parametrize("told", ["obey", "ignore"])
def test_what_is_said_of_ai_is_recorded_for_each_url_and_obeyed_unless_told_otherwise(
    tmp_path: Path, told: str
) -> None:
    said = b"User-agent: *\nContent-Signal: search=yes, ai-train=no\nDisallow: /private/\n"

    def answers(_: str) -> dict[str, Answer]:
        kept = page("Kept out")
        return {
            "/robots.txt": Answer(said, "text/plain"),
            "/": page("Home", "/by-header", "/by-meta", "/private/x"),
            "/by-header": Answer(kept.body, headers=(("X-Robots-Tag", "noai, noimageai"),)),
            "/by-meta": page("By meta", head='<meta name="robots" content="ai-input=no">'),
        }

    with Site(answers) as site:
        run("flows.ingest", {"site": site}, tmp_path, INGEST_AI_SIGNALS=told)

    found = {row["url"].removeprefix(site.origin): row for row in rows(tmp_path, "urls")}
    of_site = "robots.txt: search=yes, ai-train=no"
    assert {path: row["ai_signals"] for path, row in found.items()} == {
        "/": of_site,
        "/private/x": of_site,
        "/by-header": f"{of_site}; X-Robots-Tag: noai, noimageai",
        "/by-meta": f"{of_site}; meta: ai-input=no",
    }
    outcome = {"obey": "policy_denied", "ignore": "ok"}[told]
    assert found["/"]["outcome"] == "ok"
    assert {found[path]["outcome"] for path in ("/by-header", "/by-meta")} == {outcome}
    stored = {row["url"] for row in rows(tmp_path, "pages")}
    assert (site.origin + "/by-meta" in stored) == (told == "ignore")
