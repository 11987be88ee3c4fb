"""What the dataset knows of a site from before this run: read once, when the site begins."""

import logging
import threading
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

import pyarrow as pa

from connectors.dataset import corpus
from connectors.dataset.merging import Stored
from flows import remembered, schema
from flows.records import Outcome
from flows.remembered import ANSWER, OF_PAGES, Memory

if TYPE_CHECKING:
    from connectors.dataset import Dataset

logger = logging.getLogger(__name__)

MOST_RUNS: Final = 3
"""Earlier runs of a site that are read: back to the last complete one, and no further."""
MOST_REPORTS: Final = 100
"""Reports that are looked at to find them."""
_OF_URLS: Final = ("site", "run_id", "url", "outcome", *ANSWER)
_OF_SITES: Final = ("status", "lastmod", "withheld")
"""What is kept of a site in a report."""

Told = Mapping[str, Any]


class Recall:
    """The runs of a dataset that stored pages, as far back as they matter."""

    def __init__(self, dataset: "Dataset", settings_hash: str) -> None:
        """Nothing is read before a site is asked about."""
        self._dataset = dataset
        self._settings_hash = settings_hash
        self._reports: list[tuple[str, dict[str, Told]]] | None = None
        self._lent: WeakValueDictionary[str, Memory] = WeakValueDictionary()
        self._guard = threading.Lock()

    def memory(self, site: str) -> Memory:
        """Return what is remembered of the pages of a site: one object for all who ask."""
        with self._guard:
            found = self._lent.get(site) or self._read(site)
            self._lent[site] = found
            return found

    def _read(self, site: str) -> Memory:
        stored = corpus.pages(self._dataset.corpus, site, OF_PAGES)
        runs = list(self._of(site)) if stored.num_rows else []
        complete = next((told for _, told in runs if _is_complete(told)), {})
        rows = [self._rows(run_id, site) for run_id, _ in runs]
        return remembered.memory(
            stored,
            [found for found in rows if found is not None],
            self._settings_hash,
            trusts_lastmod=bool((complete.get("lastmod") or {}).get("trusted")),
            withheld=any(told.get("withheld") for _, told in runs[:1]),
        )

    def _of(self, site: str) -> Iterator[tuple[str, Told]]:
        """Yield the runs that count, the newest first: back to the last complete one."""
        if self._reports is None:
            self._reports = list(_storing(self._dataset.reports()))
        told = [(run_id, sites[site]) for run_id, sites in self._reports if site in sites]
        for run_id, one in told[:MOST_RUNS]:
            yield run_id, one
            if _is_complete(one):
                return

    def _rows(self, run_id: str, site: str) -> pa.Table | None:
        """Return what a run says of a site; None when it cannot be read."""
        folder: Path = self._dataset.runs / run_id / "urls"
        source = Stored(paths=sorted(folder.glob("*.parquet")), site=site, sites=frozenset({site}))
        try:
            found = [
                schema.columns("urls", rows, _OF_URLS) for rows in source.tables(list(_OF_URLS))
            ]
        except OSError as error:
            logger.warning("earlier run not read", extra={"run": run_id, "reason": str(error)})
            return None
        return pa.concat_tables(found) if found else None


def _storing(reports: Iterator[Told]) -> Iterator[tuple[str, dict[str, Told]]]:
    """Yield the newest runs that asked for pages, with their sites: an inventory stores none."""
    for report in islice(reports, MOST_REPORTS):
        if Outcome.DISCOVERED not in report.get("total", {}).get("outcomes", {}):
            sites = report.get("sites", {}).items()
            yield (
                str(report["run_id"]),
                {site: {name: told.get(name) for name in _OF_SITES} for site, told in sites},
            )


def _is_complete(told: Told) -> bool:
    return bool(told.get("status") == "complete")
