"""What stands inside the main content and is none of it: navigation, boxes, related links."""

import functools
import re
from collections.abc import Iterator

from lxml.html import HtmlElement

from flows.maincontent.survey import Span, Survey

PART = 0.3
"""Share of the main content's words above which an element is more than chrome."""
NEVER = frozenset("body main article h1 h2 h3 h4 pre code table tbody tr".split())  # noqa: SIM905
"""Elements that no name of theirs makes chrome."""
STRUCTURE = frozenset(
    "pre table thead tbody tr td th ul ol li dl dt dd code h1 h2 h3 h4 h5 h6 math sup sub em strong "  # noqa: SIM905
    "b i a img br hr".split()
)
"""Elements that trafilatura drops although they are content."""
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
BOXES = frozenset({"footer", "aside", "form"})
ARTICLE = frozenset({"article", "blog", "news", "newsarticle", "blogposting"})
"""Values of `og:type` for a page that is one text."""
_NAMES = re.compile(
    r"(?<!has-)(?<!with-)(?<!no-)\b(?:bread-?crumbs?|pagination|pager|page-?nav|prev-?next|next-?prev"
    r"|(?:post|article|page|site|doc|entry)s?-(?:nav|navigation|footer-nav)|nav|navbar|navigation"
    r"|menu|share|sharing|share-?(?:bar|buttons?|links?)|sharedaddy|addtoany"
    r"|social(?:-?(?:links|share|media|icons))?"
    r"|related(?:-?(?:posts?|articles?|content|links|products|stories|items))?"
    r"|recommend(?:ed|ations?)?|you-?may-?(?:also-?)?like|also-?like|upsells?|cross-?sells?"
    r"|more-?(?:stories|from|on|posts)|newsletter|subscribe|subscription|sign-?up|cookies?|consent"
    r"|gdpr|toc|table-?of-?contents|on-?this-?page|skip-?(?:link|to-?content)"
    r"|edit-?(?:this-?)?(?:page|link|section|post)|editsection|mw-editsection|feedback|helpful"
    r"|comment-?form|respond|reply-?form|advert(?:isement|s|ising)?|ads?|sponsor(?:ed)?|promo"
    r"|outbrain|taboola|sidebar|popup|modal|overlay|toolbar|author-?(?:box|bio|card|info)|byline"
    r"|(?:post|entry|article)-?meta|postmetadata|metadata|tags?|tag-?(?:list|cloud|links)"
    r"|(?:post|entry|article)-?tags|back-?to-?top|copyright|footer|noprint|printfooter|catlinks"
    r"|navbox|last-?updated|source-?file|content-?tabs-?nav|copy-?button)\b",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"([a-z])([A-Z])")


def is_article(tree: HtmlElement) -> bool:
    """Tell whether a page calls itself an article."""
    for meta in tree.iter("meta"):
        name = (meta.get("property") or meta.get("name") or "").lower()
        if name == "og:type":
            return (meta.get("content") or "").lower().strip() in ARTICLE
        if name.startswith("article:"):
            return True
    return False


def within(found: Survey, node: HtmlElement, *, prose: bool) -> frozenset[HtmlElement]:
    """Return the elements within `node` that are chrome; none of them lies in another."""
    return frozenset(_within(found, node, prose=prose))


def _within(found: Survey, node: HtmlElement, *, prose: bool) -> Iterator[HtmlElement]:
    most = PART * max(1, found.kept(node))
    kept = _kept_span(found, node)
    pending = list(node)[::-1]
    while pending:
        element = pending.pop()
        if element not in found.spans:
            continue
        if found.kept(element) < most and (
            is_chrome(found, element) or is_excess(found, element, kept, prose=prose)
        ):
            yield element
        else:
            pending.extend(list(element)[::-1])


def is_chrome(found: Survey, element: HtmlElement) -> bool:
    """Tell whether an element is chrome by its kind or its name."""
    tag = element.tag
    if tag == "nav":
        return True
    if tag in BOXES and found.kept(element) < found.words(element) / 2:
        return True
    names = " ".join(filter(None, map(element.get, ("class", "id", "role"))))
    return tag not in NEVER and bool(names) and named(names)


@functools.lru_cache(maxsize=4096)
def named(names: str) -> bool:
    """Tell whether class or id words speak of chrome.

    >>> named("post-footer"), named("has-sidebar")
    (True, False)
    """
    return _NAMES.search(_CAMEL.sub(r"\1-\2", names).replace("_", "-")) is not None


def is_excess(found: Survey, element: HtmlElement, kept: Span, *, prose: bool) -> bool:
    """Tell whether an element that trafilatura left out should be left out."""
    words = found.words(element)
    if not words or found.kept(element) > words / 10:
        return False
    tag, density = element.tag, found.linked(element) / words
    start, end = found.spans[element]
    if start >= kept[1] and tag in HEADINGS:
        return True
    if end <= kept[0] and element.find(".//h1") is not None:
        return False
    if end <= kept[0] or start >= kept[1]:
        return tag not in HEADINGS and (not _is_dense(element) or density > 0.5)
    if prose:
        return not (tag in STRUCTURE or _is_dense(element))
    return density > 0.6 and tag not in STRUCTURE


def _is_dense(element: HtmlElement) -> bool:
    """Tell whether an element holds code or a table."""
    return (
        element.tag in ("pre", "code")
        or element.find(".//pre") is not None
        or (element.find(".//table") is not None)
    )


def _kept_span(found: Survey, node: HtmlElement) -> Span:
    """Return from which to which word of `node` kept ones stand."""
    start, end = found.spans[node]
    before = found.kept_before
    while start < end and before[start + 1] == before[start]:
        start += 1
    while end > start and before[end] == before[end - 1]:
        end -= 1
    return start, end
