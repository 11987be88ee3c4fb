"""Formulas of a page as the TeX they were written in."""

import re

from lxml.html import HtmlElement

from flows.elements import Holders

HOLDERS = frozenset({"span", "div", "math", "mjx-container"})
"""Elements that may hold a formula."""
_HOLDERS = re.compile(
    r"(?:^|\s)(?:katex|katex-display|MathJax|MathJax_Display|MathJax_SVG|mjx-chtml|MathJax_CHTML|mwe-math-element)(?:\s|$)"
)
_PREVIEW = re.compile(r"(?:^|\s)(?:MathJax_Preview|MJX_Assistive_MathML)(?:\s|$)")
_SOURCE = re.compile(r"(?:^|\s)(?:math|arithmatex|tex|latex)(?:\s|$)")
_DELIMITED = re.compile(r"\s*(?:\\\((.*)\\\)|\\\[(.*)\\\]|\$\$(.*)\$\$|\$(.*)\$)\s*\Z", re.DOTALL)
_DISPLAYED = ".//*[@class='katex-display']"
_STYLE = re.compile(r"\A\{\\(?:displaystyle|textstyle) (.*)\}\Z", re.DOTALL)


def formula(element: HtmlElement, holders: Holders) -> str | None:
    """Return the formula an element shows, as `$…$` or `$$…$$`; None when it shows none.

    The empty string stands for an element that only repeats or previews a formula.
    """
    tag, names = element.tag, element.get("class") or ""
    if tag == "script":
        kind = element.get("type") or ""
        return (
            _dollars(element.text or "", "mode=display" in kind)
            if kind.startswith("math/tex")
            else None
        )
    if tag == "math":
        return _of_mathml(element, element.get("display") == "block")
    if tag == "mjx-container":
        maths = element.find(".//math")
        return "" if maths is None else _of_mathml(maths, element.get("display") == "true")
    if not names:
        return None
    if _PREVIEW.search(names):
        return ""
    if _HOLDERS.search(names):
        return _held(element, names, holders)
    return _delimited(element) if _SOURCE.search(names) else None


def _held(element: HtmlElement, names: str, holders: Holders) -> str | None:
    """Return the formula of KaTeX's, MathJax's or a wiki's wrapper."""
    maths = element.find(".//math") if holders.holds(element, "math") else None
    if maths is not None:
        display = "display" in names.lower() or maths.get("display") == "block"
        return _of_mathml(maths, display or element.find(_DISPLAYED) is not None)
    following = element.getnext()
    scripted = following is not None and following.tag == "script"
    return "" if scripted or "MathJax" in names else None


def _of_mathml(maths: HtmlElement, display: bool) -> str:
    """Return the TeX that MathML carries along, else its symbols as they stand."""
    for note in maths.iter("annotation"):
        if "tex" in (note.get("encoding") or "").lower():
            return _dollars("".join(note.itertext()), display)
    stated = maths.get("alttext")
    if stated:
        return _dollars(stated, display)
    return _dollars(" ".join(" ".join(maths.itertext()).split()), display)


def _delimited(element: HtmlElement) -> str | None:
    """Return the formula of an element whose whole text is TeX between delimiters."""
    first = next((text for text in element.itertext() if text.strip()), "")
    if not first.lstrip().startswith(("\\", "$")):
        return None
    found = _DELIMITED.match("".join(element.itertext()))
    if found is None:
        return None
    inline, block, double, single = found.groups()
    tex = next(t for t in (inline, block, double, single) if t is not None)
    return _dollars(tex, block is not None or double is not None)


def _dollars(tex: str, display: bool) -> str:
    """Return TeX between dollar signs."""
    found = _STYLE.match(tex.strip())
    tex = " ".join((found[1] if found else tex).split())
    if not tex:
        return ""
    return f"$${tex}$$" if display else f"${tex}$"
