"""Markdown says what the page's own elements say, in words that Markdown reads the same way."""

import lxml.html
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from flows import markdown
from flows.markdown import tables
from tests.documents import tree

URL = "https://a.test/docs/page.html"
RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def written(html: str) -> str:
    return markdown.write([tree(f"<html><body>{html}</body></html>")], URL).text


def rendered(html: str) -> lxml.html.HtmlElement:
    return lxml.html.fragment_fromstring(RENDERER.render(written(html)), create_parent="div")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h2>Title</h2><p>Text", "## Title\n\nText"),
        ("<h3>A <em>b</em> <code>c</code></h3>", "### A b `c`"),
        ("<p>a<br>b", "a  \nb"),
        ("<p>a<br><br>b", "a\n\nb"),
        ("<p><b>bold</b>, <i>slanted</i>, <s>gone</s>", "**bold**, *slanted*, ~~gone~~"),
        ("<p><b>date(</b><i>when</i><b>)</b>", "date(*when*)"),
        ("<p><b>stat</b><i>N</i> tables", "**stat**N tables"),
        ("<p><b>a</b><b>b</b> <b>c</b>", "**ab** **c**"),
        ("<p>H<sub>2</sub>O and x<sup>2</sup>", "H<sub>2</sub>O and x<sup>2</sup>"),
        ("<p>a <kbd>Ctrl</kbd>", "a `Ctrl`"),
        ("<p>say <q>no</q>", 'say "no"'),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b"),
        ("<p>a<hr><p>b", "a\n\n---\n\nb"),
        ("<div>a<div>b</div>c</div>", "a\n\nb\n\nc"),
        ("<details><summary>More</summary><p>Text</details>", "**More**\n\nText"),
        ("<dl><dt>term<dd>meaning</dl>", "**term**\n\nmeaning"),
        ("<p>seen<script>x</script><style>y</style><template>z</template>", "seen"),
    ],
)
def test_an_element_is_written_as_what_it_is(html: str, expected: str) -> None:
    assert written(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li>a<li>b</ul>", "- a\n- b"),
        ("<ol start=3><li>a<li>b</ol>", "3. a\n4. b"),
        ("<ol><li>a<li value=7>b<li>c</ol>", "1. a\n7. b\n8. c"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
        ("<ol><li>a<ol><li>b</ol></ol>", "1. a\n   1. b"),
        ("<ul><li>a</ul><ul><li>b</ul>", "- a\n\n* b"),
        ("<ul><li>a<ul></ul></ul>", "- a"),
        ("<ul><ul><li>a</ul></ul>", "- - a"),
        ("<ul><li><p>a<p>b<li>c</ul>", "- a\n\n  b\n\n- c"),
        ("<ul><li>a<pre>x\n  y</pre></ul>", "- a\n\n  ```\n  x\n    y\n  ```"),
    ],
)
def test_lists_keep_their_numbers_and_depth(html: str, expected: str) -> None:
    assert written(html) == expected


@pytest.mark.parametrize(
    ("html", "language", "code"),
    [
        ('<pre><code class="language-py">a = 1</code></pre>', "py", "a = 1"),
        ('<div class="highlight-rust"><pre>fn f() {}</pre></div>', "rust", "fn f() {}"),
        ('<div class="highlight highlight-source-shell"><pre>ls</pre></div>', "shell", "ls"),
        ('<pre class="brush: php; gutter: false">echo 1;</pre>', "php", "echo 1;"),
        ('<pre data-lang="toml">a = 1</pre>', "toml", "a = 1"),
        ('<pre class="hljs python">x</pre>', "python", "x"),
        ('<pre class="language-none">x</pre>', "", "x"),
        ("<pre>\n\n  two\n\n\n  lines\n\n</pre>", "", "  two\n\n\n  lines"),
        ("<pre>a<br>b</pre>", "", "a\nb"),
        ("<pre><code><div>a</div><div>b</div></code></pre>", "", "a\nb"),
        ("<pre><div>a\n</div>\n<div>b</div></pre>", "", "a\n\nb"),
        ('<pre><span class="line">a</span><span class="line">b</span></pre>', "", "a\nb"),
        ('<pre><span class="lineno">1</span>a<button>Copy</button></pre>', "", "a"),
        ("<pre>a &lt;b&gt; &amp; *c* _d_ `e`</pre>", "", "a <b> & *c* _d_ `e`"),
    ],
)
def test_code_is_kept_to_the_byte_with_its_language(html: str, language: str, code: str) -> None:
    assert written(html) == f"```{language}\n{code}\n```"


