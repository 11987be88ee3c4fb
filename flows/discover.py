"""The URL inventory alone: what sites declare, without fetching their pages.

python -m bytewax.run flows.discover
python -m flows.discover --help
"""

import sys

import bytewax.operators as op
from bytewax.dataflow import Dataflow

from connectors import running
from connectors.running import Connectors
from flows.operators import DECIDING, Decision, admit, first_seen, split
from flows.records import Entries, Entry, Failure, LeftOut, Outcome, Sighting, Sightings
from flows.settings import Settings, manual

COMMAND = "python -m bytewax.run flows.discover"


def build(settings: Settings, ends: Connectors) -> Dataflow:
    """Assemble the dataflow; nothing is read or written until it runs."""
    flow = Dataflow("discover")
    found = split("found", op.input("discover", flow, ends.sites), *DECIDING)
    returned = split("returned", op.input("responses", flow, ends.responses), Entry)
    known = first_seen("dedupe", op.merge("entries", found.chosen, returned.chosen))
    decided = admit("admit", known, settings)
    op.output("request", decided, ends.requests)  # pages are fetched for their links alone
    told = op.map_value("list", decided, as_row)
    listed = split("listed", told, Failure, LeftOut, Sighting, Sightings)
    op.output("write", op.merge("rows", found.rest, returned.rest, listed.chosen), ends.dataset)
    return flow


def as_row(decision: Decision) -> Decision:
    """Return what the dataset keeps of a decision: admitted entries are `discovered`."""
    if isinstance(decision, Entry):
        return Failure(entry=decision, outcome=Outcome.DISCOVERED)
    if isinstance(decision, Entries):
        return LeftOut(entries=decision, outcome=Outcome.DISCOVERED)
    return decision


def flow() -> Dataflow:
    """Return the dataflow of `python -m bytewax.run flows.discover`, which calls this."""
    return running.dataflow("discover", build, reads=False, links=False)


if __name__ == "__main__":
    sys.stdout.write(manual(COMMAND, __doc__.splitlines()[0]))
