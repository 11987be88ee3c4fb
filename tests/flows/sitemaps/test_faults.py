"""Guaranteed: a fault costs only what it hits, is reported once, and never makes a wrong URL."""

import gzip
import zlib
from datetime import UTC, datetime, timedelta

import pytest

from flows import sitemaps
from flows.sitemaps import reader as reading

URL = "https://docs.example.org/maps/all.xml"
NOW = datetime(2024, 6, 1, tzinfo=UTC)
HOST = "https://docs.example.org"


def read(
    data: bytes | str, *, complete: bool = True, now: datetime | None = NOW
) -> tuple[list[str], sitemaps.Reader]:
    """Return the paths of the valid entries, and the reader."""
    reader = sitemaps.Reader(URL, now=now)
    found = reader.feed(data.encode() if isinstance(data, str) else data)
    found += reader.close(complete=complete)
    pages = [e.url for e in found if not (isinstance(e, sitemaps.Declared) and e.invalid)]
    return [url.removeprefix("https://docs.example.org/") for url in pages], reader


def kinds(reader: sitemaps.Reader) -> list[str]:
    assert all(problem.subject == URL and problem.detail for problem in reader.problems)
    return [problem.kind for problem in reader.problems]


def urlset(*entries: str) -> str:
    return f"<urlset>{''.join(entries)}</urlset>"


def loc(path: str, rest: str = "") -> str:
    return f"<url><loc>https://docs.example.org/{path}</loc>{rest}</url>"


@pytest.mark.parametrize(
    ("data", "expected", "complete"),
    [
        pytest.param(
            "\n\n <?xml version='1.0'?>" + urlset(loc("1")), ["1"], True, id="blank lines"
        ),
        pytest.param(
            "<br />\n<b>Warning</b>: f() in <b>/x.php</b>\n<?xml version='1.0'?>"
            + urlset(loc("1")),
            ["1"],
            True,
            id="a printed warning",
        ),
        pytest.param(
            "Notice: x in /y.php\n<?xml version='1.0'?>" + urlset(loc("1")),
            ["1"],
            True,
            id="a notice",
        ),
        pytest.param(
            urlset(loc("1"), loc("?a=1&b=2&copy=3&amp=4&amp;c"), loc("2")),
            ["1", "?a=1&b=2&copy=3&amp=4&c", "2"],
            True,
            id="XML 1.0 §2.4 a bare ampersand stands for itself",
        ),
        pytest.param(urlset(loc("caf&eacute;")), ["caf%C3%A9"], True, id="a name of HTML"),
        pytest.param(urlset(loc("a&nosuch;b")), ["a&nosuch;b"], True, id="a name of nothing"),
        pytest.param(
            urlset(loc("a&#0;&#x1F;b&#xD800;")), ["ab"], True, id="references to no character"
        ),
        pytest.param(
            urlset(loc("1", "<note>\x08\x00</note>"), loc("2\x01")),
            ["1", "2"],
            True,
            id="control characters",
        ),
        pytest.param(
            urlset(loc("1"), loc("é"), loc("2")).encode("latin-1"),
            ["1", "%C3%A9", "2"],
            True,
            id="stray bytes",
        ),
        pytest.param(
            "<urlset><url><loc>/1</url></loc><url><loc>/2</loc></url></urlset>",
            ["1", "2"],
            True,
            id="XML 1.0 §3 crossed end tags",
        ),
        pytest.param(
            "<urlset><url><loc>/1</lock></url><url><loc>/2</LOC></url></urlset>",
            ["1", "2"],
            True,
            id="XML 1.0 §3 misspelt end tags",
        ),
        pytest.param(
            "<urlset><url><loc>/1</loc><url><loc>/2</loc></url></urlset>",
            ["1", "2"],
            True,
            id="no end of an entry",
        ),
        pytest.param(
            "<urlset><url><loc>/1<url><loc>/2</loc></url></urlset>",
            ["2"],
            False,
            id="no end of a loc",
        ),
        pytest.param(
            urlset(loc("1"), loc("a<b"), loc("2")), ["1", "2"], False, id="a tag in a loc"
        ),
        pytest.param(urlset(loc("1"), loc("a< b"), loc("2")), ["1", "2"], False, id="a bare angle"),
        pytest.param(
            urlset(loc("1"), "<url<loc>/x</loc></url>", loc("2")),
            ["1", "2"],
            False,
            id="half a tag",
        ),
        pytest.param(
            urlset(loc("1"), '<url><a b="<loc>/x</loc></url>', loc("2")),
            ["1", "x", "2"],
            False,
            id="half a quote",
        ),
        pytest.param(
            urlset(loc("1"), "<a>" * 200 + "</a>" * 200, loc("2")),
            ["1", "2"],
            True,
            id="deep nesting",
        ),
        pytest.param(urlset(loc("1")) + urlset(loc("2")), ["1", "2"], True, id="two documents"),
        pytest.param(loc("1") + loc("2"), ["1", "2"], True, id="no root"),
        pytest.param(
            urlset(loc("1")) + "<p>generated in 2 s</p>", ["1"], True, id="something after the root"
        ),
        pytest.param(
            "<urlset>" + loc("1") + "</url></urlset>", ["1"], True, id="an end tag too many"
        ),
    ],
)
def test_what_is_not_well_formed_is_repaired_or_left_out(
    data: str | bytes, expected: list[str], complete: bool
) -> None:
    found, reader = read(data)

    assert found == expected
    assert "sitemap_malformed" in kinds(reader)
    assert reader.complete is complete


