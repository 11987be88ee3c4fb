"""JSON-LD: the objects of a page's linked data, read leniently."""

import json
from collections.abc import Iterable, Iterator

Node = dict[str, object]
"""One JSON object."""
MAX_CHARACTERS = 1 << 20
"""Characters of JSON-LD that are read of one page."""
MAX_NODES = 2_000
"""Objects of one page that are looked at."""


def parse(scripts: Iterable[str]) -> list[object]:
    """Return the JSON-LD blocks that can be read; control characters in strings are let pass."""
    found: list[object] = []
    left = MAX_CHARACTERS
    for script in scripts:
        text = script.strip().removeprefix("<!--").removesuffix("-->").strip().rstrip(";")
        left -= len(text)
        if text and left >= 0:
            try:
                found.append(json.loads(text, strict=False, parse_constant=lambda _: None))
            except (ValueError, RecursionError):
                continue
    return found


def nodes(data: object) -> Iterator[Node]:
    """Yield the objects within parsed JSON, each before those inside it."""
    pending, seen = [data], 0
    while pending and seen < MAX_NODES:
        value = pending.pop()
        if isinstance(value, dict):
            seen += 1
            yield value
            pending.extend(reversed(value.values()))
        elif isinstance(value, list):
            pending.extend(reversed(value))


def kinds(node: Node) -> frozenset[str]:
    """Return the types of an object, without their vocabulary.

    >>> sorted(kinds({"@type": ["schema:Product", "https://schema.org/Thing"]}))
    ['Product', 'Thing']
    """
    named = listed(node.get("@type"))
    return frozenset(n.rpartition("/")[2].rpartition(":")[2] for n in named if isinstance(n, str))


def listed(value: object) -> list[object]:
    """Return a value that may be one or a list of them as a list."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def name_of(value: object) -> str | None:
    """Return what a person, a brand or a plain string is called."""
    if isinstance(value, dict):
        value = value.get("name")
    first = next(iter(listed(value)), None)
    return first if isinstance(first, str) and first.strip() else None
