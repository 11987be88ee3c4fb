"""The continuous mode: one process, run after run, each with what has changed since the last."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.flowing import comes, corpus, ended, ingested, started, table
from tests.loopback import Answer, Site, page, urlset

EVERY_S = 3


def routes(origin: str) -> dict[str, Answer]:
    """Return a site of two pages beside its home page."""
    return {
        "/robots.txt": Answer(f"Sitemap: {origin}/s.xml\n".encode(), "text/plain"),
        "/s.xml": urlset(f"{origin}/one", f"{origin}/two"),
        "/": page("Home"),
        "/one": page("One"),
        "/two": page("Two"),
    }


@pytest.fixture
def sites() -> Iterator[list[Site]]:
    """Serve two sites."""
    with Site(routes) as first, Site(routes, "127.0.0.2") as second:
        yield [first, second]


def reports(out: Path) -> list[dict[str, Any]]:
    """Return the reports of the runs that have ended, oldest first."""
    return [json.loads(path.read_text()) for path in sorted(out.glob("runs/*/report.json"))]


def tells(out: Path, url: str, change: str) -> bool:
    """Say whether any run that has ended tells so of a URL."""
    runs = [path.parent for path in out.glob("runs/*/report.json")]
    rows = [row for run in runs for row in table(run / "urls") if row["url"] == url]
    return any(row["change"] == change for row in rows)


def starts(out: Path) -> list[float]:
    """Return how far apart the two sites were asked for their robots.txt, for each run."""
    gaps = []
    for path in sorted(out.glob("runs/*/report.json")):
        asked = [
            row["fetched_at"] for row in table(path.parent / "sitemaps") if row["kind"] == "robots"
        ]
        gaps.append((max(asked) - min(asked)).total_seconds())
    return gaps


def test_a_continuous_run_brings_what_changes_between_its_cycles(
    sites: list[Site], tmp_path: Path
) -> None:
    site = sites[0]
    process = started(
        sites,
        tmp_path,
        INGEST_EVERY=str(EVERY_S),
        INGEST_ALLOW_NETWORKS="127.0.0.0/8",
    )
    assert comes(lambda: len(reports(tmp_path)) >= 1)
    site.routes["/one"] = page("One", text="Other words stand here today. " * 20)
    assert comes(lambda: tells(tmp_path, f"{site.origin}/one", "updated"))
    site.routes["/three"] = page("Three")
    site.routes["/s.xml"] = urlset(*(f"{site.origin}/{name}" for name in ("one", "two", "three")))
    assert comes(lambda: tells(tmp_path, f"{site.origin}/three", "new"))
    assert comes(lambda: len(reports(tmp_path)) >= 4)
    process.send_signal(signal.SIGTERM)
    said = ended(process, within_s=10)

    assert process.returncode == 128 + signal.SIGTERM
    assert said.endswith("sitewax: stopped; what is done is committed, start again to go on\n")
    assert {told["status"] for told in reports(tmp_path)} == {"complete"}
    assert len({told["run_id"] for told in reports(tmp_path)}) >= 4
    assert len(corpus(tmp_path, "pages")) == 7
    assert max(starts(tmp_path)[1:]) > EVERY_S / 4  # evenly: the second site half a cycle later
    ingested(sites, tmp_path, INGEST_ALLOW_NETWORKS="127.0.0.0/8")  # and so does a single run
    assert len(corpus(tmp_path, "pages")) == 7
