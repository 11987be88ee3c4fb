"""Canonical URLs and origins: the keys everything else goes by.

The normal form is RFC 3986 §6 with the repairs that browsers make: two spellings of one address
become one string, and what is no http address at all becomes None.
"""

import hashlib
import ipaddress
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

import idna

MAX_LENGTH = 16_384
"""Characters of a URL, as written and as canonical; what is longer is no page's address.

Servers answer 8 KB by default (RFC 9110 §4.1 asks for 8,000), few answer more.
"""

MAX_PORT = 65_535
"""RFC 9293 §3.1: a port is 16 bits."""

MAX_HOST = 253
"""Characters of a host name (RFC 1035 §2.3.4, less the root's length byte and dot)."""

DEFAULT_PORTS = {"http": "80", "https": "443"}

_LEGAL = r"A-Za-z0-9\-._~!$&'()*+,;=:@\[\]"
# Brackets stay as they are although RFC 3986 wants them encoded: browsers send `?a[]=1` so.
_ESCAPED = r"%(?:[0189A-F][0-9A-F]|2[0-9ABCF]|3[A-F]|[46]0|5[B-E]|7[BCDF])"
_LABEL = r"[a-z0-9_\-]{1,63}"

_PLACE = (
    rf"(?>(?:/(?!\.)[{_LEGAL}]*+(?>(?:{_ESCAPED}[{_LEGAL}]*+)*))+)"
    rf"(?>(?:\?(?>(?:[{_LEGAL}/?]++|{_ESCAPED})*))?)"
)
"""A canonical path with its query."""

_CANONICAL = re.compile(
    rf"(https?://(?![^/:]{{{MAX_HOST + 1}}}){_LABEL}(?>(?:\.{_LABEL})*)"
    rf"(?>(?::(?!(?:80|443)/)(?:[1-5][0-9]{{4}}|[1-9][0-9]{{0,3}}))?)){_PLACE}"
).fullmatch
"""Recognizes what is canonical already; the first group is its origin."""

_REFERENCE = re.compile(
    r"(?:([A-Za-z][A-Za-z0-9+.\-]*):)?(?://([^/?#]*))?([^?#]*)(\?[^#]*)?", re.DOTALL
).match
"""Scheme, authority, path and query of any text (RFC 3986, appendix B)."""

MANY = 200
"""URLs for which it pays to make an expression of their origin, which nobody may ask for again: to
make one takes as long as looking some hundred URLs up."""

_ENDS = "".join(map(chr, range(0x21))) + "\x7f\x85\xa0\u200b\u2028\u2029\u3000\ufeff"
_INSIDE = {ord(c): None for c in "\t\n\r"}
_UNRESERVED = re.compile(r"[A-Za-z0-9\-._~]").fullmatch
_FOREIGN = re.compile(rf"%([0-9A-Fa-f]{{2}})?|[^{_LEGAL}/?%]+").sub
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*\.?").fullmatch


class _Parts(NamedTuple):
    scheme: str
    authority: str
    path: str
    query: str
    """With its question mark; empty when there is none."""


def canonical(url: str, base: str | None = None) -> str | None:
    """Return the one spelling of an http or https URL, or None when `url` is none.

    Scheme and host fold to lower case and ASCII, a default port, user information, dot segments
    and the fragment go, percent-encoding takes one form, characters that may not stand in a URL
    are encoded as UTF-8. The query keeps its order and its parameters. A relative reference is
    resolved against `base`; without one it is None. Never raises.

    Source: RFC 3986 §5.2 and §6.2; white space, backslashes and IDN as the WHATWG URL standard.

    >>> canonical("HTTP://Example.ORG:80/a/../caf\u00e9?q=1#top")
    'http://example.org/caf%C3%A9?q=1'
    >>> canonical("../c", base="https://example.org/a/b")
    'https://example.org/c'
    >>> canonical("mailto:me@example.org") is None
    True
    """
    if len(url) <= MAX_LENGTH and _CANONICAL(url):
        return url
    text = url.strip(_ENDS).translate(_INSIDE)
    if len(text) > MAX_LENGTH:
        return None
    parts = _resolve(_split(text), base)
    origin_ = _origin(parts) if parts else None
    if parts is None or origin_ is None:
        return None
    path = _remove_dots(encode(parts.path)) or "/"
    found = origin_ + path + encode(parts.query)
    return found if len(found) <= MAX_LENGTH else None