def test_a_fence_is_longer_than_any_run_inside() -> None:
    assert written("<pre>a\n````\nb</pre>") == "`````\na\n````\nb\n`````"


def test_a_table_that_numbers_lines_is_code() -> None:
    html = (
        '<table class="highlighttable"><tr><td class="linenos"><pre>1\n2</pre></td>'
        '<td class="code"><pre><code class="language-c">int a;\nint b;</code></pre></table>'
    )

    assert written(html) == "```c\nint a;\nint b;\n```"


def test_a_fragment_of_lines_is_code() -> None:
    html = (
        '<div class="fragment"><div class="line"><span class="lineno"> 1</span>int f() {</div>'
        '<div class="line"><span class="lineno"> 2</span>  g();</div>'
        '<div class="line">}</div></div>'
    )

    assert written(html) == "```\nint f() {\n  g();\n}\n```"


def test_links_to_the_text_about_code_are_no_code() -> None:
    html = '<pre><a class="viewcode-back" href="a.html">[docs]</a>class A:\n    pass</pre>'

    assert written(html) == "```\nclass A:\n    pass\n```"


def test_the_name_of_a_language_beside_its_code_is_no_text() -> None:
    html = '<div class="language-js"><span class="lang">js</span><pre>f()</pre></div>'

    assert written(html) == "```js\nf()\n```"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p><code>a`b</code>", "``a`b``"),
        ("<p><code> x </code>", "`x`"),
        ("<p><code>a_b</code>c", "`a_b`c"),
        ("<p><code><a href=f>f</a>(x)</code>", "[`f(x)`](https://a.test/docs/f)"),
    ],
)
def test_inline_code_stays_one_piece(html: str, expected: str) -> None:
    assert written(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<p><a href="b.html">b</a>', "[b](https://a.test/docs/b.html)"),
        ('<p><a href="/b c(d">b</a>', "[b](https://a.test/b%20c%28d)"),
        ('<p><a href="https://b.test/">https://b.test/</a>', "<https://b.test/>"),
        ('<p><a href="javascript:f()">b</a>', "b"),
        ('<p><a href="http://[bad">b</a>', "b"),
        ('<p><a name="x">b</a>', "b"),
        ('<p><a href="b"></a>c', "c"),
        ('<p>wow!<a href="b">b</a>', "wow\\![b](https://a.test/docs/b)"),
        ('<p><a href="b">a [1]</a>', "[a \\[1\\]](https://a.test/docs/b)"),
        ('<a href="b"><h2>Title</h2><p>Text</p></a>', "## [Title](https://a.test/docs/b)\n\nText"),
        ('<h2 id="t">T<a class="headerlink" href="#t">¶</a></h2>', "## T"),
        ('<h2 id="t"><a href="#t">T</a></h2>', "## [T](https://a.test/docs/page.html#t)"),
        ('<h2><a class="anchor" href="#t">Permalink to T</a>T</h2>', "## T"),
    ],
)
def test_links_lead_somewhere_else(html: str, expected: str) -> None:
    assert written(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<img src="a.png" alt="A [b]">', "![A \\[b\\]](https://a.test/docs/a.png)"),
        ('<img src="data:image/gif;base64,R0" data-src="/a.png">', "![](https://a.test/a.png)"),
        ('<img srcset="/a.png 1x, /b.png 2x">', "![](https://a.test/a.png)"),
        ('<picture><source srcset="/a.webp 1x"><img></picture>', "![](https://a.test/a.webp)"),
        ('<img src="/dot.gif" width=1 height=1>', ""),
        ('<img class="emoji" alt="🦆" src="/duck.svg">', "🦆"),
        ('<img class="emoji" alt=":duck:" src="/d.svg">', "![:duck:](https://a.test/d.svg)"),
        ('<noscript><img src="/a.png"></noscript>', "![](https://a.test/a.png)"),
        ('<img src="/a.png"><noscript><img src="/a.png"></noscript>', "![](https://a.test/a.png)"),
    ],
)
def test_images_have_their_real_source(html: str, expected: str) -> None:
    assert written(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("<table><tr><td>a<td>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        (
            "<table><tr><th>a<td>1<tr><th>b<td>2</table>",
            "|  |  |\n| --- | --- |\n| a | 1 |\n| b | 2 |",
        ),
        (
            "<table><tr><th>a<th>b<tr><td colspan=2>1<tr><td>2<td>3</table>",
            "| a | b |\n| --- | --- |\n| 1 |  |\n| 2 | 3 |",
        ),
        (
            "<table><tr><th>a<th>b<tr><td rowspan=2>1<td>2<tr><td>3</table>",
            "| a | b |\n| --- | --- |\n| 1 | 2 |\n|  | 3 |",
        ),
        (
            "<table><tr><th>a<th>b<tr><td>1|2<td><p>x<p>y</table>",
            "| a | b |\n| --- | --- |\n| 1\\|2 | x<br>y |",
        ),
        (
            "<table><tr><th>a<th>b<tr><td><ul><li>x<li>y</ul><td>z</table>",
            "| a | b |\n| --- | --- |\n| <ul><li>x</li><li>y</li></ul> | z |",
        ),
        (
            (
                "<table><tr><td><h2>Fees</h2><tr><td>a<td>b<tr><td>1<td>2"
                "<tr><td><h2>More</h2><tr><td>one<td>two</table>"
            ),
            "## Fees\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n## More\n\none two",
        ),
        ("<table><tr><td>void f<td>(<td>int a<td>)</table>", "void f ( int a )"),
        (
            "<table><caption>Fees</caption><tr><th>a<th>b<tr><td>1<td>2</table>",
            "Fees\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
    ],
)
def test_tables_are_tables(html: str, expected: str) -> None:
    assert written(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td>one<p>two</table>",
        "<table role=presentation><tr><td>one<td>two<tr><td>three<td>four</table>",
        "<table><tr><td><h2>one</h2><td>two<tr><td>three<td>four</table>",
    ],
    ids=["one cell", "role", "headings inside"],
)
def test_tables_that_only_place_things_are_no_tables(html: str) -> None:
    assert "|" not in written(html)
    assert "two" in written(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            '<div class="admonition tip"><p class="admonition-title">Tip</p><p>Text</div>',
            "> **Tip**\n>\n> Text",
        ),
        ('<div class="custom-block warning"><p>Text</div>', "> **Warning**\n>\n> Text"),
        ('<div class="alert alert-danger"><p>Text</div>', "> **Danger**\n>\n> Text"),
        (
            '<div class="markdown-alert"><p class="markdown-alert-title">Note<p>Text</div>',
            "> **Note**\n>\n> Text",
        ),
        ('<div class="alert alert-info"><h4>Mind</h4><p>Text</div>', "> #### Mind\n>\n> Text"),
    ],
)
def test_notes_are_quotes_that_open_with_their_kind(html: str, expected: str) -> None:
    assert written(html) == expected


