"""Vectors of hashed words: good for trying out, not for quality. Needs nothing."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from flows.settings.index import IndexSettings
from flows.steps import Space

DIMENSIONS: Final = 1_024
"""With fewer, words that share a place by chance drown those that texts share."""
STEM: Final = 5
"""Letters of a word that count as well, so that `resumed` is near `resume`."""
_WORD = re.compile(r"\w+")
_COMMON: Final = frozenset(
    re.findall(
        r"\w+",
        """
        a about all an and are as at be but by can do does for from has have how i if in into is it
        its may more no not of on or our so than that the their then there they this to was we what
        when where which who why will with you your
        """,
    )
)
"""Words that say little about a text; English only."""


def open(settings: IndexSettings) -> "Hashing":  # noqa: A001  # what `open_embedder` looks for
    """Return the embedder; it needs nothing."""
    return Hashing(settings.dimensions or DIMENSIONS)


class Hashing:
    """Finds texts by the words that they share, without any model.

    It knows nothing of meaning: “car” is not near “automobile”. The same words give the same
    vector on every machine.
    """

    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        """Make vectors of so many numbers."""
        self._dimensions = dimensions

    @property
    def space(self) -> Space:
        """The model and the length of its vectors."""
        return Space(model="hashing-1", dimension=self._dimensions)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector of length 1 for each text, in order."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self._dimensions
        vector[0] = 1e-3  # a text without a word has a vector as well
        for word, count in Counter(_features(text)).items():
            place, sign = _place(word, self._dimensions)
            vector[place] += sign * (1 + math.log(count))
        length = math.sqrt(sum(number * number for number in vector))
        return [number / length for number in vector]


def _features(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.lower()):
        if word in _COMMON:
            continue
        yield word
        if not word.isascii():
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        elif len(word) > STEM:
            yield word[:STEM]


@lru_cache(maxsize=100_000)
def _place(word: str, dimensions: int) -> tuple[int, int]:
    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(digest, "big")
    return (number >> 1) % dimensions, 1 if number & 1 else -1
