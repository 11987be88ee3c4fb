"""A sentence model of one's own in ONNX form, run on this machine by onnxruntime."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Final

from connectors import stores
from connectors.embedders import EmbeddingError
from flows.settings.index import IndexSettings
from flows.steps import Space

MOST_TEXTS: Final = 32
"""Texts of one call: more take more memory and no less time."""
USUAL_TOKENS: Final = 256
"""Tokens of a text that are read, where the model's folder names no number."""
MOST_TOKENS: Final = 8_192
LONGEST_WORD: Final = 100
"""Characters of a token that the pieces of such a model can make up (BERT's WordPiece)."""


def open(settings: IndexSettings) -> "Onnx":  # noqa: A001  # what `open_embedder` looks for
    """Return the model in a folder; ValueError in one line when it cannot be used."""
    return Onnx(Path(settings.model), batch=settings.batch)


class Onnx:
    """Runs `model.onnx` of a folder, with `tokenizer.json` beside it.

    It is used as sentence-transformers would: the mean over a text's tokens, or the first token
    where `1_Pooling/config.json` says so; as many tokens as `sentence_bert_config.json` says.

    * *Limits*: texts are read up to 256 tokens where the folder does not say; batches of 32.
    * *Threads*: calls share the model, and onnxruntime's threads.
    """

    def __init__(self, folder: Path, *, batch: int = MOST_TEXTS) -> None:
        """Load the model."""
        runtime = stores.needs("embed", "onnxruntime")
        tokenizers = stores.needs("embed", "tokenizers")
        self._np: Any = stores.needs("embed", "numpy")
        self._batch = min(batch, MOST_TEXTS)
        model, words = folder / "model.onnx", folder / "tokenizer.json"
        for path in (model, words):
            if not path.is_file():
                raise ValueError(f"INDEX_MODEL: {folder} has no {path.name}")
        tokens = _told(folder, "sentence_bert_config.json", "max_seq_length")
        self._tokens = min(tokens, MOST_TOKENS) if isinstance(tokens, int) else USUAL_TOKENS
        self._first = _told(folder, "1_Pooling/config.json", "pooling_mode_cls_token") is True
        self._lock = Lock()
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(words))
            self._tokenizer.enable_truncation(self._tokens)
            self._tokenizer.enable_padding()
            self._session = runtime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        except Exception as error:  # whatever either library makes of a damaged file
            why = str(error).splitlines()[0]
            raise ValueError(f"INDEX_MODEL: {folder} cannot be used: {why}") from error
        self._inputs = {given.name for given in self._session.get_inputs()}
        self.space = Space(
            model=f"onnx-{_digest(model, words, self._tokens, self._first)}",
            dimension=len(self.embed(["dimension"])[0]),
        )

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector of length 1 for each text, in order."""
        by_length = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        vectors: list[list[float]] = [[]] * len(texts)
        for start in range(0, len(texts), self._batch):
            places = by_length[start : start + self._batch]  # alike in length: little padding
            for at, vector in zip(places, self._run([texts[at] for at in places]), strict=True):
                vectors[at] = vector
        return vectors

    def _run(self, texts: list[str]) -> Iterator[list[float]]:
        np = self._np
        with self._lock:
            read = self._tokenizer.encode_batch([t[: self._tokens * LONGEST_WORD] for t in texts])
        mask = np.array([text.attention_mask for text in read], dtype=np.int64)
        given = {
            "input_ids": np.array([text.ids for text in read], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([text.type_ids for text in read], dtype=np.int64),
        }
        try:
            out = self._session.run(None, {n: v for n, v in given.items() if n in self._inputs})[0]
        except Exception as error:
            raise EmbeddingError(f"the model fails: {str(error).splitlines()[0]}") from error
        if out.ndim > 2:  # one vector a token: pooling is ours
            weight = mask[..., None].astype(out.dtype)
            out = out[:, 0] if self._first else (out * weight).sum(1) / weight.sum(1).clip(min=1)
        length = np.linalg.norm(out, axis=1, keepdims=True)
        if not np.isfinite(out).all() or not length.all():
            raise EmbeddingError("the model makes vectors that are zero or not finite")
        yield from (out / length).tolist()


def _told(folder: Path, name: str, key: str) -> Any:  # noqa: ANN401  # a number or a flag
    """Return a setting of the model's folder; None where it has none."""
    try:
        return json.loads((folder / name).read_text(encoding="utf-8"))[key]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _digest(*parts: object) -> str:
    """Return what tells one model from another, wherever its folder lies."""
    digest = hashlib.blake2b(digest_size=6)
    for part in parts:
        if isinstance(part, Path):
            with part.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        else:
            digest.update(repr(part).encode())
    return digest.hexdigest()
