"""The places where pages declare things: `meta`, `link`, `base`, JSON-LD and microdata."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin

from lxml import etree
from lxml.html import HtmlElement

from flows import charset, elements, urls
from flows.facts import linked
from flows.facts.linked import Node
from flows.records import Alternate

MAX_VALUES = 64
"""Values kept of one `meta` name, and `hreflang` alternates kept of a page."""
MAX_ITEMS = 10_000
"""Elements with an `itemprop` that are looked at."""
MOST_TEXT = 4_000
"""Characters of an element's text that are read."""
MOST_BASE = 2_000
"""Characters of a `base`: a longer one would make each link of the page as long."""
_ITEMS = etree.XPath("descendant-or-self::*[@itemprop]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a page declares, gathered in one pass over its tree."""

    tree: HtmlElement
    base_url: str
    metas: Mapping[str, Sequence[str]]
    """Contents of `meta` elements by their name, property or http-equiv in lower case."""
    links: Sequence[tuple[frozenset[str], HtmlElement]]
    """`link` elements that have an `href`, with the words of their `rel`."""
    data: Sequence[object]
    """The JSON-LD blocks as parsed."""
    nodes: Sequence[Node]
    """The objects of those blocks, outermost first."""
    items: Sequence[tuple[frozenset[str], HtmlElement]]
    """Elements of microdata with the words of their `itemprop`."""

    def meta(self, *names: str) -> Iterator[str]:
        """Yield what the metas of these names say, name by name."""
        for name in names:
            yield from self.metas.get(name, ())

    def item(self, name: str) -> Iterator[HtmlElement]:
        """Yield the elements that hold a property of microdata."""
        return (element for names, element in self.items if name in names)


def read(tree: HtmlElement, url: str) -> Declared:
    """Return what a page from `url` declares."""
    metas: dict[str, list[str]] = {}
    links: list[tuple[frozenset[str], HtmlElement]] = []
    scripts: list[str] = []
    base = None
    for element in tree.iter("meta", "link", "base", "script"):
        if element.tag == "meta":
            _note(metas, element)
        elif element.tag == "script":
            if (element.get("type") or "").strip().lower() == "application/ld+json":
                scripts.append(element.text or "")
        elif href := element.get("href"):
            if element.tag == "base":
                base = base or (href if len(href) <= MOST_BASE else None)
            else:
                links.append((frozenset((element.get("rel") or "").lower().split()), element))
    data = linked.parse(scripts)
    return Declared(
        tree=tree,
        base_url=_joined(url, base) if base else url,
        metas=metas,
        links=links,
        data=data,
        nodes=tuple(linked.nodes(data)),
        items=_items(tree),
    )


def canonical(page: Declared) -> str | None:
    """Return the canonical URL that a page names for itself, in canonical form."""
    named = next((element for rel, element in page.links if "canonical" in rel), None)
    return None if named is None else urls.canonical(named.get("href") or "", page.base_url)


def alternates(page: Declared) -> tuple[Alternate, ...]:
    """Return the versions of a page in other languages that it names."""
    found: dict[Alternate, None] = {}
    for rel, element in page.links:
        lang = (element.get("hreflang") or "").strip()
        if len(found) == MAX_VALUES or not lang or "alternate" not in rel:
            continue
        url = urls.canonical(element.get("href") or "", page.base_url)
        if url:
            found[Alternate(lang=charset.clean(lang), url=url)] = None
    return tuple(found)


def words(text: str | None, most: int = 1000) -> str | None:
    """Return text on one line, cut at `most` characters; None when there is none.

    >>> words("  a  title ")
    'a title'
    """
    line = " ".join(charset.clean((text or "")[: 4 * most]).split())[:most].rstrip()
    return line or None


def text_of(element: HtmlElement) -> str | None:
    """Return the text of an element on one line."""
    return words(elements.beginning(element, MOST_TEXT))


def _note(metas: dict[str, list[str]], element: HtmlElement) -> None:
    """Add what one `meta` says."""
    content = (element.get("content") or "").strip()
    name = element.get("property") or element.get("name") or element.get("http-equiv")
    if content and name:
        values = metas.setdefault(name.strip().lower(), [])
        if len(values) < MAX_VALUES:
            values.append(content)


def _items(tree: HtmlElement) -> list[tuple[frozenset[str], HtmlElement]]:
    """Return the elements of microdata."""
    found = _ITEMS(tree)
    return [(frozenset(e.get("itemprop").split()), e) for e in found[:MAX_ITEMS]]


def _joined(url: str, base: str) -> str:
    """Return `base` against `url`, or `url` where that is no address."""
    try:
        return urljoin(url, base.strip())
    except ValueError:
        return url
