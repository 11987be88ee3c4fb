"""An endpoint that misbehaves costs a wait or one clear line; the key is told to nobody else."""

import json
import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from connectors.embedders import EmbeddingError
from connectors.embedders.openai import LONGEST_WAIT_S, TRIES, OpenAI
from flows.secret import Secret

KEY = "sk-very-secret"
Reply = tuple[int, Any, dict[str, str]]


def vectors(asked: dict[str, Any]) -> Reply:
    data = [{"index": at, "embedding": [1.0, len(text)]} for at, text in enumerate(asked["input"])]
    return 200, {"data": data}, {}


@dataclass
class Endpoint:
    """Answers what it is told to, in turn, and then vectors; notes what it was asked."""

    replies: list[Callable[[dict[str, Any]], Reply] | Reply] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    place: str = ""
    usual: Callable[[dict[str, Any]], Reply] = vectors

    def embedder(self, **more: Any) -> OpenAI:
        return OpenAI(self.place, "m", key=Secret(KEY), pause=self.waits.append, **more)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    told = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.asked.append(asked)
            told.headers.append(dict(self.headers))
            reply = told.replies.pop(0) if told.replies else told.usual
            status, answer, headers = reply(asked) if callable(reply) else reply
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        told.place = f"http://127.0.0.1:{server.server_address[1]}/v1/"
        yield told
        server.shutdown()
        thread.join()


@pytest.fixture
def embedder(endpoint: Endpoint) -> Iterator[OpenAI]:
    made = endpoint.embedder(batch=3)
    assert made.space.dimension == 2
    endpoint.asked.clear()
    yield made
    made.close()


def test_texts_go_in_batches_and_the_key_in_a_header(endpoint: Endpoint, embedder: OpenAI) -> None:
    found = embedder.embed(["a", "bb", "ccc", "dddd"])

    assert [vector[1] for vector in found] == [1, 2, 3, 4]
    assert [asked["input"] for asked in endpoint.asked] == [["a", "bb", "ccc"], ["dddd"]]
    assert {asked["model"] for asked in endpoint.asked} == {"m"}
    assert {headers["Authorization"] for headers in endpoint.headers} == {f"Bearer {KEY}"}


def test_long_texts_make_smaller_requests(endpoint: Endpoint, embedder: OpenAI) -> None:
    embedder.embed(["x" * 250_000, "y" * 250_000])

    assert [len(asked["input"]) for asked in endpoint.asked] == [1, 1]


def test_shorter_vectors_are_asked_for_when_wanted(endpoint: Endpoint) -> None:
    made = endpoint.embedder(dimensions=2)
    made.embed(["a"])
    made.close()

    assert endpoint.asked[0]["dimensions"] == 2


@pytest.mark.parametrize(
    ("reply", "waited"),
    [
        ((429, {"error": {"message": "slow down"}}, {"Retry-After": "7"}), 7),
        ((429, {}, {"Retry-After": "86400"}), LONGEST_WAIT_S),
        ((503, b"<html>busy</html>", {}), 1),
        ((500, b"", {"Retry-After": "nonsense"}), 1),
    ],
    ids=["seconds", "a day", "none", "nonsense"],
)
def test_it_waits_as_long_as_the_endpoint_asks_within_bounds(
    endpoint: Endpoint, embedder: OpenAI, reply: Reply, waited: float
) -> None:
    endpoint.replies = [reply]

    assert embedder.embed(["a"]) == [[1.0, 1.0]]
    assert endpoint.waits == [waited]


def test_it_gives_up_in_one_line_after_some_tries(endpoint: Endpoint, embedder: OpenAI) -> None:
    endpoint.replies = [(503, {"error": {"message": "two\nlines"}}, {})] * TRIES
    with pytest.raises(EmbeddingError, match=r"answers 503: two lines, 5 times$"):
        embedder.embed(["a"])

    assert endpoint.waits == [1, 2, 4, 8]


