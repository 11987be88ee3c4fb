"""Guaranteed: whatever form a list of URLs has, its entries come out, and nothing else does."""

from datetime import UTC, datetime

import pytest

from flows import sitemaps
from flows.records import Alternate

URL = "https://docs.example.org/maps/all.xml"
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
EXTENSIONS = (
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
    'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" '
    'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
)


def read(text: str | bytes) -> tuple[list[sitemaps.Declared | sitemaps.Child], sitemaps.Reader]:
    reader = sitemaps.Reader(URL)
    found = reader.feed(text.encode() if isinstance(text, str) else text)
    return [*found, *reader.close()], reader


def paths(found: list[sitemaps.Declared | sitemaps.Child]) -> list[str]:
    return [entry.url.removeprefix("https://docs.example.org/") for entry in found]


def urlset(*entries: str, attributes: str = NAMESPACE) -> str:
    return f'<?xml version="1.0"?>\n<urlset {attributes}>{"".join(entries)}</urlset>\n'


def loc(path: str, rest: str = "") -> str:
    return f"<url><loc>https://docs.example.org/{path}</loc>{rest}</url>"


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        pytest.param(urlset(loc("1"), loc("2")), "urlset", ["1", "2"], id="urlset"),
        pytest.param(urlset(loc("1"), attributes=""), "urlset", ["1"], id="no namespace"),
        pytest.param(
            urlset(loc("1"), attributes='xmlns="http://www.google.com/schemas/sitemap/0.84"'),
            "urlset",
            ["1"],
            id="old namespace",
        ),
        pytest.param(
            '<s:urlset xmlns:s="x"><s:url><s:loc>/1</s:loc></s:url><s:url>\n<s:lastmod/>'
            "<s:loc>/2</s:loc></s:url></s:urlset>",
            "urlset",
            ["1", "2"],
            id="prefix",
        ),
        pytest.param(
            '<urlset xmlns="x" xmlns:s="x"><url><s:loc>/1</s:loc></url></urlset>',
            "urlset",
            ["1"],
            id="two names of one namespace",
        ),
        pytest.param(
            urlset("\n <url>\n  <loc>\n\thttps://docs.example.org/1 \n</loc>\n </url>\n"),
            "urlset",
            ["1"],
            id="white space",
        ),
        pytest.param(
            urlset("<url><loc><![CDATA[https://docs.example.org/?a=1&b=2]]></loc></url>"),
            "urlset",
            ["?a=1&b=2"],
            id="XML 1.0 §2.7 CDATA section",
        ),
        pytest.param(
            urlset("<url><loc>\n<![CDATA[\n/1]]><![CDATA[2 ]]></loc></url>"),
            "urlset",
            ["12"],
            id="XML 1.0 §2.7 sections and space",
        ),
        pytest.param(
            urlset(loc("?a=1&amp;b=2&#38;c=&#x33;&apos;")),
            "urlset",
            ["?a=1&b=2&c=3'"],
            id="XML 1.0 §4.1 references",
        ),
        pytest.param(
            urlset(f"<!-- {loc('0')} -->", loc("1<!-- x -->2"), "<?php echo 1 ?>", loc("<?x y?>3")),
            "urlset",
            ["12", "3"],
            id="XML 1.0 §2.5 comments and instructions, also in a text",
        ),
        pytest.param(
            urlset(
                loc("1", "<image:image><image:loc>/a.jpg</image:loc></image:image>"),
                "<url><image:image><image:loc>/b.jpg</image:loc></image:image><loc>/2</loc></url>",
                "<url><image:loc>/c.jpg</image:loc><loc>/3</loc></url>",
                loc("4", "<image:image><image:loc><![CDATA[/d.jpg]]></image:loc></image:image>"),
                loc("5", "<video:video><video:player_loc>/e</video:player_loc></video:video>"),
                loc(
                    "6",
                    "<news:news><news:publication><news:name>N</news:name></news:publication>"
                    "<news:publication_date>2024-01-01</news:publication_date></news:news>",
                ),
                loc("7", "<data><loc>/f</loc><display>x</display></data>"),
                attributes=f"{NAMESPACE} {EXTENSIONS}",
            ),
            "urlset",
            ["1", "2", "3", "4", "5", "6", "7"],
            id="extensions have a loc of their own",
        ),
        pytest.param(
            f"<sitemapindex {NAMESPACE}><sitemap><loc>/a.xml</loc></sitemap></sitemapindex>",
            "index",
            ["a.xml"],
            id="index",
        ),
        pytest.param(
            "https://docs.example.org/1\nhttps://docs.example.org/2", "text", ["1", "2"], id="text"
        ),
        pytest.param(
            "\ufeff\r\n# pages\r\nhttps://docs.example.org/1\r\r  https://docs.example.org/2 \n",
            "text",
            ["1", "2"],
            id="text with space, comment and mark",
        ),
        pytest.param(
            '<rss version="2.0"><channel><link>/</link>'
            "<image><url>/i.png</url><link>/</link></image>"
            '<item><link>/1</link><guid isPermaLink="false">g</guid>'
            '<enclosure url="/a.mp3"/></item>'
            "<item><guid>https://docs.example.org/2</guid></item>"
            '<item><guid isPermaLink="true">https://docs.example.org/x</guid><link>/3</link>'
            '<atom:link href="/y" rel="alternate"/></item></channel></rss>',
            "rss",
            ["1", "2", "3"],
            id="RSS 2.0",
        ),
        pytest.param(
            '<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/"><channel><link>/</link></channel>'
            '<item rdf:about="/x"><link>/1</link></item><item rdf:about="/2"/></rdf:RDF>',
            "rss",
            ["1", "2"],
            id="RSS 1.0",
        ),
        pytest.param(
            '<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><link rel="self" href="/f"/>'
            '<entry><link rel="edit" href="/e"/><link rel="alternate" href="/1"/></entry>'
            '<entry><link href="/2"/><source><link href="/s"/></source></entry>'
            '<entry><link type="application/pdf" href="/p"/>'
            '<link type="text/html" href="/3"/></entry>'
            '<entry><link type="application/pdf" href="/4.pdf"/></entry></feed>',
            "atom",
            ["1", "2", "3", "4.pdf"],
            id="RFC 4287 §4.2.7 Atom",
        ),
        pytest.param(
            '<a:feed xmlns:a="http://www.w3.org/2005/Atom" xml:base="/blog/">'
            '<a:entry><a:link href="1"/></a:entry></a:feed>',
            "atom",
            ["blog/1"],
            id="RFC 4287 §2 xml:base",
        ),
    ],
)
def test_the_entries_of_every_form_come_out(text: str, kind: str, expected: list[str]) -> None:
    found, reader = read(text)

    assert paths(found) == expected
    assert reader.kind == kind
    assert reader.complete
    assert reader.entries == len(expected)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(urlset(loc("é")).encode("utf-8-sig"), id="UTF-8 with mark"),
        pytest.param(urlset(loc("é")).encode("utf-16"), id="UTF-16 with mark"),
        pytest.param(urlset(loc("é")).encode("utf-16-be"), id="UTF-16 without"),
        pytest.param(urlset(loc("é")).encode("utf-16-le"), id="UTF-16 the other way"),
        pytest.param(urlset(loc("é")).encode("utf-32"), id="UTF-32 with mark"),
        pytest.param(
            urlset(loc("é")).replace("?>", ' encoding="ISO-8859-1"?>', 1).encode("latin-1"),
            id="Latin-1 declared",
        ),
        pytest.param(
            urlset(loc("é")).replace("?>", " encoding='windows-1252' ?>", 1).encode(),
            id="Latin-1 declared and UTF-8 sent",
        ),
        pytest.param(
            urlset(loc("é")).replace("?>", ' encoding="utf-16"?>', 1).encode(), id="UTF-16 declared"
        ),
        pytest.param(
            urlset(loc("é")).replace("?>", ' encoding="no-such"?>', 1).encode(),
            id="nonsense declared",
        ),
        pytest.param(
            urlset(loc("é")).replace("?>", ' encoding="rot13"?>', 1).encode(),
            id="no charset declared",
        ),
        pytest.param(urlset(loc("é")).encode("latin-1"), id="Latin-1 sent, nothing declared"),
        pytest.param("https://docs.example.org/é\n".encode("utf-16"), id="text in UTF-16"),
    ],
)
def test_an_encoding_is_what_the_bytes_are_not_what_they_say(data: bytes) -> None:
    found, reader = read(data)

    assert paths(found) == ["%C3%A9"]
    assert reader.complete


