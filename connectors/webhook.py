"""Telling somebody else how a run ended: one POST of JSON, and no more than some seconds for it."""

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import httpx

from connectors.dataset import Run, reported
from flows import urls
from flows.secret import Secret

logger = logging.getLogger(__name__)

WAITS_S: Final = (1.0, 3.0)
"""Seconds before another try, after an error of the server or the connection."""
TIMEOUT_S: Final = 5.0
"""For each step of a try."""
MOST_S: Final = 20.0
"""For all tries together; then the run ends all the same."""
MOST_ALERTS: Final = 1_000
"""Alerts that are sent, the gravest first; `alerts_left_out` says how many are not."""
_TRY_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


class Webhook:
    """Posts what a run has to say, once, to an address of the operator's own.

    It is his own setting, so it may be on any network; redirects are not followed, and proxies
    of the environment are ignored. Whatever goes wrong is a line in the log, without the address:
    there may be a key in it.
    """

    def __init__(self, address: Secret, *, waits_s: Sequence[float] = WAITS_S) -> None:
        """Take the address; nothing is sent."""
        self._address = address
        self._waits_s = waits_s

    def __call__(self, run: Run) -> None:
        """Post the end of a run, and return when that is done or has taken too long."""
        try:
            said = message(reported.read(run.folder), reported.alerts(run.folder))
        except (OSError, ValueError) as why:
            logger.warning("webhook not called", extra={"reason": str(why)})
            return
        posting = threading.Thread(target=self._post, args=(said,), name="webhook", daemon=True)
        posting.start()
        posting.join(MOST_S)
        if posting.is_alive():
            self._give_up(f"no answer within {MOST_S:g} s")

    def _post(self, said: Mapping[str, Any]) -> None:
        reason = ""
        for wait_s in (*self._waits_s, None):
            reason, is_final = self._try(said)
            if not reason:
                return
            if is_final or wait_s is None:
                break
            time.sleep(wait_s)
        self._give_up(reason)

    def _try(self, said: Mapping[str, Any]) -> tuple[str, bool]:
        """Return why the message did not arrive, empty when it did, and whether that is final."""
        try:
            with (
                httpx.Client(timeout=TIMEOUT_S, trust_env=False) as client,
                client.stream("POST", self._address.reveal(), json=said) as answer,
            ):
                status = answer.status_code
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            return type(error).__name__, False  # its text may hold the address
        return "" if 200 <= status < 300 else f"status {status}", status not in _TRY_AGAIN

    def _give_up(self, reason: str) -> None:
        host = urls.origin(self._address.reveal())
        logger.warning("webhook not called", extra={"host": host, "reason": reason})


def message(told: Mapping[str, Any], alerts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what is sent of a report and its alerts, which are sorted by their severity."""
    of_site = ("status", "detail", "baseline", "alerts", "changes")
    return {
        **{name: told[name] for name in ("run_id", "status", "started_at", "ended_at", "version")},
        "total": told["total"],
        "sites": {
            site: {name: one.get(name) for name in of_site} for site, one in told["sites"].items()
        },
        "alerts": list(alerts[:MOST_ALERTS]),
        "alerts_left_out": max(0, len(alerts) - MOST_ALERTS),
    }