def test_an_endpoint_that_is_not_there_is_told_in_one_line() -> None:
    waits: list[float] = []
    made = OpenAI("http://127.0.0.1:1/v1", "m", key=Secret(KEY), pause=waits.append)
    with pytest.raises(EmbeddingError, match=r"does not answer: ConnectError") as fault:
        made.embed(["a"])
    made.close()

    assert "\n" not in str(fault.value)
    assert len(waits) == TRIES - 1


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_no_later_try_can_change_is_not_tried_again(
    endpoint: Endpoint, embedder: OpenAI, status: int
) -> None:
    endpoint.replies = [(status, {"error": {"message": "no"}}, {})]
    with pytest.raises(EmbeddingError, match=f"answers {status}: no"):
        embedder.embed(["a"])

    assert endpoint.waits == []


def test_a_request_that_is_too_large_is_made_in_parts(endpoint: Endpoint, embedder: OpenAI) -> None:
    endpoint.usual = lambda asked: (413, {}, {}) if len(asked["input"]) > 1 else vectors(asked)

    assert [vector[1] for vector in embedder.embed(["a", "bb", "ccc"])] == [1, 2, 3]


def test_a_text_that_is_too_long_is_embedded_by_its_beginning(
    endpoint: Endpoint, embedder: OpenAI
) -> None:
    endpoint.usual = lambda asked: (
        (400, {"error": {"message": "too long"}}, {})
        if max(map(len, asked["input"])) > 1_000
        else vectors(asked)
    )

    assert [vector[1] for vector in embedder.embed(["a", "x" * 3_000, "bb"])] == [1, 750, 2]


def test_a_model_that_refuses_everything_is_told_after_few_requests(
    endpoint: Endpoint, embedder: OpenAI
) -> None:
    endpoint.usual = lambda _: (400, {"error": {"message": "no such model"}}, {})
    with pytest.raises(EmbeddingError, match="answers 400: no such model"):
        embedder.embed(["some text"] * 100)

    assert len(endpoint.asked) < 5


@pytest.mark.parametrize(
    "answer",
    [
        b"not json",
        {"data": []},
        {"data": [{"index": 0}]},
        {"data": [{"index": 0, "embedding": [0.0, 0.0]}]},
        b'{"data": [{"index": 0, "embedding": [NaN, 1.0]}]}',
        {"data": [{"index": 0, "embedding": ["x"]}]},
        [],
    ],
    ids=range(7),
)
def test_an_answer_that_is_no_vector_is_a_fault(
    endpoint: Endpoint, embedder: OpenAI, answer: Any
) -> None:
    endpoint.replies = [(200, answer, {})]
    with pytest.raises(EmbeddingError, match="something else than 1 vectors"):
        embedder.embed(["a"])


def test_vectors_of_another_length_are_a_fault(endpoint: Endpoint, embedder: OpenAI) -> None:
    endpoint.replies = [(200, {"data": [{"index": 0, "embedding": [1.0]}]}, {})]
    with pytest.raises(EmbeddingError, match="different lengths"):
        embedder.embed(["a"])


def test_no_log_line_and_no_fault_has_the_key(
    endpoint: Endpoint, embedder: OpenAI, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    endpoint.replies = [(429, {}, {}), (401, {"error": {"message": "bad key"}}, {})]
    with pytest.raises(EmbeddingError) as fault:
        embedder.embed(["a"])

    assert KEY not in caplog.text + str(fault.value) + repr(embedder)


@pytest.mark.parametrize("key", ["hidden\nx: y", "hiddén"])
def test_a_key_that_cannot_be_sent_is_refused_without_being_told(key: str) -> None:
    with pytest.raises(ValueError, match="INDEX_API_KEY cannot be sent") as refused:
        OpenAI("http://a.test", "m", key=Secret(key))

    assert "hid" not in str(refused.value)


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="INDEX_API: nothing can be sent"):
        OpenAI("http://[::1", "m", key=Secret(KEY))
