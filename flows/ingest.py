"""The main job: sites in, attributed Parquet out.

python -m bytewax.run flows.ingest
python -m flows.ingest --help
"""

import sys

import bytewax.operators as op
from bytewax.dataflow import Dataflow

from connectors import running
from connectors.running import Connectors
from flows.operators import DECIDING, admit, first_seen, offload, split
from flows.records import Entry, Failure, LeftOut, Page, Reading, Sighting, Sightings
from flows.settings import Settings, manual

COMMAND = "python -m bytewax.run flows.ingest"


def build(settings: Settings, ends: Connectors) -> Dataflow:
    """Assemble the dataflow; nothing is read or written until it runs."""
    flow = Dataflow("ingest")
    found = split("found", op.input("discover", flow, ends.sites), *DECIDING)
    returned = split("returned", op.input("responses", flow, ends.responses), Entry)
    known = first_seen("dedupe", op.merge("entries", found.chosen, returned.chosen))
    decided = admit("admit", known, settings)
    op.output("request", decided, ends.requests)  # the Web closes the loop, to "responses"
    came = split("pages", returned.rest, Page)
    read = offload("extract", came.chosen, ends.extractors, spread_by=_url, key_again=_site)
    left_out = split("left_out", decided, Failure, LeftOut, Sighting, Sightings)
    rows = op.merge("rows", found.rest, came.rest, read, left_out.chosen)
    op.output("write", rows, ends.dataset)
    return flow


def flow() -> Dataflow:
    """Return the dataflow of `python -m bytewax.run flows.ingest`, which calls this."""
    return running.dataflow("ingest", build)


def _url(page: Page) -> str:
    return page.entry.url


def _site(read: Reading | Failure) -> str:
    return read.entry.site


if __name__ == "__main__":
    sys.stdout.write(manual(COMMAND, __doc__.splitlines()[0]))
