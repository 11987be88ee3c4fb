"""A second run costs what changed: what is the same is neither sent nor stored again."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.flowing import corpus, ingested, newest
from tests.loopback import Answer, Site, page, urlset


def tagged(answer: Answer, tag: str) -> Answer:
    return Answer(answer.body, answer.kind, answer.status, (("ETag", f'"{tag}"'),))


def site(origin: str) -> dict[str, Answer]:
    """Return a site: pages with validators, one without, and two that only links find."""
    return {
        "/robots.txt": Answer(f"Sitemap: {origin}/s.xml\n".encode(), "text/plain"),
        "/s.xml": urlset(f"{origin}/tagged", f"{origin}/bare", f"{origin}/changing"),
        "/": tagged(page("Home", "/linked"), "home"),
        "/tagged": tagged(page("Tagged"), "1"),
        "/bare": page("Bare"),
        "/changing": tagged(page("Changing"), "1"),
        "/linked": tagged(page("Linked", "/deep"), "1"),
        "/deep": tagged(page("Deep"), "1"),
    }


@pytest.fixture
def runs(tmp_path: Path) -> dict[str, Any]:
    """Return what two runs left, with one page changed and one taken away in between."""
    with Site(site) as served:
        out = tmp_path / "data"
        ingested([served], out)
        before = {row["url"]: row for row in corpus(out, "pages")}
        asked = len(served.log)
        served.routes["/changing"] = tagged(page("Changing", text="Other words now. " * 30), "2")
        del served.routes["/tagged"]
        ingested([served], out)
    return {
        "origin": served.origin,
        "before": before,
        "after": {row["url"]: row for row in corpus(out, "pages")},
        "urls": {row["url"].removeprefix(served.origin): row for row in newest(out, "urls")},
        "pages": newest(out, "pages"),
        "asked": Counter(served.log[asked:]),
    }


def test_pages_that_did_not_change_are_neither_sent_nor_stored_again(runs: dict[str, Any]) -> None:
    outcomes = {path: (row["outcome"], row["change"]) for path, row in runs["urls"].items()}

    assert outcomes["/linked"] == ("not_modified", "unchanged")
    assert outcomes["/bare"] == ("unchanged", "unchanged")
    assert outcomes["/"] == ("unchanged", "unchanged")  # read for the sitemaps that it may name
    assert [row["url"] for row in runs["pages"]] == [f"{runs['origin']}/changing"]


def test_a_page_that_changed_is_updated(runs: dict[str, Any]) -> None:
    row = runs["urls"]["/changing"]

    assert (row["outcome"], row["change"]) == ("ok", "updated")
    assert "Other words" in runs["after"][f"{runs['origin']}/changing"]["markdown"]


def test_a_page_that_only_a_page_not_sent_again_links_is_asked_for_all_the_same(
    runs: dict[str, Any],
) -> None:
    row = runs["urls"]["/deep"]

    assert (row["outcome"], row["method"]) == ("not_modified", "link")
    assert row["referrer"] == f"{runs['origin']}/linked"
    assert runs["asked"]["/deep"] == 1


def test_a_page_that_is_missing_once_keeps_its_text(runs: dict[str, Any]) -> None:
    url = f"{runs['origin']}/tagged"

    assert runs["urls"]["/tagged"]["outcome"] == "not_found"
    assert runs["after"][url] == runs["before"][url]


def test_other_settings_make_every_page_anew(tmp_path: Path) -> None:
    with Site(site) as served:
        ingested([served], tmp_path / "data")
        ingested([served], tmp_path / "data", INGEST_CHUNK_TOKENS="64")

    outcomes = Counter(row["outcome"] for row in newest(tmp_path / "data", "urls"))
    assert outcomes == {"ok": 6}
