"""Whole runs that are killed at random moments, and what each kill costs.

    python bench/crashes.py [--kills 30] [--pages 100] [--seeds 1 2 3] [--sites 2]

Serves sites of its own on loopback, kills `flows.ingest` with SIGKILL again and again, reads the
dataset all the while, and compares what is left with an undisturbed run.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.crashing import Watch  # noqa: E402  # the same reader as in the tests
from tests.flowing import environment  # noqa: E402
from tests.loopback import Answer, Site, page, urlset  # noqa: E402


def main() -> int:
    """Kill runs, print what came of them, and return 1 when anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--pages", type=int, default=100, help="of all sites together")
    parser.add_argument("--sites", type=int, default=2)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    given = parser.parse_args()
    share = given.pages // given.sites
    with ExitStack() as stack:
        sites = [
            stack.enter_context(Site(lambda origin: routes(origin, share), f"127.0.0.{at + 1}"))
            for at in range(given.sites)
        ]
        calm = Path(tempfile.mkdtemp()) / "calm"
        finish(sites, calm)
        lines = [trial(sites, calm, seed, given.kills) for seed in given.seeds]
    print("seed  kills  looks  faults  rows  twice  texts equal  refetched  most a kill")
    for told in lines:
        print("  ".join(str(value) for value in told.values()))
    return 0 if all(told["right"] for told in lines) else 1


def routes(origin: str, pages: int) -> dict[str, Answer]:
    """Return a site of so many pages, each linking to the next."""
    listed = [f"/{number}" for number in range(pages - 1)]
    return {
        "/robots.txt": Answer(f"Sitemap: {origin}/s.xml\n".encode(), "text/plain"),
        "/s.xml": urlset(*(origin + path for path in listed)),
        "/": page("Home", listed[0]),
        **{path: page(f"Page {path} of it", f"/{int(path[1:]) + 1}") for path in listed},
    }


def trial(sites: list[Site], calm: Path, seed: int, kills: int) -> dict[str, Any]:
    """Kill a run so many times, let it end, and say what came of it."""
    rand = random.Random(seed)  # noqa: S311  # repeatable on purpose
    out = Path(tempfile.mkdtemp()) / "killed"
    watch, over = Watch(out), threading.Event()

    def look() -> None:
        while not over.wait(0.05):
            watch.look()

    reader = threading.Thread(target=look)
    reader.start()
    costs: list[int] = []
    before = fetched(sites)
    for _ in range(kills):
        killed_at_random(sites, out, rand)
        now = fetched(sites)
        known = Counter(row["url"] for row in rows(out, "runs/*/urls"))
        costs.append(sum((now - before).values()) - len(known))
        if any(out.glob("runs/*/report.json")):
            break
    finish(sites, out)
    over.set()
    reader.join()
    again = sum((fetched(sites) - before).values()) - len(rows(calm, "corpus/pages"))
    urls = Counter((row["site"], row["url"]) for row in rows(out, "runs/*/urls"))
    equal = texts(out) == texts(calm)
    most = max((b - a for a, b in zip([0, *costs], costs, strict=False)), default=0)
    twice = sum(count - 1 for count in urls.values())
    right = equal and not twice and not watch.faults and most <= 64
    for fault in watch.faults[:5]:
        print(fault, file=sys.stderr)
    return {
        "seed": seed, "kills": len(costs), "looks": watch.looks, "faults": len(watch.faults),
        "rows": len(urls), "twice": twice, "equal": equal, "again": again, "most": most,
        "right": right,
    }  # fmt: skip


def killed_at_random(sites: list[Site], out: Path, rand: random.Random) -> None:
    """Start a run and kill it: most often while pages come, now and then before."""
    asked = fetched(sites).total()
    process = start(sites, out, INGEST_RATE="15")
    early = rand.random() < 0.25
    while not early and process.poll() is None and fetched(sites).total() == asked:
        time.sleep(0.02)
    try:
        process.wait(rand.uniform(0.1, 1.5))
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


def finish(sites: list[Site], out: Path) -> None:
    """Let a run go on to its end."""
    process = start(sites, out)
    if process.wait(300):
        sys.exit(f"the run over {out} ended with {process.returncode}")


def start(sites: list[Site], out: Path, **settings: str) -> "subprocess.Popen[bytes]":
    """Start a run over the sites."""
    env = environment(sites, out, INGEST_ALLOW_NETWORKS="127.0.0.0/8", **settings)
    command = [sys.executable, "-m", "bytewax.run", "flows.ingest"]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=ROOT, env=env, stdout=quiet, stderr=quiet)


def fetched(sites: list[Site]) -> Counter[str]:
    """Return how often each page has been asked for."""
    other = ("/robots.txt", "/llms.txt")
    return Counter(
        site.origin + path
        for site in sites
        for path in list(site.log)
        if path in site.routes and path not in other and not path.endswith(".xml")
    )


def rows(out: Path, pattern: str) -> list[dict[str, Any]]:
    """Return key columns of all files of a table."""
    for _ in range(20):
        try:
            paths = [str(path) for path in out.glob(f"{pattern}/*.parquet")]
            return ds.dataset(paths).to_table(columns=["site", "url"]).to_pylist() if paths else []
        except FileNotFoundError:
            time.sleep(0.05)
    return []


def texts(out: Path) -> dict[str, Counter[tuple[str, str]]]:
    """Return the texts of the corpus by their URL."""
    found = {}
    for name, column in (("pages", "markdown"), ("chunks", "text")):
        table = ds.dataset(out / "corpus" / name).to_table(columns=["url", column])
        found[name] = Counter((row["url"], row[column]) for row in table.to_pylist())
    return found


if __name__ == "__main__":
    sys.exit(main())
