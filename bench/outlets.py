"""What the outlets cost on a corpus of real pages: seconds of CPU and bytes.

    python bench/outlets.py --server DIR --corpus DIR [--pages 200]

`--server` is a folder with `serve_web.py`, `--corpus` what its `make_web.py` has made. Ingests five
sites of so many pages, then prints what the dataset weighs, and what each command costs on it: the
exports, an index in LanceDB with the hashing embedder, and a Kafka topic (librdkafka's mock
cluster, whose CPU is not counted). These two are run again, when there is nothing to do.
"""

import argparse
import os
import resource
import subprocess
import sys
from pathlib import Path

import pyarrow.dataset as ds
from confluent_kafka import Producer
from local_web import ROOT, run, scratch, served

EXPORTS = ("jsonl", "langchain", "llamaindex", "huggingface")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=200)
    given = parser.parse_args()
    with scratch() as folder:
        data = folder / "data"
        with served(given.server, given.corpus, sites=5, pages=given.pages) as web:
            figures = run(web, "flows.ingest", data, LINKS="0")
        weigh(data, figures.cpu_s, figures.main_mb)
        exports(data, folder)
        outlets(data)


def weigh(data: Path, cpu_s: float, main_mb: float) -> None:
    """Print what the dataset weighs, for each page."""
    pages, chunks = (
        ds.dataset(data / "corpus" / name, format="parquet").count_rows()
        for name in ("pages", "chunks")
    )
    print(f"{pages} pages, {chunks} chunks; ingest {1000 * cpu_s / pages:.0f} ms CPU a page,")
    print(f"  main process {main_mb:.0f} MB; corpus {size(data / 'corpus') / pages:.1f} kB a page,")
    print(f"  the run {size(data / 'runs') / pages:.1f} kB a page")


def exports(data: Path, folder: Path) -> None:
    """Print what each export costs and weighs."""
    for name in EXPORTS:
        target = folder / name
        seconds = cpu("flows.export", name, str(target), "--data", str(data))
        print(f"flows.export {name:12} {seconds:5.1f} s CPU, {size(target) / 1000:.1f} MB")


def outlets(data: Path) -> None:
    """Print what keeping an index and a topic in step costs."""
    holder = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "replaced", "log_level": 0})
    (broker,) = holder.list_topics(timeout=10).brokers.values()
    told = {"INGEST_OUT": str(data), "PUBLISH_BROKERS": f"{broker.host}:{broker.port}"}
    for flow in ("flows.index", "flows.publish"):
        for when in ("first", "again"):
            print(f"{flow:13} {when} {cpu('bytewax.run', flow, **told):5.1f} s CPU")
    print(f"index {size(data / 'index') / 1000:.1f} MB")


def cpu(*words: str, **told: str) -> float:
    """Return the CPU seconds of a command of ours, its processes included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", *words]
    subprocess.run(command, cwd=ROOT, env=os.environ | told, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def size(path: Path) -> float:
    """Return the kilobytes of a file or folder."""
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return sum(file.stat().st_size for file in files) / 1000


if __name__ == "__main__":
    main()
