"""Pages as they come from the Web, for tests of what is read in them."""

import lxml.html
from lxml.html import HtmlElement

from flows.records import Attribution, Document, Entry, Exchange, Method, Page

URL = "https://a.test/docs/page.html"
PROSE = "The harbour keeps a ledger of every boat that ties up before noon, and counts the fees. "


def page(
    body: str | bytes, url: str = URL, *, charset: str | None = None, robots_tag: str | None = None
) -> Page:
    """Return a page of the site https://a.test with this body."""
    return Page(
        entry=Entry(site="https://a.test", url=url, attribution=Attribution(method=Method.GIVEN)),
        exchange=Exchange(status=200, final_url=url),
        body=body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body,
        charset=charset,
        robots_tag=robots_tag,
    )


def article(inside: str = "", *, head: str = "", attributes: str = 'lang="en"') -> str:
    """Return a page with enough prose to be main content, and `inside` in the middle of it."""
    prose = f"<p>{PROSE * 3}</p>"
    return (
        f"<!doctype html><html {attributes}><head><title>Harbour</title>{head}</head><body>"
        f'<nav><a href="/">Home</a></nav><main><h1>Harbour</h1>{prose}{inside}{prose}</main>'
        f"<footer>Imprint</footer></body></html>"
    )


def tree(html: str) -> HtmlElement:
    """Return the tree of a page."""
    return lxml.html.document_fromstring(html)


def document(markdown: str, url: str = URL, title: str | None = None) -> Document:
    """Return a document with nothing but Markdown."""
    return Document(url=url, markdown=markdown, content_hash="", title=title)