def are_canonical(texts: Sequence[str]) -> bool:
    """Say whether all of the texts, none longer than a URL may be, are canonical URLs.

    Costs a third of asking one by one where all have one origin, as in lists.
    """
    first = _CANONICAL(texts[0]) if len(texts) >= MANY else None
    if first is not None:
        lines = "\n".join((*texts, ""))
        plain = "/." not in lines and lines.count("\n") == len(texts)
        if plain and _lines_of(first[1])(lines):
            return True
    return all(map(_CANONICAL, texts))


@lru_cache(maxsize=64)
def _lines_of(origin: str) -> Callable[[str], re.Match[str] | None]:
    """Return what recognizes lines of canonical URLs of an origin, without dots after slashes."""
    line = rf"{re.escape(origin)}/(?>(?:[{_LEGAL}/?]++|{_ESCAPED})*)\n"
    return re.compile(rf"(?>(?:{line})*)").fullmatch


def declared(text: str, base: str) -> str | None:
    """Return the canonical URL that a list of URLs means by `text`, or None when it means none.

    Lists must hold whole URLs (sitemaps.org). A relative one is resolved against `base`, the list's
    own URL; with a space in it, it is prose and no reference; beginning with the host of the list,
    it is a URL that lost its scheme.

    >>> declared("/a", "https://example.org/sitemap.xml")
    'https://example.org/a'
    >>> declared("www.example.org/a", "https://example.org/sitemap.xml")
    'https://www.example.org/a'
    >>> declared("see below", "https://example.org/sitemap.xml") is None
    True
    """
    whole = canonical(text)
    if whole is not None:
        return whole
    reference = text.strip(_ENDS)
    if any(c.isspace() for c in reference):
        return None
    scheme, _, place = (origin(base) or "").partition("://")
    head = reference.partition("/")[0].lower()
    if head and _name("://" + head) == _name("://" + place):
        return canonical(f"{scheme}://{reference}")
    return canonical(reference, base)


def origin(url: str) -> str | None:
    """Return scheme, host and port of an http or https URL, or None when `url` is none.

    Source: RFC 6454 §4 and §6.2; a default port is left out.

    >>> origin("https://docs.example.org:443/guide")
    'https://docs.example.org'
    """
    found = _CANONICAL(url)
    if found:
        return found[1]
    whole = canonical(url)
    return whole[: whole.index("/", len("https://"))] if whole else None


def hash64(text: str) -> int:
    """Return a 64-bit hash of `text` that is equal on every machine and in every run."""
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big")


def same_name(origin_a: str, origin_b: str) -> bool:
    """Return whether two origins differ in nothing but http/https and a leading `www.`.

    >>> same_name("http://example.org", "https://www.example.org")
    True
    >>> same_name("https://example.org", "https://docs.example.org")
    False
    """
    return _name(origin_a) == _name(origin_b)


def _name(origin_: str) -> str:
    name = origin_.partition("://")[2]
    bare = name.removeprefix("www.")
    return bare if "." in bare else name


def _split(text: str) -> tuple[str | None, str | None, str, str]:
    """Return scheme, authority, path and query of a reference; the first two may be absent."""
    found = _REFERENCE(text)
    if found and "\\" in found[3]:
        # Browsers read a backslash as a slash everywhere before the query.
        at = found.end(3)
        found = _REFERENCE(text[:at].replace("\\", "/") + text[at:])
    if found is None:  # cannot be: every group may be empty
        return None, None, "", ""
    scheme = found[1].lower() if found[1] else None
    return scheme, found[2], found[3], found[4] or ""


