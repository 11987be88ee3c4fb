"""Data for the notebooks, made by what they are about: runs over the demo site, and an index."""

import fcntl
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

import pytest

FOLDER = Path(
    tempfile.gettempdir(),
    f"sitewax-notebooks-{os.environ.get('PYTEST_XDIST_TESTRUNUID', os.getpid())}",
)
"""One for all processes of a test run: what notebooks read is made once."""
USED: list[IO[str]] = []
"""The lock of this process, once it has come to a notebook."""
STRICT = "import warnings\n\nwarnings.simplefilter('error')\n"
"""Run by each kernel before the first cell."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Make the data before the first notebook, and tell all of them where it lies."""
    if USED:
        return
    os.environ["IPYTHONDIR"] = str(FOLDER / "ipython")
    os.environ["INGEST_OUT"] = str(FOLDER / "data")
    USED.append(FOLDER.with_suffix(".lock").open("a"))
    fcntl.flock(USED[0], fcntl.LOCK_EX)
    if not FOLDER.exists():
        startup = FOLDER / "ipython" / "profile_default" / "startup"
        startup.mkdir(parents=True)
        (startup / "00-strict.py").write_text(STRICT)
        make_data()
    fcntl.flock(USED[0], fcntl.LOCK_SH)


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
    """Leave nothing behind; the last process to end does the clearing away."""
    for lock in USED:
        with lock, suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_UN)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(FOLDER, ignore_errors=True)
            FOLDER.with_suffix(".lock").unlink(missing_ok=True)
