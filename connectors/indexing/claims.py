"""Texts that are being embedded: who needs the same one waits for it instead of asking again."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from threading import Lock

from connectors.stores import Vector

Make = Callable[[Sequence[str]], Sequence[Vector]]


class Claims:
    """Vectors that are made and not yet written, by `text_hash`; several threads ask for them."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._lock = Lock()
        self._vectors: dict[str, Future[Vector]] = {}

    def vectors(self, texts: Mapping[str, str], make: Make) -> tuple[dict[str, Vector], int]:
        """Return the vectors of texts by their hash, and how many of them were made for this call.

        What another thread is at is waited for; it fails here as it fails there.
        """
        with self._lock:
            mine = [key for key in texts if key not in self._vectors]
            self._vectors |= {key: Future() for key in mine}
            wanted = {key: self._vectors[key] for key in texts}
        try:
            made = make([texts[key] for key in mine])
            for key, vector in zip(mine, made, strict=True):
                wanted[key].set_result(vector)
        except BaseException as error:
            for key in mine:
                wanted[key].set_exception(error)
            self.written(mine)
            raise
        return {key: future.result() for key, future in wanted.items()}, len(mine)

    def written(self, hashes: Iterable[str]) -> None:
        """Forget vectors that the store has now."""
        with self._lock:
            for key in hashes:
                self._vectors.pop(key, None)
