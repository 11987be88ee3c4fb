"""The end of a run is posted once; what goes wrong with it is a line, and tells no secret."""

import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from connectors import webhook
from connectors.dataset import Dataset, Run
from connectors.parquet import ParquetSink
from connectors.webhook import Webhook
from flows.secret import Secret
from tests import samples
from tests.connectors.test_completion import OTHER, listed
from tests.samples import SITE

PATH = "/hooks/key-4711"


class Receiver(ThreadingHTTPServer):
    """Takes posts, and answers with one status after the other, the last for all that follow."""

    daemon_threads = True

    def __init__(self, *statuses: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.statuses = list(statuses)
        self.got: list[dict[str, Any]] = []
        self.address = Secret(f"http://127.0.0.1:{self.server_address[1]}{PATH}?token=4711")


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append(json.loads(body))
        statuses = self.server.statuses
        self.send_response(statuses.pop(0) if len(statuses) > 1 else statuses[0])
        self.send_header("Location", PATH)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@pytest.fixture
def receiver(request: pytest.FixtureRequest) -> Iterator[Receiver]:
    statuses = getattr(request, "param", (204,))
    with Receiver(*statuses) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ended(root: Path, hook: Webhook) -> Run:
    """Have a run over two sites end, and return it."""
    run = Dataset(root).open_run("s", "1", plan=f"discover {SITE} {OTHER}")
    sink = ParquetSink(run, (SITE, OTHER), "s", on_end=hook)
    parts = {number: sink.build_part("write", number, None) for number in sink.list_parts()}
    said = [*listed("a", "b"), samples.alert("sitemap_cycle"), *listed("c", site=OTHER)]
    for row in said:
        site = row.entry.site if hasattr(row, "entry") else row.site
        parts[str(run.shard_of(site))].write_batch([row])
    for _ in range(2):
        for part in parts.values():
            part.snapshot()
    for part in parts.values():
        part.close()
    return run


def test_the_end_of_a_run_is_posted_once_with_its_alerts(
    tmp_path: Path, receiver: Receiver
) -> None:
    run = ended(tmp_path, Webhook(receiver.address))

    (said,) = receiver.got
    assert (said["run_id"], said["status"]) == (run.id, "complete")
    assert said["total"]["declared"] == 3
    assert {site: one["status"] for site, one in said["sites"].items()} == {
        SITE: "complete",
        OTHER: "complete",
    }
    assert [(alert["site"], alert["kind"]) for alert in said["alerts"]] == [
        (SITE, "sitemap_cycle"),
        (SITE, "no_baseline"),
        (OTHER, "no_baseline"),
    ]
    assert said["alerts_left_out"] == 0


@pytest.mark.parametrize(
    ("receiver", "posts", "reason"),
    [
        ((503, 204), 2, None),
        ((503,), 3, "status 503"),
        ((404, 204), 1, "status 404"),
        ((302,), 1, "status 302"),
    ],
    ids=["busy once", "busy", "not there", "elsewhere"],
    indirect=["receiver"],
)
def test_a_post_is_tried_again_a_few_times_and_never_fails_the_run(
    receiver: Receiver,
    posts: int,
    reason: str | None,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, logger="connectors"):
        run = ended(tmp_path, Webhook(receiver.address, waits_s=(0.0, 0.0)))

    assert run.is_complete
    assert len(receiver.got) == posts
    assert [vars(record)["reason"] for record in caplog.records] == ([reason] if reason else [])


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:9/hooks/4711", "http://127.0.0.1:99999/4711", "ftp://127.0.0.1/4711"],
    ids=["nobody there", "no port", "no http"],
)
def test_what_goes_wrong_is_told_without_the_address(
    address: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = ended(tmp_path, Webhook(Secret(address), waits_s=()))

    assert run.is_complete
    assert [record.message for record in caplog.records] == ["webhook not called"]
    assert "4711" not in json.dumps([vars(record) for record in caplog.records], default=str)


def test_a_receiver_that_never_answers_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(webhook, "MOST_S", 0.1)
    with Receiver(204) as silent:  # it listens, and nobody serves
        run = ended(tmp_path, Webhook(silent.address))

    assert run.is_complete
    assert [vars(record)["reason"] for record in caplog.records] == ["no answer within 0.1 s"]


def test_of_many_alerts_the_gravest_are_sent() -> None:
    report = dict.fromkeys(("run_id", "status", "started_at", "ended_at", "version", "total"), "x")
    said = webhook.message(report | {"sites": {}}, [{"kind": str(n)} for n in range(1_005)])

    assert (len(said["alerts"]), said["alerts_left_out"]) == (1_000, 5)
    assert said["alerts"][0] == {"kind": "0"}
