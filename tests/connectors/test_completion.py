"""Run after run over the same sites: what changed is told, and an outage removes nothing."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from connectors.dataset import Dataset, Run, merging
from connectors.dataset.history import History
from connectors.parquet import ParquetSink
from flows.records import Failure, Method, Outcome, Reading, Row, SitemapRead
from tests import samples
from tests.loopback import Answer, Site, urlset
from tests.samples import NOON, SITE

OTHER = "https://b.test"
LATER = NOON + timedelta(days=3)


def found(path: str, lastmod: datetime = NOON, site: str = SITE) -> Failure:
    entry = replace(samples.entry(path, site), lastmod=lastmod)
    return Failure(entry=entry, outcome=Outcome.DISCOVERED)


def listed(*paths: str, site: str = SITE, **lastmods: datetime) -> list[Row]:
    """Return all that a run says of a site which lists these paths."""
    rows = [found(f"/{path}", lastmods.get(path, NOON), site) for path in paths]
    return [*rows, robots(site), samples.sitemap(site=site), samples.end(len(rows), site)]


def robots(site: str = SITE) -> SitemapRead:
    return replace(samples.sitemap("/robots.txt", site), kind="robots", entries=0)


def failed(*paths: str, site: str = SITE) -> list[Row]:
    """Return what a run says of a site whose sitemap breaks off after these paths."""
    *rows, _, end = listed(*paths, site=site)
    return [*rows, replace(samples.sitemap(site=site), complete=False), end]


def write(root: Path, *said: Row, sites: Iterable[str] = (SITE,), flow: str = "discover") -> Run:
    """Have one start of a run write rows."""
    run = Dataset(root).open_run("s", "1", plan=" ".join((flow, *sites)))
    sink = ParquetSink(run, tuple(sites), run.settings_hash)
    parts = {number: sink.build_part("write", number, None) for number in sink.list_parts()}
    for row in said:
        site = row.entry.site if isinstance(row, Failure | Reading) else row.site
        parts[str(run.shard_of(site))].write_batch([row])
    for part in parts.values():
        part.snapshot()
        part.close()
    return run


def rows(run: Run, table: str = "urls") -> list[dict[str, Any]]:
    return ds.dataset(run.folder / table, format="parquet").to_table().to_pylist()


def changes(run: Run, site: str = SITE) -> dict[str, str | None]:
    mine = [row for row in rows(run) if row["site"] == site]
    return {row["url"].removeprefix(f"{site}/"): row["change"] for row in mine}


def told(run: Run, site: str = SITE) -> Mapping[str, Any]:
    return json.loads((run.folder / "report.json").read_text())["sites"][site]


def alerts(run: Run) -> set[str]:
    return {row["kind"] for row in rows(run, "alerts")}


# Two runs


def test_without_an_earlier_run_everything_is_new(tmp_path: Path) -> None:
    run = write(tmp_path, *listed("a", "b"))

    assert changes(run) == {"a": "new", "b": "new"}
    assert told(run)["baseline"] is None
    assert told(run)["whole"] is True
    assert (told(run)["listed"], told(run)["lastmod_max"]) == (2, NOON.isoformat())


def test_the_second_run_tells_what_came_moved_and_went(tmp_path: Path) -> None:
    first = write(tmp_path, *listed("same", "moved", "gone"))
    second = write(tmp_path, *listed("same", "moved", "fresh", moved=LATER))

    assert changes(second) == {
        "fresh": "new",
        "gone": "removed",
        "moved": "updated",
        "same": "unchanged",
    }
    assert [row["url"] for row in rows(second)] == sorted(row["url"] for row in rows(second))
    assert told(second)["baseline"] == first.id
    assert told(second)["changes"] == dict.fromkeys(("new", "removed", "unchanged", "updated"), 1)


def test_what_was_removed_is_no_part_of_what_the_run_declares(tmp_path: Path) -> None:
    write(tmp_path, *listed("a", "gone"))
    second = write(tmp_path, *listed("a"))

    assert told(second)["status"] == "complete"
    assert (told(second)["declared"], told(second)["listed"]) == (1, 1)
    assert told(second)["outcomes"] == {"discovered": 1, "undeclared": 1}
    assert told(second)["methods"] == {"robots": 1}


def test_what_was_removed_stays_away_and_is_new_when_it_comes_back(tmp_path: Path) -> None:
    runs = [write(tmp_path, *listed(*paths)) for paths in ("ab", "a", "a", "ab")]

    assert [changes(run).get("b") for run in runs] == ["new", "removed", None, "new"]


@pytest.mark.parametrize("paths", ["", "a"], ids=["at once", "after a while"])
def test_a_sitemap_that_fails_removes_nothing(paths: str, tmp_path: Path) -> None:
    write(tmp_path, *listed("a", "b"))
    outage = write(tmp_path, *failed(*paths))

    assert changes(outage) == dict.fromkeys(paths, "unchanged")
    assert told(outage)["whole"] is False


def test_after_an_outage_nothing_is_new_and_what_went_meanwhile_is_removed(tmp_path: Path) -> None:
    write(tmp_path, *listed(*"abc"))
    outage = write(tmp_path, *failed())
    after = write(tmp_path, *listed(*"abd"))

    assert changes(after) == {"a": "unchanged", "b": "unchanged", "c": "removed", "d": "new"}
    assert told(after)["baseline"] == outage.id


def test_after_a_sitemap_was_empty_for_a_while_nothing_is_new(tmp_path: Path) -> None:
    first = write(tmp_path, *listed("a", "b"))
    empty = write(tmp_path, robots(), replace(samples.sitemap(), entries=0), samples.end(0))
    third = write(tmp_path, *listed("a", "c"))

    assert (changes(empty), told(empty)["whole"]) == ({}, False)
    assert changes(third) == {"a": "unchanged", "b": "removed", "c": "new"}
    assert told(third)["baseline"] == empty.id != first.id


@pytest.mark.parametrize("status", ["stopped_by_budget", "failed_blocked", "failed_unreachable"])
def test_a_site_that_did_not_end_well_removes_nothing_and_is_no_baseline(
    status: str, tmp_path: Path
) -> None:
    first = write(tmp_path, *listed("a", "b"))
    *said, end = listed("a")
    second = write(tmp_path, *said, replace(end, status=status))
    third = write(tmp_path, *listed("a", "b"))

    assert changes(second) == {"a": "unchanged"}
    assert changes(third) == {"a": "unchanged", "b": "unchanged"}
    assert told(third)["baseline"] == first.id


@pytest.mark.parametrize("kind", ["sitemap_too_deep", "sitemap_budget", "robots_not_text"])
def test_lists_that_were_not_read_remove_nothing(kind: str, tmp_path: Path) -> None:
    write(tmp_path, *listed("a", "b"))
    *said, end = listed("a")
    second = write(tmp_path, *said, samples.alert(kind), end)

    assert changes(second) == {"a": "unchanged"}


def test_a_budget_of_pages_removes_nothing(tmp_path: Path) -> None:
    write(tmp_path, *listed("a", "b"))
    over = replace(found("/c"), outcome=Outcome.BUDGET)
    *said, end = listed("a")
    second = write(tmp_path, *said, over, replace(end, rows=2))

    assert changes(second) == {"a": "unchanged", "c": None}


def test_a_guessed_sitemap_that_is_not_there_removes_nothing(tmp_path: Path) -> None:
    *said, sitemap, end = listed("a", "b")
    write(tmp_path, *said, replace(sitemap, method=Method.PROBE), end)
    *said, _, end = listed("a")
    second = write(tmp_path, *said, samples.sitemap("/new.xml"), end)

    assert changes(second) == {"a": "unchanged"}
    assert told(second)["whole"] is True


def test_two_sites_have_their_own_baselines(tmp_path: Path) -> None:
    both = (SITE, OTHER)
    first = write(tmp_path, *listed("a"), *listed("a", site=OTHER), sites=both)
    second = write(tmp_path, *listed("a", "b"))
    *said, end = listed("b", site=OTHER)
    third = write(tmp_path, *listed("b"), *said, end, sites=both)

    assert (told(third)["baseline"], told(third, OTHER)["baseline"]) == (second.id, first.id)
    assert changes(third) == {"a": "removed", "b": "unchanged"}
    assert changes(third, OTHER) == {"a": "removed", "b": "new"}


def test_a_run_of_another_flow_removes_nothing(tmp_path: Path) -> None:
    write(tmp_path, *listed("a", "b"))
    said = (samples.reading("/a"), robots(), samples.sitemap(), samples.end(1))
    run = write(tmp_path, *said, flow="ingest")

    assert changes(run) == {"a": "new"}
    assert told(run)["status"] == "complete"


# What happens to runs


def test_a_run_that_was_taken_up_again_tells_the_same(tmp_path: Path) -> None:
    write(tmp_path, *listed("a", "b", "gone"))
    *said, end = listed("a", "b", b=LATER)
    killed = write(tmp_path, *said[:1], robots())
    resumed = write(tmp_path, *said, end)

    assert resumed.id == killed.id
    assert changes(resumed) == {"a": "unchanged", "b": "updated", "gone": "removed"}
    assert told(resumed)["status"] == "complete"


def test_a_run_that_is_closed_unfinished_tells_no_change(tmp_path: Path) -> None:
    first = write(tmp_path, *listed("a", "b"))
    closed = write(tmp_path, found("/a"))
    second = write(tmp_path, *listed("a", "b"), *listed("a", site=OTHER), sites=(SITE, OTHER))

    assert changes(closed) == {"a": None}
    assert told(second)["baseline"] == first.id


@pytest.mark.parametrize("damage", ["urls", "sitemaps"])
def test_an_earlier_run_that_cannot_be_read_fails_nobody(damage: str, tmp_path: Path) -> None:
    first = write(tmp_path, *listed("a", "b"))
    for path in (first.folder / damage).glob("*.parquet"):
        path.write_bytes(b"PAR1 no more than that PAR1")
    second = write(tmp_path, *listed("a"))

    assert changes(second) == {"a": None if damage == "urls" else "unchanged"}
    assert told(second)["status"] == "complete"


def test_an_earlier_run_that_was_deleted_is_no_baseline(tmp_path: Path) -> None:
    shutil.rmtree(write(tmp_path, *listed("a")).folder)

    assert changes(write(tmp_path, *listed("a"))) == {"a": "new"}


def test_large_sites_are_compared_in_bounded_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "BUCKET_BYTES", 3_000)
    paths = [f"{number:04d}" for number in range(600)]
    write(tmp_path, *listed(*paths[:500]))
    sizes = []
    fold = History.fold
    monkeypatch.setattr(
        History, "fold", lambda past, *parts: sizes.extend(map(len, parts)) or fold(past, *parts)
    )
    second = write(tmp_path, *listed(*paths[100:]))

    assert told(second)["changes"] == {"new": 100, "removed": 100, "unchanged": 400}
    assert [row["url"] for row in rows(second)] == [f"{SITE}/{path}" for path in paths]
    assert len(sizes) > 1
    assert max(sizes) < 200


# Alerts across runs


def test_a_site_that_collapses_raises_an_alert_that_is_counted(tmp_path: Path) -> None:
    paths = [f"{number:04d}" for number in range(100)]
    write(tmp_path, *listed(*paths))
    second = write(tmp_path, *listed(*paths[:9]), *listed(*paths[:9], site=OTHER))
    (alert,) = (row for row in rows(second, "alerts") if row["kind"] != "no_baseline")

    assert (alert["kind"], alert["site"], alert["value"]) == ("url_count_drop", SITE, 9)
    assert told(second)["alerts"] == {"error": 1}


def test_an_alert_across_runs_joins_those_of_the_run(tmp_path: Path) -> None:
    write(tmp_path, *listed("a"))
    *said, end = listed(*(f"{number:04d}" for number in range(200)))
    second = write(tmp_path, *said, samples.alert("sitemap_cycle"), replace(end, notes=3))

    assert alerts(second) == {"sitemap_cycle", "url_count_jump", "lastmod_stalled"}
    assert told(second)["alerts"] == {"warning": 3}


def test_a_frozen_lastmod_is_told_in_the_third_run(tmp_path: Path) -> None:
    runs = [write(tmp_path, *listed(*paths)) for paths in ("ab", "ac", "ad")]

    assert ["lastmod_frozen" in alerts(run) for run in runs] == [False, False, True]


def test_a_lastmod_that_went_back_is_told(tmp_path: Path) -> None:
    runs = [write(tmp_path, *listed("a", "b", b=moment)) for moment in (LATER, NOON, LATER)]

    assert ["lastmod_backwards" in alerts(run) for run in runs] == [False, True, False]


# On a real site


def dated(origin: str, *paths: str) -> dict[str, Answer]:
    robots = f"User-agent: *\nSitemap: {origin}/map.xml\n".encode()
    return {
        "/robots.txt": Answer(robots, "text/plain"),
        "/map.xml": urlset(*(f"{origin}/{path}" for path in paths)),
        "/": Answer(b"<title>Home</title>"),
    }


def discover(site: Site, out: Path) -> Run:
    env = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("INGEST_", "BYTEWAX_"))},
        "INGEST_SITES": site.origin,
        "INGEST_OUT": str(out),
        "INGEST_ALLOW_NETWORKS": "127.0.0.1/32",
        "INGEST_RATE": "0",
        "INGEST_RETRY_WAITS_S": "0",
    }
    command = [sys.executable, "-m", "bytewax.run", "flows.discover"]
    subprocess.run(command, env=env, check=True, capture_output=True, timeout=60)
    newest = max((out / "runs").iterdir())
    noted = {"started_at": NOON.isoformat(), "settings_hash": "", "version": "", "plan": ""}
    return Run(Dataset(out), run_id=newest.name, shards=4, **noted)


def test_a_site_is_compared_from_run_to_run_through_an_outage(tmp_path: Path) -> None:
    with Site(lambda origin: dated(origin, "a", "b")) as site:
        first = discover(site, tmp_path)
        site.routes["/map.xml"] = Answer(b"oops", status=500)
        outage = discover(site, tmp_path)
        site.routes |= dated(site.origin, "a", "c")
        last = discover(site, tmp_path)

    assert changes(first, site.origin) == {"a": "new", "b": "new"}
    assert changes(outage, site.origin) == {}
    assert changes(last, site.origin) == {"a": "unchanged", "b": "removed", "c": "new"}
