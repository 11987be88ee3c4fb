"""Any endpoint that speaks OpenAI's `/v1/embeddings`: a cloud's, or a server of one's own."""

import json
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final

import httpx

from connectors.embedders import EmbeddingError
from flows import politeness
from flows.secret import Secret
from flows.settings.index import IndexSettings
from flows.steps import Space

TRIES: Final = 5
"""How often a request is made, where the endpoint says that a later one may succeed."""
FIRST_WAIT_S: Final = 1.0
"""Seconds before the second try, doubled each time, unless `Retry-After` asks for more."""
LONGEST_WAIT_S: Final = 60.0
TIMEOUT_S: Final = 60.0
MOST_CHARACTERS: Final = 400_000
"""Characters of one request: OpenAI takes 300,000 tokens."""
SHORTEST: Final = 200
"""Characters below which a text that is refused is not refused for its length."""
LATER: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
TOO_MUCH: Final = frozenset({400, 413, 422})
"""Statuses of requests that may be too large: they are made again in parts."""

logger = logging.getLogger(__name__)


def open(settings: IndexSettings) -> "OpenAI":  # noqa: A001  # what `open_embedder` looks for
    """Return the embedder of the endpoint; nothing is asked yet."""
    return OpenAI(
        settings.api,
        settings.model,
        key=settings.api_key,
        dimensions=settings.dimensions,
        batch=settings.batch,
    )


class OpenAI:
    """Asks an endpoint for vectors.

    * *Limits*: requests of at most `batch` texts and 400,000 characters, made by the threads that
      call. A text that the endpoint refuses as too long is embedded by its beginning.
    * *Failure*: after five tries, or at once where no later one can succeed.
    * *Cost*: one more request, of one word, to learn how long the vectors are.
    """

    def __init__(
        self,
        api: str,
        model: str,
        *,
        key: Secret,
        dimensions: int = 0,
        batch: int = 128,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Name the endpoint; `dimensions` asks it for shorter vectors than the model's own."""
        self._place = f"{api.rstrip('/')}/embeddings"
        self._model = model
        self._dimensions = dimensions
        self._batch = batch
        self._pause = pause
        if not (key.reveal().isascii() and key.reveal().isprintable()):
            raise ValueError("INDEX_API_KEY cannot be sent: it must be printable ASCII")
        headers = {"Authorization": f"Bearer {key.reveal()}"} if key else {}
        try:
            self._client = httpx.Client(headers=headers, timeout=TIMEOUT_S, trust_env=False)
            httpx.Request("POST", self._place)
        except httpx.InvalidURL as error:
            raise ValueError(f"INDEX_API: nothing can be sent to {api!r}: {error}") from None

    @cached_property
    def space(self) -> Space:
        """The model and the length of its vectors; asks the endpoint once."""
        [vector] = self._ask(["dimension"])
        return Space(model=self._model, dimension=len(vector))

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text, in order."""
        vectors = [vector for part in self._parts(texts) for vector in self._ask(part)]
        for vector in vectors:
            if len(vector) != self.space.dimension:
                raise EmbeddingError(f"{self._place} answers with vectors of different lengths")
        return vectors

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _parts(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Yield the texts in parts that one request may carry."""
        part: list[str] = []
        length = 0
        for text in texts:
            if part and (len(part) >= self._batch or length + len(text) > MOST_CHARACTERS):
                yield part
                part, length = [], 0
            part.append(text or " ")  # an empty input is refused
            length += len(text)
        if part:
            yield part

    def _ask(self, texts: list[str]) -> list[list[float]]:
        """Return vectors; in parts where the endpoint finds the request too large."""
        answer = self._answered(texts)
        if answer.status_code in TOO_MUCH and len(texts) > 1:
            half = len(texts) // 2
            return self._ask(texts[:half]) + self._ask(texts[half:])
        if answer.status_code in TOO_MUCH and len(texts[0]) > SHORTEST:
            return self._ask([texts[0][: len(texts[0]) // 2]])
        if answer.status_code != httpx.codes.OK:
            raise EmbeddingError(f"{self._place} answers {answer.status_code}: {_said(answer)}")
        vectors = _vectors(answer)
        if len(vectors) != len(texts):
            raise EmbeddingError(f"{self._place} answers something else than {len(texts)} vectors")
        return vectors

    def _answered(self, texts: list[str]) -> httpx.Response:
        """Return an answer that trying again would not change."""
        asked: dict[str, Any] = {"model": self._model, "input": texts, "encoding_format": "float"}
        if self._dimensions:
            asked["dimensions"] = self._dimensions
        for number in range(TRIES):
            wait_s = FIRST_WAIT_S * 2**number
            try:
                answer = self._client.post(self._place, json=asked)
                if answer.status_code not in LATER:
                    return answer
                why = f"answers {answer.status_code}: {_said(answer)}"
                wait_s = max(wait_s, _asked(answer) or 0.0)
            except httpx.HTTPError as error:
                why = f"does not answer: {type(error).__name__} {error}".rstrip()
            if number + 1 < TRIES:
                logger.info("endpoint asked again", extra={"why": why, "wait_s": wait_s})
                self._pause(min(wait_s, LONGEST_WAIT_S))
        raise EmbeddingError(f"{self._place} {why}, {TRIES} times")


def _asked(answer: httpx.Response) -> float | None:
    """Return the seconds that an answer asks us to wait."""
    said, date = answer.headers.get("retry-after"), answer.headers.get("date")
    return politeness.parse_retry_after(said, date, datetime.now(UTC))


def _vectors(answer: httpx.Response) -> list[list[float]]:
    """Return the vectors of an answer in the order of the texts; none where it has none."""
    try:
        data = sorted(answer.json()["data"], key=lambda item: item["index"])
        vectors = [[float(number) for number in item["embedding"]] for item in data]
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, ValueError):
        return []
    fine = all(any(vector) and all(map(math.isfinite, vector)) for vector in vectors)
    return vectors if fine else []


def _said(answer: httpx.Response) -> str:
    """Return what an answer says in words, in one line."""
    try:
        said = answer.json()["error"]["message"]
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, ValueError):
        said = answer.text
    return " ".join(str(said).split())[:200] or "nothing"
