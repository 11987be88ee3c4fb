"""Pages are taken as Markdown where their server offers it and the setting says so."""

from pathlib import Path
from typing import Any

from tests.flowing import corpus, ingested, newest
from tests.loopback import Answer, Site, page, urlset

WORDS = "The keeper of the harbour writes down every boat. " * 8
OFFER = '<link rel="alternate" type="text/markdown" href="{}">'


def harbour(origin: str) -> dict[str, Answer]:
    """Return a site of which each page offers Markdown in its own way, or not at all."""
    html = page("Page", "/linked-by-html").body
    wall = b"<!doctype html><html><title>Page not found</title><h1>404</h1><p>Not found.</p>"
    head = OFFER.format
    return {
        "/robots.txt": Answer(f"User-agent: *\nDisallow: /no/\nSitemap: {origin}/s.xml".encode()),
        "/s.xml": urlset(*(origin + path for path in PAGES)),
        "/": page("Home"),
        "/negotiated": Answer(html, markdown=f"# N\n\n{WORDS}\n\n[more](linked)".encode()),
        "/alternate": page("Alternate", head=head("/alternate.md")),
        "/alternate.md": Answer(f"# A\n\n{WORDS}\n\n[x](y)".encode(), "text/markdown"),
        "/not-markdown": page("Not", head=head("/wall.md")),
        "/wall.md": Answer(wall, "text/markdown"),
        "/forbidden": page("Forbidden", head=head("/no/page.md")),
        "/no/page.md": Answer(b"# Secret", "text/markdown"),
        "/missing": page("Missing", head=head("/missing.md")),
        "/plain": page("Plain"),
        "/gone": Answer(html, markdown=b"# Page not found\n\nThis page does not exist."),
        "/challenge": Answer(html, markdown=CHALLENGE),
        "/linked": page("Linked"),
        "/linked-by-html": page("Linked by HTML"),
    }


CHALLENGE = (
    b"<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>"
    b"<script>window._cf_chl_opt={};</script></body></html>"
)
PAGES = (
    *("/negotiated", "/alternate", "/not-markdown", "/forbidden", "/missing", "/plain"),
    *("/gone", "/challenge"),
)


def rows(site: Site, found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["url"].removeprefix(site.origin): row for row in found}


def test_markdown_is_taken_where_a_server_offers_it(tmp_path: Path) -> None:
    with Site(harbour) as site:
        ingested([site], tmp_path, INGEST_MARKDOWN="1", INGEST_KEEP_HTML="1")

    pages, urls = rows(site, corpus(tmp_path, "pages")), rows(site, newest(tmp_path, "urls"))
    assert pages["/negotiated"]["markdown"] == (f"# N\n\n{WORDS}\n\n[more]({site.origin}/linked)")
    assert pages["/alternate"]["markdown"] == f"# A\n\n{WORDS}\n\n[x]({site.origin}/y)"
    assert {path: row["extraction"] for path, row in pages.items()} == {
        "/negotiated": "negotiated",
        "/alternate": "alternate",
        **dict.fromkeys(("/", "/not-markdown", "/forbidden", "/missing"), "node"),
        **dict.fromkeys(("/plain", "/linked"), "node"),
    }
    assert pages["/negotiated"]["title"] == "N"
    assert pages["/negotiated"]["html"] is None
    assert pages["/plain"]["html"] is not None
    assert [urls[path]["outcome"] for path in ("/gone", "/challenge")] == ["soft_404", "blocked"]
    assert urls["/linked"]["method"] == "link"
    assert "/no/page.md" not in site.log
    chunks = rows(site, corpus(tmp_path, "chunks"))
    assert chunks["/negotiated"]["heading_path"] == ["N"]


def test_markdown_is_not_asked_for_without_the_setting(tmp_path: Path) -> None:
    with Site(harbour) as site:
        ingested([site], tmp_path)

    pages = rows(site, corpus(tmp_path, "pages"))
    assert {row["extraction"] for row in pages.values()} == {"node"}
    assert "/alternate.md" not in site.log
    assert "/linked-by-html" in pages
