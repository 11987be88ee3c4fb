"""What is committed stays, and the process says in one line why it ends: signals, locks, disks."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flowing import (
    INGEST,
    addresses,
    corpus,
    ended,
    environment,
    ingested,
    newest,
    shows,
    started,
    table,
)
from tests.loopback import Answer, Site, page, urlset

PAGES = 40
SLOW = {"INGEST_RATE": "20"}
BOTH = {"INGEST_ALLOW_NETWORKS": "127.0.0.0/8"}


def routes(origin: str) -> dict[str, Answer]:
    """Return a site of pages that a sitemap lists."""
    listed = [f"/{number}" for number in range(PAGES)]
    return {
        "/robots.txt": Answer(f"Sitemap: {origin}/s.xml\n".encode(), "text/plain"),
        "/s.xml": urlset(*(origin + path for path in listed)),
        "/": page("Home"),
        **{path: page(f"Page {path}") for path in listed},
    }


@pytest.fixture
def site() -> Iterator[Site]:
    """Serve the site on loopback."""
    with Site(routes) as served:
        yield served


def assert_whole(out: Path, sites: int = 1) -> None:
    """One run, complete, with every page once, and nothing left beside it."""
    urls = Counter((row["site"], row["url"]) for row in newest(out, "urls"))

    assert (len(urls), set(urls.values())) == (sites * (PAGES + 1), {1})
    assert len(corpus(out, "pages")) == sites * (PAGES + 1)
    assert len(list(out.glob("runs/*/report.json"))) == len(list((out / "runs").iterdir())) == 1
    assert not [path for path in (out / ".work").iterdir() if path.is_dir()]


def test_of_two_that_start_at_once_one_runs_and_the_other_says_so(
    site: Site, tmp_path: Path
) -> None:
    out = tmp_path / "data"
    both = [started([site], out) for _ in range(2)]
    said = {process.returncode: words for process in both for words in [ended(process)]}

    assert sorted(said) == [0, 1]
    assert said[1] == f"sitewax: another run is writing to {out}\n"
    assert_whole(out)


def test_a_dataset_is_free_again_when_its_process_was_killed(site: Site, tmp_path: Path) -> None:
    out = tmp_path / "data"
    first = started([site], out, **SLOW)
    assert shows(out, "pages")
    first.kill()
    ended(first)
    ingested([site], out)

    assert_whole(out)


def hears_signals(process: "subprocess.Popen[str]") -> bool:
    """Wait until a process has taken the signals, which it does long before it has begun."""
    for _ in range(1000):
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        caught = next(int(line.split()[1], 16) for line in lines if line.startswith("SigCgt"))
        if caught >> (signal.SIGTERM - 1) & 1:
            return True
        time.sleep(0.005)
    return False


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("at once", signal.SIGINT),
        ("when processes start", signal.SIGTERM),
        ("when processes start", signal.SIGINT),
        ("at the first page", signal.SIGINT),
    ],
)
def test_a_signal_to_all_processes_ends_a_run_in_one_line(
    moment: str, number: signal.Signals, site: Site, tmp_path: Path
) -> None:
    out = tmp_path / "data"
    process = started([site], out, **SLOW)
    assert hears_signals(process)
    if moment == "when processes start":
        while not any(out.glob(".work/*/shard-0.lock")):
            time.sleep(0.005)
    elif moment == "at the first page":
        assert shows(out, "pages")
    os.killpg(process.pid, number)  # as a terminal does, and a service manager
    said = ended(process, within_s=10)
    last = [line for line in said.splitlines() if "sitemap read" not in line]

    assert process.returncode == 128 + number
    assert last == ["sitewax: stopped; what is done is committed, start again to go on"]
    assert not list(out.glob("runs/*/report.json"))


def test_a_second_signal_ends_a_run_at_once(site: Site, tmp_path: Path) -> None:
    out = tmp_path / "data"
    process = started([site], out, **SLOW)
    assert shows(out, "pages")
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGINT)
    ended(process, within_s=10)

    assert process.returncode in (128 + signal.SIGINT, 128 + signal.SIGTERM)
    assert shows(out, "pages")


def test_a_process_that_waits_for_the_others_of_its_cluster_can_be_stopped(
    site: Site, tmp_path: Path
) -> None:
    lone = started(
        [site], tmp_path, *INGEST, "-i", "0", "-a", addresses(2), **SLOW, INGEST_LOG="json"
    )
    assert hears_signals(lone)
    while not any(tmp_path.glob("runs/*")):
        time.sleep(0.02)
    lone.send_signal(signal.SIGTERM)
    said = ended(lone, within_s=10)

    assert lone.returncode == 128 + signal.SIGTERM
    assert '"event": "stopped; what is done is committed' in said


def test_a_full_disk_ends_a_run_in_one_line_with_all_that_was_committed(
    site: Site, tmp_path: Path
) -> None:
    out = tmp_path / "data"
    process = started([site], out, **SLOW)
    assert shows(out, "pages")
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (512, 512))
    said = ended(process)
    before = {row["url"] for row in newest(out, "pages")}
    last = [line for line in said.splitlines() if "sitemap read" not in line]

    assert process.returncode == 1
    assert len(last) == 1
    assert last[0].startswith("sitewax: File too large")
    assert last[0].endswith("what is committed is kept, start again to go on")
    assert before
    ingested([site], out)
    assert_whole(out)
    assert before <= {row["url"] for row in newest(out, "pages")}


def test_a_folder_that_goes_away_ends_a_run_in_one_line(site: Site, tmp_path: Path) -> None:
    out, away = tmp_path / "data", tmp_path / "away"
    process = started([site], out, **SLOW)
    assert shows(out, "pages")
    out.rename(away)
    said = ended(process)
    last = [line for line in said.splitlines() if "sitemap read" not in line]

    assert process.returncode == 1
    assert len(last) == 1
    assert last[0].startswith(f"sitewax: No such file or directory: {out}/")
    assert shows(away, "pages")


def told(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "flows.report", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("folder", ["corpus/chunks", "runs/*/pages"])
def test_a_damaged_file_is_named(folder: str, site: Site, tmp_path: Path) -> None:
    ingested([site], tmp_path)
    path = next(tmp_path.glob(f"{folder}/[!e]*.parquet"))
    path.write_bytes(path.read_bytes()[:-20])
    report = told(str(tmp_path))

    assert report.returncode == 3
    assert report.stderr.startswith(f"flows.report: damaged file {path}: ")
    if folder.startswith("corpus"):
        process = started([site], tmp_path)
        said = ended(process)
        assert process.returncode == 1
        assert said.startswith(f"sitewax: damaged file {path}: ")
        assert said.count("\n") == 1
        path.unlink()  # then its site is read as if for the first time
        ingested([site], tmp_path)
        assert len(corpus(tmp_path, "pages")) == PAGES + 1
        assert told(str(tmp_path)).returncode == 0


@pytest.mark.parametrize("table", ["pages", "chunks"])
def test_a_file_that_is_damaged_in_its_middle_is_named_by_whoever_reads_it(
    table: str, site: Site, tmp_path: Path
) -> None:
    out = tmp_path / "data"
    ingested([site], out)
    (path,) = (out / "corpus" / table).glob("http*.parquet")
    body = bytearray(path.read_bytes())
    body[len(body) // 3 : len(body) // 2] = bytes(len(body) // 2 - len(body) // 3)
    path.write_bytes(body)
    before = len(site.log)
    env = environment([site], out) | {"INDEX_URL": f"sqlite:///{tmp_path / 'i.sqlite3'}"}
    readers = {
        "flows.ingest": ["-m", "bytewax.run", "flows.ingest"],
        "flows.report": ["-m", "flows.report", str(out)],
        "flows.export": ["-m", "flows.export", "jsonl", str(tmp_path / "x"), "--table", table],
    }
    if table == "chunks":
        readers["flows.index"] = ["-m", "bytewax.run", "flows.index"]
    statuses = {"flows.ingest": 1, "flows.report": 3, "flows.export": 2, "flows.index": 1}
    for name, words in readers.items():
        done = subprocess.run(
            [sys.executable, *words],
            env=env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        (line,) = (
            line for line in (done.stdout + done.stderr).splitlines() if "damaged file" in line
        )
        assert f"damaged file {path}: " in line
        assert "read as for the first time" in line
        assert "Traceback" not in done.stderr
        assert done.returncode == statuses[name], name
    assert len(site.log) == before

    path.unlink()
    ingested([site], out)
    assert len(corpus(out, "pages")) == PAGES + 1
    assert {row["url"] for row in corpus(out, "chunks")} == {
        row["url"] for row in corpus(out, "pages")
    }


def test_a_damaged_file_of_an_unfinished_run_is_named(site: Site, tmp_path: Path) -> None:
    process = started([site], tmp_path, **SLOW)
    assert shows(tmp_path, "pages")
    process.kill()
    ended(process)
    path = next(tmp_path.glob("runs/*/chunks/*-*.parquet"))
    path.write_bytes(path.read_bytes()[:-20])
    again = started([site], tmp_path)

    assert f"damaged file {path}: " in ended(again)
    assert again.returncode == 1
    assert told(str(tmp_path)).returncode == 3


def test_a_cluster_whose_member_was_killed_goes_on_with_another_number_of_members(
    site: Site, tmp_path: Path
) -> None:
    with Site(routes, "127.0.0.2") as other:
        for size, killed in ((2, True), (3, False)):
            where = addresses(size)
            members = [
                started(
                    [site, other], tmp_path, *INGEST, "-i", str(at), "-a", where, **SLOW, **BOTH
                )
                for at in range(size)
            ]
            if killed:
                assert shows(tmp_path, "pages", 4)
                members[1].kill()
            said = [ended(member) for member in members]
            assert [member.returncode for member in members] == ([1, -9] if killed else [0, 0, 0])
            assert not killed or "Traceback" not in said[0]

    assert_whole(tmp_path, sites=2)


def test_the_recovery_of_the_engine_does_no_harm_when_a_run_is_killed(
    site: Site, tmp_path: Path
) -> None:
    out, store = tmp_path / "data", tmp_path / "recovery"
    store.mkdir()
    subprocess.run(
        [sys.executable, "-m", "bytewax.recovery", str(store), "2"], check=True, timeout=60
    )
    recovering = (*INGEST, "-r", str(store), "-s", "1", "-b", "0")
    process = started([site], out, *recovering, **SLOW)
    assert shows(out, "pages", 10)
    process.kill()
    ended(process)
    before = {row["url"] for row in newest(out, "pages")}
    ingested([site], out, *recovering, "-w", "2")

    assert_whole(out)
    assert before <= {row["url"] for row in newest(out, "pages")}
    ingested([site], out, *recovering)
    assert len(list((out / "runs").iterdir())) == 2
    assert len(corpus(out, "pages")) == PAGES + 1


def test_the_rows_of_a_run_that_was_closed_unfinished_stay_readable(
    site: Site, tmp_path: Path
) -> None:
    process = started([site], tmp_path, **SLOW)
    assert shows(tmp_path, "pages", 3)
    process.send_signal(signal.SIGTERM)
    ended(process)
    run = next((tmp_path / "runs").iterdir())
    before = {row["url"] for row in table(run / "pages")}
    with Site(routes, "127.0.0.2") as other:
        ingested([other], tmp_path, **BOTH)

    assert '"status": "interrupted"' in (run / "report.json").read_text()
    assert {row["url"] for row in table(run / "pages")} == before
    assert len(list((run / "pages").iterdir())) == 1


def test_reasons_and_last_words_are_json_where_logs_are(site: Site, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *INGEST],
        env=environment([site], tmp_path, INGEST_LOG="json", INGEST_RATE="-1"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 1
    assert '"level": "error", "event": "INGEST_RATE must be at least 0"' in done.stderr
