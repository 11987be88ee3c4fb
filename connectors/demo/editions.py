"""The editions of the demo site: what each changes in the one before it."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A page as the manifest `pages/site.toml` names it, and what editions made of it."""

    path: str
    file: str
    lastmod: datetime
    sitemap: str | None = None
    """Key of `SITEMAPS`; None: no sitemap lists the page."""
    replaced: tuple[tuple[str, str], ...] = ()
    """Words, and those that stand in their place."""
    cut: tuple[tuple[str, str], ...] = ()
    """Marks: what lies from the first up to the second is left out."""

    def body(self) -> bytes:
        """Return what the page answers."""
        stored = folder().joinpath(self.file).read_bytes()
        if not self.replaced and not self.cut:
            return stored
        text = stored.decode()
        for words, others in self.replaced:
            text = text.replace(words, others)
        for start, end in self.cut:
            text = text[: text.index(start)] + text[text.index(end) :]
        return text.encode()


@cache
def count() -> int:
    """Return how many editions there are."""
    return 1 + len(_manifest("editions.toml")["edition"])


@cache
def pages(edition: int = 1) -> tuple[Listed, ...]:
    """Return the pages of an edition, the first of which is 1, in the manifest's order."""
    if edition == 1:
        return tuple(Listed(**entry) for entry in _manifest("site.toml")["page"])
    changes = _manifest("editions.toml")["edition"][edition - 2]
    found = {page.path: page for page in pages(edition - 1)}
    for path in changes.get("gone", ()):
        del found[path]
    if touched := changes.get("touched"):
        found |= _touched(found.values(), **touched)
    for entry in changes.get("page", ()):
        found[entry["path"]] = _changed(found.get(entry["path"]), entry)
    return tuple(found.values())


def missing(edition: int) -> tuple[str, ...]:
    """Return the sitemaps that the index of an edition names although they are not there."""
    if edition == 1:
        return ()
    return tuple(_manifest("editions.toml")["edition"][edition - 2].get("missing", ()))


def folder() -> Traversable:
    """Return where the pages lie."""
    return files("connectors.demo").joinpath("pages")


def _touched(listed: Iterable[Listed], sitemap: str, lastmod: datetime) -> dict[str, Listed]:
    return {p.path: replace(p, lastmod=lastmod) for p in listed if p.sitemap == sitemap}


def _changed(page: Listed | None, entry: Mapping[str, Any]) -> Listed:
    if page is None:
        return Listed(**entry)
    pairs = {name: tuple(map(tuple, entry.get(name, ()))) for name in ("replace", "cut")}
    return replace(
        page,
        lastmod=entry.get("lastmod", page.lastmod),
        replaced=page.replaced + pairs["replace"],
        cut=page.cut + pairs["cut"],
    )


def _manifest(name: str) -> dict[str, Any]:
    return tomllib.loads(folder().joinpath(name).read_text("utf-8"))
