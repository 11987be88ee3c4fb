"""The main job ends by itself with every URL exactly once, on any number of workers."""

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.flowing import corpus, environment, ingested, newest
from tests.loopback import Answer, Site, index, page, urlset

RING = 12
"""Pages of a site that only links find: a ring with chords, so that the link graph has cycles."""


def ring(origin: str) -> dict[str, Answer]:
    """Return a site: an index, a packed child, linked pages in cycles, and what is left out."""
    listed = [f"/listed/{n}" for n in range(8)]
    routes = {
        "/robots.txt": Answer(
            f"User-agent: *\nDisallow: /no/\nSitemap: {origin}/index.xml\n".encode(), "text/plain"
        ),
        "/index.xml": index(f"{origin}/a.xml", f"{origin}/b.xml.gz"),
        "/a.xml": urlset(*(origin + path for path in listed[:5]), f"{origin}/no/listed"),
        "/b.xml.gz": urlset(*(origin + path for path in listed[4:]), f"{origin}/gone", packed=True),
        "/": page(f"Home of {origin}", "/listed/0", "/ring/0", "/no/1", "/report.pdf", "/gone"),
        "/twin": page("Twin", "/", text="The very same words in both places. " * 20),
        "/other-twin": page("Twin", "/", text="The very same words in both places. " * 20),
    }
    for path in listed:
        routes[path] = page(f"Page {path} of {origin}", "/", "/ring/3", "/twin", "/other-twin")
    for n in range(RING):
        onward = f"/ring/{(n + 1) % RING}"
        routes[f"/ring/{n}"] = page(f"Ring {n} of {origin}", onward, f"/ring/{n * 5 % RING}", "/")
    return routes


EXPECTED = Counter(
    {"ok": 1 + 8 + RING + 1, "duplicate": 1, "robots_disallowed": 2, "not_html": 1, "not_found": 1}
)
"""Outcomes of one such site."""
TWO = {"INGEST_EXTRACT_WORKERS": "2"}
"""Processes that read pages: they end in another order than they began."""


@pytest.fixture
def sites() -> Iterator[list[Site]]:
    with ExitStack() as stack:
        yield [stack.enter_context(Site(ring)) for _ in range(3)]


def assert_whole(sites: list[Site], out: Path) -> None:
    """Check that a run of ring sites lost nothing and did nothing twice."""
    urls = newest(out, "urls")
    (report,) = (json.loads(path.read_text()) for path in out.glob("runs/*/report.json"))
    assert len({row["url"] for row in urls}) == len(urls)
    for site in sites:
        assert Counter(r["outcome"] for r in urls if r["site"] == site.origin) == EXPECTED
        assert report["sites"][site.origin]["status"] == "complete"
    stored = {row["url"] for row in urls if row["outcome"] == "ok"}
    assert {row["url"] for row in corpus(out, "pages")} == stored
    assert {row["url"] for row in corpus(out, "chunks")} == stored
    assert report["status"] == "complete"


MODES = {
    "one process": ["bytewax.run", "flows.ingest"],
    "two workers": ["bytewax.run", "flows.ingest", "-w", "2"],
    "two processes": ["bytewax.testing", "flows.ingest", "-p", "2"],
    "three processes": ["bytewax.testing", "flows.ingest", "-p", "3"],
}


@pytest.mark.parametrize("words", MODES.values(), ids=MODES)
def test_a_run_ends_by_itself_with_every_url_once(
    sites: list[Site], tmp_path: Path, words: list[str]
) -> None:
    out = tmp_path / "data"
    ingested(sites, out, *words, **TWO)

    assert_whole(sites, out)
    for site in sites:
        pages = [path for path in site.log if path.startswith(("/listed", "/ring", "/twin"))]
        assert max(Counter(pages).values()) == 1
        assert not [path for path in site.log if path.startswith("/no/") or path == "/report.pdf"]


