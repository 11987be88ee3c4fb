"""Reading a page takes no more steps than grow with its size, whatever its shape.

Steps are calls, of Python and of C, so that nothing depends on the time. `bench/hostile.py` has the
seconds of many more shapes, and of what is slow within one call.
"""

import gc
import sys
from collections.abc import Callable
from itertools import count

import pytest

from connectors.extractors import Manner, read
from flows import maincontent
from tests.documents import PROSE, article, page

MANNER = Manner(max_tokens=512, overlap=0, encoding="cl100k_base")
SMALL, TIMES = 3_000, 4
"""Bytes of the smaller page, and how many of it the larger one is."""
SLACK = 1.25
"""Steps of the larger page, as a multiple of what would be linear."""

Shape = Callable[[int], str]


def repeated(unit: str, before: str = "", after: str = "") -> Shape:
    return lambda size: before + unit * (size // len(unit)) + after


def numbered(unit: str) -> Shape:
    return lambda size: "".join(unit.replace("#", str(n)) for n in range(size // len(unit)))


def deep(start: str, end: str, unit: str) -> Shape:
    """Return a shape that repeats `unit` within elements, the deeper the larger the page is."""
    return lambda size: start * (size // 80) + unit * (size // 2 // len(unit)) + end * (size // 80)


SHAPES: dict[str, Shape] = {
    "emphasis": repeated("<em>x</em>"),
    "bold left open": repeated("<p><b>a "),
    "list of links": repeated("<li><a href='/x'>a boat</a></li>", "<ul>", "</ul>"),
    "definitions": repeated("<dt>a<dd>b c d", "<dl>", "</dl>"),
    "long table": repeated("<tr><td>one<td>two", "<table><tr><th>a<th>b", "</table>"),
    "wide table": lambda n: f"<table>{2 * ('<tr>' + '<td>x' * (n // 10))}</table>",
    "spanning cells": repeated("<tr><td colspan=99 rowspan=99>x<td>y", "<table>", "</table>"),
    "code of ticks": repeated("`", "<pre>", "</pre>"),
    "code of fences": repeated("```\na\n~~~\n", "<pre>", "</pre>"),
    "headings of one name": repeated("<h2>Title</h2>a"),
    "headings with ids": numbered("<h2 id=a-#>a</h2><h2>a</h2>b"),
    "brackets in headings": repeated(f"<h2><a href=/x>{'[' * 90}</a>a</h2>b"),
    "one word": repeated("a"),
    "signs": repeated("*_`[]~ "),
    "spaces and emoji": lambda n: f"<pre>a{' ' * (n * 9 // 10)}{'👨' * (n // 40)}</pre>",
    "line breaks": repeated("a<br>"),
    "links in a line": numbered("<a href=/#>y</a> "),
    "drawings": repeated('<svg><path d="M0"/></svg> x '),
    "scripts": repeated("<script></script>x ", "<p>", "</p>"),
    "prices": repeated("<span itemprop=price>1</span>", "<div itemscope>", f"</div>{PROSE}"),
    "languages": numbered("<link rel=alternate hreflang=de href=/#>a"),
    "linked data": repeated('<script type="application/ld+json">{"a":[{}]}</script>', PROSE),
    "posts": numbered('<div class="post c#"><p>a text here</p></div>'),
}

DEEP: dict[str, Shape] = {
    "lists": deep("<ul>", "</ul>", "a<br>"),
    "items": deep("<ul><li>b", "</ul>", "<p>a"),
    "quotes": deep("<blockquote>", "</blockquote>", "<pre>a</pre>"),
    "tables": deep("<table><tr><td>", "</table>", "a<hr>"),
    "code": deep("<code>", "</code>", "a<i></i>"),
    "formulas": deep("<span class='katex math'>", "</span>", "a<br>"),
    "raised words": deep("<sup>", "</sup>", "a<br>"),
}


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Load what the first page of a process waits for."""
    read(page(article()), MANNER)


def steps(shape: Shape, size: int) -> int:
    """Return the calls that reading a page takes."""
    body = article(shape(size))
    calls = count()
    gc.collect()
    sys.setprofile(lambda frame, event, arg: next(calls) if event in ("call", "c_call") else None)
    try:
        read(page(body), MANNER)
    finally:
        sys.setprofile(None)
    return next(calls)


def growth(shape: Shape) -> float:
    """Return the steps of the larger page as a multiple of those of the smaller one."""
    return steps(shape, TIMES * SMALL) / steps(shape, SMALL)


@pytest.mark.parametrize("name", SHAPES)
def test_steps_grow_no_faster_than_the_page(name: str) -> None:
    assert growth(SHAPES[name]) <= SLACK * TIMES


@pytest.mark.parametrize("name", DEEP)
def test_steps_grow_no_faster_than_a_page_that_grows_deeper(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maincontent, "MOST_WITHIN", 0)  # what trafilatura does is bounded by it

    assert growth(DEEP[name]) <= SLACK * TIMES
