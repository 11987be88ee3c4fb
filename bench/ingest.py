"""Speed and memory of the main job over a local web of real pages.

    python bench/ingest.py --server DIR --corpus DIR

`--server` is a folder with `serve_web.py`, `--corpus` what its `make_web.py` has made. Prints
whether every page was stored and none mixed up, CPU per page against the same extraction called
alone, wall time against one extraction process (runs in turn), the time to the first rows, and the
peak memory of the main process for 1,000 and for 10,000 pages.
"""

import argparse
import re
import statistics
import time
import urllib.request
from pathlib import Path

import pyarrow.dataset as ds
from local_web import Figures, Web, run, scratch, served

from connectors import extractors
from flows.records import Attribution, Entry, Exchange, Method, Page
from flows.settings import Settings

KEY = re.compile(r"ks(\d+)p(\d+)e\d+z")


def main() -> None:
    """Run all parts and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--sites", type=int, default=20)
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--latency-ms", type=float, default=50)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--without-memory", action="store_true")
    given = parser.parse_args()
    with served(
        given.server,
        given.corpus,
        sites=given.sites,
        pages=given.pages,
        latency_ms=given.latency_ms,
    ) as web:
        speed(web, given.sites * given.pages, given.pairs)
    if not given.without_memory:
        memory(given.server, given.corpus)


def speed(web: Web, pages: int, pairs: int) -> None:
    """Compare runs with all extraction processes and with one, in turn, and both with no run."""
    walls, overheads, firsts = [], [], []
    for number in range(pairs):
        with scratch() as folder:
            web.get("/__reset")
            # The pages link to pages that are not in this web: following them measures 404s.
            both = run(web, "flows.ingest", folder / "both", LINKS="0")
            web.get("/__reset")
            one = run(web, "flows.ingest", folder / "one", LINKS="0", EXTRACT_WORKERS="1")
            if number == 0:
                check(web, both, pages)
            alone = alone_s(both.out)
        walls.append(both.wall_s / one.wall_s)
        overheads.append(both.cpu_s / alone)
        firsts.append(both.first_rows_s or 0.0)
        print(
            f"pair {number + 1}: wall {both.wall_s:.1f} s, with one extraction process"
            f" {one.wall_s:.1f} s; CPU {both.cpu_s / pages * 1000:.1f} ms a page,"
            f" extraction alone {alone / pages * 1000:.1f} ms; main process {both.main_mb:.0f} MB"
        )
    print(f"wall, all processes against one: {statistics.median(walls):.2f}")
    print(f"CPU, the run against extraction alone: {statistics.median(overheads):.2f}")
    print(f"first rows after the first page: {statistics.median(firsts):.2f} s")


def check(web: Web, figures: Figures, pages: int) -> None:
    """Print how many pages are stored, and how many hold another page's key."""
    table = ds.dataset(str(figures.out / "corpus/pages"), format="parquet").to_table(
        columns=["site", "url", "markdown"]
    )
    stored = wrong = keys = 0
    for row in table.to_pylist():
        found = re.search(r"/docs/(\d+)/", row["url"])
        if found is None:
            continue
        stored += 1
        for site, page in KEY.findall(row["markdown"]):
            keys += 1
            wrong += (web.sites[int(site)], int(page)) != (row["site"], int(found[1]))
    outcomes = ds.dataset(next(figures.out.glob("runs/*/urls")), format="parquet").to_table()
    duplicates = outcomes["outcome"].to_pylist().count("duplicate")
    print(f"{stored} of {pages} pages stored ({duplicates} duplicates), {keys} keys, {wrong} wrong")


def alone_s(out: Path) -> float:
    """Return the CPU seconds of the same extraction called alone, over the same bytes."""
    columns = ["url", "site", "outcome", "content_type"]
    rows = ds.dataset(next(out.glob("runs/*/urls")), format="parquet").to_table(columns=columns)
    fetched = [
        page_of(row) for row in rows.to_pylist() if row["outcome"] in ("ok", "duplicate", "thin")
    ]
    manner = extractors.Manner.of(Settings())
    extractors.read(fetched[0], manner)  # imports and tables, which a pool pays once
    started = time.process_time()
    for page in fetched:
        extractors.read(page, manner)
    return time.process_time() - started


def page_of(row: dict[str, str]) -> Page:
    """Return the page at a URL, as a fetch returns it."""
    with urllib.request.urlopen(row["url"], timeout=30) as answer:  # noqa: S310  # loopback
        body = answer.read()
    at = Attribution(method=Method.ROBOTS)
    entry = Entry(site=row["site"], url=row["url"], attribution=at)
    exchange = Exchange(status=200, final_url=row["url"], content_type=row["content_type"])
    return Page(entry=entry, exchange=exchange, body=body, charset="utf-8")


def memory(server: Path, corpus: Path) -> None:
    """Print the main process's peak memory for 1,000 and for 10,000 pages."""
    peaks = []
    for pages in (50, 500):
        with served(server, corpus, sites=20, pages=pages) as web, scratch() as folder:
            figures = run(web, "flows.ingest", folder / "data", LINKS="0")
        peaks.append(figures.main_mb)
        print(f"{20 * pages} pages: main process {figures.main_mb:.0f} MB")
    print(f"peak memory, 10,000 pages against 1,000: {peaks[1] / peaks[0]:.2f}")


if __name__ == "__main__":
    main()
