"""Data for the notebooks, made by what they are about: runs over the demo site, and an index."""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

MADE: list[tempfile.TemporaryDirectory[str]] = []
STRICT = "import warnings\n\nwarnings.simplefilter('error')\n"
"""Run by each kernel before the first cell."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Make the data before the first notebook, and tell all of them where it lies."""
    if MADE:
        return
    MADE.append(tempfile.TemporaryDirectory(prefix="sitewax-notebooks-"))
    folder = Path(MADE[0].name)
    startup = folder / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00-strict.py").write_text(STRICT)
    os.environ["IPYTHONDIR"] = str(folder / "ipython")
    os.environ["INGEST_OUT"] = str(folder / "data")
    make_data()


def make_data() -> None:
    """Run over the demo site as it changes; what is indexed first is stale later."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]  # one for all runs: it is part of the site's name
    for edition in (1, 2, 3, 3):
        run("flows.ingest", INGEST_DEMO_PORT=str(port), INGEST_DEMO_EDITION=str(edition))
        if edition != 2:  # the first has passages that the others do not
            run("flows.index")


def run(flow: str, **told: str) -> None:
    subprocess.run(  # noqa: S603  # this very project
        [sys.executable, "-m", "bytewax.run", flow],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"INGEST_VERIFY_AFTER_S": "0"} | told,
        check=True,
        timeout=120,
    )


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Leave nothing behind."""
    while MADE:
        MADE.pop().cleanup()
