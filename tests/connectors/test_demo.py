"""The demo site: every kind of page it promises is there, and two processes can share it."""

import gzip
import http.client
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin
from xml.etree import ElementTree as ET

import pytest

from connectors import demo
from connectors.demo import editions, site
from flows import settings

LOC = "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"
FOLDER = Path(demo.__file__).parent / "pages"


@pytest.fixture(scope="module")
def served() -> Iterator[demo.Demo]:
    with demo.serve(0) as running:
        yield running


def port_of(running: demo.Demo) -> int:
    return int(running.origin.rpartition(":")[2])


def ask(
    running: demo.Demo, path: str, method: str = "GET", **headers: str
) -> tuple[int, dict, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port_of(running), timeout=10)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers=named)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def locs(xml: bytes) -> list[str]:
    return [str(loc.text) for loc in ET.fromstring(xml).iter(LOC)]  # noqa: S314  # our own


def links(running: demo.Demo, path: str) -> set[str]:
    html = ask(running, path)[2].decode()
    return {urljoin(running.origin + path, href) for href in re.findall(r'href="([^"#]+)', html)}


def test_the_index_named_by_robots_leads_to_every_listed_page(served: demo.Demo) -> None:
    robots = ask(served, "/robots.txt")[2].decode()
    index = re.search(r"Sitemap: (\S+)", robots)[1]
    plain, packed = locs(ask(served, index.removeprefix(served.origin))[2])
    named = locs(ask(served, plain.removeprefix(served.origin))[2])
    named += locs(gzip.decompress(ask(served, packed.removeprefix(served.origin))[2]))

    assert sorted(named) == sorted(served.origin + p.path for p in site.pages() if p.sitemap)
    assert len(named) == 28


def test_every_file_of_the_site_is_served_and_every_page_answers(served: demo.Demo) -> None:
    files = {p.relative_to(FOLDER).as_posix() for p in FOLDER.rglob("*.*")}

    assert files - {"site.toml", "editions.toml"} == {page.file for page in every_page()}
    assert {ask(served, page.path)[0] for page in site.pages()} == {200}


def test_one_page_is_found_by_a_link_alone(served: demo.Demo) -> None:
    unlisted = [p.path for p in site.pages() if p.sitemap is None and p.file.endswith(".html")]

    assert unlisted == ["/guide/unlisted.html"]
    assert served.origin + unlisted[0] in links(served, "/guide/urls.html")


def test_the_disallowed_page_is_both_listed_and_linked(served: demo.Demo) -> None:
    drafts = [p for p in site.pages() if p.path.startswith("/drafts/")]

    assert "Disallow: /drafts/" in ask(served, "/robots.txt")[2].decode()
    assert [page.sitemap for page in drafts] == ["more"]
    assert served.origin + drafts[0].path in links(served, "/guide/robots.html")


def test_two_addresses_carry_the_same_bytes(served: demo.Demo) -> None:
    assert ask(served, "/faq.html")[2] == ask(served, "/questions.html")[2]


def test_exactly_one_link_of_the_site_is_dead(served: demo.Demo) -> None:
    paths = [page.path for page in site.pages() if page.file.endswith(".html")]
    targets = set().union(*(links(served, path) for path in paths))
    inside = {t.removeprefix(served.origin) for t in targets if t.startswith(served.origin)}

    assert {path for path in inside if ask(served, path)[0] != 200} == {"/guide/docker.html"}


def test_links_go_in_circles(served: demo.Demo) -> None:
    assert served.origin + "/guide/quickstart.html" in links(served, "/")
    assert served.origin + "/" in links(served, "/guide/quickstart.html")


def test_a_copy_that_is_still_good_costs_no_body(served: demo.Demo) -> None:
    _, headers, body = ask(served, "/")

    assert ask(served, "/", If_None_Match=headers["ETag"])[::2] == (304, b"")
    assert ask(served, "/", If_None_Match='"old", W/' + headers["ETag"])[0] == 304
    assert ask(served, "/", If_Modified_Since=headers["Last-Modified"])[::2] == (304, b"")
    assert ask(served, "/", If_Modified_Since="Mon, 01 Jan 2024 00:00:00 GMT")[::2] == (200, body)
    assert ask(served, "/", If_Modified_Since="yesterday")[0] == 200


def test_an_etag_that_differs_outweighs_a_date_that_does_not(served: demo.Demo) -> None:
    modified = ask(served, "/")[1]["Last-Modified"]

    assert ask(served, "/", If_None_Match='"old"', If_Modified_Since=modified)[0] == 200


