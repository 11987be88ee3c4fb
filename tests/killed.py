"""An index run that is killed: `python -m tests.killed DATASET STORE` says when it begins."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from connectors.embedders.hashing import Hashing
from tests.indexer import Counting, run, settings


class Unhurried(Counting):
    """An embedder that takes its time, so that a kill finds the run at work."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        time.sleep(0.01)
        return super().embed(texts)


if __name__ == "__main__":
    out, address = Path(sys.argv[1]), sys.argv[2]
    embedder = Unhurried(Hashing(32))
    index = settings(address)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    run(out, index, embedder)
    sys.stdout.write("done\n")
    sys.stdout.flush()
