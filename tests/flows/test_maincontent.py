"""The main content is found by trafilatura's words in the page's own tree, its chrome left out."""

import pytest

from flows import maincontent, markdown
from flows.facts.declared import read
from flows.facts.texts import title
from flows.maincontent import Main, names, place, words
from tests.documents import PROSE, URL, article, tree


def found(html: str) -> Main:
    root = tree(html)
    return maincontent.find(root, title(read(root, URL)))


def text(html: str) -> str:
    main = found(html)
    return markdown.write(main.nodes, URL, main.without).text


def test_the_smallest_element_around_the_text_is_taken() -> None:
    main = found(
        f"<body><div><nav>x</nav><div id=a><h1>T</h1><p>{PROSE * 5}</div></div><p>foot</body>"
    )

    assert [node.get("id") for node in main.nodes] == ["a"]
    assert main.way == "node"


@pytest.mark.parametrize(
    "inside",
    [
        "<i>a</i>" * (maincontent.MOST_BESIDE + 1),
        "<div>" * 200 + "<br>a" * (maincontent.MOST_WITHIN // 200) + "</div>" * 200,
        "<p>a" * (maincontent.MOST_ELEMENTS + 1),
    ],
    ids=["too many beside each other", "too many within each other", "too many"],
)
def test_a_page_on_which_trafilatura_takes_its_time_is_taken_whole(inside: str) -> None:
    main = found(f"<body><nav>x</nav><main>{inside}</main></body>")

    assert main.way == "body"
    assert [node.tag for node in main.nodes] == ["main"]


def test_a_text_that_the_page_shows_twice_is_taken_once() -> None:
    copy = "<div><p>one two three four five six</p></div>"
    page = words.read(tree(f"<body><main>{copy}{copy}</main></body>").find("body"))
    node = place.node(words.survey(page, "one two three four five six"))

    assert node is not None
    assert node.tag == "div"


def test_a_heading_far_above_is_taken_alone() -> None:
    far = "".join(f"<p>Teaser {n} says something else of no use here.</p>" for n in range(40))
    html = (
        f"<html><title>Boats</title><body><div><h1>Boats</h1></div><div>{far}</div>"
        f"<div><article><p>{PROSE * 12}</p></article></div></body>"
    )
    main = found(html)

    assert main.way in ("blocks", "node")
    assert text(html).startswith("# Boats\n\n")


def test_a_heading_taken_alone_is_a_heading_with_its_anchor() -> None:
    root = tree(f'<body><h1 id="b">Big <i>boats</i></h1><p>{PROSE}</p></body>')
    heading, paragraph = root.find("body")
    written = markdown.write([heading, paragraph], URL)

    assert written.text == f"# Big boats\n\n{PROSE.strip()}"
    assert written.anchors == (("Big boats", "b"),)


@pytest.mark.parametrize(
    ("head", "title", "expected"),
    [
        ("<h1>Best boats of 2017: a guide</h1>", "Best boats - a guide", "# Best boats of 2017"),
        ('<h2 class="title">Class Boat&lt;T></h2>', "Boat", "## Class Boat"),
        ('<div class="title">Boat Class Reference</div>', "Docs: Boat Class Reference", "# Boat"),
    ],
    ids=["before a like one inside", "with its kind", "by its name alone"],
)
def test_the_heading_of_a_page_is_found_above_its_text(
    head: str, title: str, expected: str
) -> None:
    html = (
        f"<html><title>{title}</title><body><div><div class=header>{head}</div><div class=contents>"
        f"<p>{PROSE * 5}</p><h2>Best boats</h2><p>{PROSE * 5}</p></div></div></body>"
    )

    assert text(html).startswith(expected)


def test_the_name_of_the_site_is_not_the_heading_of_a_page() -> None:
    html = (
        '<html><title>Why</title><body><div><h1><a href="/">Harbour</a></h1></div>'
        f"<div><h2>What others say</h2><p>{PROSE * 9}</p></div></body>"
    )

    assert text(html).startswith("## What others say")


def test_a_quote_keeps_who_said_it() -> None:
    quote = f"<blockquote><p>{PROSE * 2}</p><p>Ann</p></blockquote>"
    kept = text(f"<title>T</title><body><main><h1>T</h1><p>{PROSE * 9}</p>{quote}</main></body>")

    assert kept.endswith("> Ann")


def test_all_posts_of_a_thread_are_kept() -> None:
    posts = "".join(
        f'<div class="post"><p>Post {n} says this: {PROSE * (3 if n == 2 else 1)}</p></div>'
        for n in range(5)
    )
    kept = text(f"<html><title>Thread</title><body><h1>Thread</h1><div>{posts}</div></body>")

    assert [n for n in range(5) if f"Post {n} says" in kept] == [0, 1, 2, 3, 4]


def test_posts_that_trafilatura_takes_for_comments_are_kept() -> None:
    replies = "".join(
        f'<article class="comment" id="comment-{n}"><div class="comment-content">'
        f"<p>Reply {n} says this. {PROSE * 3}</p></div></article>"
        for n in range(6)
    )
    kept = text(
        "<html><title>Thread</title><body><div><h1>Thread</h1>"
        f'<div id="comments" class="comments">{replies}</div></div>'
        "<div><p>This topic is old, and is closed to further replies by anybody.</p></div></body>"
    )

    assert [n for n in range(6) if f"Reply {n} says" in kept] == list(range(6))


def test_remarks_below_the_answers_to_a_question_are_left_out() -> None:
    posts = "".join(
        f'<div class="post"><div class="prose" itemprop="text"><p>Post {n}: {PROSE * 3}</p></div>'
        f'<div class="post-comments"><ul class="comments-list"><li>A remark by Ann</li></ul>'
        f"</div></div>"
        for n in range(4)
    )
    kept = text(f"<html><title>Why</title><body><h1>Why</h1><div>{posts}</div></body>")

    assert [n for n in range(4) if f"Post {n}:" in kept] == [0, 1, 2, 3]
    assert "remark" not in kept


def test_a_page_of_menus_is_asked_about_again_when_the_quick_way_keeps_them() -> None:
    entries = "".join(f'<li><a href="/{n}">Entry {n}</a></li>' for n in range(99))
    news = f'<div class="box"><div class="text"><div>{PROSE * 3}</div></div></div>'
    kept = text(
        f"<html><title>News</title><body><div><div><ul>{entries}</ul></div>{news}</div></body>"
    )

    assert PROSE.strip() in kept
    assert "Entry" not in kept


DROPPED = [
    '<div class="print-header">https://a.test/gone</div>',
    '<nav aria-label="breadcrumb"><a href="/">Top</a> gone</nav>',
    '<div class="share-buttons"><a href="/s">Share</a> gone</div>',
    '<div class="related-posts"><h3>Related</h3><a href="/r">gone</a></div>',
    '<form class="newsletter"><p>gone: get our letter every morning</p></form>',
    '<div class="cookie-notice">We use cookies, gone</div>',
    '<aside class="sidebar"><p>gone</p></aside>',
    '<span class="mw-editsection">[<a href="/e">gone</a>]</span>',
    '<div id="toc" class="toc"><ul><li><a href="#a">gone</a></li></ul></div>',
    '<div class="byline">By gone</div>',
    '<div id="related"><a href="/x">gone</a></div>',
    '<div class="social"><a href="/s"><img src="/s.png"></a> gone</div>',
    '<div class="sharing">gone</div>',
    '<section class="reviews"><h2>Reviews</h2><p>9 gone</p><a href="#w">Write one</a></section>',
    '<div id="comments"><h3>No gone comments</h3><button>Leave a comment</button></div>',
]


@pytest.mark.parametrize("chrome", DROPPED)
def test_chrome_within_the_text_is_left_out(chrome: str) -> None:
    assert "gone" not in text(article(chrome))


KEPT = [
    '<section id="cookies"><h2>Cookies</h2><p>kept: how the library reads cookies.</p></section>',
    '<aside class="admonition note"><p>kept: mind the step at the door of the harbour.</p></aside>',
    '<aside class="quote"><blockquote><p>kept: as somebody said before.</p></blockquote></aside>',
    '<div class="admonition recommendation"><p>kept: take this one.</p></div>',
    "<table><tr><th>a</th><th>b</th></tr><tr><td>kept</td><td>1</td></tr></table>",
    "<pre>kept = 1</pre>",
    "<ul><li><a href='/k'>kept</a></li><li><a href='/l'>too</a></li></ul>",
    '<div class="a-social"><div><span>kept</span> <img src="/layer-0.png"></div></div>',
    (
        '<section class="reviews"><h2>Reviews</h2><p>kept: I have sailed with it for two summers '
        'and would buy it again at once.</p><a href="#w">Write one</a></section>'
    ),
    '<div class="rating">kept: 4.5 of 5 <a href="/ratings">by 12 buyers</a></div>',
    '<div class="has-sidebar"><p>kept: beside no bar at all, whatever the name says.</p></div>',
]


@pytest.mark.parametrize("block", KEPT)
def test_what_only_looks_like_chrome_is_kept(block: str) -> None:
    code = "<p>Call <code>a()</code>, <code>b()</code> or <code>c()</code>.</p>"

    assert "kept" in text(article(code + block))


def test_what_trafilatura_left_out_of_an_article_is_left_out() -> None:
    head = '<meta property="og:type" content="article">'
    box = '<div><div><a href="/x">Read this</a> and <a href="/y">that</a></div></div>'

    assert "Read this" not in text(article(box, head=head))


def test_figures_of_an_article_are_kept_with_their_words() -> None:
    head = '<meta property="og:type" content="article">'
    figure = '<figure><img src="/a.png" alt="A"><figcaption>The pier</figcaption></figure>'
    kept = text(article(figure, head=head))

    assert "![A](https://a.test/a.png)" in kept
    assert "The pier" in kept


def test_documentation_keeps_what_its_own_main_element_holds() -> None:
    other = "<section><h2>See also</h2><p><a href='/x'>one</a></p><p>Two more words.</p></section>"
    html = (
        '<html><head><meta name="generator" content="rustdoc"></head><body><main><h1>Struct</h1>'
        f"<section><p>{PROSE * 9}</p></section>{other}</main></body>"
    )

    assert "Two more words." in text(html)


def test_a_page_without_words_is_its_body() -> None:
    assert found("<html><body><img src=a></body></html>").way == "body"


@pytest.mark.parametrize("bound", ["MOST_ELEMENTS", "MOST_WORDS"])
def test_a_page_of_too_many_elements_or_words_is_what_it_calls_main(
    bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maincontent, bound, 5)
    main = found(article("<p>more</p>"))

    assert main.way == "body"
    assert [node.tag for node in main.nodes] == ["main"]


def test_cells_that_claim_too_much_are_no_burden() -> None:
    rows = '<tr><td colspan="1000" rowspan="1000">x</td></tr>' * 300

    assert "x" in text(article(f"<table>{rows}</table>"))


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("postFooter", names.USUALLY),
        ("related_posts", names.ALWAYS),
        ("share-buttons", names.ALWAYS),
        ("sd-sharing share", names.SHARING),
        ("customerReviews", names.TALK),
        ("table-of-contents", names.CONTENTS),
        ("has-navigation", None),
        ("entry-content", None),
        ("stage sharepoint menus", None),
    ],
)
def test_names_of_templates_are_told_apart(name: str, pattern: object) -> None:
    assert names.spoken(name) is pattern


def test_words_are_found_again_by_their_neighbours() -> None:
    root = tree(
        "<body><p id=a>one two three four five</p><p id=b>one other two words here</p></body>"
    )
    page = words.read(root.find("body"))
    seen = words.survey(page, "one two three four five")
    kept = {e.get("id"): seen.kept(e) for e in root.iter("p")}

    assert kept == {"a": 5, "b": 0}
    assert seen.share() == 1
