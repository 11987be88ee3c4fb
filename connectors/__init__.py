"""Where the stream meets the world: sites, the Web, extraction processes, the dataset."""

import os
import sys

from connectors import stopping

if sys.platform == "linux":
    # Arrow reads this when it is imported. Its own choice, mimalloc, keeps what is free: 100 MB
    # more in the main process after 10,000 pages.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")

if stopping.is_main():
    stopping.STOP.listen()
