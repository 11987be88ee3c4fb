"""What `flows.index` is told, and the live outlet of `flows.ingest` with it."""

from collections.abc import Mapping
from dataclasses import dataclass

from flows import settings
from flows.secret import NONE, Secret

PREFIX = "INDEX_"
EMBEDDERS = ("hashing", "openai", "onnx")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSettings:
    """Where vectors go and who makes them; each field is `INDEX_` and its name in capitals."""

    url: Secret = NONE
    """The store: `lancedb://folder`, `postgresql://user@host/database` or `sqlite://file`; unset:
    LanceDB in the folder `index` of the dataset."""
    table: str = "chunks"
    """Table of the store that holds the index; letters, digits and `_`."""
    embedder: str = "hashing"
    """Who makes vectors: `hashing` (needs nothing; good for trying out, not for quality), `openai`
    (any OpenAI-compatible endpoint) or `onnx` (a local model, extra `embed`)."""
    model: str = ""
    """`openai`: the model's name; `onnx`: the folder with `model.onnx` and `tokenizer.json`."""
    api: str = "https://api.openai.com/v1"
    """Base URL of the endpoint of `openai`."""
    api_key: Secret = NONE
    """Key of the endpoint of `openai`; shown nowhere."""
    dimensions: int = 0
    """Length of the vectors; 0 = the model's own (`hashing`: 1,024)."""
    batch: int = 128
    """Most texts of one request to the endpoint, or of one call of the model."""
    workers: int = 2
    """Batches of pages that are embedded at the same time."""
    full: bool = False
    """Write every page again, not only what differs; known vectors are still used again."""

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> "IndexSettings":
        """Return what `env` states, or raise ValueError in one line."""
        told = settings.stated(cls, env, PREFIX, command="flows.index")
        return _checked(cls(**told))  # type: ignore[arg-type]  # read by type


def names() -> dict[str, settings.Knob]:
    """Return every variable by its name, and the one that says where the dataset is."""
    out = settings.names()["INGEST_OUT"], settings.names()["INGEST_LOG"]
    return {
        "INGEST_OUT": out[0],
        **settings.names(IndexSettings, PREFIX),
        "INGEST_LOG": out[1],
    }


def _checked(told: IndexSettings) -> IndexSettings:
    """Return the settings as they came, or raise ValueError naming the first that cannot be."""
    for name, floor in (("dimensions", 0), ("batch", 1), ("workers", 1)):
        if getattr(told, name) < floor:
            raise ValueError(f"{PREFIX}{name.upper()} must be at least {floor}")
    if not (told.table.isascii() and told.table.isidentifier() and len(told.table) <= 50):
        raise ValueError(f"{PREFIX}TABLE must be letters, digits and _, not {told.table!r}")
    if told.embedder not in EMBEDDERS:
        said = ", ".join(EMBEDDERS)
        raise ValueError(f"{PREFIX}EMBEDDER must be one of {said}, not {told.embedder!r}")
    if told.embedder != "hashing" and not told.model:
        raise ValueError(f"{PREFIX}MODEL must be set for {PREFIX}EMBEDDER={told.embedder}")
    return told
