"""Whether an index is in step with the corpus: what each side holds, and what differs."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute

from flows.schema import SCHEMAS

pc: Any = pyarrow.compute
"""Its stubs refuse much of what it does."""

WEIGHED: Final = [name for name in SCHEMAS["chunks"].names if name != "text"]
"""What the digest of a chunk is made of; its text is in its id already."""
PAGES: Final = pa.schema(
    {"url": pa.string(), "chunks": pa.int64(), "digest": pa.int64()}  # type: ignore[arg-type]
)
"""One row a page: how many chunks, and the sum of their digests, whatever their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """The space that vectors live in: those of two models cannot be compared."""

    model: str
    dimension: int

    def __str__(self) -> str:
        """Return it for people."""
        return f"{self.model}, {self.dimension} dimensions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What an index lacks of a site's corpus, and what it has too much."""

    replace: "pa.Array[Any]"
    """URLs whose chunks are missing, or other ones."""
    remove: "pa.Array[Any]"
    """URLs that the corpus does not have."""
    missing: int = 0
    """URLs of `replace` that the index does not have at all."""
    pages: int = 0
    chunks: int = 0
    """What the corpus has of the site."""

    def __len__(self) -> int:
        """Return how many pages differ."""
        return len(self.replace) + len(self.remove)


def schema(space: Space) -> pa.Schema:
    """Return the columns of an index: those of a chunk, what it is known again by, its vector."""
    return pa.schema(
        [
            *SCHEMAS["chunks"],
            pa.field("text_hash", pa.string()),
            pa.field("digest", pa.int64()),
            pa.field("vector", pa.list_(pa.float32(), space.dimension)),
        ],
        metadata={"sitewax.model": space.model},
    )


def texts(column: Any) -> list[str]:  # noqa: ANN401  # an array or a column of text
    """Return the values of a column that has no nulls."""
    values: list[str] = column.to_pylist()
    return values


def text_hash(text: str) -> str:
    """Return what a text's vector is known again by: hex BLAKE2b-128."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def digests(rows: pa.Table) -> "pa.Array[Any]":
    """Return a 64-bit digest of each chunk: of its id and of all that is told with it."""
    texts = [_as_text(rows[name].combine_chunks()) for name in WEIGHED]
    joined = pc.binary_join_element_wise(
        *texts, "\x1f", null_handling="replace", null_replacement="\0"
    )
    return pa.array([_digest(row) for row in joined.to_pylist()], pa.int64())


def pages(parts: Iterable[pa.Table]) -> pa.Table:
    """Return one row a page of tables with `url` and `digest`, each small beside its texts."""
    found = [PAGES.empty_table()]
    for part in parts:
        found.append(_summed(part.append_column("chunks", pa.repeat(pa.scalar(1), len(part)))))
        if len(found) > 64:  # now and then, so that no list of parts grows
            found = [_summed(pa.concat_tables(found))]
    return _summed(pa.concat_tables(found))


def difference(wanted: pa.Table, held: pa.Table, *, every: bool = False) -> Difference:
    """Return how the index (`held`) differs from the corpus (`wanted`), both as `pages`.

    With `every`, each page of the corpus is to be written again.
    """
    both = wanted.join(held, "url", join_type="full outer", right_suffix="_held")
    is_wanted, is_held = pc.is_valid(both["chunks"]), pc.is_valid(both["chunks_held"])
    same = pc.fill_null(
        pc.and_(
            pc.equal(both["chunks"], both["chunks_held"]),
            pc.equal(both["digest"], both["digest_held"]),
        ),
        False,
    )
    asked = is_wanted if every else pc.and_(is_wanted, pc.invert(same))
    return Difference(
        replace=_array(both["url"].filter(asked)),
        remove=_array(both["url"].filter(pc.invert(is_wanted))),
        missing=pc.sum(pc.and_(is_wanted, pc.invert(is_held))).as_py() or 0,
        pages=wanted.num_rows,
        chunks=pc.sum(wanted["chunks"]).as_py() or 0,
    )


def _summed(rows: pa.Table) -> pa.Table:
    summed = rows.group_by("url", use_threads=False).aggregate(
        [("chunks", "sum"), ("digest", "sum")]
    )
    return pa.Table.from_arrays(
        [summed["url"], summed["chunks_sum"], summed["digest_sum"]], schema=PAGES
    )


def _array(column: "pa.ChunkedArray[Any]") -> "pa.Array[Any]":
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], pa.string())


def _as_text(column: "pa.Array[Any]") -> "pa.Array[Any]":
    kind = column.type
    if pa.types.is_list(kind):
        joined: pa.Array[Any] = pc.binary_join(column, "\x1e")
        return joined
    if pa.types.is_timestamp(kind):
        column = column.cast(pa.int64())
    text: pa.Array[Any] = column.cast(pa.string())
    return text


def _digest(row: str) -> int:
    digest = hashlib.blake2b(row.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
