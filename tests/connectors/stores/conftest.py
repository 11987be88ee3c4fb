"""The real stores, each in a place of its own for every test."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from connectors.stores import Store, open_store

ENGINES = ("lancedb",)
Open = Callable[..., Store]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Return the scheme of a store's address."""
    return str(request.param)


@pytest.fixture
def address(engine: str, tmp_path: Path) -> str:
    """Return the address of an empty store."""
    return f"{engine}://{tmp_path / 'store'}"


@pytest.fixture
def opened(address: str) -> Iterator[Open]:
    """Return what opens the store, once more each time; all are closed after the test."""
    found: list[Store] = []

    def again(table: str = "chunks") -> Store:
        found.append(open_store(address, table))
        return found[-1]

    yield again
    for store in found:
        with suppress(OSError):
            store.close()
