"""What may go wrong in a fetch, as an outcome, words for people, and whether it may pass."""

import httpcore

from flows import codings
from flows.records import Outcome

Reason = tuple[Outcome, str, bool]
"""Outcome, detail, and whether another try may fare better."""


class Stop(Exception):  # noqa: N818  # it ends a fetch, and is no error of ours
    """Why a fetch goes no further."""

    def __init__(self, outcome: Outcome, detail: str, *, passing: bool = False) -> None:
        """Keep the outcome, words for people, and whether another try may fare better."""
        super().__init__(detail)
        self.outcome = outcome
        self.detail = detail
        self.passing = passing


CAUGHT = (
    Stop,
    TimeoutError,
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    codings.Corrupt,
    codings.Unknown,
)
"""All that servers can cause; anything else is a mistake of ours."""


def reason(error: Exception, in_body: bool) -> Reason:
    """Return what an exception of `CAUGHT` means, after or before the head of the answer."""
    match error:
        case Stop():
            return error.outcome, error.detail, error.passing
        case TimeoutError() | httpcore.TimeoutException():
            return Outcome.TIMEOUT, str(error) or "no end in time", False
        case codings.Cut():
            return Outcome.TRUNCATED, str(error), False
        case codings.Corrupt() | codings.Unknown():
            return Outcome.DECODE_ERROR, str(error), False
    return _of_transport(error, in_body)


def _of_transport(error: Exception, in_body: bool) -> Reason:
    text = str(error)
    if "too long" in text:  # what h11 says of a head that does not end
        return Outcome.HEADERS_TOO_LARGE, text, False
    if (
        isinstance(error, httpcore.NetworkError)
        or "closed connection" in text
        or "disconnected" in text
    ):
        outcome = Outcome.TRUNCATED if in_body else Outcome.CONNECTION_ERROR
        return outcome, text or "connection lost", True
    return Outcome.PROTOCOL_ERROR, text[:300], False
