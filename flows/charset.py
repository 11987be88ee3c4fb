"""Which characters the bytes of a page are, by the rules of the WHATWG Encoding Standard.

A byte-order mark wins over the header's charset, the header over the page's own `meta`, and
only where nothing is said the bytes themselves are asked.
"""

import codecs
import re

BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte-order marks and what they mean (Encoding Standard, "BOM sniff")."""
PRESCAN = 4096
"""Bytes searched for a `meta` charset; the standard says 1024, real pages need more."""
SNIFF = 1 << 16
"""Bytes that detection looks at."""
READ_AS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "utf-16": "utf-16-le",
}
"""Encodings that are read as a superset, by their Python names (Encoding Standard, labels)."""
LABELS = {
    "unicode-1-1-utf-8": "utf-8",
    "x-sjis": "cp932",
    "ms_kanji": "cp932",
    "windows-31j": "cp932",
    "x-gbk": "gb18030",
    "gb_2312-80": "gb18030",
    "chinese": "gb18030",
    "x-euc-jp": "euc_jp",
    "x-x-big5": "big5hkscs",
    "big5-hkscs": "big5hkscs",
    "ks_c_5601-1987": "cp949",
    "windows-949": "cp949",
    "korean": "cp949",
    "windows-874": "cp874",
    "dos-874": "cp874",
    "x-mac-cyrillic": "mac_cyrillic",
    "x-mac-roman": "mac_roman",
    "macintosh": "mac_roman",
    "iso-8859-8-i": "iso8859-8",
    "logical": "iso8859-8",
}
"""Labels of the standard that Python does not know or reads otherwise."""
TEXT = frozenset(
    "utf-8 utf-16-le utf-16-be gb18030 cp932 cp949 big5hkscs euc_jp iso2022_jp koi8-r "  # noqa: SIM905
    "koi8-u cp866 cp874 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 "
    "mac_cyrillic mac_roman iso8859-2 iso8859-3 "
    "iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-10 iso8859-13 "
    "iso8859-14 iso8859-15 iso8859-16".split()
)
"""Encodings a page may name; Python has others (`utf-7`, `idna`) that a page must not reach."""
_META = re.compile(rb"""<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)""", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_UNWANTED = dict.fromkeys([0, 0xFEFF, *range(0xD800, 0xE000)])


def decode(body: bytes, charset: str | None = None) -> str:
    r"""Return the text of a page; bytes that mean nothing become U+FFFD, NULs are dropped.

    `charset` is what the Content-Type header said. Never raises; the text has no lone surrogate.

    >>> decode(b"caf\xe9 \x93ok\x94", "iso-8859-1")
    'café “ok”'
    >>> decode(b"caf\xc3\xa9", "no-such-charset")
    'café'
    """
    text = body.decode(encoding(body, charset), "replace")
    return text.replace("\0", "").removeprefix("\ufeff")


def encoding(body: bytes, charset: str | None = None) -> str:
    """Return the Python name of the encoding that `body` is to be read with."""
    for mark, name in BOMS:
        if body.startswith(mark):
            return name
    return named(charset or "") or _declared(body) or _detected(body)


def named(label: str) -> str | None:
    """Return the encoding that a label means on the Web, or None for a label that means none.

    >>> named("ISO-8859-1"), named("gb2312"), named("utf-7")
    ('cp1252', 'gb18030', None)
    """
    label = label.strip(" \t\r\n\f\"'").lower()
    try:
        name = LABELS.get(label) or codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    name = READ_AS.get(name, name)
    return name if name in TEXT else None


def clean(text: str) -> str:
    """Return `text` without NULs, marks of byte order and lone surrogates."""
    return text.translate(_UNWANTED) if not text.isascii() or "\0" in text else text


def _declared(body: bytes) -> str | None:
    """Return what the page itself names in its first bytes; UTF-16 cannot be named so."""
    head = body[:PRESCAN]
    found = _META.search(_COMMENT.sub(b"", head)) or _XML.search(head)
    name = named(found[1].decode("ascii", "replace")) if found else None
    return "utf-8" if name in ("utf-16-le", "utf-16-be") else name


def _detected(body: bytes) -> str:
    """Return what the bytes look like: UTF-8 where they can be, else the likeliest."""
    sample = body[:SNIFF]
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return _wide(sample) or _likeliest(sample)
    return _wide(sample) or "utf-8"


def _wide(sample: bytes) -> str | None:
    """Return UTF-16 for the zero bytes that Latin markup has in it."""
    if sample[:2] == b"<\0":
        return "utf-16-le"
    return "utf-16-be" if sample[:2] == b"\0<" else None


def _likeliest(sample: bytes) -> str:
    """Return the best guess of charset-normalizer, or windows-1252 when it has none."""
    import charset_normalizer  # noqa: PLC0415  (slow to import, and seldom needed)

    best = charset_normalizer.from_bytes(sample, steps=5, chunk_size=512).best()
    return (named(best.encoding) if best else None) or "cp1252"
