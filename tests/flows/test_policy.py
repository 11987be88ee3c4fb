"""A URL is admitted, or refused with the outcome that says why."""

import pytest

from flows import policy
from flows.records import Attribution, Entry, Failure, Method, Outcome, Rules
from flows.settings import Settings, Site

SITE = "https://a.test"
ROBOTS = "User-agent: *\nDisallow: /private/\n"


def entry(url: str) -> Entry:
    return Entry(site=SITE, url=url, attribution=Attribution(method=Method.LINK))


def gate(robots: str | None = ROBOTS, **site: object) -> policy.Gate:
    own = Site(origin=SITE, start_url=SITE + "/", **site)  # type: ignore[arg-type]
    opened = policy.Gate(Settings(sites=(own,), max_pages=3))
    opened.follow(Rules(site=SITE, origin=SITE, robots=robots))
    return opened


def test_a_page_of_the_site_is_admitted_as_it_came() -> None:
    wanted = entry(f"{SITE}/docs/?page=2")

    assert gate().decide(wanted) is wanted


@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        ("http://a.test/", Outcome.OFF_ORIGIN),
        ("https://a.test:8443/", Outcome.OFF_ORIGIN),
        ("https://b.test/", Outcome.OFF_ORIGIN),
        ("mailto:a@b.test", Outcome.INVALID_URL),
        (f"{SITE}/private/x", Outcome.ROBOTS_DISALLOWED),
        (f"{SITE}/files/Report.PDF?x=1", Outcome.NOT_HTML),
    ],
    ids=["scheme", "port", "host", "no http URL", "robots.txt", "binary by its name"],
)
def test_another_url_is_refused_with_its_reason(url: str, outcome: Outcome) -> None:
    refused = gate().decide(entry(url))

    assert isinstance(refused, Failure)
    assert refused.outcome is outcome
    assert refused.detail


def test_nothing_is_admitted_where_robots_txt_could_not_be_read() -> None:
    refused = gate(robots=None).decide(entry(f"{SITE}/"))

    assert isinstance(refused, Failure)
    assert refused.outcome is Outcome.ROBOTS_DISALLOWED


def test_nothing_is_admitted_before_the_rules_came() -> None:
    assert isinstance(policy.Gate(Settings()).decide(entry(f"{SITE}/")), Failure)


@pytest.mark.parametrize("path", ["/docs/a", "/docs/tag/x"], ids=["allowed", "denied"])
def test_allow_and_deny_patterns_of_the_site_are_obeyed(path: str) -> None:
    decided = gate(allow=("/docs/",), deny=("/tag/",)).decide(entry(SITE + path))

    assert isinstance(decided, Failure) == ("tag" in path)


def test_a_url_outside_the_allow_patterns_is_denied_by_policy() -> None:
    refused = gate(allow=("/docs/",)).decide(entry(f"{SITE}/blog/"))

    assert isinstance(refused, Failure)
    assert refused.outcome is Outcome.POLICY_DENIED


def test_the_budget_counts_what_is_admitted_and_nothing_else() -> None:
    opened = gate()
    decided = [opened.decide(entry(SITE + path)) for path in ("/1", "/private/", "/2", "/3", "/4")]

    left_out = [d.outcome for d in decided if isinstance(d, Failure)]
    assert left_out == [Outcome.ROBOTS_DISALLOWED, Outcome.BUDGET]


def test_a_sites_own_budget_wins_and_zero_means_none() -> None:
    opened = gate(max_pages=0)

    assert not any(isinstance(opened.decide(entry(f"{SITE}/{n}")), Failure) for n in range(10))
