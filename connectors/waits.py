"""When a source is read again: sources never block, so somebody has to say when."""

from datetime import UTC, datetime, timedelta


class Waits:
    """When a source is next read: at once after news, then less and less often."""

    def __init__(self, sites: int) -> None:
        """Poll a lone site every few milliseconds, a thousand sites together no more often."""
        self._least = timedelta(milliseconds=5 + sites / 20)
        self._most = self._least * 8
        self._wait = timedelta(0)
        self._at = datetime.now(UTC)

    def after(self, news: bool, due: bool) -> None:
        """Hear whether the last read brought something, and whether more may come any moment."""
        most = self._least if due else self._most
        self._wait = timedelta(0) if news else min(max(self._wait * 2, self._least), most)
        self._at = datetime.now(UTC) + self._wait

    @property
    def at(self) -> datetime:
        """The time of the next read."""
        return self._at
