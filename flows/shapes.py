"""Rows of the corpus in the shapes of other libraries: JSON objects that their loaders take.

A shape is a function from rows to objects, nothing is imported from the libraries themselves;
docs/data-format.md describes each.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from itertools import chain, pairwise
from typing import Any, Final

import pyarrow as pa

from flows.schema import CORPUS, SCHEMAS, Row

Object = dict[str, Any]
Shape = Callable[[Iterable[Row]], Iterator[Object]]
"""From rows in the order of the corpus to one object for each."""

BINARY: Final = frozenset(
    column.name for name in CORPUS for column in SCHEMAS[name] if pa.types.is_binary(column.type)
)
"""Columns that have no place in JSON: `html` and what machines alone read."""

_BULKY: Final = BINARY | {"links", "structured"}
"""Columns that are content and not metadata; vector stores refuse metadata of their size."""
_TEXTS: Final = ("text", "markdown")
_TOLD: Final = ("title", "heading_path")
"""What a model should read of a passage beside its text; `source` too when it is to cite it."""


def plain(rows: Iterable[Row]) -> Iterator[Object]:
    """Yield each row with its columns as JSON has them: times in ISO 8601, decimals as text."""
    for row in rows:
        yield {name: jsonable(value) for name, value in row.items() if name not in BINARY}


def langchain(rows: Iterable[Row]) -> Iterator[Object]:
    """Yield what `langchain_core.documents.Document.model_validate` takes."""
    for row in rows:
        yield {
            "id": identity(row),
            "metadata": metadata(row),
            "page_content": text(row),
            "type": "Document",
        }


def llamaindex(rows: Iterable[Row]) -> Iterator[Object]:
    """Yield what `llama_index.core.schema.TextNode.from_dict` takes, linked to its neighbours."""
    for before, row, after in _with_neighbours(rows):
        told = metadata(row)
        yield {
            "id_": identity(row),
            "text": text(row),
            "metadata": told,
            "excluded_embed_metadata_keys": [name for name in told if name not in _TOLD],
            "excluded_llm_metadata_keys": [name for name in told if name not in (*_TOLD, "source")],
            "relationships": _relations(before, row, after),
            "start_char_idx": row.get("start"),
            "end_char_idx": row.get("end"),
            "class_name": "TextNode",
        }


SHAPES: Final[Mapping[str, Shape]] = {
    "jsonl": plain,
    "langchain": langchain,
    "llamaindex": llamaindex,
}
"""Every shape that is a file of one JSON object a line."""


def identity(row: Row) -> str:
    """Return what names a row: the id of a chunk, the URL of a page."""
    return str(row.get("chunk_id") or row["url"])


def text(row: Row) -> str:
    """Return the words of a row."""
    return str(next(row[name] for name in _TEXTS if name in row))


def source(row: Row) -> str:
    """Return the address a reader is sent to: the page, at the section of a chunk.

    >>> source({"url": "https://a.test/guide", "anchor": "set-up"})
    'https://a.test/guide#set-up'
    """
    anchor = row.get("anchor")
    return f"{row['url']}#{anchor}" if anchor else str(row["url"])


def metadata(row: Row) -> Object:
    """Return all that is known of a row beside its text, and `source`."""
    told = {n: jsonable(v) for n, v in row.items() if n not in _BULKY and n not in _TEXTS}
    return {"source": source(row), **told}


def jsonable(value: Any) -> Any:  # noqa: ANN401  # whatever a column holds
    """Return a value as JSON can hold it without a loss.

    >>> jsonable([datetime(2026, 5, 4, 9, tzinfo=UTC), Decimal("19.9000"), None])
    ['2026-05-04T09:00:00Z', '19.9000', None]
    """
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case Decimal():
            return str(value)
        case list():
            return [jsonable(item) for item in value]
        case dict():
            return {name: jsonable(item) for name, item in value.items()}
    return value


def _with_neighbours(rows: Iterable[Row]) -> Iterator[tuple[Row | None, Row, Row | None]]:
    """Yield each row between the one before and the one after it in the same page."""
    before: Row | None = None
    for row, after in pairwise(chain(rows, (None,))):
        assert row is not None  # noqa: S101  # None stands at the end alone
        follows = after if after is not None and after["url"] == row["url"] else None
        yield before, row, follows
        before = row if follows is not None else None


def _relations(before: Row | None, row: Row, after: Row | None) -> Object:
    """Return the relationships of a node, by the numbers of LlamaIndex's `NodeRelationship`."""
    named = {"1": row["url"] if "chunk_id" in row else None}
    named |= {"2": before and identity(before), "3": after and identity(after)}
    return {
        number: {"node_id": node, "class_name": "RelatedNodeInfo"}
        for number, node in named.items()
        if node is not None
    }
