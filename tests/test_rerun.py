"""A second run costs what changed, removes what is proved to be gone, and loses nothing else."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest

from tests.flowing import corpus, ingested, newest
from tests.loopback import Answer, Site, page, urlset

ROOT = Path(__file__).parents[1]
QUICK = {"INGEST_RETRY_WAITS_S": "0"}
GONE = Answer(b"not here", status=404)
LISTED = ("tagged", "bare", "changing", "linked", "gone", "moved", "elsewhere", "secret", "failing")
UNNAMED = ("alone", "lost", "over")
"""Pages that the sitemap lists in the first run only."""


def tagged(answer: Answer, tag: str = "1") -> Answer:
    return Answer(answer.body, answer.kind, answer.status, (("ETag", f'"{tag}"'),))


def sections(word: str) -> str:
    """Return two sections, of which the second has a word of its own."""
    first, second = (
        "The first section stays as it is. " * 20,
        f"{word} words are in the second. " * 20,
    )
    return f"</p><h2>First</h2><p>{first}</p><h2>Second</h2><p>{second}</p><p>"


def to(path: str, status: int) -> Answer:
    return Answer(b"", status=status, headers=(("Location", path),))


def site(origin: str) -> dict[str, Answer]:
    """Return a site: pages with validators, one without, and two that only links find."""
    listed = [f"{origin}/{path}" for path in (*LISTED, *UNNAMED)]
    named = {f"/{path}": tagged(page(path.title())) for path in (*LISTED, *UNNAMED)}
    return named | {
        "/robots.txt": Answer(f"Sitemap: {origin}/s.xml\n".encode(), "text/plain"),
        "/s.xml": urlset(*listed),
        "/": page("Home", "/linked"),
        "/bare": page("Bare"),
        "/changing": tagged(page("Changing", text=sections("Old"))),
        "/linked": tagged(page("Linked", "/deep", "/late")),
        "/deep": tagged(page("Deep")),
        "/late": Answer(b"later", status=503),
    }


def change(served: Site) -> None:
    """Change the site as between two runs."""
    stay = [f"{served.origin}/{path}" for path in (*LISTED, "target")]
    served.routes |= {
        "/s.xml": urlset(*stay),
        "/changing": tagged(page("Changing", text=sections("Other")), "2"),
        "/gone": GONE,
        "/moved": to("/target", 301),
        "/target": tagged(page("Moved")),
        "/elsewhere": to("/further", 308),
        "/further": tagged(page("Elsewhere")),
        "/secret": page("Secret", head='<meta name="robots" content="noindex">'),
        "/failing": Answer(b"busy", status=503),
        "/lost": Answer(b"", status=410),
        "/over": Answer(b"", status=403),
        "/late": tagged(page("Late")),
    }


class Run(NamedTuple):
    """What a run left."""

    urls: dict[str, dict[str, Any]]
    pages: list[dict[str, Any]]
    corpus: dict[str, dict[str, Any]]
    chunks: dict[str, set[str]]
    """Ids of the chunks of each page in the corpus."""
    asked: Counter[str]


def ran(served: Site, out: Path, **more: str) -> Run:
    asked = len(served.log)
    ingested([served], out, **(QUICK | more))
    paths = {
        name: {row["url"].removeprefix(served.origin): row for row in rows}
        for name, rows in (("urls", newest(out, "urls")), ("corpus", corpus(out, "pages")))
    }
    chunks: defaultdict[str, set[str]] = defaultdict(set)
    for row in corpus(out, "chunks"):
        chunks[row["url"].removeprefix(served.origin)].add(row["chunk_id"])
    return Run(
        **paths,
        pages=newest(out, "pages"),
        chunks=dict(chunks),
        asked=Counter(served.log[asked:]),
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Run, Run, Run]]:
    """Yield what three runs left, with changes between the first two."""
    out = tmp_path_factory.mktemp("rerun") / "data"
    with Site(site) as served:
        first = ran(served, out)
        change(served)
        yield first, ran(served, out), ran(served, out)


def told(run: Run, path: str) -> tuple[str, str | None]:
    row = run.urls[path]
    return row["outcome"], row["change"]


def test_pages_that_did_not_change_are_neither_read_nor_stored_again(
    runs: tuple[Run, Run, Run],
) -> None:
    _, second, third = runs

    assert told(second, "/linked") == ("not_modified", "unchanged")
    assert told(second, "/bare") == ("unchanged", "unchanged")
    assert second.urls["/bare"]["detail"] == "the same bytes as before"
    assert told(second, "/") == ("unchanged", "unchanged")  # asked for the sitemaps it may name
    assert third.pages == []


def test_a_page_that_changed_is_updated(runs: tuple[Run, Run, Run]) -> None:
    assert told(runs[1], "/changing") == ("ok", "updated")
    assert "Other words" in runs[1].corpus["/changing"]["markdown"]


def test_the_passages_that_did_not_change_keep_their_ids(runs: tuple[Run, Run, Run]) -> None:
    before, now = (run.chunks["/changing"] for run in runs[:2])

    assert len(before) == len(now) == 2
    assert len(before & now) == 1
    assert {
        path for path in runs[0].chunks if runs[0].chunks[path] != runs[1].chunks.get(path)
    } == {
        *("/changing", "/gone", "/lost", "/moved", "/elsewhere", "/secret"),
    }


def test_what_a_page_not_sent_again_links_is_asked_for_all_the_same(
    runs: tuple[Run, Run, Run],
) -> None:
    _, second, _ = runs

    assert told(second, "/deep") == ("not_modified", "unchanged")
    assert second.urls["/deep"]["method"] == "link"
    assert second.urls["/deep"]["referrer"].endswith("/linked")
    assert told(second, "/late") == ("ok", "new")  # it had failed, and its page has not changed
    assert second.asked["/deep"] == second.asked["/late"] == 1


def test_what_is_answered_gone_twice_is_removed(runs: tuple[Run, Run, Run]) -> None:
    _, second, third = runs

    assert told(second, "/gone") == ("not_found", "removed")
    assert second.asked["/gone"] == 2
    assert told(second, "/lost") == ("gone", "removed")  # declared by nobody any more
    assert second.urls["/lost"]["method"] == "inventory"
    assert not {"/gone", "/lost"} & (set(second.corpus) | set(second.chunks))
    assert told(third, "/gone") == ("not_found", None)
    assert "/lost" not in third.urls


def test_a_page_that_nobody_names_is_asked_for_and_stays(runs: tuple[Run, Run, Run]) -> None:
    _, second, third = runs

    assert told(second, "/alone") == told(third, "/alone") == ("not_modified", "unchanged")
    assert second.urls["/alone"]["method"] == "inventory"
    assert "/alone" in third.corpus


def test_a_refusal_or_an_outage_leaves_the_text(runs: tuple[Run, Run, Run]) -> None:
    first, second, third = runs

    assert told(second, "/failing") == ("server_error", None)
    assert told(second, "/over") == ("forbidden", None)
    for path in ("/failing", "/over"):
        assert third.corpus[path] == first.corpus[path]
        assert path in third.chunks


def test_a_page_that_asks_not_to_be_kept_is_removed(runs: tuple[Run, Run, Run]) -> None:
    assert told(runs[1], "/secret") == ("noindex", "removed")
    assert "/secret" not in runs[1].corpus


@pytest.mark.parametrize(
    ("old", "new", "method"),
    [("/moved", "/target", "robots"), ("/elsewhere", "/further", "inventory")],
    ids=["to a declared page", "to one that nobody names"],
)
def test_a_permanent_redirect_moves_the_page(
    old: str, new: str, method: str, runs: tuple[Run, Run, Run]
) -> None:
    first, second, third = runs

    assert told(second, old) == ("duplicate", "removed")
    assert told(second, new) == ("ok", "new")
    assert second.urls[new]["method"] == method
    assert second.corpus[new]["markdown"] == first.corpus[old]["markdown"]
    assert old not in third.corpus
    assert told(third, new) == ("not_modified", "unchanged")


def test_the_feed_tells_every_page_that_came_to_the_corpus_or_left_it(
    runs: tuple[Run, Run, Run],
) -> None:
    for before, run in pairwise(runs):
        changes = {path: row["change"] for path, row in run.urls.items()}
        came = {path for path, change in changes.items() if change == "new"}
        left = {path for path, change in changes.items() if change == "removed"}

        assert set(run.corpus) == set(before.corpus) - left | came
        assert set(run.chunks) == set(run.corpus)


def followed(out: Path) -> dict[str, str]:
    """Return what the query of the documentation tells somebody who has followed no run yet."""
    text = (ROOT / "docs" / "data-format.md").read_text()
    [query] = re.findall(r"## Following the changes.*?```sql\n(.*?)```", text, re.DOTALL)
    query = query.replace("'data/", f"'{out}/").replace("20261130T122146562-0b87", "")
    with duckdb.connect() as connection:
        return dict(connection.execute(query).fetchall())


def test_a_copy_that_follows_the_feed_is_not_misled_by_an_inventory(tmp_path: Path) -> None:
    def small(origin: str) -> dict[str, Answer]:
        robots = Answer(f"Sitemap: {origin}/s.xml\n".encode(), "text/plain")
        pages = {path: page(path) for path in ("/a", "/b", "/gone")}
        return pages | {"/robots.txt": robots, "/s.xml": urlset(*(origin + path for path in pages))}

    out = tmp_path / "data"
    with Site(small) as served:
        ran(served, out)
        ingested([served], out, "bytewax.run", "flows.discover", **QUICK)
        served.routes |= {"/s.xml": urlset(f"{served.origin}/a"), "/gone": GONE}
        ingested([served], out, "bytewax.run", "flows.discover", **QUICK)
        assert "removed" in {row["change"] for row in newest(out, "urls")}
        now = ran(served, out)

    assert {url.removeprefix(served.origin): word for url, word in followed(out).items()} == {
        **dict.fromkeys(now.corpus, "new"),
        "/gone": "removed",
    }


def test_other_settings_make_every_page_anew(tmp_path: Path) -> None:
    with Site(site) as served:
        ran(served, tmp_path / "data")
        again = ran(served, tmp_path / "data", INGEST_CHUNK_TOKENS="64", INGEST_KEEP_HTML="1")
        kept = ran(served, tmp_path / "data", INGEST_CHUNK_TOKENS="128", INGEST_KEEP_HTML="1")

    assert {row["change"] for row in again.urls.values() if row["outcome"] == "ok"} == {"updated"}
    assert again.asked["/tagged"] == again.asked["/deep"] == 1
    assert {told(again, path) for path in again.corpus} == {("ok", "updated")}
    # From the HTML that was kept, nothing is asked; the start page is, for the sitemaps it names.
    assert {told(kept, path) for path in kept.corpus} == {("ok", "updated")}
    assert set(kept.asked) & {*kept.corpus} == {"/"}
    assert kept.corpus["/tagged"]["fetched_at"] == again.corpus["/tagged"]["fetched_at"]


def test_too_many_removals_at_once_wait_until_the_next_run_agrees(tmp_path: Path) -> None:
    pages = {f"/p{number}": page(f"Page {number}") for number in range(40)}
    kept = {path: answer for path, answer in pages.items() if int(path[2:]) < 15}

    def listing(origin: str) -> dict[str, Answer]:
        robots = Answer(f"Sitemap: {origin}/s.xml\n".encode(), "text/plain")
        return {"/robots.txt": robots, "/s.xml": urlset(*(origin + path for path in pages))}

    with Site(lambda origin: listing(origin) | pages) as served:
        out = tmp_path / "data"
        ran(served, out)
        served.routes = listing(served.origin) | kept
        second = ran(served, out)
        alerts = newest(out, "alerts")
        third = ran(served, out)

    assert len(second.corpus) == 40
    assert {row["change"] for row in second.urls.values()} == {"unchanged", None}
    withheld = [row for row in alerts if row["kind"] == "pages_removed"]
    assert [(row["severity"], row["value"], row["threshold"]) for row in withheld] == [
        ("error", 25.0, 19.0)
    ]
    assert set(third.corpus) == set(kept)
    assert Counter(row["change"] for row in third.urls.values())["removed"] == 25
