"""Main content of a page as Markdown, and what the page knows of itself."""

import re
from dataclasses import replace
from hashlib import blake2b

import lxml.html
from lxml import etree
from lxml.html import HtmlElement

from flows import (
    charset,
    elements,
    facts,
    language,
    maincontent,
    markdown,
    ready,
    signals,
    tokens,
    walls,
)
from flows.facts import Facts
from flows.markdown import Written
from flows.records import Document, Failure, Outcome, Page

THIN_WORDS = 5
"""Words below which a text without code, table or image is of no use."""
SHORT = 100
"""Characters from which a text is never too short."""
LONG = 50_000
"""Characters of a page from which its attributes may be too long."""
UNFILLED = frozenset({Outcome.EMPTY, Outcome.THIN, Outcome.JS_REQUIRED})
"""What HTML without content is, in whose place Markdown that the server offers may stand."""
_MORE = re.compile(r"```|^\||!\[|\$", re.MULTILINE)


def extract(
    page: Page, *, encoding: str = "cl100k_base", obeys_signals: bool = True
) -> Document | Failure:
    """Return the document of a page, or why there is none. Never raises for what a page holds.

    With `obeys_signals` a page that no AI may read is none.
    """
    offered = ready.read(page.offer) if page.offer else None
    if offered and page.is_markdown:
        text, tree = offered[0], _parsed(ready.as_html(*offered))
    else:
        text = charset.decode(page.body, page.charset)
        tree = _parsed(text)
    if not isinstance(tree, HtmlElement):
        return _failure(page, *tree)
    said = signals.of_page(tree, page.robots_tag)
    denial = signals.denial(said) if obeys_signals else None
    try:
        found = _read(page, text, tree, encoding, offered[0] if offered else None, denial)
    except (etree.LxmlError, RecursionError, ValueError) as why:
        found = _failure(page, Outcome.PARSE_ERROR, f"{type(why).__name__}: {why}"[:300])
    return replace(found, ai_signals=said) if said else found


def _read(
    page: Page,
    text: str,
    tree: HtmlElement,
    encoding: str,
    offered: str | None,
    denial: str | None,
) -> Document | Failure:
    """Return the document of a parsed page, or what stands in its place.

    A wall is named before what it asks for: a notice of an outage that asks not to be indexed
    says nothing of the page behind it.
    """
    told = facts.read(tree, page.base_url, page.robots_tag)
    if page.is_markdown:
        written, way = Written(offered or ""), "negotiated"
    else:
        written, way = _written(tree, told)
    refused = _refused(told, denial)
    wall = walls.judge(tree, written.text, page.base_url) or refused or _slight(written.text)
    if offered and not page.is_markdown and (wall is None or wall[0] in UNFILLED):
        written, way, wall = Written(offered), "alternate", refused or _slight(offered)
    if wall:
        return _failure(page, *wall, told)
    return Document(
        url=page.entry.url,
        markdown=written.text,
        content_hash=blake2b(written.text.encode("utf-8"), digest_size=16).hexdigest(),
        canonical_url=told.canonical_url,
        title=told.title,
        description=told.description,
        lang=told.lang or language.detected(written.text),
        author=told.author,
        published_at=told.published_at,
        modified_at=told.modified_at,
        html_bytes=len(page.body),
        html_tokens=tokens.estimate(text, encoding),
        tokens=tokens.count(written.text, encoding),
        structured=told.structured,
        prices=told.prices,
        anchors=written.anchors,
        extraction=way,
    )


def _refused(told: Facts, denial: str | None) -> tuple[Outcome, str] | None:
    """Return the word by which a page asks not to be kept, or None."""
    if denial:
        return Outcome.POLICY_DENIED, denial
    return (Outcome.NOINDEX, told.noindex) if told.noindex else None


def _written(tree: HtmlElement, told: Facts) -> tuple[Written, str]:
    """Return the main content of a page, and how it was found."""
    main = maincontent.find(tree, told.title)
    if not main.nodes:
        return Written(main.text), main.way
    return markdown.write(main.nodes, told.base_url, main.without), main.way


def _parsed(text: str) -> HtmlElement | tuple[Outcome, str]:
    """Return the tree of a page, or why there is none.

    The parser gives up at 2,048 elements within each other; what it has then is not the page.
    """
    parser = lxml.html.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True
    )
    is_long = len(text) > LONG
    text = elements.without_crowds(text) if is_long else text
    try:
        tree = lxml.html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.LxmlError, ValueError):
        return Outcome.EMPTY, "no element"
    if any(error.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for error in parser.error_log):
        return Outcome.PARSE_ERROR, "elements are nested too deep"
    if is_long:
        elements.shorten_names(tree)
    return tree


def _slight(text: str) -> tuple[Outcome, str] | None:
    """Return the outcome for a text that is too short to be of use."""
    if not text.strip():
        return Outcome.EMPTY, "no main content"
    if len(text) > SHORT or _MORE.search(text):
        return None
    words = walls.words(text)
    return (Outcome.THIN, f"{words} words") if words < THIN_WORDS else None


def _failure(page: Page, outcome: Outcome, detail: str, told: Facts | None = None) -> Failure:
    """Return why a page is left out."""
    return Failure(
        entry=page.entry,
        outcome=outcome,
        detail=detail,
        exchange=page.exchange,
        canonical_url=told.canonical_url if told else None,
    )
