"""Whole runs as processes, and what they leave on disk."""

import fcntl
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

from tests.loopback import Site

INGEST = ("bytewax.run", "flows.ingest")
OURS = range(10_000, 32_000)
"""Ports that no system gives to who asks for any: what is found free stays free."""


def environment(sites: list[Site], out: Path, **more: str) -> dict[str, str]:
    """Return the variables of a run over loopback sites, without pauses.

    One process reads the pages, on any machine; what is claimed of several says so.
    """
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith(("INGEST_", "BYTEWAX_"))},
        "INGEST_SITES": " ".join(site.origin for site in sites),
        "INGEST_OUT": str(out),
        "INGEST_ALLOW_NETWORKS": "127.0.0.1/32",
        "INGEST_RATE": "0",
        "INGEST_VERIFY_AFTER_S": "0",
        "INGEST_EXTRACT_WORKERS": "1",
        **more,
    }


def ingested(sites: list[Site], out: Path, *words: str, **more: str) -> str:
    """Run a flow to its end, and return what it said on stdout; anything but success raises."""
    with alone(words):
        done = subprocess.run(
            [sys.executable, "-m", *(words or INGEST)],
            env=environment(sites, out, **more),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return done.stdout


def table(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of the files in a folder."""
    return ds.dataset(str(folder), format="parquet").to_table().to_pylist()


def newest(out: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table of the newest run."""
    return table(max((out / "runs").iterdir()) / name)


def corpus(out: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table of the corpus."""
    return table(out / "corpus" / name)


def started(sites: list[Site], out: Path, *words: str, **more: str) -> "subprocess.Popen[str]":
    """Start a flow in a process group of its own, and return its process."""
    return subprocess.Popen(
        [sys.executable, "-m", *(words or INGEST)],
        env=environment(sites, out, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended(process: "subprocess.Popen[str]", within_s: float = 60) -> str:
    """Return what a process says on stderr until it ends; kill it, and fail, when it does not."""
    try:
        return process.communicate(timeout=within_s)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise


def shows(out: Path, name: str, rows: int = 1) -> bool:
    """Wait until a table of a run that is under way has so many rows; False when it never has."""
    return comes(
        lambda: any(out.glob(f"runs/*/{name}/*-*.parquet")) and len(newest(out, name)) >= rows
    )


def comes(what: Callable[[], object]) -> bool:
    """Wait until something is the case; False when it never is."""
    for _ in range(1200):
        if what():
            return True
        time.sleep(0.05)
    return False


def addresses(count: int) -> str:
    """Return free addresses for the processes of a cluster, as Bytewax takes them."""
    free: list[str] = []
    for port in random.SystemRandom().sample(OURS, 100):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            free.append(f"127.0.0.1:{port}")
        if len(free) == count:
            break
    return ";".join(free)


@contextmanager
def alone(words: Sequence[str]) -> Iterator[None]:
    """Start no two clusters at once by `bytewax.testing`: its ports are always the same."""
    if "bytewax.testing" not in words:
        yield
        return
    name = f"sitewax-tests-cluster-{os.getuid()}.lock"
    with Path(tempfile.gettempdir(), name).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
