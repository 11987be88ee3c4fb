"""A site is asked at its pace, and never again before it wants to be."""

import itertools
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import politeness
from flows.politeness import Pace

NOW = datetime(2026, 1, 5, 10, 0, 0, tzinfo=UTC)
DATE = "Mon, 05 Jan 2026 10:00:00 GMT"


def starts(pace: Pace, count: int, late_s: float = 0.0) -> list[float]:
    """Return when requests start that are always a little late."""
    now, begun = 100.0, []
    for _ in range(count):
        now = max(now, pace.next_at()) + late_s
        pace.started(now)
        begun.append(now)
    return begun


def gaps(begun: list[float]) -> list[float]:
    return [after - before for before, after in itertools.pairwise(begun)]


@pytest.mark.parametrize(
    ("rate", "crawl_delay_s", "gap_s"),
    [
        (2.0, None, 0.5),
        (2.0, 0.1, 0.5),
        (2.0, 10.0, 10.0),
        (2.0, 3600.0, 60.0),
        (0.01, 30.0, 100.0),
        (0.0, 10.0, 10.0),
        (0.0, None, 0.0),
    ],
    ids=[
        "rate",
        "rate is slower",
        "crawl delay",
        "ceiling",
        "slower than all",
        "crawl delay alone",
        "no pacing",
    ],
)
def test_the_slower_of_rate_and_crawl_delay_is_the_gap(
    rate: float, crawl_delay_s: float | None, gap_s: float
) -> None:
    pace = Pace(rate, crawl_delay_s)

    assert pace.gap_s == gap_s
    assert gaps(starts(pace, 4)) == pytest.approx([gap_s] * 3)


def test_the_first_request_starts_at_once() -> None:
    assert Pace(2.0).next_at() < 0


@given(st.floats(0.1, 50), st.floats(0, 0.2))
def test_gaps_stay_within_5_percent_however_late_timers_are(rate: float, late_s: float) -> None:
    begun = starts(Pace(rate), 50, late_s)

    assert min(gaps(begun)) >= 0.95 / rate
    assert max(gaps(begun)) <= 1 / rate + late_s + 1e-6


def test_small_lateness_does_not_add_up() -> None:
    begun = starts(Pace(5.0), 101, late_s=0.002)

    assert begun[-1] - begun[0] == pytest.approx(100 / 5.0, rel=0.001)


def test_of_larger_lateness_a_little_is_regained_each_time() -> None:
    begun = starts(Pace(5.0), 101, late_s=0.02)

    assert begun[-1] - begun[0] == pytest.approx(100 * (0.2 + 0.02 - 0.005), rel=0.001)
    assert min(gaps(begun)) >= 0.19


def test_a_pause_is_no_credit_for_a_burst() -> None:
    pace = Pace(2.0)
    pace.started(100.0)
    pace.started(200.0)

    assert pace.next_at() == 200.5


def test_a_rest_holds_whatever_the_pace_and_does_not_shrink() -> None:
    pace = Pace(0.0)
    pace.wait_until(130.0)
    pace.wait_until(110.0)

    assert pace.next_at() == 130.0


def test_a_crawl_delay_read_later_counts_from_the_last_request() -> None:
    pace = Pace(2.0)
    pace.started(100.0)
    pace.set_crawl_delay(5.0)

    assert pace.next_at() == 105.0


def test_a_site_that_blocks_is_asked_more_slowly_until_it_does_not() -> None:
    pace = Pace(0.0)
    pace.slow_down()
    assert pace.gap_s == politeness.SLOW_GAP_S

    pace.slow_down(False)
    assert pace.gap_s == 0.0


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        ("120", None, 120.0),
        (" 0 ", None, 0.0),
        ("86400", None, 86400.0),
        ("Mon, 05 Jan 2026 10:00:30 GMT", DATE, 30.0),
        ("Mon, 05 Jan 2026 10:00:30 GMT", "Mon, 05 Jan 2026 10:00:10 GMT", 20.0),
        ("Mon, 05 Jan 2026 10:00:30 GMT", None, 30.0),
        ("Mon, 05 Jan 2026 10:00:30 GMT", "yesterday", 30.0),
        ("Mon, 05 Jan 2026 09:00:00 GMT", DATE, 0.0),
        ("Monday, 05-Jan-26 10:01:00 GMT", DATE, 60.0),
        ("Mon Jan  5 10:01:00 2026", DATE, 60.0),
        (None, DATE, None),
        ("", DATE, None),
        ("soon", DATE, None),
        ("-5", DATE, None),
        ("1.5", DATE, None),
        ("٣", DATE, None),
        ("9" * 5000, DATE, None),
        ("Mon, 99 Foo 2026 10:00:30 GMT", DATE, None),
    ],
)
def test_retry_after_is_read_as_rfc_9110_has_it(
    value: str | None, date: str | None, seconds: float | None
) -> None:
    assert politeness.parse_retry_after(value, date, NOW) == seconds


@given(st.text(), st.text())
def test_any_retry_after_is_read_without_raising(value: str, date: str) -> None:
    seconds = politeness.parse_retry_after(value, date, NOW)

    assert seconds is None or seconds >= 0


WAITS = (5.0, 20.0)


@pytest.mark.parametrize("status", [200, 301, 304, 400, 401, 403, 404, 408, 410, 451, 501, 505])
def test_most_answers_are_final(status: int) -> None:
    assert politeness.retry_wait(status, None, 1, WAITS, 0.5) is None


@pytest.mark.parametrize("status", [500, 502, 503, 504, 520, 522, 527])
def test_a_server_error_is_met_by_the_waits_of_the_settings(status: int) -> None:
    waited = [politeness.retry_wait(status, None, attempt, WAITS, 0.5) for attempt in (1, 2, 3)]

    assert waited == [5.0, 20.0, None]


@pytest.mark.parametrize(("status", "asked_s"), [(429, None), (429, 3.0), (503, 3.0), (503, 0.0)])
def test_a_rate_limit_is_met_by_at_least_what_it_asks_and_three_tries(
    status: int, asked_s: float | None
) -> None:
    waited = [
        politeness.retry_wait(status, asked_s, n, (), jitter) for n, jitter in ((1, 0.0), (2, 1.0))
    ]

    assert waited[0] is not None
    assert waited[1] is not None
    assert 1.0 <= waited[0] <= waited[1]
    assert waited[0] >= (asked_s or 0.0)
    assert politeness.retry_wait(status, asked_s, 3, WAITS, 0.5) is None


def test_an_absurd_retry_after_is_not_waited_for() -> None:
    assert politeness.retry_wait(429, 120.0, 1, (), 0.0) == 120.0
    assert politeness.retry_wait(429, 121.0, 1, (), 0.0) is None
    assert politeness.retry_wait(503, 86400.0, 1, WAITS, 0.0) is None
