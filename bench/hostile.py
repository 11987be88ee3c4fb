"""Cost of hostile pages at 0.1, 1 and 5 MB: linear in their size, or ended by the deadline.

    python bench/hostile.py [KIND …] [--deadline 30] [--megabytes 0.1 1 5]

Each page is read from bytes to chunks in a process of its own, which is killed when it has used as
many seconds of CPU as the deadline allows: an extraction process has so many seconds of any kind.
`growth` is the time of the last size as a multiple of what it would be if the one before grew with
the size: about 1 is linear.
"""

import argparse
import logging
import math
import multiprocessing
import resource
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

from flows import chunks, content
from flows.records import Attribution, Document, Entry, Exchange, Method, Page

URL = "https://a.test/page"
SHELL = "<html><head><title>T</title></head><body><article><h1>T</h1>{}</article></body></html>"
PROSE = "<p>The clerk keeps a ledger of every boat that ties up before noon, with its tonnage.</p>"


def repeated(unit: str, before: str = "", after: str = "") -> Callable[[int], str]:
    """Return a kind of page that repeats `unit` up to a number of bytes."""
    return lambda size: before + unit * (size // len(unit.encode())) + after


def nested(start: str, end: str = "", inner: str = "deep down here") -> Callable[[int], str]:
    """Return a kind of page whose elements are within each other."""
    unit = len((start + end).encode())
    return lambda size: start * (size // unit) + inner + end * (size // unit)


KINDS: dict[str, Callable[[int], str]] = {
    "prose": repeated(PROSE),
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
    "list of links": repeated("<li><a href='/x?page=1'>a boat</a></li>", "<ul>", "</ul>"),
    "paragraphs of links": repeated("<p><a href='/x?page=1'>a boat</a> sails on</p>"),
    "long table": repeated("<tr><td>one<td>two<td>three", "<table>", "</table>"),
    "wide table": lambda size: f"<table><tr>{'<td>x' * (size // 10)}<tr>{'<td>y' * (size // 10)}",
    "spanning cells": repeated("<tr><td colspan=1000 rowspan=1000>x", "<table>", "</table>"),
    "one long cell": repeated("word ", "<table><tr><th>a<th>b<tr><td>", "<td>c</table>"),
    "code": repeated("x = 1\n", "<pre>", "</pre>"),
    "code in spans": repeated("<span class=k>def</span> <span class=n>f</span>\n", "<pre>"),
    "one line of code": repeated("x", "<pre>", "</pre>"),
    "code of ticks": repeated("`", "<pre>", "</pre>"),
    "blocks of code": repeated("<pre>x</pre>"),
    "inline code": repeated("<code>x</code> "),
    "headings": repeated("<h2>Title here</h2>"),
    "headings of all levels": repeated("".join(f"<h{n}>T</h{n}><p>a" for n in range(1, 7))),
    "one heading": repeated("word ", "<h2>", "</h2>" + PROSE),
    "one letter": repeated("a"),
    "one line": repeated("lorem "),
    "Chinese": repeated("漢字"),
    "Chinese sentences": repeated("漢字の文。"),
    "joined emoji": repeated("👨\u200d"),
    "joined accents": repeated("\u0301", "<p>a"),
    "dots": repeated("."),
    "quotes": repeated('."'),
    "brackets": repeated("["),
    "links in words": repeated("[x]("),
    "half links in words": repeated("a]("),
    "stars": repeated("*a "),
    "ticks": repeated("` "),
    "ticks of all lengths": repeated(" ".join("`" * n for n in range(1, 50)) + " "),
    "underscores": repeated("_a_"),
    "ampersands": repeated(" &"),
    "less than": repeated("&lt;a "),
    "greater than": repeated("&gt; "),
    "fences in words": repeated("~~~ ``` "),
    "pipes": repeated("| a | b |<br>"),
    "white space": repeated(" ", "<p>a", "b</p>" + PROSE * 5),
    "line ends": repeated("\n", "<p>a", "b</p>" + PROSE * 5),
    "hard spaces": repeated("&nbsp;", "<p>a", "b</p>" + PROSE * 5),
    "line breaks": repeated("a<br>"),
    "comments": repeated("<!-- a -->x "),
    "attributes": repeated('a="b" ', "<div ", ">text</div>" + PROSE * 5),
    "names": repeated("nav ", '<div class="', '">text</div>' + PROSE * 5),
    "kinds of names": lambda size: "".join(
        f'<div class="c{n} sidebar-x">text</div>' for n in range(size // 36)
    ),
    "posts": repeated('<div class="post"><p>a text here now</p></div>'),
    "images": repeated("<p><img src=a.png alt=b></p>"),
    "definitions": repeated("<dt>a<dd>b c d", "<dl>", "</dl>"),
    "numbered list": repeated("<li>a b c</li>", "<ol>", "</ol>"),
    "raised": repeated("x<sup>2</sup>"),
    "emphasis": repeated("<em>x</em>"),
    "formulas": repeated("<math><mi>x</mi></math> "),
    "drawings": repeated('<svg><path d="M0"/></svg> x '),
    "scripts": repeated('<script>var a="x";</script>', after=PROSE * 5),
    "nested JSON-LD": lambda size: (
        f'<script type="application/ld+json">{"[" * (size // 2)}{"]" * (size // 2)}</script>{PROSE}'
    ),
    "long JSON-LD": repeated(
        '{"@type":"Product","price":"1"},',
        '<script type="application/ld+json">[',
        "{}]</script>" + PROSE * 5,
    ),
    "metas": repeated('<meta name="author" content="x">', after=PROSE * 5),
    "prices": repeated('<span itemprop="price">1</span>', "<div itemscope>", "</div>" + PROSE * 5),
    "options": repeated("<option>a", "<select>", "</select>" + PROSE * 5),
}
"""A page of each kind, about as long as it is told to be."""


def main() -> None:
    """Print the seconds of each kind at each size."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--deadline", type=float, default=30.0)
    parser.add_argument("--megabytes", type=float, nargs="+", default=[0.1, 1.0, 5.0])
    args = parser.parse_args()
    sizes = [round(size * 1_000_000) for size in args.megabytes]
    print(
        f"{'CPU seconds at':24}" + "".join(f"{size / 1e6:>9g} MB" for size in sizes) + "   growth"
    )
    for kind in args.kinds or KINDS:
        runs = [read(kind, size, args.deadline) for size in sizes]
        cells = "".join(f"{'deadline' if s is None else f'{s:.2f}':>12}" for s, _ in runs)
        print(
            f"{kind:24}{cells}   {growth(sizes, [s for s, _ in runs])}  {runs[-1][1]}", flush=True
        )


def growth(sizes: list[int], seconds: list[float | None]) -> str:
    """Return the last step's time over what a linear one would take."""
    if len(seconds) < 2 or seconds[-1] is None or seconds[-2] is None:
        return "-"
    return f"{seconds[-1] / sizes[-1] / max(seconds[-2] / sizes[-2], 1e-9):.2f}"


def read(kind: str, size: int, deadline_s: float) -> tuple[float | None, str]:
    """Return the CPU seconds of reading a page, None past the deadline, and what came of it."""
    here, there = multiprocessing.Pipe(duplex=False)
    work_on = (kind, size, deadline_s, there)
    process = multiprocessing.get_context("fork").Process(target=work, args=work_on)
    process.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        return None, ""
    finally:
        process.join()


def work(kind: str, size: int, deadline_s: float, end: Connection) -> None:
    """Read a page and send what it cost."""
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(deadline_s), math.ceil(deadline_s) + 1))
    logging.disable(logging.CRITICAL)
    body = SHELL.format(KINDS[kind](size)).encode("utf-8", "surrogatepass")
    entry = Entry(site="https://a.test", url=URL, attribution=Attribution(method=Method.GIVEN))
    page = Page(entry=entry, exchange=Exchange(final_url=URL), body=body)
    start = time.process_time()
    found = content.extract(page)
    if isinstance(found, Document):
        said = f"{len(chunks.cut(found, chunks.Limits()))} chunks"
    else:
        said = f"{found.outcome}: {found.detail}"
    end.send((time.process_time() - start, said))


if __name__ == "__main__":
    main()
