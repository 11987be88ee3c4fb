"""Over whole runs: what went wrong with a site is told once, and beside what it was before."""

import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from tests.flowing import ingested, newest
from tests.loopback import NAMESPACE, Answer, Site, page
from tests.rawweb import CERTIFICATE

QUICK = {"INGEST_LINKS": "0", "INGEST_RETRY_WAITS_S": "0"}
LONG_AGO = datetime(2024, 5, 1, 12, tzinfo=UTC)


def dated(**lastmods: datetime) -> Answer:
    """Return a sitemap with dates; `{origin}` has to be filled in."""
    rows = "".join(
        f"<url><loc>{{origin}}/{name}</loc><lastmod>{when:%Y-%m-%dT%H:%M:%SZ}</lastmod></url>"
        for name, when in lastmods.items()
    )
    return Answer(f'<urlset xmlns="{NAMESPACE}">{rows}</urlset>'.encode(), "application/xml")


def at(origin: str, answer: Answer) -> Answer:
    return Answer(answer.body.replace(b"{origin}", origin.encode()), answer.kind)


def robots(origin: str) -> Answer:
    return Answer(f"Sitemap: {origin}/s.xml\n".encode(), "text/plain")


def told(out: Path) -> dict[str, dict[str, Any]]:
    return {row["kind"]: row for row in newest(out, "alerts")}


def test_a_pointer_to_a_dead_sitemap_beside_a_living_one_is_told(tmp_path: Path) -> None:
    def site(origin: str) -> dict[str, Answer]:
        living = at(origin, dated(a=LONG_AGO))
        return {"/robots.txt": robots(origin), "/sitemap.xml": living, "/a": page("A")}

    with Site(site) as served:
        ingested([served], tmp_path / "data", **QUICK)

    alerts = told(tmp_path / "data")
    assert {"sitemap_http_error", "stale_pointer", "no_baseline"} <= set(alerts)
    assert alerts["stale_pointer"]["subject"] == f"{served.origin}/s.xml"


def test_a_budget_that_is_used_up_is_told_with_what_it_left(tmp_path: Path) -> None:
    names = [f"p{number}" for number in range(12)]

    def site(origin: str) -> dict[str, Answer]:
        listed = at(origin, dated(**dict.fromkeys(names, LONG_AGO)))
        return {"/robots.txt": robots(origin), "/s.xml": listed} | {
            f"/{name}": page("Empty", text=" ") for name in names
        }

    with Site(site) as served:
        ingested([served], tmp_path / "data", INGEST_MAX_PAGES="11", **QUICK)

    alerts = told(tmp_path / "data")
    assert alerts["budget_stop"]["value"] == 1
    assert alerts["thin_content"]["value"] == 11


def test_sign_in_pages_in_the_place_of_a_site_are_an_error(tmp_path: Path) -> None:
    def site(origin: str) -> dict[str, Answer]:
        names = [f"p{number}" for number in range(12)]
        listed = at(origin, dated(**dict.fromkeys(names, LONG_AGO)))
        return {"/robots.txt": robots(origin), "/s.xml": listed, "/": page("Home")} | {
            f"/{name}": page(f"Page {name}") for name in names
        }

    form = "<form action=/in method=post><input name=user><input type=password name=p></form>"
    wall = Answer(
        f"<html><title>Sign in</title><body><h1>Sign in</h1>{form}</body></html>".encode()
    )
    with Site(site) as served:
        ingested([served], tmp_path / "data", **QUICK)
        assert "walled_pages" not in told(tmp_path / "data")
        for path in [f"/p{number}" for number in range(12)]:
            served.routes[path] = wall
        ingested([served], tmp_path / "data", INGEST_RECHECK_DAYS="0", **QUICK)

    alert = told(tmp_path / "data")["walled_pages"]
    assert (alert["severity"], alert["value"]) == ("error", 12)
    assert "12 login_required" in alert["message"]


def test_a_certificate_that_is_not_valid_is_told(tmp_path: Path) -> None:
    with Site(lambda _: {}) as served:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        served.wrap(context)
        ingested([served], tmp_path / "data", **QUICK)

    assert {"tls_problem", "robots_unreachable"} <= set(told(tmp_path / "data"))


# Trust in lastmod, over three runs


Runs = list[tuple[dict[str, Any], list[str]]]


def pages(asked: list[str]) -> list[str]:
    return [path for path in asked if path.startswith("/doc")]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Return the rows and the requests of five runs over an honest site that becomes a liar.

    It has two dozen pages whose `Last-Modified` is the `lastmod` of the list. One of them
    changes and says so before the third run; six change and say nothing before the fourth,
    which asks for all.
    """
    out = tmp_path_factory.mktemp("trust") / "data"
    dates = {f"doc{n}": LONG_AGO - timedelta(days=n) for n in range(24)}

    def written(name: str, text: str = "") -> Answer:
        body = page(name, text=text)
        when = format_datetime(dates[name], usegmt=True)
        return Answer(body.body, body.kind, headers=(("Last-Modified", when),))

    def site(origin: str) -> dict[str, Answer]:
        own = {f"/{name}": written(name) for name in dates}
        return own | {"/robots.txt": robots(origin), "/s.xml": at(origin, dated(**dates))}

    found = []

    def run(served: Site, **more: str) -> None:
        asked = len(served.log)
        ingested([served], out, **QUICK, **more)
        urls = {row["url"].rpartition("/")[2]: row for row in newest(out, "urls")}
        found.append((urls | {"alerts": told(out)}, served.log[asked:]))

    with Site(site) as served:
        run(served)
        run(served)
        dates["doc3"] = LONG_AGO + timedelta(days=9)
        served.routes |= {"/doc3": written("doc3", "Other words. " * 40)}
        served.routes |= {"/s.xml": at(served.origin, dated(**dates))}
        run(served)
        served.routes |= {f"/doc{n}": written(f"doc{n}", f"New {n}. " * 60) for n in range(6, 12)}
        run(served, INGEST_RECHECK_DAYS="0")
        run(served)
    return found


def test_a_trusted_lastmod_that_has_not_moved_costs_no_request(runs: Runs) -> None:
    rows, asked = runs[1]

    assert not pages(asked)
    assert {(rows[f"doc{n}"]["outcome"], rows[f"doc{n}"]["attempts"]) for n in range(24)} == {
        ("unchanged", 0)
    }
    assert rows["doc0"]["last_modified"] == runs[0][0]["doc0"]["last_modified"]
    assert rows["doc0"]["fetched_at"] == runs[0][0]["doc0"]["fetched_at"]


def test_what_moved_is_asked_for_and_nothing_else(runs: Runs) -> None:
    rows, asked = runs[2]

    assert pages(asked) == ["/doc3"]
    assert (rows["doc3"]["outcome"], rows["doc3"]["change"]) == ("ok", "updated")


def test_a_site_whose_pages_change_without_their_lastmod_is_told_and_trusted_no_more(
    runs: Runs,
) -> None:
    rows, _ = runs[3]

    assert {rows[f"doc{n}"]["change"] for n in range(6, 12)} == {"updated"}
    assert rows["alerts"]["lastmod_unreliable"]["value"] == 6
    assert len(pages(runs[4][1])) == 24
