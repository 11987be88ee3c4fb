"""Main content of a page as Markdown, and what the page knows of itself."""

from hashlib import blake2b

import lxml.html

from flows import charset, markdown, tokens
from flows.records import Document, Failure, Outcome, Page


def extract(page: Page, *, encoding: str = "cl100k_base") -> Document | Failure:
    """Return the document of a page, or why there is none. Never raises for what a page holds."""
    text = charset.decode(page.body, page.charset)
    if not text.strip():
        return Failure(entry=page.entry, outcome=Outcome.EMPTY, exchange=page.exchange)
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True)
    tree = lxml.html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    body = tree.find("body")
    written = markdown.convert(tree if body is None else body, page.base_url)
    return Document(
        url=page.entry.url,
        markdown=written,
        content_hash=blake2b(written.encode("utf-8", "replace"), digest_size=16).hexdigest(),
        html_bytes=len(page.body),
        html_tokens=tokens.estimate(text, encoding),
        tokens=tokens.count(written, encoding),
    )
