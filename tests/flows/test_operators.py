"""The operators keep each URL whole on one worker and on two: nothing lost, nothing twice."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import bytewax.operators as op
import pytest
from bytewax.dataflow import Dataflow
from bytewax.testing import TestingSink, TestingSource, cluster_main, run_main

from flows.operators import Repeats, Waiting, admit, first_seen, offload, split
from flows.records import AllDeclared, Attribution, Entry, Failure, Method, Outcome, Rules, Sighting
from flows.settings import Settings, Site

SITES = [f"https://s{n}.test" for n in range(5)]


def entry(site: str, path: str, sitemap: str = "/a.xml") -> Entry:
    at = Attribution(method=Method.ROBOTS, sitemap=site + sitemap)
    return Entry(site=site, url=site + path, attribution=at)


def two_workers(flow: Dataflow) -> None:
    cluster_main(flow, [], 0, worker_count_per_proc=2)


@pytest.fixture(params=[run_main, two_workers], ids=["one worker", "two workers"])
def run(request: pytest.FixtureRequest) -> Callable[[Dataflow], None]:
    return request.param  # type: ignore[no-any-return]


def played(
    run: Callable[[Dataflow], None], items: list[Any], steps: Callable[[Any], Any]
) -> list[Any]:
    out: list[Any] = []
    flow = Dataflow("test")
    op.output("out", steps(op.input("in", flow, TestingSource(items, 7))), TestingSink(out))
    run(flow)
    return out


def test_each_url_leaves_dedupe_once_and_every_entry_is_counted(
    run: Callable[[Dataflow], None],
) -> None:
    entries = [entry(site, f"/{n % 10}", f"/{n % 3}.xml") for n in range(60) for site in SITES]

    out = played(run, [(e.site, e) for e in entries], lambda s: first_seen("dedupe", s))

    new = [v.url for _, v in out if isinstance(v, Entry)]
    again = sum(isinstance(v, Sighting) for _, v in out)
    repeats = sum(v.count for _, v in out if isinstance(v, Repeats))
    assert len(new) == len(set(new)) == 10 * len(SITES)
    assert again == 2 * 10 * len(SITES)
    assert len(new) + again + repeats == len(entries)


def test_admission_follows_the_rules_that_came_first(run: Callable[[Dataflow], None]) -> None:
    items: list[Any] = []
    for site in SITES:
        rules = Rules(site=site, origin=site, robots="User-agent: *\nDisallow: /no/\n")
        items += [(site, rules), (site, entry(site, "/yes/")), (site, entry(site, "/no/"))]

    out = played(run, items, lambda s: admit("admit", s, Settings()))

    assert sorted(v.url for _, v in out if isinstance(v, Entry)) == [f"{s}/yes/" for s in SITES]
    refused = [v.outcome for _, v in out if isinstance(v, Failure)]
    assert refused == [Outcome.ROBOTS_DISALLOWED] * len(SITES)


def test_split_sends_every_value_one_way(run: Callable[[Dataflow], None]) -> None:
    items = [("k", 1), ("k", "a"), ("k", 2.0), ("k", "b")]

    chosen = played(run, items, lambda s: split("split", s, str).chosen)
    rest = played(run, items, lambda s: split("split", s, str).rest)

    assert sorted(chosen + rest, key=str) == sorted(items, key=str)
    assert {type(value) for _, value in chosen} == {str}


@dataclass
class LateTask:
    """Is ready only when it has been asked a few times."""

    value: int
    asked: int = 0

    def done(self) -> bool:
        self.asked += 1
        return self.asked > self.value % 4

    def result(self) -> str | None:
        return None if self.value % 10 == 9 else str(self.value)


@dataclass
class LatePool:
    """Keeps what it was given."""

    taken: list[int] = field(default_factory=list)

    def submit(self, item: int) -> LateTask:
        self.taken.append(item)
        return LateTask(item)


def test_what_is_worked_on_elsewhere_comes_back_once_also_after_the_end_of_input(
    run: Callable[[Dataflow], None],
) -> None:
    late = LatePool()

    out = played(
        run,
        [("site", n) for n in range(100)],
        lambda s: offload("work", s, late, spread_by=str, key_again=lambda text: f"key {text}"),
    )

    assert sorted(late.taken) == list(range(100))
    assert sorted(out) == sorted((f"key {n}", str(n)) for n in range(100) if n % 10 != 9)


def link(site: str, path: str) -> Entry:
    return Entry(site=site, url=site + path, attribution=Attribution(method=Method.LINK))


def decided(run: Callable[[Dataflow], None], of_site: Callable[[str], list[Any]]) -> list[Any]:
    """Return what admission makes of the items of each site, after rules and dedupe."""
    items: list[Any] = []
    for site in SITES:
        rules = Rules(site=site, origin=site, robots="")
        items += [(site, item) for item in (rules, *of_site(site))]
    settings = Settings(sites=tuple(Site(origin=s, start_url=s + "/") for s in SITES), max_pages=2)
    return [
        v for _, v in played(run, items, lambda s: admit("admit", first_seen("d", s), settings))
    ]


def test_a_link_that_is_a_trap_waits_and_is_admitted_when_a_list_declares_it(
    run: Callable[[Dataflow], None],
) -> None:
    out = decided(
        run,
        lambda site: [link(site, "/a/a/a/"), entry(site, "/a/a/a/"), AllDeclared(site=site)],
    )

    assert [v.change for v in out if isinstance(v, Waiting)].count(1) == len(SITES)
    assert sum(v.change for v in out if isinstance(v, Waiting)) == 0
    admitted = [v for v in out if isinstance(v, Entry)]
    assert {e.url for e in admitted} == {f"{s}/a/a/a/" for s in SITES}
    assert {e.attribution.method for e in admitted} == {Method.ROBOTS}
    folded = [v.entry for v in out if isinstance(v, Sighting)]
    assert [e.attribution.method for e in folded] == [Method.LINK] * len(SITES)
    assert not [v for v in out if isinstance(v, Failure)]


def test_links_that_wait_are_decided_when_the_lists_have_been_read(
    run: Callable[[Dataflow], None],
) -> None:
    out = decided(
        run,
        lambda site: [
            *(link(site, path) for path in ("/1", "/2", "/3", "/a/a/a/")),
            AllDeclared(site=site),
        ],
    )

    assert sum(v.change for v in out if isinstance(v, Waiting)) == 0
    admitted = sorted(v.url for v in out if isinstance(v, Entry))
    assert admitted == sorted(site + path for site in SITES for path in ("/1", "/2"))
    refused = [v for v in out if isinstance(v, Failure)]
    assert sorted(v.entry.url for v in refused) == sorted(
        site + path for site in SITES for path in ("/3", "/a/a/a/")
    )
    assert {v.outcome for v in refused} == {Outcome.BUDGET}
