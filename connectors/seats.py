"""Where requests wait: for a place at their site, the site's turn, and a slot of the process."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Self

from flows.politeness import Pace

Room = Callable[[], Awaitable[None]]
"""Returns when there is room for another answer."""


class Seats:
    """The places of one site, of which each request takes one.

    The site's turn is held until a request is on its way: a connection that takes long would
    otherwise let the next request catch up with it.
    """

    def __init__(
        self, pace: Pace, places: int, slots: asyncio.Semaphore, room: Room | None
    ) -> None:
        """Take the site's pace and concurrency, and the slots that all sites share."""
        self.pace = pace
        self.places = asyncio.Semaphore(places)
        self.turn = asyncio.Lock()
        self.slots = slots
        self.room = room


class Seat:
    """A request's place, taken for as long as the block lasts."""

    def __init__(self, seats: Seats) -> None:
        """Take nothing yet."""
        self._seats = seats
        self._has_turn = False
        self._has_slot = False

    async def __aenter__(self) -> Self:
        """Wait until a request may leave."""
        await self._seats.places.acquire()
        try:
            await self._sit()
        except BaseException:
            self._seats.places.release()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Free the place."""
        self._rise()
        self._seats.places.release()

    async def again(self) -> None:
        """Leave the slot to others until the site may be asked again."""
        self._rise()
        await self._sit()

    def sent(self) -> None:
        """Start the site's clock, and let the next request wait for it."""
        if self._has_turn:
            self._has_turn = False
            self._seats.pace.started(now())
            self._seats.turn.release()

    async def _sit(self) -> None:
        await self._seats.turn.acquire()
        self._has_turn = True
        try:
            await self._wait()
        except BaseException:
            self._rise()
            raise
        if not self._seats.pace.gap_s:
            self.sent()  # nothing waits for a clock that does not tick

    async def _wait(self) -> None:
        if self._seats.room:
            await self._seats.room()
        pace = self._seats.pace
        while not self._has_slot:
            await asyncio.sleep(max(0.0, pace.next_at() - now()))
            await self._seats.slots.acquire()
            self._has_slot = True
            if pace.next_at() > now():  # the site asked for a rest in the meantime
                self._leave_slot()

    def _rise(self) -> None:
        self.sent()
        self._leave_slot()

    def _leave_slot(self) -> None:
        if self._has_slot:
            self._has_slot = False
            self._seats.slots.release()


def now() -> float:
    """Return the clock of the running loop, by which a site's pace is kept."""
    return asyncio.get_running_loop().time()
