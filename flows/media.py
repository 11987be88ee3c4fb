"""Media types: what a Content-Type header says, and what the first bytes of a body show."""

import json
import re

HTML = ("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml")

MARKDOWN = ("text/markdown", "text/x-markdown")

UNSAID = ("unknown/unknown", "application/unknown", "*/*")
"""What servers write when they do not know either (WHATWG MIME sniffing §7)."""

_TYPE = re.compile(r"\s*([\w!#$&^.+*-]+/[\w!#$&^.+*-]+)")
_CHARSET = re.compile(r";\s*charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;\"',]+))", re.IGNORECASE)

_SIGNATURES = (
    (b"%PDF-", "application/pdf"),
    (b"%!PS-Adobe-", "application/postscript"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"RIFF", "application/riff"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"PK\x03\x04", "application/zip"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"\x7fELF", "application/x-executable"),
    (b"MZ\x90\x00", "application/x-executable"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/msword"),
    (b"{\\rtf", "application/rtf"),
)
"""First bytes of what is often called text/html and is none (WHATWG MIME sniffing §6)."""

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))

_HTML_START = re.compile(
    r"(?>(?:<\?xml[^>]*+>|<!--(?>.*?-->)|\s)*)<(?:!doctype\s+html|(?:html|head|body|title|meta|link|script|"
    r"style|base|h[1-6]|div|p|a|b|br|ul|ol|table|font|iframe|article|main|section|header|nav|"
    r"span|center|noscript|frameset|template)[\s/>])",
    re.IGNORECASE | re.DOTALL,
)
_DOCUMENT = re.compile(
    r"(?>(?:<\?xml[^>]*+>|<!--(?>.*?-->)|\s)*)<(?:!doctype\s+html|html|head|body)[\s/>]",
    re.IGNORECASE | re.DOTALL,
)
_OTHER_XML = re.compile(
    r"(?>(?:<\?(?>.*?\?>)|<!--(?>.*?-->)|\s)*)<(?:\w{1,20}:)?(rss|feed|urlset|sitemapindex|svg|rdf|"
    r"opensearchdescription|error|wsdl)[\s>:/]",
    re.IGNORECASE | re.DOTALL,
)
_HTML_SOMEWHERE = re.compile(rb"<(?:!doctype|html|body|head|div|p|a|script)[\s>]", re.IGNORECASE)
_CONTROLS = bytes(c for c in range(0x20) if c not in b"\t\n\r\x0c\x1b")

_LOOKED_AT = 4096
_MAX_JSON = 4 * 1024 * 1024


def essence(content_type: str | None) -> str | None:
    """Return `type/subtype` in lower case, or None when the header says nothing.

    >>> essence('TEXT/HTML;CHARSET="UTF-8"')
    'text/html'
    >>> essence("html") is None
    True
    """
    found = _TYPE.match(content_type or "")
    name = found[1].lower() if found else None
    return None if name in UNSAID else name


def charset(content_type: str | None) -> str | None:
    """Return the charset parameter of a Content-Type as sent, or None.

    >>> charset('text/html; charset="UTF-8"')
    'UTF-8'
    """
    found = _CHARSET.search(content_type or "")
    return (found[1] or found[2] or found[3] or None) if found else None


def is_document(body: bytes) -> bool:
    """Return whether a body begins as a whole HTML document does, whatever it is called.

    >>> is_document(b"<!DOCTYPE html><title>t</title>"), is_document(b"<p align=center># T")
    (True, False)
    """
    return _DOCUMENT.match(_start_as_text(body)) is not None


def other_than_html(body: bytes, content_type: str | None) -> str | None:
    """Return what a body called HTML, or called nothing, really is; None when it may be HTML.

    A body without a Content-Type has to begin like HTML; a declared one is believed, unless its
    bytes are plainly something else.

    >>> other_than_html(b"%PDF-1.4 ...", "text/html")
    'application/pdf'
    >>> other_than_html(b"<!doctype html><title>t</title>", None) is None
    True
    """
    binary = _binary(body, charset(content_type))
    if binary:
        return binary
    start = _start_as_text(body)
    xml = _OTHER_XML.match(start)
    if xml:
        return f"{xml[1].lower()} document"
    if _is_json(body, start):
        return "application/json"
    if essence(content_type) is None and not _HTML_START.match(start):
        return "no HTML, and no Content-Type"
    return None


def _binary(body: bytes, charset_: str | None) -> str | None:
    found = next((name for magic, name in _SIGNATURES if body.startswith(magic)), None)
    if found:
        return found
    if body[4:8] == b"ftyp":
        return "video/mp4"
    start = body[:1024]
    wide = start.startswith((b"\xff\xfe", b"\xfe\xff")) or "16" in (charset_ or "")
    controls = len(start) - len(start.translate(None, _CONTROLS))
    return "binary" if not wide and controls * 10 > len(start) else None


def _start_as_text(body: bytes) -> str:
    start = body[:_LOOKED_AT]
    for mark, encoding in _BOMS:
        if start.startswith(mark):
            return start[len(mark) :].decode(encoding, "replace").lstrip()
    return start.decode("latin-1").lstrip()


def _is_json(body: bytes, start: str) -> bool:
    if start[:1] not in {"{", "["} or _HTML_SOMEWHERE.search(body[:_LOOKED_AT]):
        return False
    if len(body) > _MAX_JSON:
        return True
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