MATHML = (
    '<math{}><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation>'
    "</semantics></math>"
)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<p>so {MATHML.format('')} is", "so $x^2$ is"),
        (MATHML.format(' display="block"'), "$$x^2$$"),
        (f'<span class="katex"><span>{MATHML.format("")}</span><span>x2</span></span>', "$x^2$"),
        ('<p>a <script type="math/tex">x^2</script> b', "a $x^2$ b"),
        (r'<p>a <span class="arithmatex">\(x^2\)</span>', "a $x^2$"),
        (r'<div class="math">\[x^2\]</div>', "$$x^2$$"),
        ('<p>a <math alttext="x^2"><mi>x</mi></math>', "a $x^2$"),
    ],
)
def test_formulas_are_the_tex_they_were_made_from(html: str, expected: str) -> None:
    assert written(html) == expected


WORDS = ["*a*", "_a_", "`a`", "<string>", "[a](b)", "# a", "- a", "+ a", "1. a", "> a", "a\\*b"]


@pytest.mark.parametrize("words", [*WORDS, "~~a~~", "&amp;", "---", "===", "![a](b)", "2) b"])
def test_words_that_look_like_markup_stay_words(words: str) -> None:
    element = rendered("<p>" + words.replace("&", "&amp;").replace("<", "&lt;"))

    assert element.text_content().strip() == words
    assert [child.tag for child in element] == ["p"]


