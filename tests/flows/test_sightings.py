"""What is said of a URL after its row was written joins the row; declarations beat links."""

from datetime import UTC, datetime

from flows import rows, schema, sightings
from flows.records import Attribution, Entry, Failure, Method, Outcome, Sighting

SITE = "https://a.test"
JANUARY, JUNE = (datetime(2024, month, 1, tzinfo=UTC) for month in (1, 6))


def entry(
    sitemap: str | None, lastmod: datetime | None = None, priority: float | None = None
) -> Entry:
    at = Attribution(
        method=Method.ROBOTS if sitemap else Method.LINK,
        sitemap=sitemap and SITE + sitemap,
        referrer=None if sitemap else SITE,
    )
    raw = lastmod and f"{lastmod:%Y-%m-%d}"
    return Entry(
        site=SITE,
        url=f"{SITE}/p",
        attribution=at,
        lastmod=lastmod,
        lastmod_raw=raw or None,
        priority=priority,
    )


def folded(written: Entry, *again: Entry) -> schema.Row:
    row = Failure(entry=written, outcome=Outcome.DISCOVERED)
    table = schema.table("urls", [rows.url(row, run_id="r", settings_hash="s")])
    notes = [rows.sighting(Sighting(entry=e), run_id="r") for e in again]
    told = sightings.fold(table, schema.table("sightings", notes))
    assert told.schema == table.schema
    return told.to_pylist()[0]  # type: ignore[no-any-return]


def test_a_row_that_nobody_named_again_stays_as_it_was() -> None:
    row = folded(entry("/a.xml", JANUARY))

    assert (row["methods"], row["sitemaps"]) == (["robots"], [f"{SITE}/a.xml"])


def test_a_page_that_a_link_found_first_becomes_the_sitemaps_that_declares_it() -> None:
    row = folded(entry(None), entry("/a.xml", JANUARY, 0.5))

    assert (row["method"], row["sitemap"]) == ("robots", f"{SITE}/a.xml")
    assert row["methods"] == ["robots", "link"]
    assert (row["lastmod"], row["lastmod_raw"], row["priority"]) == (JANUARY, "2024-01-01", 0.5)
    assert row["referrer"] == SITE


def test_a_link_takes_nothing_from_a_declared_page() -> None:
    row = folded(entry("/a.xml", JANUARY, 0.5), entry(None))

    assert (row["method"], row["sitemap"], row["lastmod"]) == ("robots", f"{SITE}/a.xml", JANUARY)
    assert row["methods"] == ["robots", "link"]


def test_of_two_declarations_the_newest_date_counts_and_the_first_place() -> None:
    row = folded(entry("/a.xml", JANUARY, 0.3), entry("/b.xml", JUNE), entry("/c.xml"))

    assert (row["sitemap"], row["lastmod"]) == (f"{SITE}/a.xml", JUNE)
    assert row["lastmod_raw"] == "2024-06-01"
    assert row["priority"] == 0.3
    assert row["sitemaps"] == [f"{SITE}/{name}.xml" for name in "abc"]


def test_what_nobody_says_is_null_and_a_list_is_empty() -> None:
    row = folded(entry("/a.xml"), entry("/b.xml"))

    assert (row["lastmod"], row["priority"]) == (None, None)
    assert row["alternates"] == []
