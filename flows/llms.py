"""llms.txt: the pages that a site lists for language models."""

import re

from flows import urls

_LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^\s<>)]+)").findall
_BARE = re.compile(r"(?<![(<\"'\w])https?://[^\s<>()\[\]\"']+[^\s<>()\[\]\"'.,;:!?]").findall


def read(body: bytes, url: str) -> list[str]:
    r"""Return the canonical URLs that an llms.txt at `url` lists, once each, in its order.

    It is Markdown; a list of bare URLs is taken as well. A web page lists nothing.

    Source: llmstxt.org.

    >>> read(b"# A\n- [Guide](/guide.md): how\n- https://a.test/b", "https://a.test/llms.txt")
    ['https://a.test/guide.md', 'https://a.test/b']
    """
    text = body.decode("utf-8-sig", "replace")
    if text.lstrip().startswith("<"):
        return []
    named = [target for line in text.splitlines() for target in (*_LINK(line), *_BARE(line))]
    found = [urls.canonical(target, url) for target in named if not target.startswith("#")]
    return list(dict.fromkeys(page for page in found if page))
