"""Which stored pages leave the corpus, and when so many do that nobody should believe it."""

from typing import Final

from flows import signals
from flows.records import Failure, Outcome
from flows.remembered import GONE

REFUSALS: Final = (Outcome.NOINDEX, Outcome.NON_CANONICAL)
"""Outcomes by which a page itself says that it is not to be kept."""

AT_LEAST: Final = 20
"""Pages that may always leave a site at once."""


def is_word_of_site(failure: Failure, stored_from: str | None = None) -> bool:
    """Say whether the site itself says that a page is gone, or not to be kept.

    Gone is what was said to be so twice, moved what leads elsewhere for good. What we could not
    ask, or were not let in to see, says nothing of the page; neither do patterns of our own
    settings, nor what another address asks for than its own, or the one it is `stored_from`.
    """
    if failure.outcome in GONE or failure.outcome is Outcome.DUPLICATE:
        return failure.confirmed
    if failure.outcome is Outcome.POLICY_DENIED:
        if failure.exchange is not None:
            return _is_of_page(failure, stored_from)
        denial = signals.denial(failure.entry.ai_signals)
        return denial is not None and denial == failure.detail
    return failure.outcome in REFUSALS and _is_of_page(failure, stored_from)


def _is_of_page(failure: Failure, stored_from: str | None) -> bool:
    """Say whether an answer came from where the page lives."""
    came_from = failure.exchange.final_url if failure.exchange else None
    return came_from in (None, stored_from or failure.entry.url)


def are_too_many(leaving: int, stored: int, share: float) -> bool:
    """Say whether so many of the stored pages leave that it may be a mistake.

    >>> are_too_many(19, 20, 0.3), are_too_many(30, 100, 0.3), are_too_many(31, 100, 0.3)
    (False, False, True)
    """
    return leaving >= AT_LEAST and leaving > stored * share
