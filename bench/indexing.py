"""What it costs to keep a vector store in step, over pages of a local web that change.

    python bench/indexing.py --server DIR --corpus DIR [--model DIR]

`--server` is a folder with `serve_web.py`, `--corpus` what its `make_web.py` has made; `--model` a
folder with a local ONNX model, instead of the hashing embedder. 300 pages are ingested and indexed
into LanceDB, PostgreSQL (the package of the tests) and SQLite; then 5 % of them change, some get
shorter, some go, and all is done again. Prints what each run embedded and took, whether store and
corpus are the same row by row, and whether a search finds pages by their key sentence.
"""

import argparse
import gzip
import os
import random
import re
import sys
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
from local_web import ROOT, Web, run, scratch, served

sys.path.insert(0, str(ROOT))

from connectors import indexing, stores
from connectors.indexing import reports
from flows.settings.index import IndexSettings
from tests import postgres

CHANGED = 0.05
SHORTER = 9
GONE = 6
BLOCK = re.compile(rb"<p>.*?</p>", re.DOTALL)


class Pages:
    """The pages of a site of our own, which may be changed while it serves them."""

    def __init__(self) -> None:
        """Begin with no page."""
        self.bodies: dict[str, bytes] = {}
        self.origin = ""

    def robots(self) -> bytes:
        """Return robots.txt."""
        return f"Sitemap: {self.origin}/sitemap.xml\n".encode()

    def sitemap(self) -> bytes:
        """Return the sitemap of the pages that are there."""
        locations = "".join(f"<url><loc>{self.origin}{path}</loc></url>" for path in self.bodies)
        head = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        return f"{head}{locations}</urlset>".encode()


@contextmanager
def serving(pages: Pages) -> Iterator[Web]:
    """Serve the pages on loopback for the length of a block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_GET(self) -> None:
            special = {"/robots.txt": pages.robots, "/sitemap.xml": pages.sitemap}
            made = special.get(self.path)
            body = made() if made else pages.bodies.get(self.path)
            kind = {"/robots.txt": "text/plain", "/sitemap.xml": "application/xml"}
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", kind.get(self.path, "text/html; charset=utf-8"))
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pages.origin = f"http://127.0.0.1:{server.server_address[1]}"
    web = Web(pages.origin, [pages.origin])
    web.get = lambda _: {"page_requests": 0}  # type: ignore[method-assign]  # it has no control
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()


def main() -> None:
    """Run all parts and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--model", type=Path)
    given = parser.parse_args()
    pages = copied(given.server, given.corpus, given.pages)
    model = {"INDEX_EMBEDDER": "onnx", "INDEX_MODEL": str(given.model)} if given.model else {}
    with serving(pages) as web, scratch() as folder, postgres.served() as server:
        addresses = {
            "lancedb": f"lancedb://{folder / 'lancedb'}",
            "pgvector": server.address(),
            "sqlite": f"sqlite://{folder / 'index.db'}",
        }
        out = folder / "data"
        print("first", ingest(web, out))
        texts = round_(out, addresses, model, set())
        keys, gone = change(pages)
        print("then", ingest(web, out))
        round_(out, addresses, model, texts)
        ask(out, addresses, model, keys, [pages.origin + path for path in gone])


def copied(server: Path, corpus: Path, count: int) -> Pages:
    """Return pages of the local web, with their paths."""
    pages = Pages()
    with served(server, corpus, sites=1, pages=count) as web:
        found = re.findall(r"<loc>([^<]*)", inflated(f"{web.sites[0]}/sitemap_index.xml"))
        listed = [u for sub in found for u in re.findall(r"<loc>([^<]*)", inflated(sub))]
        for url in listed:
            if "/docs/" in url and len(pages.bodies) < count:
                pages.bodies[url.removeprefix(web.sites[0])] = fetched(url)
    return pages


def fetched(url: str) -> bytes:
    """Return the bytes at a loopback URL."""
    with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310  # loopback
        body: bytes = answer.read()
    return body


def inflated(url: str) -> str:
    """Return a sitemap as text."""
    body = fetched(url)
    return (gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body).decode()


