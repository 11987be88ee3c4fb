"""Whole runs as processes, and what they leave on disk."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

from tests.loopback import Site

INGEST = ("bytewax.run", "flows.ingest")


def environment(sites: list[Site], out: Path, **more: str) -> dict[str, str]:
    """Return the variables of a run over loopback sites, without pauses."""
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith(("INGEST_", "BYTEWAX_"))},
        "INGEST_SITES": " ".join(site.origin for site in sites),
        "INGEST_OUT": str(out),
        "INGEST_ALLOW_NETWORKS": "127.0.0.1/32",
        "INGEST_RATE": "0",
        "INGEST_VERIFY_AFTER_S": "0",
        **more,
    }


def ingested(sites: list[Site], out: Path, *words: str, **more: str) -> str:
    """Run a flow to its end, and return what it said on stdout; anything but success raises."""
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