def test_rows_say_where_each_url_came_from(sites: list[Site], tmp_path: Path) -> None:
    out = tmp_path / "data"
    ingested(sites[:1], out)
    origin = sites[0].origin
    by_path = {row["url"].removeprefix(origin): row for row in newest(out, "urls")}

    assert by_path["/listed/0"]["method"] == "robots"
    assert by_path["/listed/0"]["sitemap"] == f"{origin}/a.xml"
    assert set(by_path["/listed/4"]["sitemaps"]) == {f"{origin}/a.xml", f"{origin}/b.xml.gz"}
    assert set(by_path["/listed/0"]["methods"]) == {"robots", "link"}
    assert by_path["/ring/1"]["method"] == "link"
    assert by_path["/ring/1"]["sitemap"] is None
    assert by_path["/ring/1"]["referrer"].startswith(origin)
    twins = by_path["/twin"], by_path["/other-twin"]
    assert {row["duplicate_of"] for row in twins} - {None} <= {
        origin + "/twin",
        origin + "/other-twin",
    }
    kinds = {row["url"].removeprefix(origin): row["kind"] for row in newest(out, "sitemaps")}
    assert kinds["/robots.txt"] == "robots"
    assert (kinds["/index.xml"], kinds["/a.xml"]) == ("index", "urlset")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_commits_what_is_done_and_the_next_start_goes_on(
    sites: list[Site], tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "data"
    command = [sys.executable, "-m", "bytewax.run", "flows.ingest"]
    running = subprocess.Popen(
        command,
        env=environment(sites, out, INGEST_RATE="20", **TWO),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(600):
        if any(out.glob("runs/*/pages/*.parquet")) and newest(out, "pages"):
            break
        time.sleep(0.05)
    asked_at = time.monotonic()
    running.send_signal(number)
    _, said = running.communicate(timeout=30)
    before = newest(out, "urls")

    assert time.monotonic() - asked_at < 10
    assert running.returncode == 128 + number
    assert "start again" in said
    assert before
    assert not list(out.glob("runs/*/report.json"))

    ingested(sites, out, **TWO)
    assert_whole(sites, out)
    assert {row["url"] for row in before} <= {row["url"] for row in newest(out, "urls")}


@pytest.mark.parametrize("flow", ["flows.ingest", "flows.discover"])
def test_a_bad_setting_ends_in_one_line_before_the_first_request(
    sites: list[Site], tmp_path: Path, flow: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bytewax.run", flow],
        env=environment(sites, tmp_path / "data", INGEST_RATE="fast"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert "INGEST_RATE" in done.stderr
    assert not sites[0].log


def test_a_run_that_is_killed_again_and_again_ends_with_every_url_once(
    sites: list[Site], tmp_path: Path
) -> None:
    """Random moments, same result: nothing lost, nothing twice, and little fetched again."""
    undisturbed, out = tmp_path / "undisturbed", tmp_path / "data"
    command = [sys.executable, "-m", "bytewax.run", "flows.ingest"]
    ingested(sites, undisturbed, **TWO)
    for site in sites:
        site.log.clear()
    chance = random.Random(20_240_501)  # noqa: S311  # which moment, not a secret
    kills = 0
    for _ in range(8):
        running = subprocess.Popen(
            command,
            env=environment(sites, out, INGEST_RATE="15", **TWO),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            running.wait(timeout=chance.uniform(0.8, 3.5))
            break
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
            kills += 1
            assert_nothing_twice(out)
            if any(out.glob("runs/*/report.json")):
                break  # killed after its last word: the next start would be another run
    else:
        ingested(sites, out, **TWO)

    assert kills >= 2
    assert_whole(sites, out)
    for table in ("pages", "chunks"):
        assert texts(out, table) == texts(undisturbed, table)
    for site in sites:
        fetched = Counter(path for path in site.log if path.startswith(("/listed", "/ring")))
        assert sum(fetched.values()) - len(fetched) <= 64 * kills


def assert_nothing_twice(out: Path) -> None:
    """Check what a kill has left: readable, and each URL at most once."""
    if any(out.glob("runs/*")):
        urls = [row["url"] for row in newest(out, "urls")]
        pages = [row["url"] for row in newest(out, "pages")]
        assert len(urls) == len(set(urls))
        assert len(pages) == len(set(pages))
        assert set(pages) <= set(urls)


def texts(out: Path, table: str) -> Counter[str]:
    """Return the texts of a table of the corpus; which twin is stored is a matter of order."""
    column = {"pages": "markdown", "chunks": "text"}[table]
    return Counter(row[column] for row in corpus(out, table))
