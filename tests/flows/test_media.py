"""A body is a page only if its type and its bytes allow it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import media

HTML = b"<!doctype html><html><head><title>T</title></head><body><p>Words.</p></body></html>"


@pytest.mark.parametrize(
    ("header", "essence", "charset"),
    [
        ("text/html", "text/html", None),
        ('TEXT/HTML;CHARSET="UTF-8"', "text/html", "UTF-8"),
        ("text/html; charset=windows-1251; q=1", "text/html", "windows-1251"),
        ("text/html;version=1;charset='utf-8'", "text/html", "utf-8"),
        ("text/html charset=utf-8", "text/html", None),
        ("application/xhtml+xml", "application/xhtml+xml", None),
        ("text/html, text/html; charset=x", "text/html", "x"),
        ("html", None, None),
        ("*/*", None, None),
        ("unknown/unknown", None, None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_a_content_type_is_read(
    header: str | None, essence: str | None, charset: str | None
) -> None:
    assert media.essence(header) == essence
    assert media.charset(header) == charset


@pytest.mark.parametrize(
    "body",
    [
        HTML,
        b"\xef\xbb\xbf" + HTML,
        "\ufeff".encode("utf-16-le") + HTML.decode().encode("utf-16-le"),
        b"\n\n  <!-- made by hand -->\n<html><body>",
        b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x">',
        b"<TITLE>Old page</TITLE><P>Words",
        b"<article><h1>Fragment</h1>",
        b"<script>1</script>",
    ],
    ids=["html5", "mark", "utf-16", "comment", "xhtml", "capitals", "fragment", "script"],
)
def test_html_is_known_by_its_bytes(body: bytes) -> None:
    assert media.other_than_html(body, None) is None
    assert media.other_than_html(body, "text/html") is None


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b"%PDF-1.7\n%\xe2\xe3", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n\0\0", "image/png"),
        (b"PK\x03\x04\x14\0", "application/zip"),
        (b"\x1f\x8b\x08\0\0", "application/gzip"),
        (b"\0\0\0\x18ftypmp42", "video/mp4"),
        (bytes(range(256)) * 4, "binary"),
        (json.dumps({"items": [1, 2, 3]}).encode(), "application/json"),
        (b'  [{"a": "<b>"}]', "application/json"),
        (b'<?xml version="1.0"?><rss version="2.0"><channel>', "rss document"),
        (b'<?xml version="1.0"?>\n<!-- x --><urlset xmlns="x">', "urlset document"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'>", "svg document"),
    ],
)
def test_what_is_called_html_and_is_none_is_found_out(body: bytes, found: str) -> None:
    assert media.other_than_html(body, "text/html; charset=utf-8") == found


@pytest.mark.parametrize(
    "body",
    [
        b"Words alone, which a browser shows as they are.",
        b"{{ template }} <p>words</p>",
        b"[draft] <b>words</b> and more",
        b"\xff\xfe\x00<\x00h",
        b"caf\xe9 \x93quoted\x94",
        b"<p>nul \0 inside the text of a page, which is longer than that</p>",
    ],
    ids=["text", "template", "bracket", "utf-16", "windows-1252", "nul"],
)
def test_declared_html_is_believed(body: bytes) -> None:
    assert media.other_than_html(body, "text/html") is None


def test_without_a_type_only_html_is_a_page() -> None:
    assert media.other_than_html(b"Words alone.", None)
    assert media.other_than_html(b'{"a": 1}', None) == "application/json"


@given(st.binary(max_size=200), st.none() | st.text(max_size=30))
def test_any_bytes_are_judged_without_raising(body: bytes, content_type: str | None) -> None:
    media.other_than_html(body, content_type)
    media.essence(content_type)
    media.charset(content_type)
