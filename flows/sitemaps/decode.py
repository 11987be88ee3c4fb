"""Bytes to text: byte order marks, declared encodings, and those that are declared falsely."""

import codecs
import re

from flows.sitemaps.faults import Faults

HEAD = 1_024
"""Bytes in which the encoding must show itself."""

BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks, the longer ones first (XML 1.0, appendix F)."""

NUL_PATTERNS = (
    ((False, True, True, True), "utf-32-le"),
    ((True, True, True, False), "utf-32-be"),
    ((False, True, False, True), "utf-16-le"),
    ((True, False, True, False), "utf-16-be"),
)
"""Where the first four bytes are zero when they are no byte order mark."""

WESTERN = {"iso8859-1": "cp1252", "cp1252": "cp1252", "iso8859-15": "iso8859-15"}
"""Encodings declared by default where UTF-8 is meant: bytes that are UTF-8 are read as such."""

MAX_STRAYS = 10_000
"""Bytes that are not UTF-8 before a file counts as one in the 8-bit encoding altogether."""

NO_CHARSETS = ("idna", "punycode", "raw", "undefined", "unicode", "utf-7")
"""Codecs of Python that are no encodings of the Web."""

_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?\sencoding\s*=\s*[\"']([\w.:\-]{1,40})[\"']").search
_CONTROLS = bytes(byte for byte in range(0x20) if byte not in b"\t\n\r")
_CONTROL_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]+")


class Decoder:
    """Takes bytes in any pieces, gives text without control characters. Never raises."""

    def __init__(self, faults: Faults) -> None:
        """Report what is not as declared to `faults`."""
        self._faults = faults
        self._head = b""
        self._codec: codecs.IncrementalDecoder | None = None

    def feed(self, data: bytes) -> str:
        """Return the text of `data`, as far as it can be told."""
        if self._codec is None:
            self._head += data
            if len(self._head) < HEAD:
                return ""
            data = self._begin()
        return self._clean(self._decode(data, final=False))

    def close(self) -> str:
        """Return the rest."""
        data = self._begin() if self._codec is None else b""
        return self._clean(self._decode(data, final=True))

    def _begin(self) -> bytes:
        """Choose the encoding by the first bytes; return them without their mark."""
        head, self._head = self._head, b""
        for mark, name in BOMS:
            if head.startswith(mark):
                self._codec = self._named(name)
                return head[len(mark) :]
        zeros = tuple(byte == 0 for byte in head[:4])
        guess = next((name for pattern, name in NUL_PATTERNS if pattern == zeros), None)
        self._codec = self._named(guess) if guess else self._declared(head)
        return head

    def _declared(self, head: bytes) -> codecs.IncrementalDecoder:
        """Return the decoder that the XML declaration names, where it can be right."""
        found = _DECLARED(head, 0, HEAD)
        label = found[1].decode("ascii", "replace") if found else "utf-8"
        try:
            name = codecs.lookup(label).name
            usable = b"<?xml".decode(label) == "<?xml" and not name.startswith(NO_CHARSETS)
        except (LookupError, ValueError):
            name, usable = label, False
        if usable:
            return self._named(name)
        self._faults.once("sitemap_malformed", f"declared as {label}, which it is not")
        return self._named("utf-8")

    def _named(self, name: str) -> codecs.IncrementalDecoder:
        if name.startswith("utf-32"):
            self._faults.once("sitemap_malformed", "UTF-32, which hardly any reader knows")
        if name in {"utf-8", "ascii"}:
            return _Lenient("cp1252", self._faults, note=True)
        if name in WESTERN:
            return _Lenient(WESTERN[name], self._faults, note=False)
        return codecs.getincrementaldecoder(name)("replace")

    def _decode(self, data: bytes, *, final: bool) -> str:
        return self._codec.decode(data, final) if self._codec else ""

    def _clean(self, text: str) -> str:
        """Return `text` without control characters; `_Lenient` has none."""
        if isinstance(self._codec, _Lenient) or _CONTROL_TEXT.search(text) is None:
            return text
        self._faults.once("sitemap_malformed", "control characters")
        return _CONTROL_TEXT.sub("", text)


class _Lenient(codecs.IncrementalDecoder):
    """UTF-8, and what is not is read in an 8-bit encoding: a stray byte costs only itself."""

    def __init__(self, fallback: str, faults: Faults, *, note: bool) -> None:
        """Report control characters to `faults`, and stray bytes when they are to be noted."""
        super().__init__()
        self._fallback = fallback
        self._faults = faults
        self._note = note
        self._strays = 0
        self._rest = b""

    def decode(self, data: bytes, final: bool = False) -> str:  # type: ignore[override]
        clean = data.translate(None, _CONTROLS)  # four times as fast as a search in the text
        if len(clean) < len(data):
            self._faults.once("sitemap_malformed", "control characters")
        whole = self._rest + clean
        found = []
        at = 0
        while at < len(whole) and self._strays < MAX_STRAYS:
            try:
                text, used = codecs.utf_8_decode(memoryview(whole)[at:], "strict", final)
                found.append(text)
                at += used
                break
            except UnicodeDecodeError as error:
                start, end = at + error.start, at + error.end
                found.append(whole[at:start].decode("utf-8"))
                found.append(whole[start:end].decode(self._fallback, "replace"))
                at = end
                self._strays += 1
        if self._strays >= MAX_STRAYS:
            found.append(whole[at:].decode(self._fallback, "replace"))
            at = len(whole)
        if self._strays and self._note:
            self._faults.once("sitemap_malformed", "bytes that are not UTF-8")
        self._rest = whole[at:]
        return "".join(found)
