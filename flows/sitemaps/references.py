"""Character references in text and attributes, and the `&` that begins none (XML 1.0 §4.1)."""

import re
from html.entities import html5

from flows.sitemaps.faults import Faults

_REFERENCE = re.compile(r"&(?:(#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]\w{0,31});)?")
_PREDEFINED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_ATTRIBUTE = re.compile(r"(?<![^\s\"'])([^\s=\"']++)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')").findall


class References:
    """Resolves the references of one file."""

    def __init__(self, faults: Faults) -> None:
        """Report what is not well-formed to `faults`."""
        self.defined = False
        """Whether a document type defines entities: then no name but the five can be trusted."""
        self._faults = faults

    def resolve(self, text: str) -> str | None:
        """Return the characters that `text` stands for, or None when an entity hides them.

        A `&` that begins no reference stands for itself, a name of HTML for its character: that is
        what was meant, and neither changes what is beside it.
        """
        if "&" not in text:
            return text
        if text.count("&") == text.count("&amp;"):
            return text.replace("&amp;", "&")
        hidden: list[str] = []

        def character(found: re.Match[str]) -> str:
            name: str | None = found[1]
            if name in _PREDEFINED:
                return _PREDEFINED[name]
            if name and name[0] == "#":
                return self._numbered(name[1:])
            if name and self.defined:
                hidden.append(name)
                return ""
            self._faults.add("sitemap_malformed", f"{found[0]} in {text.strip()}")
            return html5.get(f"{name};", found[0])

        resolved = _REFERENCE.sub(character, text)
        return None if hidden else resolved

    def attributes(self, text: str) -> dict[str, str]:
        """Return the attributes of a tag; one whose value an entity hides is missing."""
        found = {name: self.resolve(a or b) for name, a, b in _ATTRIBUTE(text)}
        return {name: value for name, value in found.items() if value is not None}

    def _numbered(self, digits: str) -> str:
        number = int(digits[1:], 16) if digits[0] in "xX" else int(digits)
        if number in {0x9, 0xA, 0xD} or 0x20 <= number <= 0xD7FF or 0xE000 <= number <= 0x10FFFF:
            return chr(number)
        self._faults.add("sitemap_malformed", f"&#{digits};")
        return ""
