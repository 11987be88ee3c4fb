"""The real stores, each in a place of its own for every test."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from connectors.stores import Store, StoreError, open_store
from tests.postgres import Server, served

ENGINES = ("lancedb", "postgresql", "sqlite")
Open = Callable[..., Store]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Return the scheme of a store's address."""
    return str(request.param)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Serve a PostgreSQL for the tests that need one."""
    with served() as running:
        yield running


@pytest.fixture
def address(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Return the address of an empty store."""
    if engine == "postgresql":
        server: Server = request.getfixturevalue("server")
        return server.address()
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
        with suppress(OSError, StoreError):
            store.close()
