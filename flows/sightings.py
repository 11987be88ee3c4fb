"""A URL that is named again: what is said of it then joins the row it has already."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from flows.schema import SCHEMAS, Row

PLACE: Final = ("method", "sitemap", "depth")
"""Where a URL is declared: all three from one sighting."""

FACTS: Final = ("lastmod", "lastmod_raw", "changefreq", "priority", "alternates")
"""What a declaration says of a URL."""

FOLDED: Final = (*PLACE, *FACTS, "methods", "sitemaps")
"""The columns of `urls` that sightings may change; other tables have some of them."""

OF_PAGES: Final = ("run_id", "site", "url", "method", "sitemap", "lastmod")
"""The columns of a sighting that matter to tables which have no lists of methods and sitemaps."""

_Key = tuple[str, ...]
_NEVER = datetime.min.replace(tzinfo=UTC)


def fold(rows: pa.Table, seen: pa.Table) -> pa.Table:
    """Return rows of `urls`, `pages` or `chunks` with later sightings of their URLs folded in.

    Only sightings of the run that made a row say something of it. A sitemap says more of a page
    than a link does, so a row that a link made becomes the first sitemap's. Of several
    declarations the one with the newest `lastmod` is believed. The lists name the row's own place
    first; what is added follows in alphabetical order.
    """
    if not seen.num_rows:
        return rows
    names = [name for name in FOLDED if name in rows.column_names]
    again: dict[_Key, list[Row]] = defaultdict(list)
    for key, note in zip(_keys(seen), seen.to_pylist(), strict=True):
        again[key].append(note)
    changed = {at: again[key] for at, key in enumerate(_keys(rows)) if key in again}
    if not changed:
        return rows
    told = rows.select(names).take(pa.array(changed, pa.int64())).to_pylist()
    folded = [_folded(row, notes) for row, notes in zip(told, changed.values(), strict=True)]
    for name in names:
        values: list[Any] = rows[name].to_pylist()
        for at, row in zip(changed, folded, strict=True):
            values[at] = row[name]
        field = SCHEMAS["urls"].field(name)
        column: pa.Array[Any] = pa.array(values, field.type)
        rows = rows.set_column(rows.column_names.index(name), field, column)
    return rows


def declared(seen: pa.Table) -> pa.Table:
    """Return the sightings by lists: those by links never change a place or a date."""
    return seen.select(OF_PAGES).filter(pc.is_valid(seen["sitemap"]))


def _keys(rows: pa.Table) -> Iterator[_Key]:
    return zip(*(rows[name].to_pylist() for name in ("run_id", "site", "url")), strict=True)


def _folded(row: Row, notes: list[Row]) -> Row:
    declaring = [said for said in (row, *notes) if said["sitemap"] is not None] or [row]
    newest = max(declaring, key=lambda said: said["lastmod"] or _NEVER)
    first = declaring[0]
    facts: Row = {
        name: _first(said[name] for said in (newest, *declaring)) for name in FACTS if name in row
    }
    if facts["lastmod"] is not None and "lastmod_raw" in row:
        facts["lastmod_raw"] = newest["lastmod_raw"]
    if "alternates" in row:
        facts["alternates"] = facts["alternates"] or []  # a list is never null
    place: Row = {name: first[name] for name in PLACE if name in row}
    if "methods" not in row:
        return {**place, **facts}
    return {
        **place,
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