def test_an_8_bit_encoding_is_read_as_declared() -> None:
    text = urlset(loc("мир")).replace("?>", ' encoding="windows-1251"?>', 1)
    found, _ = read(text.encode("windows-1251"))

    assert paths(found) == ["%D0%BC%D0%B8%D1%80"]


def test_every_field_is_kept_as_declared() -> None:
    fields = (
        "<lastmod> 2024-03-04T05:06:07+01:00 </lastmod><changefreq>Weekly</changefreq>"
        "<priority>0.8</priority>"
    )
    found, reader = read(urlset(loc("1", fields), loc("2"), loc("3", "<lastmod></lastmod>")))

    moment = datetime(2024, 3, 4, 4, 6, 7, tzinfo=UTC)
    assert found[0] == sitemaps.Declared(
        url="https://docs.example.org/1",
        lastmod=moment,
        lastmod_raw="2024-03-04T05:06:07+01:00",
        changefreq="weekly",
        priority=0.8,
    )
    assert found[1] == sitemaps.Declared(url="https://docs.example.org/2")
    assert found[2] == sitemaps.Declared(url="https://docs.example.org/3")
    assert reader.lastmod_max == moment


@pytest.mark.parametrize("between", ["", "<!-- -->"], ids=["plain", "by its tags"])
def test_the_order_of_fields_does_not_matter(between: str) -> None:
    found, _ = read(
        urlset(
            f"<url>{between}<priority>1</priority><changefreq>daily</changefreq>"
            "<lastmod>2024</lastmod><loc>/1</loc></url>"
        )
    )

    assert found[0][0:5:3] == ("https://docs.example.org/1", "daily")
    assert found[0].lastmod == datetime(2024, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "link",
    [
        '<xhtml:link rel="alternate" hreflang="de" href="https://docs.example.org/de?a&amp;b"/>',
        "<xhtml:link rel='alternate' hreflang='de' href='/de?a&amp;b' />",
        '<xhtml:link href="/de?a&amp;b" hreflang=" de " rel="Alternate"></xhtml:link>',
        '<link hreflang="de" href="/de?a&amp;b" rel="alternate"/>',
    ],
)
def test_alternates_belong_to_their_entry(link: str) -> None:
    other = '<xhtml:link rel="alternate" hreflang="x-default" href="https://docs.example.org/1"/>'
    none = '<xhtml:link rel="stylesheet" href="/x.css"/><xhtml:link rel="alternate" href="/y"/>'
    found, _ = read(
        urlset(loc("1", link + other), loc("2", none), attributes=f"{NAMESPACE} {EXTENSIONS}")
    )

    assert isinstance(found[0], sitemaps.Declared)
    assert found[0].alternates == (
        Alternate(lang="de", url="https://docs.example.org/de?a&b"),
        Alternate(lang="x-default", url="https://docs.example.org/1"),
    )
    assert isinstance(found[1], sitemaps.Declared)
    assert found[1].alternates == ()


