"""Cost of reading pages, from bytes to chunks, against trafilatura's own Markdown.

    python bench/content.py [--pages FOLDER] [--count 80]

FOLDER holds HTML files, or `corpus.bin` with `corpus.json` (a list of `off` and `size`, and a
`package` by which pages are mixed evenly). Both are run in turn on each page in one process; the
ratio is that of the faster of two runs. Then the time is told by parts.
"""

import argparse
import json
import logging
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import wraps
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

import trafilatura

from flows import chunks, content, facts, maincontent, markdown, tokens, walls
from flows.records import Attribution, Document, Entry, Exchange, Method, Page

URL = "https://a.test/docs/page.html"
PARTS: tuple[tuple[Any, str], ...] = (
    (content, "_parsed"),
    (facts, "read"),
    (maincontent, "find"),
    (trafilatura, "bare_extraction"),
    (markdown, "write"),
    (walls, "judge"),
    (tokens, "estimate"),
    (chunks, "cut"),
)
"""What is timed; `bare_extraction` is a part of `find`."""


def main() -> None:
    """Print the ratio, and where the time goes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pages", type=Path, default=Path("tests/data/pages"))
    parser.add_argument("--count", type=int, default=80)
    args = parser.parse_args()
    logging.disable(logging.CRITICAL)
    pages = list(islice(bodies(args.pages), args.count))
    ours, theirs = compared(pages)
    ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    print(f"{len(pages)} pages, median {statistics.median(map(len, pages)) / 1000:.1f} kB")
    print(f"trafilatura's Markdown    median {statistics.median(theirs) * 1000:7.1f} ms")
    print(f"document and chunks       median {statistics.median(ours) * 1000:7.1f} ms")
    print(
        f"ratio  median {statistics.median(ratios):.2f}  mean {statistics.mean(ratios):.2f}  "
        f"of sums {sum(ours) / sum(theirs):.2f}  most {ratios[-1]:.2f}"
    )
    for name, seconds in parts(pages).most_common():
        print(f"  {name:16} {seconds / len(pages) * 1000:7.2f} ms a page")


def bodies(folder: Path) -> Iterator[bytes]:
    """Yield the pages of a folder, of each package in turn where it is a corpus."""
    if not (folder / "corpus.json").exists():
        yield from (path.read_bytes() for path in sorted(folder.glob("*.html")))
        return
    packages = defaultdict(list)
    for entry in json.loads((folder / "corpus.json").read_text()):
        packages[entry["package"]].append(entry)
    steps = [entries[:: max(1, len(entries) // 100)] for entries in packages.values()]
    with (folder / "corpus.bin").open("rb") as file:
        for entry in filter(None, chain.from_iterable(zip_longest(*steps))):
            file.seek(entry["off"])
            yield file.read(entry["size"])


def read(body: bytes) -> None:
    """Read one page, from bytes to chunks."""
    entry = Entry(site="https://a.test", url=URL, attribution=Attribution(method=Method.GIVEN))
    page = Page(entry=entry, exchange=Exchange(final_url=URL), body=body)
    document = content.extract(page)
    if isinstance(document, Document):
        chunks.cut(document, chunks.Limits())


def compared(pages: list[bytes]) -> tuple[list[float], list[float]]:
    """Return the seconds of both on each page."""
    ours, theirs = [], []
    for body in [pages[0], *pages]:  # the first one loads what is loaded once
        runs = [(timed(read, body), timed(extracted, body)) for _ in range(2)]
        ours.append(min(run[0] for run in runs))
        theirs.append(min(run[1] for run in runs))
    return ours[1:], theirs[1:]


def extracted(body: bytes) -> None:
    """Have trafilatura write its own Markdown."""
    trafilatura.extract(body, output_format="markdown")


def timed(run: Callable[[bytes], None], body: bytes) -> float:
    """Return the CPU seconds of one run."""
    start = time.process_time()
    run(body)
    return time.process_time() - start


def parts(pages: list[bytes]) -> Counter[str]:
    """Return the seconds that each part takes on all pages."""
    seconds: Counter[str] = Counter()
    for module, name in PARTS:
        setattr(module, name, counted(getattr(module, name), name, seconds))
    for body in pages:
        read(body)
    return seconds


def counted(run: Callable[..., Any], name: str, seconds: Counter[str]) -> Callable[..., Any]:
    """Return a function that adds its time to `seconds`."""

    @wraps(run)
    def timed_run(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  # whatever `run` takes
        start = time.process_time()
        try:
            return run(*args, **kwargs)
        finally:
            seconds[name.strip("_")] += time.process_time() - start

    return timed_run


if __name__ == "__main__":
    main()
