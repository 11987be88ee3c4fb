"""A corpus made of given pages, without a run: what readers of a dataset are tested on."""

from collections.abc import Iterable
from pathlib import Path

from connectors.dataset import files
from connectors.dataset.corpus import file_name
from flows import rows, schema
from flows.records import Reading
from flows.schema import Row


def store(root: Path, *readings: Reading, run_id: str = "r1") -> None:
    """Make the given pages all that the corpus holds of their sites."""
    for site in {reading.entry.site for reading in readings}:
        mine = sorted((r for r in readings if r.entry.site == site), key=lambda r: r.entry.url)
        put(
            root,
            site,
            "pages",
            (rows.page(reading, run_id=run_id, settings_hash="s") for reading in mine),
        )
        chunks = (row for reading in mine for row in rows.chunks(reading, run_id=run_id))
        put(root, site, "chunks", chunks)


def put(root: Path, site: str, name: str, told: Iterable[Row]) -> None:
    folder = root / "corpus" / name
    folder.mkdir(parents=True, exist_ok=True)
    files.write(folder / file_name(site), name, schema.table(name, list(told)))
