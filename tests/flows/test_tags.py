"""Guaranteed: start tags as browsers tell them apart, of any text, in time that grows with it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import tags

PIECES = [
    "<a ",
    "href=",
    "x",
    '"',
    "'",
    ">",
    "</a>",
    "<!--",
    "-->",
    "<script>",
    "</script>",
    "/",
    "=",
]
"""What pages are made of, and what spoils them."""


def read(text: str) -> list[dict[str, str]]:
    return [attributes for _, attributes in tags.read(text, {"a"})]


@pytest.mark.parametrize(
    ("text", "attributes"),
    [
        ("<a>", {}),
        ("<A\n HREF = 'x' >", {"href": "x"}),
        ("<a href=x/y>", {"href": "x/y"}),
        ("<a href=/x/>", {"href": "/x/"}),
        ("<a/href='x'/>", {"href": "x"}),
        ("<a href='x'rel=y>", {"href": "x", "rel": "y"}),
        ("<a href='x' HREF='y'>", {"href": "x"}),
        ("<a href>", {"href": ""}),
        ("<a href= >", {"href": ""}),
        ("<a title='a > b' href=x>", {"title": "a > b", "href": "x"}),
        ("<a title=it's href=x>", {"title": "it's", "href": "x"}),
        ('<a title="a"b" href=x>', {"title": "a", 'b"': "", "href": "x"}),
        ("<a =x href=y>", {"=x": "", "href": "y"}),
        ("<a href='?a=1&amp;b=2&#38;c&#x26;d'>", {"href": "?a=1&b=2&c&d"}),
        ("<a href='?a=1&copy=2&amp=3&lt'>", {"href": "?a=1&copy=2&amp=3<"}),
        ("<a href='&eacute;&nosuch;&#0;'>", {"href": "é&nosuch;\ufffd"}),
    ],
)
def test_attributes_are_what_a_browser_sees(text: str, attributes: dict[str, str]) -> None:
    assert read(f"x < y {text} z") == [attributes]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<",
        "< a>",
        "</a>",
        "<abbr>",
        "<a",
        "<a href='x",
        "<a href=x",
        "<!-- <a> -->",
        "<!-- <a>",
        "<!a <a >",
        "<?php <a >",
        "</x <a >",
        "<script><a></script >",
        "<STYLE><a></style\n>",
        "<title><a></title>",
        "<textarea><a></textareas><a></textarea>",
        "<script><a>",
        "<div title='<a>'>",
    ],
)
def test_what_is_no_start_tag_is_left_out(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "<!-- x --><a>",
        "<!-- x --!><a>",
        "<!doctype html><a>",
        "<script>'<a>'</script><a>",
        "<p <a><a>",
    ],
)
def test_a_tag_behind_something_else_is_found(text: str) -> None:
    assert read(text) == [{}]


def test_a_tag_is_found_at_any_depth() -> None:
    assert read("<div>" * 100_000 + "<a>") == [{}]


@pytest.mark.parametrize(
    "text", ["".join(f" x{n}=1" for n in range(100_000)), "<a " * 100_000, "<" * 100_000]
)
def test_hostile_tags_are_read_in_passing(text: str) -> None:
    assert len(read(f"<a{text}>")) <= 1


@given(st.text(max_size=200) | st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_text_is_read(text: str) -> None:
    for name, attributes in tags.read(text, {"a", "x"}):
        assert name in {"a", "x"}
        assert all(key == key.lower() for key in attributes)