WHOLE = urlset(
    loc("1", "<lastmod>2024-01-02</lastmod>"),
    "<url><loc><![CDATA[https://docs.example.org/2]]></loc></url>",
    "\n<url>\n<lastmod>2024</lastmod><loc>https://docs.example.org/3?a&amp;b</loc></url>",
)


@pytest.mark.parametrize("cut", range(1, len(WHOLE) - 1))
def test_a_cut_file_gives_what_came_before_and_never_half_a_url(cut: int) -> None:
    found, reader = read(WHOLE[:cut])

    assert found == ["1", "2", "3?a&b"][: len(found)]
    assert len(found) == WHOLE[:cut].count("</url>")
    assert not reader.complete
    assert {"sitemap_truncated", "sitemap_not_xml"} & set(kinds(reader))


def test_a_transfer_that_ended_early_is_a_fault_even_of_a_whole_file() -> None:
    found, reader = read(WHOLE, complete=False)

    assert found == ["1", "2", "3?a&b"]
    assert kinds(reader) == ["sitemap_truncated"]
    assert not reader.complete


def test_the_last_line_of_a_cut_text_may_be_half_a_url() -> None:
    text = "https://docs.example.org/1\nhttps://docs.example.org/23"

    assert read(text)[0] == ["1", "23"]
    assert read(text, complete=False)[0] == ["1"]
    assert kinds(read(text, complete=False)[1]) == ["sitemap_truncated"]
    assert kinds(read(text)[1]) == []


