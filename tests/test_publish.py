"""A compacted topic is a copy of the corpus, whatever changed and whatever ended a run."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bytewax.testing import cluster_main

from connectors.publishing import ends
from connectors.publishing.ends import Work
from connectors.publishing.running import Desk, Ends
from flows.publish import build, flow
from flows.records import Reading
from flows.settings.publish import PublishSettings
from tests import corpora, samples
from tests.flowing import corpus, environment, ingested
from tests.kafka import Broker
from tests.loopback import Answer, Site, page, urlset
from tests.samples import SITE

OTHER = "https://b.test"
TOPIC = "sitewax"


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


def publish(root: Path, broker: Broker, *, workers: int = 1, **told: Any) -> Work:
    """Run the flow in this process, and return what it did."""
    settings = PublishSettings(**{"brokers": broker.address, "timeout_s": 20.0, **told})
    desk = Desk(root, settings)
    changes = ends.ChangeSource(desk.begin, lambda: False)
    flow = build(Ends(changes=changes, topic=ends.TopicSink(desk.begin)))
    cluster_main(flow, [], 0, worker_count_per_proc=workers)
    desk.end()
    assert desk.work is not None
    return desk.work


def process(root: Path, broker: Broker, **more: str) -> subprocess.Popen[str]:
    told = {"PUBLISH_BROKERS": broker.address, "PUBLISH_TIMEOUT_S": "20", **more}
    return subprocess.Popen(
        [sys.executable, "-m", "bytewax.run", "flows.publish"],
        env=environment([], root, **told),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def pages(count: int, *, text: str = "words", site: str = SITE) -> list[Reading]:
    return [samples.reading(f"/{n:04d}", f"# {n}\n\n{text}\n", site=site) for n in range(count)]


def copied(broker: Broker, root: Path) -> bool:
    """Say whether the topic holds exactly the pages and chunks of the corpus."""
    kept = broker.compacted(TOPIC)
    ids: dict[str, list[str]] = {row["url"]: [] for row in corpus(root, "pages")}
    for row in corpus(root, "chunks"):
        ids[row["url"]].append(row["chunk_id"])
    there = {k: [c["chunk_id"] for c in m.value["chunks"]] for k, m in kept.items() if m.value}
    return there == ids


def test_what_a_site_changed_reaches_the_topic_and_nothing_else(
    tmp_path: Path, broker: Broker
) -> None:
    def site(origin: str) -> dict[str, Answer]:
        return {
            "/robots.txt": Answer(f"Sitemap: {origin}/s.xml\n".encode(), "text/plain"),
            "/s.xml": urlset(f"{origin}/same", f"{origin}/changing"),
            "/": page("Home"),
            "/same": page("Same"),
            "/changing": page("Changing", text="Many words. " * 900),
        }

    with Site(site) as served:
        ingested([served], tmp_path)
        assert publish(tmp_path, broker).done == {"new": 3}
        served.routes["/changing"] = page("Changing", text="Few words of another kind. " * 20)
        ingested([served], tmp_path)
        again = process(tmp_path, broker).communicate(timeout=60)[0]

    assert again == "published to sitewax: 0 new, 1 updated, 0 removed\n"
    assert copied(broker, tmp_path)
    assert Counter(m.key.removeprefix(served.origin) for m in broker.messages(TOPIC)) == {
        "/": 1,
        "/same": 1,
        "/changing": 2,
    }


def test_a_message_tells_the_page_its_attribution_and_its_chunks(
    tmp_path: Path, broker: Broker
) -> None:
    corpora.store(tmp_path, samples.reading("/a"))
    publish(tmp_path, broker)
    (message,) = broker.messages(TOPIC)
    stored = {row["chunk_index"]: row for row in corpus(tmp_path, "chunks")}

    assert message.key == f"{SITE}/a"
    assert (message.headers["change"], message.headers["site"]) == ("new", SITE)
    assert message.value["page"]["sitemap"] == f"{SITE}/sitemap.xml"
    assert message.value["page"]["fetched_at"] == "2024-05-01T12:00:00Z"
    assert message.value["page"]["prices"][0]["amount"] == "9.9900"
    for chunk in message.value["chunks"]:
        assert chunk["source"] == f"{SITE}/a#part"
        assert {k: stored[chunk["chunk_index"]][k] for k in chunk if k != "source"} == {
            k: v for k, v in chunk.items() if k != "source"
        }


def test_a_page_that_is_gone_is_a_tombstone(tmp_path: Path, broker: Broker) -> None:
    corpora.store(tmp_path, *pages(3), *pages(2, site=OTHER))
    publish(tmp_path, broker)
    corpora.store(tmp_path, *pages(2))
    for name in ("pages", "chunks"):
        (tmp_path / "corpus" / name / "https_b.test.parquet").unlink()
    done = publish(tmp_path, broker).done
    gone = [message for message in broker.messages(TOPIC) if message.value is None]

    assert done == {"removed": 3}
    assert {m.key for m in gone} == {f"{SITE}/0002", f"{OTHER}/0000", f"{OTHER}/0001"}
    assert {m.headers["change"] for m in gone} == {"removed"}
    assert copied(broker, tmp_path)


def test_a_page_is_not_told_with_the_chunks_of_another_run(tmp_path: Path, broker: Broker) -> None:
    corpora.store(tmp_path, *pages(2))
    publish(tmp_path, broker)
    old = (tmp_path / "corpus" / "chunks" / "https_a.test.parquet").read_bytes()
    corpora.store(tmp_path, *pages(1), *pages(2, text="other")[1:])
    new = (tmp_path / "corpus" / "chunks" / "https_a.test.parquet").read_bytes()
    (tmp_path / "corpus" / "chunks" / "https_a.test.parquet").write_bytes(old)

    assert publish(tmp_path, broker).done == {}
    (tmp_path / "corpus" / "chunks" / "https_a.test.parquet").write_bytes(new)
    assert publish(tmp_path, broker).done == {"updated": 1}
    assert copied(broker, tmp_path)


def test_everything_is_sent_again_on_request(tmp_path: Path, broker: Broker) -> None:
    corpora.store(tmp_path, *pages(3))
    publish(tmp_path, broker)

    assert publish(tmp_path, broker, full=True).done == {"updated": 3}
    assert len(broker.messages(TOPIC)) == 6


def test_two_workers_send_nothing_twice(tmp_path: Path, broker: Broker) -> None:
    corpora.store(tmp_path, *pages(150), *pages(5, site=OTHER))

    assert publish(tmp_path, broker, workers=2).done == {"new": 155}
    assert len(broker.messages(TOPIC)) == 155


def test_a_page_larger_than_the_topic_takes_is_left_out_and_told(
    tmp_path: Path, broker: Broker
) -> None:
    corpora.store(tmp_path, *pages(2), samples.reading("/large", "word " * 2_000))
    running = process(tmp_path, broker, PUBLISH_MAX_BYTES="6000")
    _, complaint = running.communicate(timeout=60)

    assert running.returncode == 1
    assert f"page larger than the topic takes url={SITE}/large" in complaint
    assert sorted(broker.compacted(TOPIC)) == [f"{SITE}/0000", f"{SITE}/0001"]
    assert publish(tmp_path, broker).done == {"new": 1}
    assert copied(broker, tmp_path)


@pytest.mark.slow
def test_after_kills_at_any_moment_the_topic_is_a_copy(tmp_path: Path, broker: Broker) -> None:
    corpora.store(tmp_path, *pages(400))
    for least in (1, 100, 250):
        _kill_after(least, tmp_path, broker)
        corpora.store(tmp_path, *pages(400 - least // 50, text=f"other {least}"))
    publish(tmp_path, broker)

    assert copied(broker, tmp_path)


def _kill_after(least: int, root: Path, broker: Broker) -> None:
    """Kill a run when the ledger has so many pages that are told as they are now."""
    running = process(root, broker)
    before = _noted(root)
    until = time.monotonic() + 30
    while len(_noted(root) - before) < least and time.monotonic() < until:
        assert running.poll() is None, "the run was over before it could be killed"
    running.kill()
    running.communicate(timeout=10)
    assert running.returncode == -9


def _wait_for(count: int, root: Path) -> None:
    until = time.monotonic() + 30
    while len(_noted(root)) < count and time.monotonic() < until:
        time.sleep(0.02)


def _noted(root: Path) -> set[Any]:
    place = root / "published" / "sitewax.sqlite3"
    if not place.exists():
        return set()
    store = sqlite3.connect(f"file:{place}?mode=ro", uri=True)
    try:
        return set(store.execute("SELECT url, digest FROM told"))
    except sqlite3.OperationalError:
        return set()  # it is being made
    finally:
        store.close()


def test_a_broker_that_goes_away_ends_the_run_in_one_line(tmp_path: Path) -> None:
    corpora.store(tmp_path, *pages(2_000))
    with Broker() as broker:
        running = process(tmp_path, broker, PUBLISH_TIMEOUT_S="2")
        while not _noted(tmp_path) and running.poll() is None:
            pass
    said, complaint = running.communicate(timeout=60)

    assert running.returncode == 1
    assert complaint.count("\n") == 1
    assert complaint.endswith("what was taken is noted, start again to go on\n")
    assert f"{len(_noted(tmp_path)):,} new" in said


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ({"PUBLISH_BROKERS": ""}, "PUBLISH_BROKERS must be set, e.g. localhost:9092"),
        ({"PUBLISH_TOPIC": "a b"}, "PUBLISH_TOPIC must be letters, digits, . _ and -, not 'a b'"),
        (
            {"PUBLISH_EVRY": "1"},
            "PUBLISH_EVRY is not a setting; see python -m flows.publish --help",
        ),
        ({"PUBLISH_CONFIG": "nowhere"}, "PUBLISH_CONFIG: cannot read nowhere: No such file"),
        ({"PUBLISH_CONFIG": "odd"}, 'PUBLISH_CONFIG: No such configuration property: "odd"'),
        ({"INGEST_OUT": "nowhere"}, "no corpus in nowhere: is it a dataset folder?"),
        ({}, "no Kafka at 127.0.0.1:1: "),
    ],
    ids=["brokers", "topic", "name", "config", "property", "dataset", "nobody there"],
)
def test_what_cannot_begin_says_why_in_one_line(
    told: dict[str, str],
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    corpora.store(tmp_path, *pages(1))
    monkeypatch.chdir(tmp_path)
    Path("odd").write_text("# ours\n\nodd = 1\n")
    usual = {"PUBLISH_BROKERS": "127.0.0.1:1", "PUBLISH_TIMEOUT_S": "1", "INGEST_OUT": "."}
    for name, value in {**usual, **told}.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(SystemExit) as refused:
        flow()
    said = capsys.readouterr().err
    assert refused.value.code == 1
    assert said.startswith(f"sitewax: {line}")
    assert said.count("\n") == 1


def test_a_log_of_objects_is_one_whatever_is_said(tmp_path: Path, broker: Broker) -> None:
    corpora.store(tmp_path, *pages(2), samples.reading("/large", "word " * 2_000))
    running = process(tmp_path, broker, PUBLISH_MAX_BYTES="6000", INGEST_LOG="json")
    printed, logged = running.communicate(timeout=60)
    events = [json.loads(line) for line in logged.splitlines()]

    assert (running.returncode, printed) == (1, "")
    assert [event["event"] for event in events] == [
        "page larger than the topic takes",
        "publishing ended",
        "pages larger than the topic takes, left out: 1",
    ]
    assert (events[1]["topic"], events[1]["new"]) == ("sitewax", 2)


def test_one_run_at_a_time_publishes_to_a_topic(tmp_path: Path, broker: Broker) -> None:
    corpora.store(tmp_path, *pages(1))
    running = process(tmp_path, broker, PUBLISH_EVERY="60")
    _wait_for(1, tmp_path)
    refused = process(tmp_path, broker).communicate(timeout=60)[1]
    running.terminate()
    running.communicate(timeout=20)

    assert refused == f"sitewax: another run is publishing {tmp_path} to sitewax\n"


@pytest.mark.slow
def test_the_continuous_mode_tells_what_comes_and_ends_on_a_signal(
    tmp_path: Path, broker: Broker
) -> None:
    corpora.store(tmp_path, *pages(1))
    running = process(tmp_path, broker, PUBLISH_EVERY="0.2")
    _wait_for(1, tmp_path)
    corpora.store(tmp_path, *pages(2, text="other"))
    _wait_for(2, tmp_path)
    running.terminate()
    said, _ = running.communicate(timeout=20)

    assert running.returncode == 128 + 15
    assert said == "published to sitewax: 2 new, 1 updated, 0 removed\n"
    assert copied(broker, tmp_path)


WITHOUT_CLIENT = "import runpy, sys; sys.modules['confluent_kafka'] = None"


def test_the_help_needs_no_client_of_kafka() -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-c"),
            f"{WITHOUT_CLIENT}; runpy.run_module('flows.publish', run_name='__main__')",
        ],
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert "PUBLISH_BROKERS" in done.stdout, done.stderr
