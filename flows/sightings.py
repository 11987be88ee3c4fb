"""A URL that is named again: the further attribution joins the row it has already."""

from collections import defaultdict

import pyarrow as pa

from flows.schema import SCHEMAS


def fold(rows: pa.Table, seen: pa.Table) -> pa.Table:
    """Return rows of `urls` with the methods and sitemaps of later sightings added.

    What the row was written with stays first; what is added follows in alphabetical order.
    """
    for plural, singular in (("methods", "method"), ("sitemaps", "sitemap")):
        added = _added(seen, singular)
        if added:
            rows = _joined(rows, plural, added)
    return rows


def _added(seen: pa.Table, column: str) -> dict[tuple[str, str], set[str]]:
    added: dict[tuple[str, str], set[str]] = defaultdict(set)
    distinct = seen.group_by(["site", "url", column]).aggregate([])
    names = ("site", "url", column)
    for site, url, value in zip(*(distinct[name].to_pylist() for name in names), strict=True):
        if value is not None:
            added[site, url].add(value)
    return added


def _joined(rows: pa.Table, column: str, added: dict[tuple[str, str], set[str]]) -> pa.Table:
    values = rows[column].to_pylist()
    keys = zip(rows["site"].to_pylist(), rows["url"].to_pylist(), strict=True)
    for at, key in enumerate(keys):
        if key in added:
            own = values[at] or []
            values[at] = own + sorted(added[key].difference(own))
    field = SCHEMAS["urls"].field(column)
    return rows.set_column(rows.column_names.index(column), field, pa.array(values, field.type))
