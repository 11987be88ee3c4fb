"""Tell a Kafka topic what changed in the corpus: one message a page, keyed by its URL.

python -m bytewax.run flows.publish
python -m flows.publish --help
"""

import sys

import bytewax.operators as op
from bytewax.dataflow import Dataflow

from connectors.publishing import running
from connectors.publishing.running import Ends
from flows.settings import manual
from flows.settings.publish import names

COMMAND = "python -m bytewax.run flows.publish"


def build(ends: Ends) -> Dataflow:
    """Assemble the dataflow; nothing is read or written until it runs."""
    flow = Dataflow("publish")
    changes = op.input("compare", flow, ends.changes)
    op.output("topic", changes, ends.topic)
    return flow


def flow() -> Dataflow:
    """Return the dataflow of `python -m bytewax.run flows.publish`, which calls this."""
    return build(running.begin())


if __name__ == "__main__":
    sys.stdout.write(manual(COMMAND, __doc__.splitlines()[0], names()))
