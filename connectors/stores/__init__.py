"""Vector stores behind one small contract; `open_store` finds the one that an address names.

A further store is one module with a class that keeps the contract of `Store`, and a line in
`_MODULES`; `tests/connectors/stores/` is what it has to pass.
"""

import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import pyarrow as pa

from flows.filters import Filter
from flows.secret import Secret
from flows.steps import Space

Vector = Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a store can do; whoever uses it asks this record, never the brand."""

    batch_rows: int
    """Rows of one `replace` that the store takes well."""
    operators: frozenset[str]
    """Those of `flows.filters` that `search` can apply."""
    most_dimensions: int
    """Longest vectors that it can hold."""
    writers: int
    """Processes that may write at the same time; 1: the others wait at our lock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A chunk that a search found."""

    score: float
    """Cosine similarity of its vector and the question's, at most 1."""
    chunk: Mapping[str, Any] = field(repr=False)
    """The columns of `chunks`, by name."""

    @property
    def link(self) -> str:
        """Where a person reads it: the page, at the section where that has an address."""
        anchor = self.chunk["anchor"]
        return f"{self.chunk['url']}#{anchor}" if anchor else str(self.chunk["url"])


class Store(Protocol):
    """A table of chunks with their vectors; the page of a site is the unit of change.

    * *Guarantee*: `replace` and `remove` happen as a whole or not at all, and once more is the
      same as once. A reader sees each page as it was or as it is.
    * *Order*: what one thread wrote, every later call of this process finds.
    * *Threads*: methods may be called from several.
    * *Failure*: `StoreError`, when the place it writes to is out of order.
    """

    capabilities: Capabilities

    def prepare(self, space: Space) -> None:
        """Make the table when it is missing; ValueError when it holds vectors of another space."""

    def space(self) -> Space | None:
        """Return the space of the vectors that are stored; None when there is no table."""

    def replace(self, site: str, urls: Sequence[str], rows: pa.Table) -> None:
        """Let `rows` (`flows.steps.schema`) be all that there is of these pages of a site."""

    def remove(self, site: str, urls: Sequence[str]) -> None:
        """Let there be nothing of these pages of a site."""

    def sites(self) -> set[str]:
        """Return the sites of which there is anything."""

    def held(self, site: str) -> Iterator[pa.Table]:
        """Yield `url` and `digest` of each chunk of a site, in tables of a bounded size."""

    def vectors(self, hashes: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of the texts that are stored, by `text_hash`."""

    def search(self, vector: Vector, count: int = 5, where: Sequence[Filter] = ()) -> list[Hit]:
        """Return the chunks nearest to a vector, the nearest first, that pass all filters."""

    def tidy(self, *, done: bool) -> None:
        """Make searches fast again after many changes; `done` when no more are to come."""

    def close(self) -> None:
        """Let go of files and connections."""


class StoreError(Exception):
    """The store cannot do what it is asked now; the message says why in one line."""


class MissingExtraError(ValueError):
    """An extra is not installed; the message says which."""


def needs(extra: str, module: str) -> Any:  # noqa: ANN401  # a module, whose types its user knows
    """Return a module that an extra brings, or raise one line that says which to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        wanted = f'pip install "sitewax[{extra}]"'
        raise MissingExtraError(f"{module.partition('.')[0]} is not installed: {wanted}") from error


def open_store(url: str, table: str = "chunks") -> Store:
    """Return the store at an address; ValueError in one line when there is none to be had."""
    scheme = url.partition("://")[0]
    if "://" not in url or scheme not in _MODULES:
        known = ", ".join(f"{name}://" for name in _MODULES)
        raise ValueError(f"no store at {shown(url)!r}: an address begins with {known}")
    module = importlib.import_module(f"connectors.stores.{_MODULES[scheme]}")
    store: Store = module.open(url, table)
    return store


def shown(url: str | Secret) -> str:
    """Return an address for people: without a password.

    >>> shown("postgresql://reader:secret@db.test/corpus?password=x")
    'postgresql://reader:***@db.test/corpus?password=***'
    """
    text = url.reveal() if isinstance(url, Secret) else url
    password = _password(text)
    text = text.replace(f":{password}@", ":***@", 1) if password else text
    return re.sub(r"(password=)[^&]*", r"\1***", text)


def folder(url: str) -> Path:
    """Return the path in `lancedb://path` or `sqlite://path`; relative unless it begins with /."""
    path = url.partition("://")[2]
    if not path:
        raise ValueError(f"{url!r} names no path; write e.g. {url}data/index")
    return Path(path)


def fits(space: Space, capabilities: Capabilities) -> None:
    """Raise ValueError where vectors are longer than a store can hold."""
    if space.dimension > capabilities.most_dimensions:
        most = capabilities.most_dimensions
        raise ValueError(f"{space}: this store holds vectors of at most {most:,} numbers")


def mismatch(where: str, held: Space, wanted: Space) -> ValueError:
    """Return the refusal to mix vectors of two models."""
    return ValueError(
        f"{where} holds vectors of {held}, and this is {wanted}: they cannot be mixed. "
        "Name another INDEX_TABLE, or drop the table to have it made anew"
    )


def _password(url: str) -> str | None:
    try:
        return urlsplit(url).password
    except ValueError:
        return None


_MODULES: Final = {
    "lancedb": "lancedb",
    "postgresql": "pgvector",
    "postgres": "pgvector",
    "sqlite": "sqlite",
}
"""Address schemes, and the modules behind them, imported when they are needed."""