@pytest.mark.parametrize(
    ("field", "rest"),
    [
        ("pubDate", "<pubDate>Sat, 03 Feb 2024 04:05:06 GMT</pubDate>"),
        ("dc:date", "<dc:date>2024-02-03T04:05:06Z</dc:date>"),
    ],
)
def test_the_date_of_a_feed_item_is_its_lastmod(field: str, rest: str) -> None:
    found, _ = read(f"<rss><channel><item><link>/1</link>{rest}</item></channel></rss>")

    assert isinstance(found[0], sitemaps.Declared), field
    assert found[0].lastmod == datetime(2024, 2, 3, 4, 5, 6, tzinfo=UTC)


def test_an_atom_entry_was_changed_when_it_was_updated() -> None:
    found, _ = read(
        "<feed><entry><published>2023</published><updated>2024</updated><link href='/1'/></entry>"
        "<entry><published>2022</published><link href='/2'/></entry></feed>"
    )

    assert [entry.lastmod and entry.lastmod.year for entry in found] == [2024, 2022]


def test_an_entry_is_a_page_or_a_sitemap_by_its_own_name() -> None:
    found, reader = read(
        "<sitemapindex><sitemap><loc>/a.xml</loc></sitemap><url><loc>/1</loc></url></sitemapindex>"
    )

    assert found == [
        sitemaps.Child("https://docs.example.org/a.xml"),
        sitemaps.Declared("https://docs.example.org/1"),
    ]
    assert reader.kind == "index"


def test_the_first_entry_leaves_before_the_file_has_arrived() -> None:
    reader = sitemaps.Reader(URL)
    begun = urlset(*(loc(str(n)) for n in range(50)))[:-40]

    assert len(reader.feed(begun.encode())) >= 40


def test_the_bytes_fed_have_a_hash() -> None:
    reader = sitemaps.Reader(URL)
    reader.feed(b"ab")
    reader.feed(b"c")

    assert reader.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
