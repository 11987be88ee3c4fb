"""A text that two need at once is embedded once, and fails for both."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from connectors.indexing.claims import Claims

PATIENCE_S = 30


def test_what_another_is_making_is_waited_for() -> None:
    claims, begun, may = Claims(), threading.Event(), threading.Event()
    asked: list[str] = []

    def slowly(texts: Sequence[str]) -> list[list[float]]:
        asked.extend(texts)
        begun.set()
        assert may.wait(PATIENCE_S)
        return [[float(len(text))] for text in texts]

    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(claims.vectors, {"a": "a", "b": "bb"}, slowly)
        assert begun.wait(PATIENCE_S)
        two = threads.submit(claims.vectors, {"b": "bb", "c": "ccc"}, slowly)
        may.set()

        assert one.result(PATIENCE_S) == ({"a": [1.0], "b": [2.0]}, 2)
        assert two.result(PATIENCE_S) == ({"b": [2.0], "c": [3.0]}, 1)
    assert sorted(asked) == ["a", "bb", "ccc"]


def test_a_fault_is_not_kept() -> None:
    def fails(_: Sequence[str]) -> list[list[float]]:
        raise ValueError("away")

    claims = Claims()
    with pytest.raises(ValueError, match="away"):
        claims.vectors({"a": "a"}, fails)

    assert claims.vectors({"a": "a"}, lambda texts: [[1.0] for _ in texts]) == ({"a": [1.0]}, 1)


def test_what_is_written_is_forgotten() -> None:
    claims = Claims()
    claims.vectors({"a": "a"}, lambda texts: [[1.0] for _ in texts])
    claims.written(["a", "never seen"])

    assert claims.vectors({"a": "a"}, lambda texts: [[2.0] for _ in texts]) == ({"a": [2.0]}, 1)
