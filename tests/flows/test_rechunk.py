"""Chunks cut again are those that a run with the same settings cuts, and no run cuts them again."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from connectors.dataset import Dataset
from flows import rechunk
from tests.flowing import corpus, ended, environment, ingested, newest, shows, started
from tests.loopback import Answer, Site, page, urlset

SMALL = {"INGEST_CHUNK_TOKENS": "64"}
SECTIONS = "".join(
    f'<h2 id="part-{number}">Part {number} of it</h2><p>{f"Word {number} of many. " * 60}</p>'
    for number in range(4)
)


def routes(origin: str) -> dict[str, Answer]:
    """Return a site with a long page whose headings have ids, and a short one."""
    long = page("Long").body.replace(b"</main>", f"{SECTIONS}</main>".encode())
    return {
        "/robots.txt": Answer(f"Sitemap: {origin}/s.xml\n".encode(), "text/plain"),
        "/s.xml": urlset(f"{origin}/long", f"{origin}/short"),
        "/": page("Home"),
        "/long": Answer(long, headers=(("ETag", '"1"'),)),
        "/short": page("Short"),
    }


@pytest.fixture
def site() -> Iterator[Site]:
    """Serve the site."""
    with Site(routes) as served:
        yield served


def cuts(out: Path) -> list[dict[str, Any]]:
    """Return the chunks of the corpus without what tells one run from another."""
    rows = corpus(out, "chunks")
    return [{k: v for k, v in row.items() if k not in ("run_id", "fetched_at")} for row in rows]


def rechunked(out: Path, **settings: str) -> "subprocess.CompletedProcess[str]":
    """Cut a corpus again, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "flows.rechunk", str(out)],
        env=environment([], out, **{"INGEST_SITES": "https://a.test"} | settings),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_what_is_cut_again_is_what_a_run_would_have_cut(site: Site, tmp_path: Path) -> None:
    out, fresh = tmp_path / "out", tmp_path / "fresh"
    ingested([site], out)
    large = cuts(out)
    ingested([site], fresh, **SMALL)
    asked = len(site.log)
    done = rechunked(out, **SMALL)

    assert (done.returncode, done.stderr) == (0, "")
    assert cuts(out) == cuts(fresh)
    assert len(cuts(out)) > len(large)
    assert {row["anchor"] for row in cuts(out)} >= {f"part-{number}" for number in range(4)}
    assert len(site.log) == asked

    rechunked(out)
    assert cuts(out) == large  # and back again
    rechunked(out, **SMALL)
    ingested([site], out, **SMALL)
    outcomes = Counter(row["outcome"] for row in newest(out, "urls"))
    assert outcomes.keys() <= {"not_modified", "unchanged"}  # nothing is stored anew
    assert cuts(out) == cuts(fresh)


def test_a_page_that_another_version_has_read_is_read_again(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingested([site], tmp_path)
    (known,) = Dataset(tmp_path).readings()
    monkeypatch.setattr("flows.settings.package_version", lambda: "another")
    monkeypatch.setenv("INGEST_CHUNK_TOKENS", "64")

    assert rechunk.main([str(tmp_path)]) == 0
    assert {row["settings_hash"] for row in corpus(tmp_path, "pages")} == {known}


def test_a_dataset_in_use_or_unfinished_is_left_as_it_is(site: Site, tmp_path: Path) -> None:
    process = started([site], tmp_path, INGEST_RATE="1")
    assert shows(tmp_path, "pages")
    busy = rechunked(tmp_path)
    process.kill()
    ended(process)
    unfinished = rechunked(tmp_path)

    assert busy.returncode == unfinished.returncode == 2
    assert busy.stderr == f"flows.rechunk: another run is writing to {tmp_path}\n"
    assert "a run is unfinished" in unfinished.stderr


def test_a_folder_that_is_no_dataset_is_refused_in_one_line(tmp_path: Path) -> None:
    done = rechunked(tmp_path)

    assert done.returncode == 2
    assert done.stderr == f"flows.rechunk: no dataset in {tmp_path}: it has no runs\n"
