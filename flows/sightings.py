"""A URL that is named again: what is said of it then joins the row it has already."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

import pyarrow as pa

from flows.schema import SCHEMAS, Row

PLACE: Final = ("method", "sitemap", "depth")
"""Where a URL is declared: all three from one sighting."""

FACTS: Final = ("lastmod", "lastmod_raw", "changefreq", "priority", "alternates")
"""What a declaration says of a URL."""

FOLDED: Final = (*PLACE, *FACTS, "methods", "sitemaps")
"""The columns of `urls` that sightings may change."""

_NEVER = datetime.min.replace(tzinfo=UTC)


def fold(rows: pa.Table, seen: pa.Table) -> pa.Table:
    """Return rows of `urls` with later sightings of their URLs folded in.

    A sitemap says more of a page than a link does, so a row that a link made becomes the first
    sitemap's. Of several declarations the one with the newest `lastmod` is believed. The lists
    name the row's own place first; what is added follows in alphabetical order.
    """
    again: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for note in seen.to_pylist():
        again[note["site"], note["url"]].append(note)
    if not again:
        return rows
    told = rows.select(["site", "url", *FOLDED]).to_pylist()
    told = [_folded(row, again.get((row["site"], row["url"]), [])) for row in told]
    for name in FOLDED:
        field = SCHEMAS["urls"].field(name)
        values: pa.Array[Any] = pa.array([row[name] for row in told], field.type)
        rows = rows.set_column(rows.column_names.index(name), field, values)
    return rows


def _folded(row: Row, notes: list[Row]) -> Row:
    if not notes:
        return row
    declaring = [said for said in (row, *notes) if said["sitemap"] is not None] or [row]
    newest = max(declaring, key=lambda said: said["lastmod"] or _NEVER)
    first = declaring[0]
    facts = {name: _first(said[name] for said in (newest, *declaring)) for name in FACTS}
    if facts["lastmod"] is not None:
        facts["lastmod_raw"] = newest["lastmod_raw"]
    return {
        **row,
        **{name: first[name] for name in PLACE},
        **facts,
        "methods": _joined([first["method"], *row["methods"]], notes, "method"),
        "sitemaps": _joined([first["sitemap"], *row["sitemaps"]], notes, "sitemap"),
    }


def _joined(own: list[str | None], notes: list[Row], name: str) -> list[str]:
    """Return each value once: the row's own, then those of the notes by the alphabet."""
    added = sorted({note[name] for note in notes if note[name] is not None})
    return [value for value in dict.fromkeys((*own, *added)) if value is not None]


def _first(values: Iterable[Any]) -> Any:  # noqa: ANN401  # whatever the column holds
    return next((value for value in values if value not in (None, [])), None)
