"""Each sitemap is read once and within budgets; each URL is known once, with all its places."""

from dataclasses import replace
from datetime import UTC, datetime

from flows import discovery
from flows.records import Attribution, Entry, Exchange, Link, Method, Page, Sighting
from flows.sitemaps import Child

SITE = "https://a.test"


def plan(**limits: int) -> discovery.Plan:
    return discovery.Plan(site=SITE, **({"max_sitemaps": 100, "max_depth": 2} | limits))


def urls_of(plan: discovery.Plan) -> list[str]:
    return [candidate.url for candidate in iter(plan.next, None)]


def entry(url: str, method: Method = Method.ROBOTS, sitemap: str | None = None) -> Entry:
    return Entry(site=SITE, url=url, attribution=Attribution(method=method, sitemap=sitemap))


def test_what_is_named_is_read_before_what_is_guessed_and_nothing_twice() -> None:
    chosen = plan()
    chosen.probe(SITE)
    chosen.declare(Method.ROBOTS, [f"{SITE}/sitemap.xml", f"{SITE}/x.xml", f"{SITE}/x.xml"])

    read = urls_of(chosen)

    assert read[0] == f"{SITE}/x.xml"
    assert len(read) == len(set(read)) == 1 + len(discovery.WELL_KNOWN)


def test_a_sitemap_that_robots_names_is_its_find_and_not_a_probes() -> None:
    chosen = plan()
    chosen.declare(Method.ROBOTS, [f"{SITE}/sitemap.xml"])
    chosen.probe(SITE)

    first = chosen.next()

    assert first is not None
    assert first.method is Method.ROBOTS


def test_children_inherit_the_method_and_go_one_deeper() -> None:
    chosen = plan()
    chosen.declare(Method.GIVEN, [f"{SITE}/i.xml"])
    index = chosen.next()
    assert index is not None
    chosen.children(index, [Child(f"{SITE}/c.xml")])

    child = chosen.next()

    assert child == discovery.Candidate(
        url=f"{SITE}/c.xml", method=Method.GIVEN, parent=f"{SITE}/i.xml", depth=1
    )


def test_an_index_below_the_depth_budget_is_left_out_with_an_alert() -> None:
    chosen = plan(max_depth=1)
    chosen.declare(Method.ROBOTS, [f"{SITE}/0.xml"])
    for depth in range(3):
        if index := chosen.next():
            chosen.children(index, [Child(f"{SITE}/{depth + 1}.xml")])

    assert [a.kind for a in chosen.alerts] == ["sitemap_too_deep"]


def test_indexes_that_list_each_other_are_read_once_with_an_alert() -> None:
    chosen = plan()
    chosen.declare(Method.ROBOTS, [f"{SITE}/a.xml"])
    a = chosen.next()
    assert a is not None
    chosen.children(a, [Child(f"{SITE}/b.xml")])
    b = chosen.next()
    assert b is not None
    chosen.children(b, [Child(f"{SITE}/a.xml")])

    assert chosen.next() is None
    assert [alert.kind for alert in chosen.alerts] == ["sitemap_cycle"]


def test_the_budget_of_sitemaps_ends_reading_with_an_alert_that_counts_the_rest() -> None:
    chosen = plan(max_sitemaps=2)
    chosen.declare(Method.ROBOTS, [f"{SITE}/{n}.xml" for n in range(5)])

    assert len(urls_of(chosen)) == 2
    assert [(a.kind, a.value) for a in chosen.alerts] == [("sitemap_budget", 3)]


def test_of_an_index_the_sitemaps_that_changed_last_are_read_first() -> None:
    chosen = plan()
    chosen.declare(Method.ROBOTS, [f"{SITE}/index.xml"])
    index = chosen.next()
    assert index is not None
    days = {"old": 1, "new": 20, "middle": 10}
    dated = [Child(f"{SITE}/{n}", datetime(2024, 5, day, tzinfo=UTC)) for n, day in days.items()]
    chosen.children(index, [Child(f"{SITE}/undated"), *dated])

    assert urls_of(chosen) == [f"{SITE}/{name}" for name in ("new", "middle", "old", "undated")]


def test_once_a_page_budget_is_covered_few_more_lists_are_read_and_nothing_is_guessed() -> None:
    chosen = plan(max_pages=100)
    chosen.declare(Method.ROBOTS, [f"{SITE}/{n}.xml" for n in range(30)])
    chosen.probe(SITE)
    read = []
    while candidate := chosen.next():
        read.append(candidate)
        chosen.was_list(50)

    assert len(read) == discovery.LISTS
    assert chosen.is_covered
    assert [(a.kind, a.value) for a in chosen.alerts] == [("sitemap_budget", 25)]


