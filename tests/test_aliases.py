"""A page is stored under its own address where it has one, whatever redirects to it."""

from pathlib import Path

from tests.flowing import corpus, ingested, newest
from tests.loopback import Answer, Site, page, urlset


def onward(path: str) -> Answer:
    return Answer(status=301, headers=(("Location", path),))


def moved(origin: str) -> dict[str, Answer]:
    """Return a site that lists redirects, and links the page that one of them leads to."""
    return {
        "/robots.txt": Answer(f"Sitemap: {origin}/s.xml\n".encode(), "text/plain"),
        "/s.xml": urlset(*(origin + path for path in ("/old", "/home-page", "/far", "/further"))),
        "/": page("Home", "/new"),
        "/old": onward("/new"),
        "/new": page("New"),
        "/home-page": onward("/"),
        "/far": onward("/nobody-names-this"),
        "/further": onward("/nobody-names-this"),
        "/nobody-names-this": page("Elsewhere"),
    }


def test_what_redirects_to_a_page_is_its_duplicate_and_never_takes_its_place(
    tmp_path: Path,
) -> None:
    with Site(moved) as site:
        ingested([site], tmp_path)
    rows = {row["url"].removeprefix(site.origin): row for row in newest(tmp_path, "urls")}
    stored = {row["url"].removeprefix(site.origin) for row in corpus(tmp_path, "pages")}

    assert stored == {"/", "/new", "/far"}
    assert rows["/old"]["outcome"] == "duplicate"
    assert rows["/old"]["duplicate_of"] == f"{site.origin}/new"
    assert rows["/home-page"]["outcome"] in ("duplicate", "redirected_home")
    assert rows["/further"]["duplicate_of"] == f"{site.origin}/far"
    assert rows["/far"]["final_url"] == f"{site.origin}/nobody-names-this"
