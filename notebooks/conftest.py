"""Data for the notebooks, made by what they are about: a run over the demo site."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

MADE: list[tempfile.TemporaryDirectory[str]] = []


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Ingest the demo site before the first notebook, and tell all of them where it lies."""
    if MADE:
        return
    MADE.append(tempfile.TemporaryDirectory(prefix="sitewax-notebooks-"))
    os.environ["INGEST_OUT"] = MADE[0].name
    subprocess.run(
        [sys.executable, "-m", "bytewax.run", "flows.ingest"],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"INGEST_DEMO_PORT": "0"},
        check=True,
        timeout=120,
    )


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Leave nothing behind."""
    while MADE:
        MADE.pop().cleanup()
