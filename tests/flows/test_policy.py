"""A URL is admitted, or refused with the outcome that says why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import policy
from flows.records import (
    Attribution,
    Columns,
    Declared,
    Entries,
    Entry,
    Failure,
    LeftOut,
    Method,
    Outcome,
    Rules,
)
from flows.settings import Settings, Site

SITE = "https://a.test"
ROBOTS = "User-agent: *\nDisallow: /private/\n"


def entry(url: str, method: Method = Method.LINK) -> Entry:
    return Entry(site=SITE, url=url, attribution=Attribution(method=method))


def gate(robots: str | None = ROBOTS, signals: str = "obey", **site: object) -> policy.Gate:
    own = Site(origin=SITE, start_url=SITE + "/", **site)  # type: ignore[arg-type]
    opened = policy.Gate(Settings(sites=(own,), max_pages=3, ai_signals=signals))
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
    paths = ("/1", "/private/", "/2", "/3", "/4")
    decided = [opened.decide(entry(SITE + path, Method.ROBOTS)) for path in paths]

    left_out = [d.outcome for d in decided if isinstance(d, Failure)]
    assert left_out == [Outcome.ROBOTS_DISALLOWED, Outcome.BUDGET]


def test_a_sites_own_budget_wins_and_zero_means_none() -> None:
    opened = gate(max_pages=0)

    assert not any(isinstance(opened.decide(entry(f"{SITE}/{n}")), Failure) for n in range(10))


def test_links_get_half_of_the_budget_until_the_lists_have_been_read() -> None:
    opened = gate(max_pages=4)

    linked = [opened.decide(entry(f"{SITE}/{n}")) for n in range(3)]
    assert isinstance(linked[2], Failure)
    waits = opened.may_think_again(linked[2])
    listed = opened.decide(entry(f"{SITE}/listed", Method.ROBOTS))
    opened.all_declared()
    later = [opened.decide(entry(f"{SITE}/{n}")) for n in (2, 3)]

    assert [isinstance(d, Failure) for d in linked] == [False, False, True]
    assert waits
    assert isinstance(listed, Entry)
    assert [isinstance(d, Failure) for d in later] == [False, True]


def test_a_trap_is_left_out_as_budget_with_its_rule_and_spares_what_a_list_declares() -> None:
    opened = gate()

    refused = opened.decide(entry(f"{SITE}/a/a/a/"))
    declared = opened.decide(entry(f"{SITE}/a/a/a/", Method.PROBE))

    assert isinstance(refused, Failure)
    assert refused.outcome is Outcome.BUDGET
    assert refused.trap == "repetition a segment 3 times"
    assert "repetition" in (refused.detail or "")
    assert isinstance(declared, Entry)


SIGNALS = "User-agent: *\nContent-Signal: search=yes, {}\nAllow: /\n"


def test_a_site_that_no_model_may_read_is_refused_and_says_by_what() -> None:
    refused = gate(SIGNALS.format("ai-input=no")).decide(entry(f"{SITE}/"))

    assert isinstance(refused, Failure)
    assert refused.outcome is Outcome.POLICY_DENIED
    assert refused.detail == "robots.txt: ai-input=no"
    assert refused.entry.ai_signals == "robots.txt: search=yes, ai-input=no"


@pytest.mark.parametrize(
    ("said", "obeyed"),
    [("ai-train=no", "obey"), ("ai-input=yes", "obey"), ("ai-input=no", "ignore")],
    ids=["no training", "input allowed", "told to ignore"],
)
def test_other_signals_of_a_site_are_recorded_and_no_more(said: str, obeyed: str) -> None:
    admitted = gate(SIGNALS.format(said), obeyed).decide(entry(f"{SITE}/"))

    assert isinstance(admitted, Entry)
    assert admitted.ai_signals == f"robots.txt: search=yes, {said}"


def test_the_signals_of_a_site_do_not_hold_for_another() -> None:
    refused = gate(SIGNALS.format("ai-input=no")).decide(entry("https://b.test/"))

    assert isinstance(refused, Failure)
    assert refused.outcome is Outcome.OFF_ORIGIN
    assert refused.entry.ai_signals is None


@given(
    st.lists(
        st.sampled_from(
            [
                f"{SITE}/docs/",
                f"{SITE}/docs/?page=2",
                f"{SITE}/docs/v1.2",
                f"{SITE}/logo.PNG",
                f"{SITE}/get?file=x.pdf",
                f"{SITE}/private/x",
                f"{SITE}/x/private/",
                f"{SITE}/a%20b",
                "https://b.test/docs/",
                "mailto:a@a.test",
            ]
        ),
        min_size=1,
        max_size=4,
    )
)
def test_a_list_is_decided_on_as_its_urls_are_one_by_one(urls: list[str]) -> None:
    declared = Columns.of(Declared(url=url, invalid=":/" not in url) for url in urls)
    at = Attribution(method=Method.ROBOTS, sitemap=f"{SITE}/sitemap.xml")
    listed = Entries(site=SITE, attribution=at, declared=declared)
    one_by_one, together = gate(max_pages=0), gate(max_pages=0)

    told = [decision for decision in together.sort(listed) if isinstance(decision, LeftOut)]

    refused = [
        decision for one in listed if isinstance(decision := one_by_one.decide(one), Failure)
    ]
    found = [(one.url, some.outcome, some.detail) for some in told for one in some.entries]
    assert sorted(found) == sorted((one.entry.url, one.outcome, one.detail) for one in refused)


def test_urls_of_a_list_leave_with_their_own_reason_in_their_order() -> None:
    urls = [f"https://{n % 3}.test/{n}" for n in range(9)] + [f"{SITE}/private/", f"{SITE}/a.pdf"]
    listed = Entries(
        site=SITE,
        attribution=Attribution(method=Method.ROBOTS, sitemap=f"{SITE}/s.xml"),
        declared=Columns.of(map(Declared, urls)),
    )
    told = [some for some in gate().sort(listed) if isinstance(some, LeftOut)]

    assert [(some.detail, [entry.url for entry in some.entries]) for some in told] == [
        *((f"https://{n}.test", urls[n:9:3]) for n in range(3)),
        ("robots.txt", [f"{SITE}/private/"]),
        (".pdf", [f"{SITE}/a.pdf"]),
    ]