def test_a_cut_gzip_file_is_a_cut_sitemap() -> None:
    data = gzip.compress(urlset(*(loc(str(n * n)) for n in range(2_000))).encode())
    found, reader = read(data[: len(data) // 2])

    assert found == [str(n * n) for n in range(len(found))]
    assert len(found) > 500
    assert set(kinds(reader)) == {"sitemap_gzip_error", "sitemap_truncated"}
    assert not reader.complete


def test_a_wrong_checksum_costs_no_entry_but_the_proof_that_none_is_missing() -> None:
    data = bytearray(gzip.compress(urlset(loc("1"), loc("2")).encode()))
    data[-8] ^= 255
    found, reader = read(bytes(data))

    assert found == ["1", "2"]
    assert kinds(reader) == ["sitemap_gzip_error"]
    assert not reader.complete


@pytest.mark.parametrize(
    ("doctype", "alert"),
    [
        ("<!DOCTYPE urlset>", []),
        ('<!DOCTYPE urlset SYSTEM "http://127.0.0.1:9/evil.dtd">', ["sitemap_dtd"]),
        ('<!DOCTYPE rss PUBLIC "-//x//y" "http://127.0.0.1:9/x">', ["sitemap_dtd"]),
        ('<!DOCTYPE urlset [<!ENTITY e "x">]>', ["sitemap_dtd"]),
        ('<!doctype urlset [<!ENTITY e SYSTEM "file:///etc/hostname"> ] >', ["sitemap_dtd"]),
    ],
)
def test_a_document_type_defines_nothing(doctype: str, alert: list[str]) -> None:
    found, reader = read(doctype + urlset(loc("1"), loc("2")))

    assert found == ["1", "2"]
    assert kinds(reader) == alert
    assert reader.complete


def test_an_entity_makes_no_url() -> None:
    doctype = '<!DOCTYPE urlset [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY loc "/x">]>'
    found, reader = read(doctype + urlset(loc("1"), loc("&b;"), "<url><loc>&loc;</loc></url>"))

    assert found == ["1"]
    assert kinds(reader) == ["sitemap_dtd", "loc_invalid"]
    assert not reader.complete


@pytest.mark.parametrize(
    "page",
    [
        "<!DOCTYPE html><html><body><a href='/1'>x</a> https://docs.example.org/2</body></html>",
        "\n<HTML><head><title>Not found</title></head>",
        "<?xml version='1.0'?><!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN'><html/>",
    ],
)
def test_a_web_page_is_no_sitemap_and_need_not_be_fetched_to_its_end(page: str) -> None:
    reader = sitemaps.Reader(URL)

    assert reader.feed(page.encode() + b" " * 2_000) == []
    assert reader.stopped
    assert reader.close() == []
    assert reader.kind == "html"
    assert kinds(reader) == ["sitemap_not_xml"]
    assert not reader.complete


@pytest.mark.parametrize(
    "data",
    [
        '{"error": "not found"}',
        "Not found",
        "User-agent: *\nSitemap: https://docs.example.org/s.xml\n",
        "<?xml version='1.0'?><Error><Code>NoSuchKey</Code></Error>",
        "<div>gone</div>",
        bytes(range(256)) * 20,
        b"%PDF-1.7 " + bytes(4_000),
    ],
)
def test_what_is_no_list_of_urls_gives_none(data: str | bytes) -> None:
    found, reader = read(data)

    assert found == []
    assert reader.kind is None
    assert "sitemap_not_xml" in kinds(reader)
    assert not reader.complete


@pytest.mark.parametrize("data", ["", "\n \n", gzip.compress(b"", mtime=0), "\ufeff"])
def test_nothing_at_all_is_an_empty_sitemap(data: str | bytes) -> None:
    assert kinds(read(data)[1]) == ["sitemap_empty"]


def test_a_sitemap_without_entries_is_whole_and_empty() -> None:
    found, reader = read("<urlset>\n</urlset>")

    assert found == []
    assert kinds(reader) == ["sitemap_empty"]
    assert reader.complete


@pytest.mark.parametrize(
    "entry", ["<url></url>", "<url/>", "<url><loc/></url>", "<url><loc> </loc></url>"]
)
def test_an_entry_without_a_url_is_reported(entry: str) -> None:
    found, reader = read(urlset(loc("1"), entry, "<url><lastmod>2024</lastmod></url>", loc("2")))

    assert found == ["1", "2"]
    assert kinds(reader) == ["loc_missing"]
    assert reader.problems[0].detail.startswith("2 times")
    assert reader.entries == 2


@pytest.mark.parametrize(
    ("bare", "expected"),
    [
        (f"\n{HOST}/1?a=1&amp;b=2\n", ["1?a=1&b=2"]),
        (f"<lastmod>2024</lastmod>{HOST}/1", ["1"]),
        ("words of a comment", []),
        ("/relative", []),
        (f"{HOST}/1 <", []),
    ],
    ids=["alone", "beside a date", "words", "relative", "not whole"],
)
def test_an_address_that_stands_in_no_loc_is_read_and_told(bare: str, expected: list[str]) -> None:
    found, reader = read(urlset(f"<url>{bare}</url>"))

    assert found == expected
    assert expected == [] or kinds(reader) == ["loc_missing"]


@pytest.mark.parametrize(
    ("text", "path", "kind"),
    [
        ("/1", "1", "loc_relative"),
        ("1", "maps/1", "loc_relative"),
        ("../1", "1", "loc_relative"),
        ("//docs.example.org/1", "1", "loc_relative"),
        ("docs.example.org/1", "1", "loc_relative"),
        ("https://docs.example.org/my page", "my%20page", "loc_invalid"),
    ],
)
def test_a_url_that_is_not_whole_is_repaired_and_reported(text: str, path: str, kind: str) -> None:
    found, reader = read(urlset(f"<url><loc>{text}</loc></url>"))

    assert found == [path]
    assert kinds(reader) == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "mailto:a@b.test",
        "javascript:void(0)",
        "ftp://a.test/",
        "http://",
        "http:///p",
        "http://[::1",
        "not a url",
    ],
)
def test_what_is_no_http_url_comes_out_as_written_and_refused(text: str) -> None:
    reader = sitemaps.Reader(URL)
    found = [*reader.feed(urlset(f"<url><loc> {text} </loc></url>").encode()), *reader.close()]

    assert found == [sitemaps.Declared(text, invalid=True)]
    assert kinds(reader) == ["loc_invalid"]


