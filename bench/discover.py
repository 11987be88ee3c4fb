"""Speed and memory of the inventory over generated sitemaps of up to a million URLs.

    python bench/discover.py [--urls 1000000] [--pairs 3] [--all-cpus]

Prints for 1,000 URLs, for many in one gzip file and for as many in an index of 20: seconds, CPU,
and the peak memory of the main process; each in turn with the CPU of a bare `lxml.iterparse` loop
over the same bytes plus the Parquet write of the same rows. Last the requests of a run with a
small budget. CPU includes the start of the interpreter and all imports; run it in an environment
of `requirements.lock`, since pyarrow imports pandas where there is one. Both run on one CPU: of
virtual machines two are often one core, and each of our two threads then seems to work longer by
the time that it waits for the other. With `--all-cpus` they do as they do for users.
"""

import argparse
import gzip
import io
import os
import shutil
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow.dataset as ds
import pyarrow.parquet as pq
from local_web import Figures, Web, run, scratch
from lxml import etree

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def urlset(origin: str, first: int, count: int) -> bytes:
    """Return a urlset of `count` pages, packed."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1, mtime=0) as file:
        file.write(f'<?xml version="1.0"?>\n<urlset xmlns="{NAMESPACE}">\n'.encode())
        for number in range(first, first + count):
            day = f"2024-{number % 12 + 1:02d}-{number % 28 + 1:02d}"
            file.write(
                f"<url><loc>{origin}/products/category-{number % 97}/item-{number:07d}</loc>"
                f"<lastmod>{day}</lastmod><priority>0.5</priority></url>\n".encode()
            )
        file.write(b"</urlset>\n")
    return out.getvalue()


@contextmanager
def site(count: int, files: int) -> Iterator[tuple[Web, dict[str, bytes]]]:
    """Serve a site that declares `count` URLs in so many files."""
    answers: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet: two would wait for each other's ACK
        asked = 0

        def do_GET(self) -> None:
            Handler.asked += 1
            body = answers.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "application/xml")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_address[1]}"
    names = [f"/map-{number}.xml.gz" for number in range(files)]
    answers["/robots.txt"] = f"User-agent: *\nDisallow:\nSitemap: {origin}/index.xml\n".encode()
    maps = "".join(f"<sitemap><loc>{origin}{name}</loc></sitemap>" for name in names)
    answers["/index.xml"] = f'<sitemapindex xmlns="{NAMESPACE}">{maps}</sitemapindex>'.encode()
    for number, name in enumerate(names):
        answers[name] = urlset(origin, number * count // files, count // files)
    web = Site(origin, [origin], Handler)
    try:
        yield web, answers
    finally:
        server.shutdown()
        server.server_close()


class Site(Web):
    """The served site, in the shape that `run` follows."""

    def __init__(self, control: str, sites: list[str], handler: type) -> None:
        """Take the handler that counts requests."""
        super().__init__(control, sites)
        self._handler = handler

    def get(self, path: str) -> dict[str, int]:
        """Return the requests so far, whatever is asked."""
        del path
        return {"page_requests": 0, "requests": self._handler.asked}


def bare_s(answers: dict[str, bytes], out: Path, folder: Path) -> float:
    """Return the CPU seconds of a bare loop over the same bytes and of writing the same rows."""
    table = ds.dataset(next(out.glob("runs/*/urls")), format="parquet").to_table()
    started = time.process_time()
    for name, body in answers.items():
        if name.startswith("/map-"):
            for _, element in etree.iterparse(
                gzip.GzipFile(fileobj=io.BytesIO(body)), tag="{*}url"
            ):
                [child.text for child in element]
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
    pq.write_table(table, folder / "rows.parquet", compression="zstd", row_group_size=10_000)
    return time.process_time() - started


def told(name: str, figures: Figures, rows: int) -> None:
    """Print one line of figures."""
    print(
        f"{name}: {rows} rows, {figures.wall_s:.1f} s, CPU {figures.cpu_s:.1f} s,"
        f" main process {figures.main_mb:.0f} MB",
        flush=True,
    )


def rows_of(figures: Figures) -> int:
    """Return how many URLs a run wrote down."""
    return ds.dataset(next(figures.out.glob("runs/*/urls")), format="parquet").count_rows()


def against_bare(count: int, files: int, pairs: int, folder: Path, small: Figures) -> None:
    """Print runs over many URLs, each in turn with the bare loop, and the median ratio."""
    ratios = []
    with site(count, files) as (web, answers):
        for pair in range(pairs):
            out = folder / f"large-{files}-{pair}"
            large = run(web, "flows.discover", out, MAX_PAGES="0")
            bare = bare_s(answers, out, folder)
            ratios.append(large.cpu_s / bare)
            told(f"{count:,} URLs in {files} file(s)", large, rows_of(large))
            grown = (large.main_mb - small.main_mb) * 2**20 / count
            print(
                f"  bare loop and write {bare:.1f} s: {ratios[-1]:.2f} x;"
                f" memory {large.main_mb / small.main_mb:.2f} x, {grown:.0f} bytes a URL"
            )
            shutil.rmtree(out)
    print(f"  median {statistics.median(ratios):.2f} x", flush=True)


def main() -> None:
    """Run all parts and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--all-cpus", action="store_true")
    given = parser.parse_args()
    if not given.all_cpus:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with scratch() as folder:
        with site(1_000, 1) as (web, _):
            small = run(web, "flows.discover", folder / "small", MAX_PAGES="0")
            told("1,000 URLs", small, rows_of(small))
        for files in (1, 20):
            against_bare(given.urls, files, given.pairs, folder, small)
        with site(given.urls, 1) as (web, _):
            few = run(web, "flows.ingest", folder / "few", MAX_PAGES="100", LINKS="0")
            told("budget of 100 pages", few, rows_of(few))
            print(f"  {web.get('')['requests']} requests")


if __name__ == "__main__":
    sys.exit(main())