def test_head_answers_as_get_without_the_body(served: demo.Demo) -> None:
    _, got, body = ask(served, "/dataset/")
    status, headers, nothing = ask(served, "/dataset/", "HEAD")

    assert (status, nothing) == (200, b"")
    assert headers["Content-Length"] == got["Content-Length"] == str(len(body))


def test_one_connection_carries_many_requests(served: demo.Demo) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port_of(served), timeout=10)
    connection.request("GET", "/nowhere")
    missing = connection.getresponse()
    missing.read()
    connected = connection.sock
    connection.request("GET", "/")
    found = connection.getresponse()
    found.read()

    assert (missing.status, found.status) == (404, 200)
    assert connection.sock is connected
    connection.close()


def test_a_second_server_at_the_port_shares_the_first() -> None:
    with demo.serve(0) as first, demo.serve(port_of(first)) as second:
        assert (first.shared, second.shared) == (False, True)
        assert second.origin == first.origin
        second.close()

        assert ask(first, "/")[0] == 200


def test_a_port_that_somebody_else_holds_is_refused_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        answering = threading.Thread(target=_answer_once, args=(other,))
        answering.start()
        with pytest.raises(ValueError, match=r"^INGEST_DEMO_PORT: .* in use.*$") as refused:
            demo.serve(other.getsockname()[1])
        answering.join()

    assert "\n" not in str(refused.value)


def _answer_once(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 200 OK\r\nServer: other\r\nContent-Length: 0\r\n\r\n")


def test_a_port_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="INGEST_DEMO_PORT"):
        demo.serve(70_000)


def test_a_closed_site_gives_its_port_back() -> None:
    with demo.serve(0) as first:
        port = port_of(first)
    with demo.serve(port) as again:
        assert not again.shared


def every_page() -> list[editions.Listed]:
    return [page for n in range(1, editions.count() + 1) for page in editions.pages(n)]


def test_each_change_of_an_edition_finds_the_words_it_is_about() -> None:
    for page in every_page():
        text = (FOLDER / page.file).read_bytes().decode()

        assert all(words in text for words, _ in page.replaced), page
        assert all(0 <= text.find(start) < text.find(end) for start, end in page.cut), page


def changed(number: int) -> tuple[set[str], set[str], set[str], set[str]]:
    """Return what an edition adds, takes away, says otherwise and dates otherwise."""
    before = {page.path: page for page in editions.pages(number - 1)}
    now = {page.path: page for page in editions.pages(number)}
    both = before.keys() & now.keys()
    return (
        now.keys() - both,
        before.keys() - both,
        {path for path in both if before[path].body() != now[path].body()},
        {path for path in both if before[path].lastmod != now[path].lastmod},
    )


def test_the_second_edition_changes_honestly() -> None:
    added, gone, changed_words, changed_dates = changed(2)

    assert added == {"/blog/2026-11-a-page-that-went-away.html"}
    assert gone == {"/glossary.html"}
    assert changed_words == {"/blog/", "/shop/field-guide.html", "/content/tokens.html"}
    assert changed_dates == changed_words


def test_the_third_edition_lies_about_its_dates() -> None:
    added, gone, changed_words, changed_dates = changed(3)

    assert added == gone == set()
    assert changed_words == {"/guide/scale.html"}
    assert changed_dates == {p.path for p in editions.pages(3) if p.sitemap == "more"}


def test_the_third_edition_names_a_sitemap_that_is_not_there() -> None:
    with demo.serve(0, 3) as third:
        index = locs(ask(third, "/sitemap_index.xml")[2])

        assert [ask(third, loc.removeprefix(third.origin))[0] for loc in index] == [200, 200, 404]


def test_an_edition_is_served_and_not_taken_for_another() -> None:
    with demo.serve(0, 2) as second:
        port = port_of(second)

        assert ask(second, "/glossary.html")[0] == 404
        assert b"34.50" in ask(second, "/shop/field-guide.html")[2]
        with demo.serve(port, 2) as again:
            assert again.shared
        with pytest.raises(ValueError, match="in use"):
            demo.serve(port, 1)


def test_an_edition_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="INGEST_DEMO_EDITION must be 1 to 3, not 4"):
        demo.serve(0, 4)


def test_pages_name_only_settings_that_exist() -> None:
    named = {
        name
        for page in FOLDER.rglob("*.html")
        for name in re.findall(r"INGEST_[A-Z_]+", page.read_text())
    }

    assert named <= set(settings.names())