def test_lists_are_read_on_as_long_as_they_do_not_cover_the_page_budget() -> None:
    chosen = plan(max_pages=100)
    chosen.declare(Method.ROBOTS, [f"{SITE}/{n}.xml" for n in range(30)])
    chosen.probe(SITE)
    read = []
    while candidate := chosen.next():
        read.append(candidate)
        chosen.was_list(1)

    assert len(read) == 30 + len(discovery.WELL_KNOWN)
    assert chosen.alerts == []


def test_without_a_page_budget_all_lists_are_read() -> None:
    chosen = plan()
    chosen.declare(Method.ROBOTS, [f"{SITE}/{n}.xml" for n in range(30)])
    for candidate in iter(chosen.next, None):
        assert candidate
        chosen.was_list(50_000)

    assert chosen.alerts == []
    assert chosen.max_urls is None


def test_a_site_that_answers_everything_with_a_page_is_not_probed_on() -> None:
    chosen = plan()
    chosen.probe(SITE)
    asked = 0
    while candidate := chosen.next():
        asked += 1
        chosen.was_page(candidate)

    assert asked == discovery.ANSWERS_ALL


def test_a_url_is_new_once_and_then_only_its_new_places_count() -> None:
    seen = discovery.Seen()
    first = entry(f"{SITE}/p", Method.ROBOTS, f"{SITE}/a.xml")
    elsewhere = entry(f"{SITE}/p", Method.ROBOTS, f"{SITE}/b.xml")
    linked = entry(f"{SITE}/p", Method.LINK)

    taken = [seen.take(e) for e in (first, first, elsewhere, elsewhere, linked, linked, first)]

    sightings = [t for t in taken if isinstance(t, Sighting)]
    assert taken[0] is first
    assert [s.entry for s in sightings] == [elsewhere, linked]
    assert len([t for t in taken if t is None]) == 4


def page(*links: Link, depth: int = 0, sitemap: str | None = "s.xml") -> Page:
    found = entry(f"{SITE}/docs/", Method.ROBOTS, sitemap)
    found = replace(found, attribution=replace(found.attribution, depth=depth))
    return Page(entry=found, exchange=Exchange(status=200), body=b"", links=links)


def test_links_of_the_own_origin_become_entries_with_their_method_and_referrer() -> None:
    entries = discovery.linked(
        page(
            Link(url=f"{SITE}/a"),
            Link(url=f"{SITE}/2", rel="next"),
            Link(url=f"{SITE}/c", rel="canonical"),
            Link(url="https://b.test/"),
        )
    )

    assert [(e.url, e.attribution.method) for e in entries] == [
        (f"{SITE}/a", Method.LINK),
        (f"{SITE}/2", Method.PAGINATION),
        (f"{SITE}/c", Method.CANONICAL),
    ]
    assert {e.attribution.referrer for e in entries} == {f"{SITE}/docs/"}


def test_links_that_ask_not_to_be_followed_are_not() -> None:
    entries = discovery.linked(
        page(
            Link(url=f"{SITE}/a", rel="nofollow"),
            Link(url=f"{SITE}/b", rel="noopener sponsored"),
            Link(url=f"{SITE}/feed", rel="alternate application/rss+xml"),
        )
    )

    assert entries == []


def test_link_depth_is_the_distance_from_a_declared_page() -> None:
    from_sitemap = discovery.linked(page(Link(url=f"{SITE}/a"), depth=3))
    from_link = discovery.linked(page(Link(url=f"{SITE}/a"), depth=3, sitemap=None))

    assert from_sitemap[0].attribution.depth == 1
    assert from_link[0].attribution.depth == 4


def test_a_page_points_at_sitemaps_and_feeds_by_rel_by_type_and_by_name() -> None:
    hints = discovery.sitemap_hints(
        [
            Link(url=f"{SITE}/map", rel="sitemap"),
            Link(url=f"{SITE}/feed", rel="alternate application/rss+xml"),
            Link(url=f"{SITE}/sitemap_all.xml"),
            Link(url=f"{SITE}/about"),
        ]
    )

    assert hints == [f"{SITE}/map", f"{SITE}/feed", f"{SITE}/sitemap_all.xml"]
