"""When a site may be asked next: pace, Retry-After, back-off. Time is an argument throughout."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

CRAWL_DELAY_CEILING_S = 60.0
"""Longest crawl delay that is waited for; a site asking for more gets this, and an alert."""

MAX_RETRY_AFTER_S = 120.0
"""Longest Retry-After that a run waits for; beyond it the page is left out as `rate_limited`."""

RATE_LIMIT_TRIES = 3
"""Requests for a page that is answered by 429, or by 503 with Retry-After."""

BACK_OFF_S = 2.0
"""Least wait after the first 429; it doubles with each try, and jitter adds up to a half."""

CONNECTION_WAITS_S = (0.5, 2.0)
"""Waits before a page is asked again after a fault of the connection."""

SLOW_FACTOR = 4.0
"""A site that blocks us is asked at this multiple of its gap."""

SLOW_GAP_S = 2.0
"""Least gap of a site that blocks us."""

_CREDIT = 0.025
"""Share of a gap by which a start may catch up with the clock it was late for."""

_RETRIED = frozenset({500, 502, 503, 504, *range(520, 530)})
_SECONDS = re.compile(r"[0-9]{1,12}").fullmatch


class Pace:
    """The clock of one site: when its next request may start.

    Instants are seconds of any one monotonic clock. A rate of 0 means no pacing of ours, for one's
    own hosts; a Crawl-delay holds all the same.
    """

    def __init__(
        self,
        rate: float,
        crawl_delay_s: float | None = None,
        ceiling_s: float = CRAWL_DELAY_CEILING_S,
    ) -> None:
        """Take requests per second, and what robots.txt asks for where that is slower."""
        self._rate = rate
        self._ceiling_s = ceiling_s
        self._crawl_delay_s = crawl_delay_s
        self._slow = False
        self._last: float | None = None
        self._not_before = float("-inf")

    @property
    def gap_s(self) -> float:
        """Seconds between the starts of two requests."""
        own = 1 / self._rate if self._rate > 0 else 0.0
        gap = max(own, min(self._crawl_delay_s or 0.0, self._ceiling_s))
        return max(gap * SLOW_FACTOR, SLOW_GAP_S) if self._slow else gap

    def next_at(self) -> float:
        """Return the instant from which the next request may start; minus infinity for at once."""
        paced = float("-inf") if self._last is None else self._last + self.gap_s
        return max(paced, self._not_before)

    def started(self, now: float) -> None:
        """Note that a request starts now.

        One that starts late is counted as a little earlier than it was, so that the lateness of
        timers does not add up; gaps stay within 5 % of what they should be.
        """
        gap_s, late_s = self.gap_s, now - self.next_at()
        regained_s = min(late_s, gap_s * _CREDIT) if 0 <= late_s < gap_s else 0.0
        self._last = now - regained_s

    def wait_until(self, instant: float) -> None:
        """Let nothing start before `instant`, whatever the pace: the site asked for a rest."""
        self._not_before = max(self._not_before, instant)

    def set_crawl_delay(self, seconds: float | None) -> None:
        """Take the Crawl-delay of a robots.txt that has just been read."""
        self._crawl_delay_s = seconds

    def slow_down(self, slow: bool = True) -> None:
        """Ask a site that blocks us more slowly, or go back to its own pace."""
        self._slow = slow


def retry_wait(
    status: int, retry_after_s: float | None, attempt: int, waits: Sequence[float], jitter: float
) -> float | None:
    """Return the seconds to wait before a page is asked again, or None when it is not.

    `attempt` counts the requests made, `waits` are those after server errors, `jitter` is a
    random number of 0 to 1. What 429 and 503 ask for holds for the whole site (`is_rate_limit`).

    >>> retry_wait(429, 30.0, 1, (), 0.0)
    30.0
    >>> retry_wait(500, None, 2, (5.0, 20.0), 0.0)
    20.0
    >>> retry_wait(404, None, 1, (5.0, 20.0), 0.0) is None
    True
    """
    if is_rate_limit(status, retry_after_s):
        if attempt >= RATE_LIMIT_TRIES or (retry_after_s or 0.0) > MAX_RETRY_AFTER_S:
            return None
        return max(retry_after_s or 0.0, BACK_OFF_S * 2.0 ** (attempt - 1) * (1 + jitter / 2))
    if status in _RETRIED and attempt <= len(waits):
        return waits[attempt - 1]
    return None


def is_rate_limit(status: int, retry_after_s: float | None) -> bool:
    """Return whether an answer means that the whole site should be left alone for a while."""
    return status == 429 or (status == 503 and retry_after_s is not None)


def parse_retry_after(value: str | None, date: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After asks for, or None when it asks for none.

    A date counts from the answer's own `Date`, because the server's clock is the one it was
    written by; `now` stands in where that is missing. What has passed is 0. Never raises.

    Source: RFC 9110 §10.2.3.

    >>> parse_retry_after("120", None, datetime(2026, 1, 1, tzinfo=UTC))
    120.0
    >>> parse_retry_after("soon", None, datetime(2026, 1, 1, tzinfo=UTC)) is None
    True
    """
    text = (value or "").strip()[:100]
    if _SECONDS(text):
        return float(text)
    until = _http_date(text)
    if until is None:
        return None
    return max(0.0, (until - (_http_date((date or "")[:100]) or now)).total_seconds())


def _http_date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