@pytest.mark.parametrize(
    ("html", "text"),
    [("<p>un<b>believ</b>able", "unbelievable"), ("<p>a<b> b </b>c", "a b c")],
)
def test_marks_within_words_lose_no_letter(html: str, text: str) -> None:
    assert rendered(html).text_content().strip() == text


def test_headings_know_the_ids_by_which_they_are_reached() -> None:
    html = (
        '<h1 id="top">Top</h1><section id="two"><h2>Two</h2></section>'
        '<h2><a id="three"></a>Three</h2><h2>Four</h2>'
    )
    found = markdown.write([tree(f"<html><body>{html}</body></html>")], URL)

    assert found.anchors == (("Top", "top"), ("Two", "two"), ("Three", "three"))


def test_elements_to_leave_out_part_the_words_beside_them() -> None:
    root = tree("<html><body><p>a<div class=x>gone</div>b</body></html>")

    assert markdown.write([root], URL, set(root.iter("div"))).text == "a\n\nb"


@pytest.mark.parametrize("tag", ["div", "span", "ul", "li", "blockquote", "b", "table", "a"])
def test_nesting_costs_no_recursion(tag: str) -> None:
    attribute = ' href="x"' if tag == "a" else ""
    parser = lxml.html.HTMLParser(huge_tree=True)
    body = f"<{tag}{attribute}>" * 1_500 + "deep" + f"</{tag}>" * 1_500
    root = lxml.html.document_fromstring(f"<html><body>{body}</body></html>", parser=parser)

    assert "deep" in markdown.write([root], URL).text


TAGS = st.sampled_from(
    "p div b em a ul ol li table tr td th pre code h1 h3 blockquote br img dl dt dd sup "  # noqa: SIM905
    "span".split()
)
ATTRIBUTES = st.sampled_from(["", " href=x", " src=y", " class=note", " id=z", " colspan=3"])
OPEN = st.tuples(TAGS, ATTRIBUTES).map(lambda parts: f"<{''.join(parts)}>")
PIECES = st.lists(st.one_of(st.text(max_size=8), OPEN, TAGS.map("</{}>".format)))


@given(PIECES)
def test_whatever_a_page_holds_becomes_markdown(pieces: list[str]) -> None:
    html = "".join(pieces).replace("\0", "")
    root = lxml.html.document_fromstring(f"<html><body><p>x{html}</body></html>")

    text = markdown.write([root], URL).text

    assert "x" in text
    RENDERER.render(text)


def test_thousands_of_pipes_in_a_cell_are_written_as_references() -> None:
    few, many = (f"<tr><td>a<td>{'|' * n}" for n in (2, tables.MOST_PIPES + 1))
    lines = written(f"<table><tr><th>x<th>y{few}{many}</table>").splitlines()

    assert lines[2] == "| a | \\|\\| |"
    assert lines[3] == f"| a | {'&#124;' * (tables.MOST_PIPES + 1)} |"
