"""What fetches are for, and so what they may cost."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from flows import media
from flows.records import Outcome

May = Callable[[str], Outcome | None]
"""Why a URL may not be asked for, or None when it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Want:
    """What a fetch is for."""

    accept: str
    types: tuple[str, ...] = ()
    """Content types of a success that are worth reading; empty: any. A missing type is read."""
    max_bytes: int
    """Bytes of a body, on the wire and inflated."""
    cut: bool = False
    """Keep the first `max_bytes` of a longer body, instead of refusing it."""
    deadline_s: float = 30.0
    """Seconds for all hops, pauses between them not counted."""
    max_hops: int = 10
    """Redirects that are followed."""
    cross_origin: bool = False
    """Follow redirects to other origins."""
    by_rules: bool = False
    """Redirects need the leave of the site's rules, where a guest knows them."""
    may: May | None = None


PAGE = Want(
    accept="text/html,application/xhtml+xml;q=0.9,*/*;q=0.1",
    types=media.HTML,
    max_bytes=8 * 1024 * 1024,
    by_rules=True,
)
"""A page: HTML, on its own origin."""

MARKDOWN = replace(
    PAGE,
    accept="text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.8,*/*;q=0.1",
    types=(*media.HTML, *media.MARKDOWN),
)
"""A page, as Markdown where the server has it so (RFC 9110 §12.5.1)."""

SITEMAP = Want(
    accept="application/xml,text/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5",
    max_bytes=128 * 1024 * 1024,
    deadline_s=300.0,
)
"""A sitemap: larger than the 50 MB of sitemaps.org, because sites are."""

ROBOTS = Want(
    accept="text/plain,*/*;q=0.5",
    max_bytes=512 * 1024,
    cut=True,
    max_hops=5,
    cross_origin=True,
)
"""robots.txt: 500 KiB and five redirects, to any host (RFC 9309 §2.3.1.2 and §2.5)."""