def test_an_endless_url_comes_out_refused_with_its_beginning() -> None:
    reader = sitemaps.Reader(URL)
    found = [*reader.feed(urlset(loc("x" * 100_000), loc("1")).encode()), *reader.close()]

    assert isinstance(found[0], sitemaps.Declared)
    assert found[0].invalid
    assert len(found[0].url) == 2_000
    assert found[1].url == "https://docs.example.org/1"


def test_an_index_leaves_out_what_is_no_sitemap_url() -> None:
    found, reader = read("<sitemapindex><sitemap><loc>ftp://a.test/</loc></sitemap></sitemapindex>")

    assert found == []
    assert kinds(reader) == ["loc_invalid"]


@pytest.mark.parametrize(
    ("rest", "kind"),
    [
        ("<changefreq>sometimes</changefreq>", "field_invalid"),
        ("<priority>high</priority>", "field_invalid"),
        ("<priority>1.1</priority>", "field_invalid"),
        ("<priority>-0.1</priority>", "field_invalid"),
        ("<priority>nan</priority>", "field_invalid"),
        ("<lastmod>yesterday</lastmod>", "lastmod_invalid"),
        ("<lastmod>0000-00-00</lastmod>", "lastmod_invalid"),
    ],
)
def test_a_bad_field_is_absent_and_reported(rest: str, kind: str) -> None:
    reader = sitemaps.Reader(URL)
    found = [*reader.feed(urlset(loc("1", rest)).encode()), *reader.close()]

    assert isinstance(found[0], sitemaps.Declared)
    assert found[0][1:5:2] == (None, None)
    assert found[0].priority is None
    assert kinds(reader) == [kind]
    assert reader.complete


@pytest.mark.parametrize("rest", ["<changefreq/>", "<priority> </priority>", "<lastmod></lastmod>"])
def test_an_empty_field_is_absent(rest: str) -> None:
    assert kinds(read(urlset(loc("1", rest)))[1]) == []


def test_a_date_is_in_the_future_a_day_after_now() -> None:
    days = [NOW + timedelta(hours=hours) for hours in (-1, 23, 25)]
    text = urlset(*(loc(str(n), f"<lastmod>{d.isoformat()}</lastmod>") for n, d in enumerate(days)))

    assert kinds(read(text)[1]) == ["lastmod_future"]
    assert read(text)[1].problems[0].detail == days[2].isoformat()
    assert kinds(read(text, now=None)[1]) == []


