"""Keep a vector store in step with the corpus: what changed is embedded, what is gone removed.

python -m bytewax.run flows.index
python -m flows.index --help
"""

import sys

import bytewax.operators as op
from bytewax.dataflow import Dataflow

from connectors.indexing import Pages, running
from connectors.indexing.running import Ends
from flows.operators import offload
from flows.settings import manual
from flows.settings.index import names

COMMAND = "python -m bytewax.run flows.index"


def build(ends: Ends) -> Dataflow:
    """Assemble the dataflow; nothing is read or written until it runs."""
    flow = Dataflow("index")
    differing = op.input("compare", flow, ends.differences)
    embedded = offload("embed", differing, ends.embedding, spread_by=_page, key_again=_site)
    op.output("write", embedded, ends.store)
    return flow


def flow() -> Dataflow:
    """Return the dataflow of `python -m bytewax.run flows.index`, which calls this."""
    return build(running.begin())


def _page(pages: Pages) -> str:
    return pages.urls[0]


def _site(pages: Pages) -> str:
    return pages.site


if __name__ == "__main__":
    sys.stdout.write(manual(COMMAND, __doc__.splitlines()[0], names()))
