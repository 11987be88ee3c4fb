"""A page leaves by the word of its own site, and never by what happened on the way to it."""

from dataclasses import replace

import pytest

from flows import removals
from flows.records import Failure, Outcome
from tests import samples

GONE_ONCE = samples.failure()
OTHER_WORDS = {
    *(Outcome.NOT_FOUND, Outcome.GONE, Outcome.NOINDEX, Outcome.NON_CANONICAL),
    *(Outcome.POLICY_DENIED, Outcome.DUPLICATE),
}


@pytest.mark.parametrize("outcome", [Outcome.NOT_FOUND, Outcome.GONE, Outcome.DUPLICATE], ids=str)
def test_gone_is_what_was_said_to_be_gone_twice_or_to_have_moved_for_good(outcome: Outcome) -> None:
    once = replace(GONE_ONCE, outcome=outcome)

    assert not removals.is_word_of_site(once)
    assert removals.is_word_of_site(replace(once, confirmed=True))


@pytest.mark.parametrize("outcome", [Outcome.NOINDEX, Outcome.NON_CANONICAL], ids=str)
def test_a_page_that_asks_not_to_be_kept_says_it_once(outcome: Outcome) -> None:
    assert removals.is_word_of_site(replace(GONE_ONCE, outcome=outcome))


def test_what_another_address_asks_for_is_not_the_word_of_the_page() -> None:
    there = replace(samples.reading().exchange, final_url="https://a.test/maintenance")
    asks = replace(GONE_ONCE, outcome=Outcome.NOINDEX, exchange=there)

    assert not removals.is_word_of_site(asks)
    assert removals.is_word_of_site(asks, "https://a.test/maintenance")


@pytest.mark.parametrize("outcome", sorted(set(Outcome) - OTHER_WORDS), ids=str)
def test_no_other_outcome_is_the_word_of_a_site(outcome: Outcome) -> None:
    assert not removals.is_word_of_site(replace(GONE_ONCE, outcome=outcome, confirmed=True))


def test_a_word_against_ai_counts_and_a_pattern_of_our_own_does_not() -> None:
    on_page = replace(GONE_ONCE, outcome=Outcome.POLICY_DENIED, detail="meta: noai")
    signals = "robots.txt: ai-input=no"
    entry = replace(samples.entry(), ai_signals=signals)
    by_robots = Failure(entry=entry, outcome=Outcome.POLICY_DENIED, detail=signals)
    by_pattern = replace(by_robots, detail="deny pattern /archive/")

    assert removals.is_word_of_site(on_page)
    assert removals.is_word_of_site(by_robots)
    assert not removals.is_word_of_site(by_pattern)


def test_the_share_may_be_anything_below_twenty_pages() -> None:
    assert not removals.are_too_many(19, 19, 0.0)
    assert removals.are_too_many(20, 20, 0.0)
    assert not removals.are_too_many(5_000, 5_000, 1.0)