def test_one_date_for_all_says_nothing() -> None:
    same = [loc(str(n), "<lastmod>2024-05-01T00:00:00Z</lastmod>") for n in range(25)]

    assert kinds(read(urlset(*same))[1]) == ["lastmod_uniform"]
    assert kinds(read(urlset(*same[:10]))[1]) == []
    assert kinds(read(urlset(*same, loc("x")))[1]) == []
    assert kinds(read(urlset(*same, loc("x", "<lastmod>2024-05-02</lastmod>")))[1]) == []


def test_more_than_50_000_urls_are_read_and_reported() -> None:
    found, reader = read(urlset(*(loc(str(n)) for n in range(reading.MAX_URLS + 1))))

    assert len(found) == reading.MAX_URLS + 1
    assert kinds(reader) == ["sitemap_too_many_urls"]
    assert reader.complete


@pytest.mark.parametrize(
    "address",
    [
        pytest.param(" http://127.0.0.1/" + "x" * 70_000, id="after a space"),
        pytest.param("http://127.0.0.1/" + "&#120;" * 17_000, id="of references"),
        pytest.param("http://127.0.0.1/?" + "a&amp;" * 40_000, id="of ampersands"),
        pytest.param("http://127.0.0.1/" + "x" * 200_000, id="very long"),
    ],
)
def test_an_address_that_is_too_long_is_never_shortened_to_one(address: str) -> None:
    found, reader = read(urlset(f"<url><loc>{address}</loc></url>"))

    assert found == []
    assert "loc_invalid" in kinds(reader)


def test_long_spellings_of_good_addresses_are_read() -> None:
    spelt, late = "/" + "&#120;" * 5_000 + "end", " " * 17_000 + "/ok"
    found, reader = read(urlset(*(f"<url><loc>{a}</loc></url>" for a in (spelt, late))))

    assert found == ["x" * 5_000 + "end", "ok"]
    assert reader.complete


@pytest.mark.parametrize("rest", ["<loc/>", "<loc></loc>", "<loc> </loc>"])
def test_an_empty_address_beside_one_costs_nothing(rest: str) -> None:
    found, _ = read(urlset(f"<url><loc>https://docs.example.org/1</loc>{rest}</url>"))

    assert found == ["1"]


def test_what_is_more_than_asked_for_is_left_and_reported() -> None:
    reader = reading.Reader(URL, max_urls=10)
    pieces = ["<urlset>", *("".join(loc(f"{at}{n}") for n in range(9)) for at in range(50))]
    found = [one for piece in pieces for one in reader.feed(piece.encode())]
    reader.close()

    assert 10 < len(found) < 100
    assert kinds(reader) == ["sitemap_budget"]
    assert not reader.complete


def test_more_than_50_mb_are_read_and_reported() -> None:
    filler = "<!--" + "x" * (1 << 20) + "-->"
    found, reader = read(gzip.compress(urlset(*(loc(str(n)) + filler for n in range(51))).encode()))

    assert len(found) == 51
    assert kinds(reader) == ["sitemap_too_large"]
    assert reader.complete


def test_a_bomb_is_left_after_some_megabytes_without_an_entry() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = packer.compress(f"<urlset>{loc('1')}".encode())
    data = head + b"".join(packer.compress(b" " * (1 << 20)) for _ in range(60)) + packer.flush()
    found, reader = read(data)

    assert found == ["1"]
    assert kinds(reader) == ["sitemap_too_large"]
    assert reader.stopped
    assert not reader.complete
    assert int(reader.problems[0].detail.split()[2]) < 2 * reading.BARREN_BYTES


def test_a_fault_is_reported_once_however_often_it_occurs() -> None:
    _, reader = read(urlset(*(f"<url><loc>mailto:{n}</loc></url>" for n in range(1_000))))

    assert [problem.detail for problem in reader.problems] == [
        "1000 times, first: mailto:0; mailto:1; mailto:2"
    ]
