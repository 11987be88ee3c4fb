"""Bytes become the characters they were meant to be, by the rules of the Encoding Standard."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import charset

PORT = "Журнал порта: «лодки»"


@pytest.mark.parametrize(
    ("body", "header", "expected"),
    [
        (PORT.encode(), None, PORT),
        (PORT.encode("cp1251"), "windows-1251", PORT),
        (codecs.BOM_UTF8 + PORT.encode(), "windows-1251", PORT),
        (codecs.BOM_UTF16_LE + PORT.encode("utf-16-le"), None, PORT),
        (codecs.BOM_UTF16_BE + PORT.encode("utf-16-be"), "utf-8", PORT),
        (PORT.encode(), "utf8mb4-general", PORT),
        (b"<meta charset='koi8-r'>" + PORT.encode("koi8-r", "replace"), None,
         "<meta charset='koi8-r'>" + PORT.encode("koi8-r", "replace").decode("koi8-r")),
        (b"<meta charset=koi8-r>" + PORT.encode(), "utf-8", "<meta charset=koi8-r>" + PORT),
        (b"<meta charset=utf-16>" + PORT.encode(), None, "<meta charset=utf-16>" + PORT),
        (b"<!-- <meta charset=koi8-r> -->" + PORT.encode(), None,
         "<!-- <meta charset=koi8-r> -->" + PORT),
        (b'<?xml version="1.0" encoding="iso-8859-15"?>\xa4', None,
         '<?xml version="1.0" encoding="iso-8859-15"?>€'),
        (b"\x93quoted\x94", "iso-8859-1", "“quoted”"),
        ("鎏船".encode("gb18030"), "gb2312", "鎏船"),
        ("港の帳簿".encode("cp932"), "Shift_JIS", "港の帳簿"),
        ("<p>plain</p>".encode("utf-16-le"), None, "<p>plain</p>"),
    ],
    ids=["utf-8", "header", "mark before header", "utf-16", "utf-16 big", "no such label", "meta",
         "header before meta", "meta cannot say utf-16", "comment", "xml", "latin-1 is 1252",
         "gb2312", "sjis", "none"],
)  # fmt: skip
def test_what_is_declared_is_read_in_its_order(
    body: bytes, header: str | None, expected: str
) -> None:
    assert charset.decode(body, header) == expected


def test_bytes_that_say_nothing_are_looked_at() -> None:
    body = ("<p>" + "Журнал порта ведёт запись каждой лодки. " * 20).encode("cp1251")

    assert "Журнал порта" in charset.decode(body)


def test_bytes_that_mean_nothing_do_not_spoil_the_rest() -> None:
    assert (
        charset.decode(b"caf\xc3\xa9 \xff au lait \xe2\x80", "utf-8")
        == "café \ufffd au lait \ufffd"
    )


@pytest.mark.parametrize("label", ["utf-7", "idna", "rot13", "base64", "hex", "punycode", "\0", ""])
def test_a_page_cannot_name_a_codec_that_is_no_encoding(label: str) -> None:
    assert charset.named(label) is None


@given(st.binary(max_size=400), st.one_of(st.none(), st.text(max_size=12)))
def test_whatever_comes_is_text_that_can_be_written(body: bytes, label: str | None) -> None:
    charset.decode(body, label).encode("utf-8")
