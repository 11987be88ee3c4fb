"""What docs/running.md tells people to run is there, names what exists, and works on the demo."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from flows import settings
from flows.settings import index, publish
from tests.flowing import shows

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
TOLD = [ROOT / "docs" / "running.md", *sorted(DEPLOY.iterdir())]
KNOWN = {*settings.names(), *index.names(), *publish.names()}


@pytest.mark.parametrize("path", TOLD, ids=lambda path: path.name)
def test_every_setting_that_is_named_exists(path: Path) -> None:
    named = set(re.findall(r"\b(?:INGEST|INDEX|PUBLISH)_[A-Z_]*[A-Z]", path.read_text("utf-8")))

    assert named <= KNOWN


def test_the_image_copies_what_there_is() -> None:
    copied = re.findall(
        r"^COPY (?!--from)(?:--\S+ )?(.+) \S+$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE
    )

    assert len(copied) == 5
    assert all((ROOT / name).exists() for line in copied for name in line.split())


def round_of(folder: Path, **told: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [str(DEPLOY / "run")],
        cwd=ROOT,
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith(("INGEST_", "INDEX_"))},
            "INGEST_OUT": str(folder),
            "INGEST_DEMO_PORT": "0",
            **told,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.slow
def test_a_round_ingests_indexes_and_reports(tmp_path: Path) -> None:
    running = round_of(tmp_path, SITEWAX_THEN="index")
    said, _ = running.communicate(timeout=120)

    assert running.returncode == 0, said
    assert (
        said.count(": complete, ") == 4
    )  # the run and its index, each told by itself and by report
    assert "27 pages written" in said


@pytest.mark.slow
def test_a_round_hands_sigterm_on_and_says_so(tmp_path: Path) -> None:
    running = round_of(tmp_path, INGEST_RATE="1")
    assert shows(tmp_path, "urls")
    running.send_signal(signal.SIGTERM)
    said, _ = running.communicate(timeout=30)

    assert running.returncode == 143, said
    assert "what is done is committed, start again to go on" in said
    assert not any(tmp_path.glob("runs/*/report.json"))


def test_a_round_that_cannot_begin_ends_with_the_status_of_its_first_step(tmp_path: Path) -> None:
    running = round_of(tmp_path, INGEST_RATE="fast")
    said, _ = running.communicate(timeout=60)

    assert (running.returncode, said.count("\n")) == (1, 1)
