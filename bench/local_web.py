"""What the benches share: a served local web, runs of a flow as processes, and their figures."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Web:
    """A running local web: its control address and its sites."""

    control: str
    sites: list[str]

    def get(self, path: str) -> Any:  # noqa: ANN401  # JSON
        """Return what the control address says."""
        with urllib.request.urlopen(self.control + path, timeout=30) as answer:  # noqa: S310  # loopback
            text = answer.read().decode()
        return json.loads(text) if text.startswith("{") else text


@contextmanager
def served(server: Path, corpus: Path, port: int = 0, **settings: float) -> Iterator[Web]:
    """Serve the corpus with the `serve_web.py` of a folder, for as long as the block lasts.

    Port 0: one that is free.
    """
    port = port or _free_port()
    words = [f"--{name.replace('_', '-')}={value:g}" for name, value in settings.items()]
    process = subprocess.Popen(
        [sys.executable, str(server / "serve_web.py"), f"--web={corpus}", f"--port={port}", *words],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        process.stdout.readline()
        web = Web(f"http://127.0.0.1:{port}", [])
        web.sites = web.get("/__sites").split()
        yield web
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Figures:
    """What one run of a flow cost."""

    out: Path
    wall_s: float = 0.0
    cpu_s: float = 0.0
    """User and system seconds of all its processes."""
    main_mb: float = 0.0
    """Peak resident memory of the main process."""
    first_rows_s: float | None = None
    """Seconds from the first page request to the first committed rows."""
    said: str = field(default="", repr=False)


def run(web: Web, flow: str, out: Path, *words: str, **settings: str) -> Figures:
    """Run a flow over all sites of the web and return what it cost."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("INGEST_", "BYTEWAX_"))}
    env |= {
        "INGEST_SITES": " ".join(web.sites),
        "INGEST_OUT": str(out),
        "INGEST_ALLOW_NETWORKS": "127.0.0.0/8",
        "INGEST_RATE": "0",
        **{f"INGEST_{name}": value for name, value in settings.items()},
    }
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "bytewax.run", flow, *words],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    figures = Figures(out)
    watch = threading.Thread(target=_watch, args=(process, web, figures))
    watch.start()
    figures.said, _ = process.communicate()
    figures.wall_s = time.monotonic() - started
    watch.join()
    if process.returncode:
        sys.exit(f"{flow} ended with {process.returncode}")
    return figures


def _watch(process: "subprocess.Popen[str]", web: Web, figures: Figures) -> None:
    """Follow a run: the memory of its main process, and when its first rows are on disk."""
    first_page = None
    cpu: dict[int, float] = {}
    while process.poll() is None:
        cpu |= session_cpu(process.pid)
        figures.cpu_s = sum(cpu.values())
        status = Path(f"/proc/{process.pid}/status")
        try:
            peak = next(line for line in status.read_text().splitlines() if "VmHWM" in line)
            figures.main_mb = int(peak.split()[1]) / 1024
        except (OSError, StopIteration):
            pass
        if first_page is None and web.get("/__stats")["page_requests"]:
            first_page = time.monotonic()
        if first_page and figures.first_rows_s is None and _has_rows(figures.out):
            figures.first_rows_s = time.monotonic() - first_page
        time.sleep(0.05)


def session_cpu(session: int) -> dict[int, float]:
    """Return the CPU seconds of each process of a session, awaited by its parent or not."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            told = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(told[3]) == session:
            ticks = int(told[11]) + int(told[12])
            found[int(stat.parent.name)] = ticks / os.sysconf("SC_CLK_TCK")
    return found


def _has_rows(out: Path) -> bool:
    return any(path.name != "empty.parquet" for path in out.glob("runs/*/pages/*.parquet"))


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="sitewax-bench-") as folder:
        yield Path(folder)
