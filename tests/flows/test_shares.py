"""A page budget that lists exceed: a part at once, the rest to the newest of each, bounded."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.records import Attribution, Columns, Declared, Entries, Method
from flows.shares import Shares, level, together

SITE = "https://a.test"
FIRST = datetime(2024, 1, 1, tzinfo=UTC)


def a_list(name: str, count: int, *, dated: bool = True) -> Entries:
    """Entries of a list, each a day newer than the one before."""
    at = Attribution(method=Method.ROBOTS, sitemap=f"{SITE}/{name}.xml")
    days = [FIRST + timedelta(days=n) if dated else None for n in range(count)]
    declared = [Declared(f"{SITE}/{name}/{n}", day) for n, day in enumerate(days)]
    return Entries(site=SITE, attribution=at, declared=Columns.of(declared))


def paths(parts: list[Entries]) -> list[str]:
    return [one.url.removeprefix(SITE) for some in parts for one in some]


def test_a_tenth_of_the_budget_is_handed_out_at_once() -> None:
    shares = Shares(20)

    now, later = shares.at_once(a_list("a", 30))

    assert paths([now]) == ["/a/0", "/a/1"]
    assert len(later) == 28


def test_without_a_budget_nothing_waits() -> None:
    now, later = Shares(-1).at_once(a_list("a", 30))

    assert (len(now), len(later)) == (30, 0)


def test_the_rest_is_spread_over_the_lists_and_goes_to_their_newest() -> None:
    shares = Shares(10)
    for some in (a_list("a", 8), a_list("b", 1), a_list("c", 5)):
        assert shares.wait(some) == []

    chosen, rest = shares.deal(6)

    assert paths(chosen) == ["/a/7", "/a/6", "/a/5", "/b/0", "/c/4", "/c/3"]
    assert together(rest) == 8
    assert shares.waiting == 0


def test_lists_without_dates_keep_their_order() -> None:
    shares = Shares(10)
    shares.wait(a_list("a", 5, dated=False))

    assert paths(shares.deal(2)[0]) == ["/a/0", "/a/1"]


def test_what_waits_is_bounded_and_what_can_no_longer_be_chosen_comes_back_at_once() -> None:
    shares = Shares(10)
    given_up = [some for n in range(40) for some in shares.wait(a_list(f"{n % 3}", 5))]

    assert 0 < shares.waiting <= 15
    assert together(given_up) + shares.waiting == 200


def test_nothing_is_left_to_share_when_the_budget_has_been_dealt() -> None:
    shares = Shares(10)
    shares.deal(0)
    now, later = shares.at_once(a_list("a", 3))

    assert len(now) == 0
    assert together(shares.wait(later)) == 3


@given(st.lists(st.integers(0, 50), max_size=8), st.integers(0, 200))
def test_a_level_uses_up_what_there_is_and_no_more(sizes: list[int], total: int) -> None:
    used = sum(min(size, level(sizes, total)) for size in sizes)
    more = sum(min(size, level(sizes, total) + 1) for size in sizes)

    assert used <= total
    assert more > total or used == sum(sizes)


@given(st.lists(st.integers(0, 30), max_size=6), st.integers(0, 60))
def test_every_url_is_chosen_or_given_back_once(sizes: list[int], budget: int) -> None:
    shares = Shares(budget)
    lists = [a_list(str(n), size) for n, size in enumerate(sizes)]
    back = [some for each in lists if each for some in shares.wait(each)]
    chosen, rest = shares.deal(budget)

    assert sorted(paths([*back, *chosen, *rest])) == sorted(paths(lists))
    assert together(chosen) == min(budget, together(lists))


def test_addresses_that_are_very_long_do_not_all_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flows.shares.MOST_SIZE", 20 * len(f"{SITE}/0/0"))
    shares = Shares(1_000)

    given = [one for part in range(10) for one in shares.wait(a_list(f"{part}", 10))]

    assert 0 < shares.waiting <= 20
    assert shares.waiting + together(given) == 100
    assert together(shares.deal(1_000)[0]) <= 20
