"""Cost of hostile pages at 0.1, 1 and 5 MB: linear in their size, or ended by the deadline.

    python bench/hostile.py [KIND …] [--deadline 30] [--megabytes 0.1 1 5]

Each page is read as an extraction process reads it, from bytes to chunks, in a process of its own
that is killed when it has used as many seconds of CPU as the deadline allows. `growth` is the
exponent of size by which a page's time grows, the larger one of the two steps between three sizes:
1 is linear. A step that ends under a second says little and is left out. Exit status 1 when a kind
grows faster than `--most` allows.
"""

import argparse
import gc
import logging
import math
import multiprocessing
import resource
import sys
import time
from multiprocessing.connection import Connection

from hostile_pages import KINDS, SHELL

from connectors.extractors import Manner, bound, read
from flows import content, language, neighbours, tokens
from flows.records import Attribution, Entry, Exchange, Failure, Method, Page

URL = "https://a.test/page"
MANNER = Manner(max_tokens=512, overlap=0, encoding="cl100k_base")
TELLING_S = 1.0
"""Seconds from which the time of a page says how it grows."""


def main() -> None:
    """Print the seconds of each kind at each size, then the verdict."""
    args = _arguments()
    sizes = [round(size * 1_000_000) for size in args.megabytes]
    _warm()
    print(f"{'CPU seconds at':28}" + "".join(f"{size / 1e6:>8g} MB" for size in sizes) + "  growth")
    found = {}
    for kind in args.kinds or KINDS:
        runs = [measured(kind, size, args.deadline) for size in sizes]
        seconds = [s for s, _ in runs]
        found[kind] = growth(sizes, seconds)
        cells = "".join(f"{'deadline' if s is None else f'{s:.2f}':>11}" for s in seconds)
        print(f"{kind:28}{cells}  {found[kind]:6.2f}  {runs[-1][1][:60]}", flush=True)
    sys.exit(_judged(found, args.most))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--deadline", type=float, default=30.0, help="seconds of CPU for a page")
    parser.add_argument("--megabytes", type=float, nargs="+", default=[0.1, 1.0, 5.0])
    parser.add_argument("--most", type=float, default=1.3, help="exponent that fails a kind")
    return parser.parse_args()


def _warm() -> None:
    """Load here what each process would load otherwise."""
    assert content
    assert neighbours
    tokens.count("warm", MANNER.encoding)
    language.detected("words enough for a guess " * 10)


def _judged(found: dict[str, float], most: float) -> int:
    """Print which kinds grow too fast, and return the exit status."""
    bad = {kind: exponent for kind, exponent in found.items() if exponent > most}
    print(f"{len(found) - len(bad)} of {len(found)} kinds grow no faster than size^{most}")
    for kind, exponent in sorted(bad.items(), key=lambda item: -item[1]):
        print(f"  {kind}: size^{exponent:.2f}")
    return 1 if bad else 0


def growth(sizes: list[int], seconds: list[float | None]) -> float:
    """Return the largest exponent of a step; 0 where no step says anything."""
    steps = zip(sizes, sizes[1:], seconds, seconds[1:], strict=False)
    return max(
        (
            math.log(late / max(early, 1e-3)) / math.log(large / small)
            for small, large, early, late in steps
            if early is not None and late is not None and late >= TELLING_S
        ),
        default=0.0,
    )


def measured(kind: str, size: int, deadline_s: float) -> tuple[float | None, str]:
    """Return the CPU seconds of reading a page, None past the deadline, and what came of it."""
    here, there = multiprocessing.Pipe(duplex=False)
    work_on = (kind, size, deadline_s, there)
    process = multiprocessing.get_context("fork").Process(target=work, args=work_on)
    process.start()
    there.close()
    try:
        seconds, said = here.recv()
    except EOFError:
        return None, f"ended by {-(process.exitcode or 0)}" if process.exitcode else ""
    else:
        return seconds, said
    finally:
        process.join()


def work(kind: str, size: int, deadline_s: float, end: Connection) -> None:
    """Read a page and send what it cost."""
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(deadline_s), math.ceil(deadline_s) + 1))
    logging.disable(logging.CRITICAL)
    bound()
    body = SHELL.format(KINDS[kind](size)).encode("utf-8", "surrogatepass")
    entry = Entry(site="https://a.test", url=URL, attribution=Attribution(method=Method.GIVEN))
    page = Page(entry=entry, exchange=Exchange(final_url=URL), body=body)
    gc.collect()
    start = time.process_time()
    came = read(page, MANNER)
    seconds = time.process_time() - start
    failed = isinstance(came, Failure)
    end.send((seconds, f"{came.outcome}: {came.detail}" if failed else f"{len(came[1])} chunks"))


if __name__ == "__main__":
    main()