def _resolve(reference: tuple[str | None, str | None, str, str], base: str | None) -> _Parts | None:
    """Return the parts of an absolute http URL (RFC 3986 §5.2.2), or None."""
    scheme, authority, path, query = reference
    if scheme is not None:
        known = scheme in DEFAULT_PORTS and authority is not None
        return _Parts(scheme, authority or "", path, query) if known else None
    whole = canonical(base) if base is not None else None
    if whole is None:
        return None
    base_scheme, base_authority, base_path, base_query = _split(whole)
    at = base_scheme or "", base_authority or ""
    if authority is not None:
        return _Parts(at[0], authority, path, query)
    if not path:
        return _Parts(*at, base_path, query or base_query)
    if path.startswith("/"):
        return _Parts(*at, path, query)
    return _Parts(*at, base_path[: base_path.rindex("/") + 1] + path, query)


def _origin(parts: _Parts) -> str | None:
    """Return scheme, host and port without the default port and user information."""
    place = parts.authority.rpartition("@")[2]
    name, colon, port = place.rpartition(":")
    if not colon or port.endswith("]"):
        name, port = place, ""
    host = _host(name)
    digits = port.lstrip("0") if port else DEFAULT_PORTS[parts.scheme]
    if host is None or not (digits.isascii() and digits.isdigit() and len(digits) <= len("65535")):
        return None
    if int(digits) > MAX_PORT:
        return None
    shown = "" if digits == DEFAULT_PORTS[parts.scheme] else f":{digits}"
    return f"{parts.scheme}://{host}{shown}"


def _host(name: str) -> str | None:
    """Return a host name as lower-case ASCII, an IPv6 address in its short form, or None."""
    if name.startswith("["):
        return _ipv6(name)
    if "%" in name:
        # An escape that is not UTF-8 becomes U+FFFD, which no host name may hold.
        name = _unquote(name)
    ascii_name = name.lower() if name.isascii() else _to_ascii(name)
    if ascii_name is None or len(ascii_name) > MAX_HOST or not _HOST(ascii_name):
        return None
    return ascii_name


def _unquote(name: str) -> str:
    raw = re.sub(
        rb"%([0-9A-Fa-f]{2})",
        lambda found: bytes.fromhex(found[1].decode()),
        name.encode("utf-8", "replace"),
    )
    return raw.decode("utf-8", "replace")


def _ipv6(name: str) -> str | None:
    if not name.endswith("]") or "%" in name:
        return None
    try:
        return f"[{ipaddress.IPv6Address(name[1:-1]).compressed}]"
    except ValueError:
        return None


def _to_ascii(name: str) -> str | None:
    """Return an internationalized host name in ASCII (UTS 46), symbols allowed as in browsers."""
    try:
        labels = idna.uts46_remap(name, std3_rules=False, transitional=False).split(".")
        return ".".join(map(_a_label, labels))
    except (idna.IDNAError, UnicodeError):
        return None


def _a_label(label: str) -> str:
    if label.isascii():
        return label
    try:
        return idna.alabel(label).decode("ascii")
    except idna.IDNAError:
        # IDNA 2008 knows no symbols, and yet such names are registered and resolve.
        return "xn--" + label.encode("punycode").decode("ascii")


def encode(text: str) -> str:
    """Return a path or query in its one form of percent-encoding.

    Source: RFC 3986 §6.2.2; what may not stand in a URL is encoded as UTF-8.

    >>> encode("/caf\u00e9/%7eme")
    '/caf%C3%A9/~me'
    """
    return _FOREIGN(_encoded, text)


def _encoded(found: re.Match[str]) -> str:
    if found[1] is None:
        return quote(found[0].encode("utf-8", "replace"), safe="")
    char = chr(int(found[1], 16))
    return char if _UNRESERVED(char) else found[0].upper()


def _remove_dots(path: str) -> str:
    """Return `path` without `.` and `..` segments (RFC 3986 §5.2.4)."""
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)