def change(pages: Pages) -> tuple[dict[str, str], list[str]]:
    """Change some pages, and return their key sentences by path, and the paths that are gone."""
    rand = random.Random(1)  # noqa: S311  # repeatable on purpose
    long = [path for path, body in pages.bodies.items() if len(BLOCK.findall(body)) > 8]
    chosen = rand.sample(long, round(CHANGED * len(pages.bodies)) + SHORTER + GONE)
    gone, shorter = chosen[:GONE], chosen[GONE : GONE + SHORTER]
    keys = {}
    for path in chosen[GONE + SHORTER :]:
        words = ["".join(rand.choices("aeioulnrstkm", k=7)) for _ in range(9)]
        key = f"{' '.join(words).capitalize()}."
        block = BLOCK.findall(pages.bodies[path])[4]
        pages.bodies[path] = pages.bodies[path].replace(block, b"<p>" + key.encode() + b"</p>", 1)
        keys[path] = key
    for path in shorter:
        blocks = BLOCK.findall(pages.bodies[path])
        for block in blocks[len(blocks) // 2 :]:
            pages.bodies[path] = pages.bodies[path].replace(block, b"", 1)
    for path in gone:
        del pages.bodies[path]
    return keys, gone


def ingest(web: Web, out: Path) -> str:
    """Run the main job, and return what changed in words."""
    figures = run(web, "flows.ingest", out, LINKS="0", VERIFY_AFTER_S="0")
    urls = ds.dataset(str(max(out.glob("runs/*/urls"))), format="parquet")
    changes = urls.to_table(columns=["change"])["change"].value_counts().to_pylist()
    said = ", ".join(f"{change['counts']} {change['values']}" for change in changes)
    return f"ingest: {figures.wall_s:.1f} s; {said}"


def round_(
    out: Path, addresses: Mapping[str, str], model: Mapping[str, str], before: set[str]
) -> set[str]:
    """Index into each store, print what it cost, and return the texts of the corpus."""
    rows = corpus(out)
    texts = {row["text"] for row in rows}
    print(
        f"corpus: {len({r['url'] for r in rows})} pages, {len(rows)} chunks, of their texts ",
        end="",
    )
    print(f"{len(texts - before)} are new")
    for name, address in addresses.items():
        figures = indexed(out, address, model)
        [report] = [told for told in reports.read(out) if told["store"] == stores.shown(address)]
        done = report["done"]
        print(
            f"  {name}: {report['status']}, {figures.wall_s:.1f} s, CPU {figures.cpu_s:.1f} s, "
            f"{figures.main_mb:.0f} MB; {done['written']} pages written, "
            f"{done['removed']} removed, "
            f"{done['embedded']} texts embedded, {done['reused']} vectors used again, "
            f"{done['repaired']} repaired; store = corpus: {held(address) == rows}"
        )
    return texts


def indexed(out: Path, address: str, model: Mapping[str, str]) -> Any:  # noqa: ANN401  # figures
    """Run the index in a process."""
    web = Web("", [])
    web.get = lambda _: {"page_requests": 0}  # type: ignore[method-assign]
    os.environ.update({"INDEX_URL": address, **model})
    return run(web, "flows.index", out, SITES="http://127.0.0.1:1")


def corpus(out: Path) -> list[dict[str, Any]]:
    """Return the rows of the corpus, sorted."""
    rows = ds.dataset(str(out / "corpus" / "chunks"), format="parquet").to_table().to_pylist()
    return sorted(rows, key=lambda row: (row["url"], row["chunk_index"]))


def held(address: str) -> list[dict[str, Any]]:
    """Return the rows of a store, sorted."""
    with closing(stores.open_store(address)) as store:
        space = store.space()
        assert space is not None
        hits = store.search([1.0] * space.dimension, 1_000_000)
    return sorted(
        (dict(hit.chunk) for hit in hits), key=lambda row: (row["url"], row["chunk_index"])
    )


def ask(
    out: Path,
    addresses: Mapping[str, str],
    model: Mapping[str, str],
    keys: Mapping[str, str],
    gone: list[str],
) -> None:
    """Print how many key sentences find their page first, and whether gone pages are found."""
    whole = "".join(row["text"] for row in corpus(out))
    asked = {path: key for path, key in keys.items() if key in whole}
    print(f"{len(asked)} of {len(keys)} key sentences are main content")
    for name, address in addresses.items():
        told = IndexSettings.from_env({**model, "INDEX_URL": address})
        first = sum(
            indexing.search(out, told, key, 1)[0].chunk["url"].endswith(path)
            for path, key in asked.items()
        )
        stale = {row["url"] for row in held(address)} & set(gone)
        print(
            f"  {name}: {first} of {len(asked)} found first; {len(stale)} of {len(gone)} gone pages"
        )


if __name__ == "__main__":
    main()
