"""What runs after the first one cost, and whether they find exactly what changed.

    python bench/rerun.py --server DIR --corpus DIR

`--server` is a folder with `serve_web.py`, `--corpus` what its `make_web.py` has made. Seven runs
over one site: the first; one with nothing changed; one with a part of the pages changed; one with
pages taken off the lists and the site; one with pages that are still listed and gone; one by other
settings, with the HTML kept before; and one more with nothing changed. Prints for each the
requests for pages and their bodies' bytes as the server counted them, the pages that were read,
and what became of the corpus.
"""

import argparse
import hashlib
import re
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
from local_web import Web, run, scratch, served

NUMBER = re.compile(r"/docs/(\d+)/")
HOME = -1
LISTED_SHARE = 0.05
"""Part of the listed pages that answer 404 in the fifth run."""
CHANGES = ("new", "updated", "unchanged", "removed")


@dataclass
class State:
    """What a run has left."""

    urls: list[dict[str, Any]]
    texts: dict[int, str]
    """Of the pages that are stored, by their numbers."""
    digest: str
    """Of the files of the corpus."""
    asked: int
    """Requests for pages, without the home page."""
    not_modified: int
    sent: int
    """Bytes of all answers."""
    read: int
    """Pages whose main content was extracted."""

    def numbers(self, change: str) -> set[int]:
        """Return the pages with a change."""
        return {number(row["url"]) for row in self.urls if row["change"] == change} - {HOME}


def main() -> None:
    """Run all parts and print their figures; exit 1 when a run found anything else."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--changed", type=float, default=0.05)
    given = parser.parse_args()
    with served(given.server, given.corpus, sites=1, pages=given.pages) as web, scratch() as folder:
        bench = Bench(web, folder / "data")
        bench.runs(given.pages, given.changed)
    sys.exit(1 if bench.wrong else 0)


class Bench:
    """One dataset, run after run."""

    def __init__(self, web: Web, out: Path) -> None:
        """Begin with nothing."""
        self.web = web
        self.out = out
        self.wrong = 0
        print(f"{'run':34} {'page requests':>13} {'304':>5} {'kB sent':>8} {'read':>5}  changes")

    def runs(self, pages: int, changed: float) -> None:
        """Make all runs, with what happens to the site in between."""
        first = self.run("1 first")
        again = self.run("2 nothing changed")
        self.expect("the corpus is the same, byte for byte", again.digest == first.digest)
        self.expect("no page is asked for, none is read", again.asked == again.read == 0)

        self.web.get(f"/__web?epoch=1&changed={changed:g}")
        truth = {at for at in range(pages) if frac("epoch", 0, at, 1) < changed}
        third = self.run(f"3 {len(truth)} pages changed")
        # On a quarter of the pages what changes is no part of the main content.
        shown = {at for at in truth if f"p{at}e1z" in third.texts.get(at, "")}
        self.expect("exactly those of another text are updated", third.numbers("updated") == shown)
        self.expect("no other is asked for", third.asked == third.read == len(truth))

        left = pages - pages // 20
        self.web.get(f"/__web?pages={left}")
        fourth = self.run(f"4 {pages - left} pages taken away")
        taken = {at for at in third.texts if at >= left}
        self.expect("exactly these are removed", fourth.numbers("removed") == taken)
        self.expect("no other is asked for", fourth.asked == 0)  # these are none of its pages

        self.web.get(f"/__web?missing={LISTED_SHARE:g}")
        missing = {at for at in fourth.texts if frac("kind", 0, at) < LISTED_SHARE}
        fifth = self.run(f"5 {len(missing)} listed pages give 404", RECHECK_DAYS="0")
        self.expect("exactly these are removed", fifth.numbers("removed") == missing)
        self.expect("the others answer 304", fifth.not_modified == len(fifth.texts))

        self.run("6 other settings, HTML is kept", CHUNK_TOKENS="256", KEEP_HTML="1")
        last = self.run("7 other settings, HTML was kept", CHUNK_TOKENS="400", KEEP_HTML="1")
        self.expect("every page is updated", last.numbers("updated") == set(last.texts))

    def run(self, name: str, **settings: str) -> State:
        """Make one run and print what it cost."""
        self.web.get("/__reset")
        # The pages link to pages that are not in this web: following them measures 404s.
        run(self.web, "flows.ingest", self.out, LINKS="0", VERIFY_AFTER_S="0", **settings)
        found = state(self.out, self.web.get("/__stats"))
        counts = {word: len(found.numbers(word)) for word in CHANGES}
        told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        print(
            f"{name:34} {found.asked:13} {found.not_modified:5} {found.sent // 1000:8}"
            f" {found.read:5}  {told}"
        )
        return found

    def expect(self, claim: str, holds: bool) -> None:
        """Print whether a claim holds."""
        self.wrong += not holds
        print(f"    {claim}: {'yes' if holds else 'NO'}")


def state(out: Path, asked: dict[str, Any]) -> State:
    """Return what a run has left, and what its server says that it asked for."""
    urls = ds.dataset(max((out / "runs").iterdir()) / "urls", format="parquet").to_table()
    stored = ds.dataset(out / "corpus" / "pages", format="parquet").to_table()
    texts = zip(map(number, stored["url"].to_pylist()), stored["markdown"].to_pylist(), strict=True)
    digest = hashlib.blake2b()
    for path in sorted((out / "corpus").rglob("*.parquet")):
        digest.update(path.read_bytes())
    rows = urls.to_pylist()
    return State(
        urls=rows,
        texts={at: text for at, text in texts if at != HOME},
        digest=digest.hexdigest(),
        asked=asked["page_requests"],
        not_modified=asked["status"].get("304", 0),
        sent=asked["bytes"],
        read=sum(row["content_hash"] is not None for row in rows),
    )


def number(url: str) -> int:
    """Return the number of a page, or that of the home page."""
    found = NUMBER.search(url)
    return int(found[1]) if found else HOME


def frac(*key: object) -> float:
    """Return where a page lies between 0 and 1, as the server decides on its fate."""
    return zlib.crc32(repr(key).encode()) / 2**32


if __name__ == "__main__":
    main()
