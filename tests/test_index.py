"""Whole runs of the index as processes: killed at random, live beside a crawl, asked afterwards."""

import os
import random
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from connectors import indexing
from connectors.embedders.hashing import Hashing
from connectors.stores import open_store
from flows import report, search
from flows.settings.index import IndexSettings
from tests.chunked import SITE, page, publish
from tests.flowing import ingested
from tests.indexer import held, run, settings, wanted
from tests.loopback import Answer, Site, urlset
from tests.loopback import page as html
from tests.postgres import served

ROOT = Path(__file__).parents[1]
KILLS = 4
PAGES = 120


@pytest.fixture(params=["lancedb", "postgresql", "sqlite"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param != "postgresql":
        yield f"{request.param}://{tmp_path / 'store'}"
        return
    with served() as server:
        yield server.address()


def version(number: int) -> list[pa.Table]:
    """Return the pages of a corpus: each time some change, some get shorter, some go or come."""
    rand = random.Random(number)  # noqa: S311  # repeatable on purpose
    pages = []
    for at in range(PAGES):
        if rand.random() < 0.8:
            texts = [f"{at} {rand.randrange(3)} {part}" for part in range(rand.randrange(1, 9))]
            pages.append(page(f"{SITE}/{at}", *texts, run_id=f"run {number}"))
    return pages


def by_page(rows: list[dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        found[row["url"]].append(f"{row['run_id']} {row['chunk_index']} {row['text']}")
    return {url: tuple(sorted(texts)) for url, texts in found.items()}


def test_killed_at_any_moment_the_next_run_makes_the_store_the_corpus(
    address: str, tmp_path: Path
) -> None:
    rand = random.Random(address.partition(":")[0])  # noqa: S311
    seen: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    killed = 0
    for number in range(KILLS):
        publish(tmp_path, version(number))
        for url, texts in by_page(wanted(tmp_path)).items():
            seen[url].add(texts)
        killed += _killed(tmp_path, address, rand.uniform(0, 0.6))
        for url, texts in by_page(_there(tmp_path, address)).items():
            assert texts in seen[url], f"a part of {url} is there"
    told = run(tmp_path, settings(address), Hashing(32))

    assert killed
    assert told["status"] == "complete"
    assert held(tmp_path, settings(address)) == wanted(tmp_path)


def _killed(out: Path, address: str, after_s: float) -> bool:
    """Run the index in a process and kill it; False when it was done before."""
    command = [sys.executable, "-m", "tests.killed", str(out), address]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
        time.sleep(after_s)
        child.kill()
        return "done" not in child.stdout.read()


def _there(out: Path, address: str) -> list[dict[str, Any]]:
    """Return the rows of a store that may not have been made yet."""
    with closing(open_store(address)) as store:
        if store.space() is None:
            return []
    return held(out, settings(address))


def site(origin: str) -> dict[str, Answer]:
    names = ["comets", "glaciers", "lighthouses", "orchards"]
    pages = {
        f"/{name}": html(name.title(), text=f"All that is known of {name} stands here. " * 9)
        for name in names
    }
    return {
        "/robots.txt": Answer(f"Sitemap: {origin}/s.xml\n".encode(), "text/plain"),
        "/s.xml": urlset(*(f"{origin}{path}" for path in pages)),
        **pages,
    }


@pytest.mark.parametrize("words", [(), ("-p", "2")], ids=["one", "processes"])
def test_a_crawl_with_a_live_index_leaves_the_store_in_step(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    address = f"sqlite://{tmp_path / 'store'}"
    flow = ("bytewax.testing" if "-p" in words else "bytewax.run", "flows.ingest", *words)
    out = tmp_path / "data"
    with Site(site) as one, Site(site, "127.0.0.2") as two:
        sites = {"INGEST_ALLOW_NETWORKS": "127.0.0.0/8", "INGEST_INDEX": address}
        ingested([one, two], out, *flow, **sites)
        assert held(out, settings(address)) == wanted(out)
        one.routes["/comets"] = html("Comets", text="Comets have tails of dust and gas. " * 9)
        ingested([one, two], out, *flow, **sites)

    assert held(out, settings(address)) == wanted(out)
    assert report.main([str(out)]) == 0
    found = indexing.search(out, settings(address), "the tails of comets", 1)
    assert found[0].chunk["url"] == f"{one.origin}/comets"


def test_from_nothing_to_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site(site) as served_site:
        out = tmp_path / "data"
        ingested([served_site], out)
        said = ingested([served_site], out, "bytewax.run", "flows.index")
    monkeypatch.setenv("INGEST_OUT", str(out))

    assert "complete" in said
    assert search.main(["What is known of lighthouses?", "-n", "1"]) == 0
    assert f"{served_site.origin}/lighthouses" in capsys.readouterr().out
    assert search.main(["lighthouses", "--where", "lang=xx"]) == 1
    assert search.main(["lighthouses", "--where", "nonsense"]) == 2
    assert capsys.readouterr().err == "flows.search: not a filter: 'nonsense'; write column=value\n"
    for words, said in (
        (["x", "--where", "title~Page"], "title takes = < <= > >= (and in), not ~"),
        (["x", "--where", "heading_path=Page"], "heading_path takes ~ (has), not ="),
        ([" "], "the question is empty"),
        (["x", "-n", "0"], "-n 0: at least one passage has to be asked for"),
    ):
        assert search.main(words) == 2
        assert capsys.readouterr().err == f"flows.search: {said}\n"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"INDEX_URL": "nowhere://x"}, "no store at 'nowhere://x'"),
        ({"INDEX_EMBEDDER": "openai"}, "INDEX_MODEL must be set"),
        ({"INDEX_EMBEDDER": "magic"}, "INDEX_EMBEDDER must be one of"),
        ({"INDEX_TABLE": "a b"}, "INDEX_TABLE must be letters"),
        ({"INDEX_URLS": "x"}, "INDEX_URLS is not a setting; see python -m flows.index --help"),
        ({"INDEX_BATCH": "0"}, "INDEX_BATCH must be at least 1"),
    ],
)
def test_a_bad_setting_is_one_line(more: dict[str, str], said: str, tmp_path: Path) -> None:
    publish(tmp_path, [])
    with pytest.raises(ValueError, match=r"^[^\n]*$") as refused:
        indexing.open_index(tmp_path, IndexSettings.from_env(more))

    assert said in str(refused.value)


def test_an_extra_that_is_missing_is_named_in_one_line(tmp_path: Path) -> None:
    """Modules are hidden from a process of its own, as if they had not been installed."""
    (tmp_path / "data" / "corpus" / "chunks").mkdir(parents=True)
    hide = "import sys; sys.modules['lancedb'] = None; import flows.index; flows.index.flow()"
    done = subprocess.run(
        [sys.executable, "-c", hide],
        cwd=ROOT,
        env=os.environ | {"INGEST_OUT": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr == 'sitewax: lancedb is not installed: pip install "sitewax[lancedb]"\n'


def test_help_names_every_setting() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "flows.index", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert all(name in done.stdout for name in ("INDEX_URL", "INDEX_API_KEY", "INGEST_OUT"))
