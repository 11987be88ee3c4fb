"""What a page states for machines, kept as JSON text."""

import json

from flows import charset
from flows.facts import declared
from flows.facts.declared import Declared

OPEN_GRAPH = ("og:", "article:", "product:", "book:", "profile:", "video:", "music:", "twitter:")
"""Prefixes of the properties that are kept (ogp.me, and Twitter's cards beside it)."""


def as_json(page: Declared) -> str | None:
    """Return JSON-LD, OpenGraph and `hreflang` alternates as JSON text, None when there is none.

    The text is an object with `json_ld` (a list of the blocks), `open_graph` (property to value,
    or to the list of values where there are several) and `alternates` (language and URL), each
    only where the page has it.
    """
    kept = {
        "json_ld": list(page.data),
        "open_graph": _open_graph(page),
        "alternates": [{"lang": a.lang, "url": a.url} for a in declared.alternates(page)],
    }
    found = {name: value for name, value in kept.items() if value}
    try:
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return None
    return charset.clean(text) if found else None


def _open_graph(page: Declared) -> dict[str, object]:
    """Return the OpenGraph properties."""
    return {
        name: values[0] if len(values) == 1 else list(values)
        for name, values in page.metas.items()
        if name.startswith(OPEN_GRAPH)
    }
