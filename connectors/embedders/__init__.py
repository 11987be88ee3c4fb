"""Who makes vectors of texts, behind one small contract.

A further embedder is one module of its name with a class that keeps the contract of `Embedder` and
a function `open`, and its name in `flows.settings.index.EMBEDDERS`.
"""

import importlib
from collections.abc import Sequence
from typing import Protocol

from flows.settings.index import IndexSettings
from flows.steps import Space


class EmbeddingError(Exception):
    """Vectors cannot be had now; the message says why in one line."""


class Embedder(Protocol):
    """Makes vectors of texts, the same for the same text, all of one length.

    * *Threads*: `embed` may be called from several at once.
    * *Limits*: it cuts the texts into calls of a size that its model takes; a text that is too
      long for the model is embedded by its beginning.
    * *Failure*: `EmbeddingError`, after the retries that it makes itself.
    """

    @property
    def space(self) -> Space:
        """The model and the length of its vectors; asks the model once where nobody said it."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text, in order; none of them is zero or not finite."""


def open_embedder(settings: IndexSettings) -> Embedder:
    """Return the embedder that the settings name; ValueError in one line when it cannot be had."""
    module = importlib.import_module(f"connectors.embedders.{settings.embedder}")
    embedder: Embedder = module.open(settings)
    return embedder
