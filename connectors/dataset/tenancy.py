"""Who may write to a dataset: the processes of one run, and nobody beside them."""

from pathlib import Path
from typing import Final

from connectors.dataset import locks
from connectors.dataset.locks import Lock

GUARD: Final = "lock"
"""Held while somebody comes or opens a run."""


class Tenancy:
    """The right to write to a dataset, which ends with the process.

    A party is the processes of one cluster: they share the dataset, each in a place of its own.
    A process without a party shares it with nobody.
    """

    def __init__(self, folder: Path) -> None:
        """Name the folder of the locks; nothing is opened."""
        self._folder = folder
        self._house = Lock(folder / "tenant.lock")
        self._place: Lock | None = None

    def enter(self, party: str, place: int) -> bool:
        """Become a tenant; False while others are who are not of our party, or have our place."""
        own = Lock(self._folder / f"tenant-{place}.lock")
        with locks.locked(self._folder / GUARD):
            if not own.take(wait=False):
                return False
            if not self._share(party):
                own.release()
                return False
        self._place = own
        return True

    def leave(self) -> None:
        """Cease to be a tenant."""
        self._house.release()
        if self._place is not None:
            self._place.release()

    def _share(self, party: str) -> bool:
        if self._house.take(wait=False):
            self._house.note(party)
            if party:
                self._house.share()
            return True
        return bool(party) and self._house.noted() == party and self._house.take(shared=True)
