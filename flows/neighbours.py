"""Pages of a site whose words are nearly the same: found by MinHash, marked, and kept."""

from array import array
from collections.abc import Iterable, Mapping
from operator import eq
from typing import Final
from urllib.parse import urlsplit

import pyarrow as pa
from rensa import RMinHash

LANES: Final = 128
"""Hashes of a signature. Of each the low 16 bits are kept: two texts agree in one by chance once
in 65,536 times."""
WORDS: Final = 3
"""Words in a row that make a shingle."""
LEAST_WORDS: Final = 20
"""A text of fewer words has no signature: one word more or less says nothing of it."""
MOST_WORDS: Final = 20_000
"""Words of a text that are looked at."""
LIKE: Final = 0.9
"""Part of the shingles of both texts that both have, from which they count as near duplicates.
Estimated from the signatures, with a standard deviation of 0.03."""
BANDS: Final = 10
_ROWS = LANES // BANDS
"""Lanes that must all agree for two texts to be compared at all: 96 in 100 pairs with 0.9 of their
shingles in common agree in one of the bands, and 7 in 100 with 0.6."""


def signature(text: str) -> bytes | None:
    """Return what tells texts apart that have other words; None for a very short one.

    >>> one = "The quick brown fox jumps over the lazy dog and is gone. " * 2
    >>> signature(one) == signature(one)
    True
    >>> signature("too short") is None
    True
    """
    words = text.lower().split()[:MOST_WORDS]
    if len(words) < LEAST_WORDS:
        return None
    hashed = RMinHash(num_perm=LANES, seed=1)
    hashed.update(list(map(" ".join, zip(*(words[at:] for at in range(WORDS)), strict=False))))
    return array("H", [value & 0xFFFF for value in hashed.digest()]).tobytes()


def likeness(one: bytes, other: bytes) -> float:
    """Return about which part of their shingles two texts have in common."""
    same: int = sum(map(eq, array("H", one), array("H", other)))
    return same / LANES


def near(pages: Iterable[tuple[str, bytes | None]]) -> dict[str, str]:
    """Return for each page that is nearly the same as a better one the URL of that one.

    `pages` are URL and signature; better is who has the shorter path, then who sorts first. What
    comes out does not depend on their order. A page that others point to points to nobody.
    """
    found: dict[str, str] = {}
    kept: dict[int, tuple[str, bytes]] = {}
    for url, signed in sorted(pages, key=lambda page: rank(page[0])):
        if signed is None or len(signed) != 2 * LANES:
            continue
        keys = _keys(signed)
        others = {kept[key] for key in keys if key in kept}
        alike = [(-likeness(signed, other), rank(name), name) for name, other in others]
        best = min(alike, default=(0.0, rank(url), url))
        if -best[0] >= LIKE:
            found[url] = best[2]
            continue
        for key in keys:
            kept.setdefault(key, (url, signed))
    return found


def marked(pages: pa.Table, near: Mapping[str, str]) -> pa.Table:
    """Return rows of `pages` that say which other page each is nearly the same as."""
    told = pa.array([near.get(str(url)) for url in pages["url"].to_pylist()], pa.string())
    at = pages.schema.get_field_index("near_duplicate_of")
    return pages.set_column(at, pages.schema.field(at), told)


def rank(url: str) -> tuple[int, int, str]:
    """Return by what the better of two addresses comes first: no query, a short path, the name.

    >>> min("https://a.test/b/", "https://a.test/a/long/way", "https://a.test/?b=1", key=rank)
    'https://a.test/b/'
    """
    parts = urlsplit(url)
    return len(parts.query), len(parts.path), url


def _keys(signed: bytes) -> list[int]:
    size = 2 * _ROWS
    return [hash((band, signed[band * size : (band + 1) * size])) for band in range(BANDS)]
