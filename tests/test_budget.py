"""A page budget on a site that declares far more: few requests, spread over its newest pages."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.flowing import INGEST, environment, ingested, newest
from tests.loopback import NAMESPACE, Answer, Site, page

FILES = 8
PAGES = 40
BUDGET = 20


def answers(origin: str) -> Mapping[str, Answer]:
    """A site whose index has eight sitemaps of forty pages each, the newest pages last."""
    files = range(FILES)
    listed = "".join(
        f"<sitemap><loc>{origin}/{f}.xml</loc><lastmod>2024-05-{f + 1:02d}</lastmod></sitemap>"
        for f in files
    )
    robots = f"User-agent: *\nDisallow:\nSitemap: {origin}/index.xml\n"
    return {
        "/robots.txt": Answer(robots.encode(), "text/plain"),
        "/": page("Home"),
        "/index.xml": Answer(
            f'<sitemapindex xmlns="{NAMESPACE}">{listed}</sitemapindex>'.encode(), "application/xml"
        ),
        **{f"/{f}.xml": urlset(origin, f) for f in files},
        **{f"/{f}/{n}": page(f"{f} {n}", f"/more/{f}/{n}") for f in files for n in range(PAGES)},
        **{f"/more/{f}/{n}": page(f"more {f} {n}") for f in files for n in range(PAGES)},
    }


def urlset(origin: str, file: int) -> Answer:
    urls = "".join(
        f"<url><loc>{origin}/{file}/{n}</loc><lastmod>2023-{n // 28 + 1:02d}-{n % 28 + 1:02d}"
        "</lastmod></url>"
        for n in range(PAGES)
    )
    return Answer(f'<urlset xmlns="{NAMESPACE}">{urls}</urlset>'.encode(), "application/xml")


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(answers) as served:
        yield served


def test_a_budget_is_spread_over_the_lists_newest_first_in_few_requests(
    site: Site, tmp_path: Path
) -> None:
    ingested([site], tmp_path, INGEST_MAX_PAGES=str(BUDGET), INGEST_LINKS="0")

    rows = newest(tmp_path, "urls")
    stored = [row["url"].removeprefix(site.origin) for row in rows if row["outcome"] == "ok"]
    of_files = Counter(path.split("/")[1] for path in stored)
    chosen = [path for path in stored if path.endswith(("/39", "/38", "/37", "/36"))]
    assert len(stored) == BUDGET
    assert of_files.keys() == {"7", "6", "5", "4"}  # an index and four of its sitemaps are read
    assert len(chosen) == len(of_files) * 4  # all but the tenth part that is handed out at once
    assert len(site.log) <= BUDGET + 10
    assert {row["outcome"] for row in rows} == {"ok", "budget"}
    assert "sitemap_budget" in {row["kind"] for row in newest(tmp_path, "alerts")}


def test_a_budget_that_is_not_reached_changes_nothing(site: Site, tmp_path: Path) -> None:
    ingested([site], tmp_path, INGEST_MAX_PAGES="1000", INGEST_LINKS="0")

    rows = newest(tmp_path, "urls")
    assert Counter(row["outcome"] for row in rows) == {"ok": FILES * PAGES}
    assert "/llms.txt" in site.log
    assert "sitemap_budget" not in {row["kind"] for row in newest(tmp_path, "alerts")}


def test_a_run_that_is_killed_spends_its_budget_once_and_to_the_end(
    site: Site, tmp_path: Path
) -> None:
    env = environment([site], tmp_path, INGEST_MAX_PAGES="60", INGEST_RATE="40")
    with subprocess.Popen(
        [sys.executable, "-m", *INGEST],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as run:
        while len(site.log) < 35 and run.poll() is None:
            time.sleep(0.01)
        os.killpg(run.pid, signal.SIGKILL)
    ingested([site], tmp_path, INGEST_MAX_PAGES="60")

    outcomes = Counter(row["outcome"] for row in newest(tmp_path, "urls"))
    assert outcomes["ok"] == 60
    assert outcomes.keys() == {"ok", "budget"}
    assert "budget_stop" in {row["kind"] for row in newest(tmp_path, "alerts")}
