"""What a page declares of itself is read as declared; what is absent stays None."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import facts
from flows.facts import Facts
from flows.facts.prices import amount
from tests.documents import URL, tree


def read(head: str = "", body: str = "", *, lang: str = "", header: str | None = None) -> Facts:
    html = f"<html{lang}><head>{head}</head><body>{body}<p>text</p></body></html>"
    return facts.read(tree(html), URL, header)


def data(value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


def test_nothing_declared_is_nothing() -> None:
    found = read()

    absent = ("title", "description", "lang", "author", "published_at", "modified_at", "structured")
    assert [getattr(found, name) for name in absent] == [None] * len(absent)
    assert (found.canonical_url, found.noindex, found.prices) == (None, None, ())
    assert found.base_url == URL


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        ("<title>Boats</title>", "", "Boats"),
        ("<title> a \n b </title>", "", "a b"),
        ("<title>Boats | Harbour</title>", "<h1>Boats</h1>", "Boats"),
        ("<title>Harbour - Boats</title>", "<h1>Harbour</h1><h1>Boats</h1>", "Boats"),
        ("<title>Boats - Harbour</title><meta property=og:site_name content=Harbour>", "", "Boats"),
        (
            "<title>Boats and ships - a guide</title>",
            "<h1>Welcome</h1>",
            "Boats and ships - a guide",
        ),
        ("<title>x</title><meta property=og:title content=Boats>", "", "Boats"),
        ("", "<h1>Boats</h1>", "Boats"),
        ("<title></title>", "<h1></h1>", None),
    ],
)
def test_the_title_is_the_pages_and_not_the_sites(
    head: str, body: str, expected: str | None
) -> None:
    assert read(head, body).title == expected


@pytest.mark.parametrize(
    ("lang", "head", "expected"),
    [
        (' lang="en"', "", "en"),
        (' lang="pt_BR"', "", "pt-BR"),
        (' xml:lang="de"', "", "de"),
        (' lang=""', '<meta http-equiv="Content-Language" content="fr, en">', "fr"),
        (' lang="{{lang}}"', '<meta property="og:locale" content="sv_SE">', "sv-SE"),
        (' lang="undefined language"', "", None),
    ],
)
def test_the_language_is_the_declared_tag(lang: str, head: str, expected: str | None) -> None:
    assert read(head, lang=lang).lang == expected


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        ('<meta name="author" content="Ada Quist">', "", "Ada Quist"),
        ('<meta name="author" content="By Ada Quist">', "", "Ada Quist"),
        ('<meta property="article:author" content="https://a.test/ada">', "", None),
        (data({"@type": "Article", "author": {"name": "Ada"}}), "", "Ada"),
        (data({"@type": "Article", "author": [{"name": "Ada"}, "Jon"]}), "", "Ada, Jon"),
        (data({"@graph": [{"@type": ["BlogPosting"], "author": "Ada"}]}), "", "Ada"),
        ("", '<p itemprop="author"><a href="/ada" itemprop="name">Ada</a> wrote', "Ada"),
        ("", '<a rel="author" href="/ada">Ada</a>', "Ada"),
    ],
)
def test_the_author_is_a_name(head: str, body: str, expected: str | None) -> None:
    assert read(head, body).author == expected


MAY = datetime(2024, 5, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ('<meta property="article:published_time" content="2024-05-01T12:00:00+02:00">', ""),
        (data({"@type": "NewsArticle", "datePublished": "2024-05-01T10:00:00Z"}), ""),
        ('<meta name="date" content="2024-05-01 10:00:00">', ""),
        ("", '<time class="entry-date" datetime="2024-05-01T10:00:00">May</time>'),
        ("", '<meta itemprop="datePublished" content="2024-05-01T10:00:00Z">'),
        ('<meta name="date" content="soon">', '<time class="posted" datetime="2024-05-01T10:00Z">'),
    ],
)
def test_the_date_of_publishing_is_an_instant(head: str, body: str) -> None:
    assert read(head, body).published_at == MAY


def test_the_date_of_a_change_is_another() -> None:
    found = read('<meta property="og:updated_time" content="2024-05-01T10:00:00Z">')

    assert (found.published_at, found.modified_at) == (None, MAY)


@pytest.mark.parametrize("date", ["0001-01-01", "1970-01-01T00:00:00Z", "soon", "2024-13-01"])
def test_a_date_before_the_web_or_without_sense_is_none(date: str) -> None:
    assert read(f'<meta name="date" content="{date}">').published_at is None


def test_the_canonical_url_is_absolute_and_canonical() -> None:
    assert read('<link rel="canonical" href="/A/../b#c">').canonical_url == "https://a.test/b"
    assert read('<base href="//b.test"><link rel=canonical href="c">').canonical_url == (
        "https://b.test/c"
    )
    assert read('<link rel="canonical" href="mailto:x">').canonical_url is None


def test_what_is_stated_for_machines_is_kept_as_json() -> None:
    head = (
        data({"@type": "Article", "headline": "bad \ud800 half"})
        + '<meta property="og:image" content="/a.png"><meta property="og:image" content="/b.png">'
        + '<link rel="alternate" hreflang="de" href="/de">'
    )
    kept = json.loads(read(head).structured or "")

    assert kept["json_ld"] == [{"@type": "Article", "headline": "bad  half"}]
    assert kept["open_graph"] == {"og:image": ["/a.png", "/b.png"]}
    assert kept["alternates"] == [{"lang": "de", "url": "https://a.test/de"}]


@pytest.mark.parametrize(
    "script",
    ["{", "[" * 100_000, '{"a": NaN}', "{'a': 1}", '{"a": 1' + "0" * 5_000 + "}", "<!-- -->", ""],
    ids=["cut", "deep", "nan", "quotes", "digits", "comment", "blank"],
)
def test_linked_data_that_cannot_be_read_costs_nothing(script: str) -> None:
    found = read(f'<title>T</title><script type="application/ld+json">{script}</script>')

    assert found.title == "T"
    json.loads(found.structured or "null", parse_constant=pytest.fail)


def test_linked_data_with_line_ends_in_strings_is_read() -> None:
    found = read('<script type="application/ld+json">{"@type":"Article","author":"A\nB"};</script>')

    assert found.author == "A B"


PRODUCT = {"@type": "Product", "name": "Can"}
OFFER = {"price": "64.00", "priceCurrency": "EUR"}


SEK = '<meta property="product:price:currency" content="SEK">'
FIVE = '<meta property="product:price:amount" content="5.00">'
ITEM = '<div itemscope><b itemprop="name">Can</b>{}</div>'


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        (data({**PRODUCT, "offers": OFFER}), "", ["64.00 EUR Can"]),
        (data({**PRODUCT, "offers": [OFFER, {"price": 70}]}), "", ["64.00 EUR Can", "70 - Can"]),
        (
            data({**PRODUCT, "offers": {"lowPrice": 5, "highPrice": "9,5"}}),
            "",
            ["5 - Can", "9.5 - Can"],
        ),
        (data({**PRODUCT, "offers": {**OFFER, "priceCurrency": "€"}}), "", ["64.00 - Can"]),
        (FIVE + SEK, "", ["5.00 SEK -"]),
        ("", ITEM.format('<i itemprop="price">€ 1.299,00</i>'), ["1299.00 - Can"]),
        ("", ITEM.format('<p itemscope><i itemprop="price" content="5">five</i></p>'), ["5 - Can"]),
        (data({"name": "Can", "price": 5, "priceCurrency": "SEK"}) + FIVE + SEK, "", ["5 SEK Can"]),
        (data({**PRODUCT, "offers": {"price": "on request"}}), "<p>Only $5!</p>", []),
    ],
    ids=["offer", "offers", "range", "sign", "meta", "microdata", "nested", "twice", "text"],
)
def test_prices_are_those_that_are_data(head: str, body: str, expected: list[str]) -> None:
    found = read(head, body).prices

    assert [f"{p.amount} {p.currency or '-'} {p.name or '-'}" for p in found] == expected


@given(st.one_of(st.text(max_size=20), st.integers(), st.floats(), st.none(), st.booleans()))
def test_an_amount_is_a_number_that_fits_its_column(value: object) -> None:
    found = amount(value)

    assert found is None or (0 <= found < 10**14 and -found.as_tuple().exponent <= 4)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["@type", "@graph", "name", "offers", "price", "author", "datePublished"]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from(["Article", "Product", "Offer"]))
def test_whatever_linked_data_says_something_is_returned(value: object, kind: str) -> None:
    head = data([value, {"@type": kind, "author": value, "offers": value, "name": value}])

    assert isinstance(read(head.replace("</", "<\\/")), Facts)
