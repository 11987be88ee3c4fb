"""Pages of the kinds that an attacker, or a careless template, would make."""

from collections.abc import Callable

SHELL = "<html><head><title>T</title></head><body><article><h1>T</h1>{}</article></body></html>"
PROSE = "<p>The clerk keeps a ledger of every boat that ties up before noon, with its tonnage.</p>"
JSON_LD = '<script type="application/ld+json">'

Make = Callable[[int], str]


def repeated(unit: str, before: str = "", after: str = "") -> Make:
    """Return a kind of page that repeats `unit` up to a number of bytes."""
    return lambda size: before + unit * (size // len(unit.encode())) + after


def counted(unit: str, before: str = "", after: str = "") -> Make:
    """Return a kind of page that repeats `unit` with a number in the place of `#`."""
    return lambda size: (
        before + "".join(unit.replace("#", str(n)) for n in range(size // len(unit) + 1)) + after
    )


def nested(
    start: str, end: str = "", inner: str = "deep down here", before: str = "", after: str = ""
) -> Make:
    """Return a kind of page whose elements are within each other."""
    unit = len((start + end).encode())
    return lambda size: before + start * (size // unit) + inner + end * (size // unit) + after


def around(start: str, end: str, unit: str, depth: int = 400) -> Make:
    """Return a kind of page that repeats `unit` in elements within each other, so many deep."""
    return lambda size: start * depth + unit * (size // len(unit.encode())) + end * depth


def halves(one: Callable[[str], str], unit: str) -> Make:
    """Return a kind of page that is half a long word somewhere, and half `unit` repeated."""
    return lambda size: one("x" * (size // 2)).replace("#", unit * (size // 2 // len(unit)))


def both(one: Make, other: Make) -> Make:
    """Return a kind of page that is half of one kind and half of another."""
    return lambda size: one(size // 2) + other(size // 2)


NESTING: dict[str, Make] = {
    "nested div": nested("<div>", "</div>"),
    "nested span": nested("<span>", "</span>"),
    "nested ul": nested("<ul><li>a", "</li></ul>"),
    "nested blockquote": nested("<blockquote>a", "</blockquote>"),
    "nested b": nested("<b>"),
    "nested table": nested("<table><tr><td>a"),
    "nested class": nested('<div class="post">a text '),
    "nested item": nested('<div itemscope itemprop="price name">1'),
    "div left open": repeated("<div>a "),
    "bold left open": repeated("<p><b>a "),
    "link left open": repeated("<a href=x>a "),
    "font left open": repeated("<p><font><i><u>a "),
    "breaks in deep div": around("<div>", "</div>", "a<br>"),
    "breaks in deep lists": around("<ul>", "</ul>", "a<br>"),
    "paragraphs in deep lists": around("<ul><li>b", "</ul>", "<p>a"),
    "items in deep lists": around("<ul>", "</ul>", "<li>a"),
    "breaks in deep quotes": around("<blockquote>", "</blockquote>", "a<br>"),
    "code in deep quotes": around("<blockquote>", "</blockquote>", "<pre>a\nb</pre>"),
    "breaks in deep tables": around("<table><tr><td>a", "</table>", "a<br>", 250),
    "rules in deep tables": around("<table><tr><td>", "</table>", "<hr>", 250),
    "breaks in deep cells": around("<table><tr><th>a<td>b<tr><td>", "</table>", "a<br>", 250),
    "breaks in deep items": around("<div itemprop=price>", "</div>", "a<br>"),
    "breaks in deep authors": around("<div itemprop=author>", "</div>", "a<br>"),
    "breaks in deep sup": around("<sup>", "</sup>", "a<br>"),
    "breaks in deep code": around("<code>", "</code>", "a<i></i>"),
    "breaks in deep formulas": around("<span class='katex math'>", "</span>", "a<br>"),
    "breaks in deep sections": around("<section id=nav class=nav>", "</section>", "a<br>"),
    "breaks in deep mounts": around("<div id=root>", "</div>", "<i></i>"),
    "breaks in deep details": around("<details><summary>a", "</details>", "a<br>"),
    "breaks in deep noscript": around("<noscript>", "</noscript>", "a<br>"),
    "breaks in deep bold": around("<b><i><s>", "</s></i></b>", "a<br>"),
    "breaks in deep links": around("<div><a href=#x>", "</a></div>", "a<br>"),
    "breaks in deep posts": around('<div class="post">a', "</div>", "a<br>"),
    "breaks in deep headings": around("<div><h1>", "</h1></div>", "a<br>"),
    "breaks in deep notes": around("<div class='admonition note'>", "</div>", "a<br>"),
    "one word in deep sections": lambda size: (
        "<section id=nav>" * 400 + f"<h2>{'x' * size}</h2>" + "</section>" * 400 + PROSE * 5
    ),
}
"""Depth: the parser gives up at 2,048 elements within each other, so much more is not needed."""

LISTED: dict[str, Make] = {
    "list of links": repeated("<li><a href='/x?page=1'>a boat</a></li>", "<ul>", "</ul>"),
    "paragraphs of links": repeated("<p><a href='/x?page=1'>a boat</a> sails on</p>"),
    "items left open": repeated("<ul><li>a</ul>"),
    "lists in one item": repeated("<ul><li>a</ul>", "<ul><li>", "</ul>"),
    "paragraphs in one item": repeated("<p>a b", "<ul><li>", "</ul>"),
    "lists in one list": repeated("<ul><li>a</ul>", "<ul>", "</ul>"),
    "definitions": repeated("<dt>a<dd>b c d", "<dl>", "</dl>"),
    "numbered list": repeated("<li>a b c</li>", "<ol>", "</ol>"),
    "numbers of a list": repeated("<li value=99999999>a", "<ol>", "</ol>"),
    "long table": repeated("<tr><td>one<td>two<td>three", "<table>", "</table>"),
    "wide table": lambda size: f"<table><tr>{'<td>x' * (size // 10)}<tr>{'<td>y' * (size // 10)}",
    "wide header": lambda size: (
        f"<table><tr>{'<th>x' * (size // 10)}{'<tr><td>y<td>z' * (size // 28)}</table>"
    ),
    "one long row": repeated("<td>x", "<table><tr>", "</table>"),
    "many tables": repeated("<table><tr><th>a<th>b<tr><td>c<td>d</table>"),
    "headings in a table": repeated("<tr><td><h3>a</h3><tr><td>b<td>c", "<table>", "</table>"),
    "spanning cells": repeated("<tr><td colspan=1000 rowspan=1000>x", "<table>", "</table>"),
    "spanning rows": repeated("<tr><td rowspan=65534>x<td>y", "<table>", "</table>"),
    "one long cell": repeated("word ", "<table><tr><th>a<th>b<tr><td>", "<td>c</table>"),
    "pipes in a cell": repeated("| ", "<table><tr><th>a<th>b<tr><td>", "<td>c</table>"),
    "lists in cells": repeated("<li>a", "<table><tr><th>a<th>b<tr><td><ul>", "</ul><td>c</table>"),
    "posts": repeated('<div class="post"><p>a text here now</p></div>'),
    "words of posts": counted('<div class="post"><p>a text # here</p></div>'),
    "comments of readers": counted(
        '<div class="comment" id="c#"><p>I think # is right</p></div>',
        PROSE * 5 + '<div id="comments">',
        "</div>",
    ),
    "boxes of consent": repeated('<div class="cookie-consent">We use cookies <button>Ok</button>'),
    "blocks of navigation": repeated("<nav><ul><li><a href=/a>a</a></ul></nav>", PROSE * 5),
    "details": repeated("<details><summary>a</summary>b</details>"),
    "admonitions": repeated("<div class='admonition note'><p>a</p></div>"),
    "footnotes": counted("<li id=f#>a<a href=#r#>b</a><sup id=r#><a href=#f#>c</a></sup></li>"),
    "options": repeated("<option>a", "<select>", "</select>" + PROSE * 5),
}
"""Lists, tables, and what stands beside each other."""

CODED: dict[str, Make] = {
    "code": repeated("x = 1\n", "<pre>", "</pre>"),
    "code in spans": repeated("<span class=k>def</span> <span class=n>f</span>\n", "<pre>"),
    "code in classed spans": halves(lambda x: f"<div class='{x}'>#</div>", "<pre>x</pre>"),
    "one line of code": repeated("x", "<pre>", "</pre>"),
    "line of spans": repeated("<span class=line>x</span>", "<pre>", "</pre>"),
    "code of ticks": repeated("`", "<pre>", "</pre>"),
    "code of blank lines": repeated("\n", "<pre>a", "b</pre>"),
    "code of line breaks": repeated("a<br>", "<pre>", "</pre>"),
    "code of spaces": repeated(" ", "<pre>a", "b</pre>"),
    "code of spaces and emoji": lambda size: (
        "<pre>a" + " " * (size * 9 // 10) + "👨" * (size // 40) + "</pre>"
    ),
    "code of digits": repeated("1234567890", "<pre>", "</pre>"),
    "code of signs": repeated("!?%", "<pre>", "</pre>"),
    "code of fences": repeated("```\na\n~~~\n", "<pre>", "</pre>"),
    "code of data": repeated("iVBORw0KGgo+/", "<pre>data:image/png;base64,", "</pre>"),
    "code with a long language": halves(lambda x: f"<pre class='language-{x}'>#</pre>", "a\n"),
    "blocks of code": repeated("<pre>x</pre>"),
    "fences of long code": repeated("<pre class=language-py>" + "x = 1\n" * 500 + "</pre>"),
    "inline code": repeated("<code>x</code> "),
    "lines of numbers": repeated(
        "<tr><td class=lineno>1<td><pre>x</pre>", "<table class=lntable>", "</table>"
    ),
    "formulas": repeated("<math><mi>x</mi></math> "),
    "one formula": repeated("<mi>x</mi>", "<math>", "</math>" + PROSE * 5),
    "drawings": repeated('<svg><path d="M0"/></svg> x '),
}
"""Code and what else stands apart from the text."""

WORDS: dict[str, Make] = {
    "prose": repeated(PROSE),
    "one letter": repeated("a"),
    "one word": repeated("pneumono"),
    "one line": repeated("lorem "),
    "one digit": repeated("7"),
    "digits and spaces": repeated("7 "),
    "one sign": repeated("="),
    "one capital": repeated("A"),
    "Chinese": repeated("漢字"),
    "Chinese sentences": repeated("漢字の文。"),
    "Chinese and Latin": repeated("漢a字1"),
    "Arabic": repeated("\u202e\u0633\u0644\u0627\u0645 \u200f"),
    "Thai": repeated("ภาษาไทย"),
    "unseen characters": repeated("\u200b"),
    "unseen joiners": repeated("a\u200d\u2060\ufeff"),
    "joined emoji": repeated("👨\u200d"),
    "flags": repeated("🇩🇪"),
    "joined accents": repeated("\u0301", "<p>a"),
    "dots": repeated("."),
    "quotes": repeated('."'),
    "closing marks": repeated(')"]', "<p>a."),
    "brackets": repeated("["),
    "brackets of a link": repeated("[", "<a href=/x>", "</a>"),
    "brackets of headings": repeated(f"<h2><a href=/x>{'[' * 900}</a>a</h2>b"),
    "links in words": repeated("[x]("),
    "half links in words": repeated("a]("),
    "stars": repeated("*a "),
    "stars in a row": repeated("*"),
    "ticks": repeated("` "),
    "ticks in a row": repeated("`"),
    "ticks of all lengths": repeated(" ".join("`" * n for n in range(1, 50)) + " "),
    "underscores": repeated("_a_"),
    "underscores in a row": repeated("_", "a", "a"),
    "tildes": repeated("~"),
    "backslashes": repeated("\\"),
    "ampersands": repeated(" &"),
    "entities": repeated("&amp;"),
    "half entities": repeated("&amp;#x"),
    "less than": repeated("&lt;a "),
    "greater than": repeated("&gt; "),
    "lines of greater than": repeated("&gt;<br>"),
    "lines of rules": repeated("=<br>-<br>"),
    "fences in words": repeated("~~~ ``` "),
    "pipes": repeated("| a | b |<br>"),
    "tables in words": repeated("|-|-|<br>"),
    "numbers of lists": repeated("1. a<br>"),
    "white space": repeated(" ", "<p>a", "b</p>" + PROSE * 5),
    "line ends": repeated("\n", "<p>a", "b</p>" + PROSE * 5),
    "hard spaces": repeated("&nbsp;", "<p>a", "b</p>" + PROSE * 5),
    "headings": repeated("<h2>Title here</h2>"),
    "headings and words": repeated("<h2>Title here</h2>a"),
    "headings in order": counted("<h2>a-#</h2><h2>a</h2>b"),
    "ids of headings": counted("<h2 id=a>a</h2>b<h2 id=a-#>a</h2>c"),
    "headings of all levels": repeated("".join(f"<h{n}>T</h{n}><p>a" for n in range(1, 7))),
    "first headings": repeated("<h1>T</h1>"),
    "one heading": repeated("word ", "<h2>", "</h2>" + PROSE),
    "line breaks": repeated("a<br>"),
    "breaks alone": repeated("<br>", after=PROSE * 5),
    "rules": repeated("a<hr>"),
    "raised": repeated("x<sup>2</sup>"),
    "emphasis": repeated("<em>x</em>"),
    "emphasis of all kinds": repeated("<b>x</b><i>y</i>"),
    "emphasis and words": repeated("<em>x</em> y "),
    "spans": repeated("<span>x</span>"),
    "signs of quotes": repeated("<q>x</q>"),
    "links in a line": repeated("<a href=/x>y</a> "),
    "links of their own": counted("<a href=/#>y</a> "),
    "links to here": repeated("<a href=#x>y</a> "),
    "brackets and links": repeated("[!<a href=/x>y</a>"),
    "images": repeated("<p><img src=a.png alt=b></p>"),
    "images of data": repeated(f"<img src='data:image/png;base64,{'A' * 500}' alt=b>"),
    "one image of data": repeated("A", "<img src='data:image/png;base64,", "'>" + PROSE * 5),
}
"""Words, and elements in a line."""

MACHINES: dict[str, Make] = {
    "comments": repeated("<!-- a -->x "),
    "CDATA": repeated("<![CDATA[ a ]]>x "),
    "templates": repeated("<template><p>a</p></template>x "),
    "noscripts": repeated("<noscript><p>a</p></noscript>x "),
    "scripts": repeated('<script>var a="x";</script>', after=PROSE * 5),
    "scripts in a paragraph": repeated("<script></script>x ", "<p>", "</p>" + PROSE * 5),
    "scripts in long words": both(repeated("word "), repeated("<script></script>x ")),
    "attributes": repeated('a="b" ', "<div ", ">text</div>" + PROSE * 5),
    "attributes of all names": counted("a#=b ", "<div ", ">text</div>" + PROSE * 5),
    "names": repeated("nav ", '<div class="', '">text</div>' + PROSE * 5),
    "one name": repeated("x", '<div class="', '">text</div>' + PROSE * 5),
    "blanks in a name": repeated(" ", '<div class="brush:', '">text</div>' + PROSE * 5),
    "kinds of names": counted('<div class="c# sidebar-x">text</div>'),
    "name of a series": halves(lambda x: f"<ul class='{x}'>#</ul>", "<li class=p>a b c"),
    "ids": counted("<p id=a#>text"),
    "nested JSON-LD": nested("[", "]", "1", JSON_LD, "</script>" + PROSE * 5),
    "objects in JSON-LD": nested('{"a":', "}", "1", JSON_LD, "</script>" + PROSE * 5),
    "long JSON-LD": repeated(
        '{"@type":"Product","price":"1"},', f"{JSON_LD}[", "{}]</script>" + PROSE * 5
    ),
    "blocks of JSON-LD": repeated(JSON_LD + '{"@type":"Offer","price":1}</script>', PROSE * 5),
    "digits in JSON-LD": repeated("1", f"{JSON_LD}[", "]</script>" + PROSE * 5),
    "types in JSON-LD": repeated(
        '"A",', JSON_LD + '{"author":"x","@type":[', '"B"]}</script>' + PROSE * 5
    ),
    "metas": repeated('<meta name="author" content="x">', after=PROSE * 5),
    "metas of all names": counted('<meta property="og:#" content="x">', after=PROSE * 5),
    "blanks in a meta": repeated(" ", '<meta name=robots content="a', 'b">' + PROSE * 5),
    "languages": counted("<link rel=alternate hreflang=de href=/#>", after=PROSE * 5),
    "canonical links": counted("<link rel=canonical href=/#>", after=PROSE * 5),
    "bases": counted("<base href=/#/>", after=PROSE * 5),
    "long base": halves(lambda x: f"<base href='/{x}/'>#", "<a href=a>b</a> "),
    "long base of links": lambda size: (
        f"<base href='/{'x' * 1900}/'>" + "".join(f"<a href={n}>b</a> " for n in range(size // 20))
    ),
    "dates": repeated("<time class=updated datetime=1>a</time> "),
    "prices": repeated('<span itemprop="price">1</span>', "<div itemscope>", "</div>" + PROSE * 5),
    "prices of one name": halves(
        lambda x: f"<div itemscope><b itemprop=name>{x}</b>#</div>",
        "<span itemprop=price>1</span>",
    ),
    "prices of one currency": halves(
        lambda x: f"<div itemscope><b itemprop=priceCurrency content='{x}'></b>#</div>",
        "<span itemprop=price>1</span>",
    ),
    "items": counted("<div itemscope><b itemprop=name>a</b><i itemprop=price>#</i></div>"),
    "authors": repeated("<i itemprop=author>https://a.test/</i>", after=PROSE * 5),
    "titles": repeated("<title> </title>", after=PROSE * 5),
    "title": repeated("a | b - ", "<title>", "</title>" + PROSE * 5),
    "classes of titles": repeated('<div class="title">a b</div>'),
    "mounts": repeated("<div id=root>a b c d e f g</div>"),
    "buttons": repeated("<button>Accept</button>", "<h2>cookies consent privacy</h2>"),
    "forms": repeated("<form><input type=password><label>a</label></form>"),
}
"""What is declared, and what no reader sees."""

KINDS = NESTING | LISTED | CODED | WORDS | MACHINES
"""A page of each kind, about as long as it is told to be."""
