"""What a run makes of sites that do not let it in, or send it on: outcomes, and what they say."""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import pytest

from tests.flowing import ingested, newest
from tests.loopback import Answer, Site, page

CHALLENGE = Answer(
    b"<title>Just a moment...</title><script>window._cf_chl_opt={}</script>",
    status=403,
    headers=(("cf-mitigated", "challenge"),),
)
STUB = b"<!doctype html><title>a</title><meta http-equiv=refresh content='0; url=/en/'>"


class Recovering(dict[str, Answer]):
    """Answers of which one path fails for as long as it is retried, and one for ever."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        super().__init__(answers)
        self.asked = 0

    def get(self, path: str, default: Any = None) -> Any:
        if path == "/recovers":
            self.asked += 1
            return Answer(b"no", status=500) if self.asked <= 2 else page("Back")
        return super().get(path, default)


SITES = {
    "refresh": lambda _: {"/": Answer(STUB), "/en/": page("English", "/en/more")},
    "header": lambda _: {
        "/": Answer(b"<p>moved", headers=(("Refresh", "0; url=/new"),)),
        "/new": page("New"),
    },
    "blocked": lambda _: {"/": CHALLENGE},
    "verified": lambda _: {
        "/": page("Home", "/recovers", "/fails"),
        "/fails": Answer(b"no", status=502),
    },
}

Row = dict[str, Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("walled")
    with ExitStack() as stack:
        sites = {name: stack.enter_context(Site(answers)) for name, answers in SITES.items()}
        sites["verified"].routes = Recovering(sites["verified"].routes)
        ingested(list(sites.values()), out, INGEST_RETRY_WAITS_S="0.01")
    report = next((out / "runs").glob("*/report.json"))
    return {
        "urls": {row["url"]: row for row in newest(out, "urls")},
        "alerts": newest(out, "alerts"),
        "report": json.loads(report.read_text()),
        "sites": sites,
        "log": {name: site.log for name, site in sites.items()},
    }


def row(run: dict[str, Any], site: str, path: str) -> Row:
    found: Row = run["urls"][run["sites"][site].origin + path]
    return found


def ended(run: dict[str, Any], site: str) -> Row:
    found: Row = run["report"]["sites"][run["sites"][site].origin]
    return found


@pytest.mark.parametrize(("site", "target"), [("refresh", "/en/"), ("header", "/new")])
def test_a_home_page_that_only_sends_on_is_followed(
    run: dict[str, Any], site: str, target: str
) -> None:
    there = row(run, site, target)

    assert row(run, site, "/")["outcome"] == "meta_refresh"
    assert (there["outcome"], there["method"]) == ("ok", "link")
    assert there["referrer"] == run["sites"][site].origin + "/"


def test_a_blocked_start_page_ends_its_site_and_says_whose_it_is_and_what_can_be_done(
    run: dict[str, Any],
) -> None:
    blocked, site = row(run, "blocked", "/"), ended(run, "blocked")
    alerts = [a["message"] for a in run["alerts"] if a["kind"] == "blocked_pages"]

    assert (blocked["outcome"], blocked["provider"]) == ("blocked", "cloudflare")
    assert site["status"] == "failed_blocked"
    for said in (site["detail"], *alerts):
        assert "cloudflare" in said
        assert "the site's owner can allow" in said
    assert set(run["log"]["blocked"]) == {"/robots.txt", "/"}


def test_the_verification_round_stores_what_recovers_and_records_both_answers(
    run: dict[str, Any],
) -> None:
    recovered, failed = row(run, "verified", "/recovers"), row(run, "verified", "/fails")

    assert (recovered["outcome"], recovered["attempts"]) == ("ok", 3)
    assert recovered["detail"] == "before verification: server_error"
    assert (failed["outcome"], failed["attempts"]) == ("server_error", 3)
    assert failed["detail"] == "status 502; before verification: server_error"
