"""How Markdown spells an element, once what it holds is known."""

from lxml.html import HtmlElement
from markdownify import ATX, MarkdownConverter

from flows.markdown import images, inline

NOTHING: frozenset[str] = frozenset()
"""Elements around the one that is spelled: markdownify asks, and here it does not matter."""


class Spelling(MarkdownConverter):
    """markdownify's converter for elements of lxml, one at a time.

    markdownify walks a tree of its own parser by recursion; here the walk is another's, and the
    methods `convert_…` are asked for one element each.
    """

    class Options:
        """What markdownify is told about the Markdown that is wanted."""

        heading_style = ATX
        sub_symbol = "<sub>"
        sup_symbol = "<sup>"

    def __init__(self, base_url: str) -> None:
        """Take what links are relative to."""
        super().__init__()
        self.base = inline.Base(base_url)

    def spell(self, tag: str, element: HtmlElement, text: str) -> str:
        """Return the Markdown of an element that holds `text`, without blank lines around it."""
        convert = self.get_conv_fn(tag)  # type: ignore[attr-defined]  # its stub is not complete
        return str(convert(element, text, NOTHING)).strip("\n")

    def convert_a(self, element: HtmlElement, text: str, around: frozenset[str]) -> str:
        """Return a link to an absolute URL, or its words where it leads nowhere."""
        target = self.base.absolute(element.get("href") or "")
        return inline.link(text, target) if target else text

    def convert_img(self, element: HtmlElement, text: str, around: frozenset[str]) -> str:
        """Return an image with its real source; an emoji is its character, a dot is nothing."""
        character = images.emoji(element)
        source = images.source_of(element)
        target = self.base.absolute(source) if source else ""
        if character or not target or images.is_dot(element):
            return character
        alt = " ".join((element.get("alt") or "").split())
        return f"![{inline.escape_brackets(inline.escape(alt))}]({target})"
