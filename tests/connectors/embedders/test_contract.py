"""What every embedder keeps: a vector for each text, in order, the same each time, never zero."""

import json
import math
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from connectors.embedders import Embedder, open_embedder
from connectors.embedders.hashing import Hashing
from flows.settings.index import IndexSettings
from tests.models import minilm

AWKWARD = [
    "",
    " ",
    "\n\t",
    "naïve 汉字 🐍",
    "nul \0",
    "...",
    "the of and",
    "word " * 50_000,
    "x" * 200_000,
]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """Serve the hashing embedder as an endpoint, on a thread."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            vectors = Hashing(asked.get("dimensions", 64)).embed(asked["input"])
            data = [{"index": at, "embedding": vector} for at, vector in enumerate(vectors)]
            body = json.dumps({"data": data[::-1]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
        thread.join()


@pytest.fixture(params=["hashing", "openai", "onnx"])
def embedder(
    request: pytest.FixtureRequest, endpoint: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Embedder]:
    model = str(minilm(tmp_path_factory)) if request.param == "onnx" else "test-model"
    made = open_embedder(IndexSettings(embedder=request.param, api=endpoint, model=model))
    yield made
    getattr(made, "close", lambda: None)()


def length(vector: list[float]) -> float:
    return math.sqrt(sum(number * number for number in vector))


def test_each_text_has_a_vector_of_the_length_that_is_told(embedder: Embedder) -> None:
    vectors = embedder.embed(["one", "two words", "three words here"])

    assert [len(vector) for vector in vectors] == [embedder.space.dimension] * 3
    assert embedder.embed([]) == []


def test_no_vector_is_zero_or_not_finite(embedder: Embedder) -> None:
    vectors = embedder.embed(AWKWARD)

    assert all(math.isfinite(length(vector)) and length(vector) > 0.1 for vector in vectors)


def test_vectors_come_in_the_order_of_the_texts(embedder: Embedder) -> None:
    texts = [f"text {'longer ' * (number % 5)}number {number}" for number in range(150)]
    together = embedder.embed(texts)

    for at in (0, 7, 149):
        [alone] = embedder.embed([texts[at]])
        assert sum(map(float.__mul__, alone, together[at])) > 0.98 * length(alone) * length(
            together[at]
        )


def test_the_same_text_has_the_same_vector_from_any_thread(embedder: Embedder) -> None:
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(embedder.embed, [["apples and pears"]] * 8))

    assert all(vectors[0] == pytest.approx(found[0][0], abs=1e-5) for vectors in found)


def test_texts_that_share_words_are_nearer_than_others(embedder: Embedder) -> None:
    one, near, far = embedder.embed(
        ["how to stop a running crawl", "stopping the crawl while it is running", "prices of tea"]
    )

    assert sum(map(float.__mul__, one, near)) > sum(map(float.__mul__, one, far))


def test_its_repr_shows_no_key() -> None:
    told = IndexSettings(
        embedder="openai",
        model="m",
        api_key=IndexSettings.from_env({"INDEX_API_KEY": "sk-hidden"}).api_key,
    )
    made = open_embedder(told)

    assert "hidden" not in repr(told) + repr(made) + str(vars(made))
    made.close()


def test_a_folder_without_a_model_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"has no model\.onnx"):
        open_embedder(IndexSettings(embedder="onnx", model=str(tmp_path)))


def test_a_damaged_model_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no model")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match="cannot be used") as refused:
        open_embedder(IndexSettings(embedder="onnx", model=str(tmp_path)))

    assert "\n" not in str(refused.value)
