"""A run in this process: settings, dataset and ends put together, signals, what a person sees."""

import atexit
import logging
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any, NoReturn

from bytewax.inputs import Source
from bytewax.outputs import Sink

from connectors import demo, logs
from connectors.crawls import Crawls
from connectors.dataset import Dataset, Run
from connectors.extractors import Extractors
from connectors.parquet import ParquetSink
from connectors.progress import Progress
from connectors.site import SiteSource
from connectors.web import RequestSink, ResponseSource
from flows import report, urls
from flows.operators import Pool
from flows.records import Failure, Page, Reading
from flows.settings import Settings, Site, package_version

logger = logging.getLogger(__name__)

DATAFLOW_API = "BYTEWAX_DATAFLOW_API_ENABLED"
"""Set to anything, `0` included, it makes Bytewax serve the flow on all interfaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connectors:
    """The ends of the dataflow: real ones, or a test's."""

    sites: Source[Any]
    requests: Sink[Any]
    responses: Source[Any]
    extractors: Pool[Page, Reading | Failure]
    dataset: Sink[Any]


@dataclass(slots=True)
class Stop:
    """Whether a signal has asked the run to end; the second one ends it at once."""

    asked: threading.Event = field(default_factory=threading.Event)
    signal: int = 0

    def listen(self) -> None:
        """Take SIGINT and SIGTERM from here on; to be called on the main thread."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._hear)

    def _hear(self, number: int, _: FrameType | None) -> None:
        if self.asked.is_set():
            os._exit(128 + number)
        self.signal = number
        self.asked.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """What a flow is built from."""

    settings: Settings
    ends: Connectors


def begin(flow: str, *, reads: bool = True, **defaults: object) -> Running:
    """Read the environment, take up the dataset and make the ends; ends the process in one line.

    A run that another flow, or one over other sites, has left unfinished is not taken up.
    `defaults` are the flow's own, where they differ from those of `Settings`; without `reads`
    admitted pages are not stored, and fetched only where links are followed.
    """
    try:
        settings = _with_demo(Settings.from_env(os.environ, **defaults))
        plan = " ".join((flow, *sorted(site.origin for site in settings.sites)))
        dataset = Dataset(settings.out)
        run = dataset.open_run(settings.content_hash, package_version(), plan=plan)
    except (ValueError, OSError) as why:
        refuse(why)
    disarm(os.environ)
    stop = Stop()
    stop.listen()
    screen = Progress()
    logs.configure(settings.log, screen)
    extractors = Extractors(settings, workers(settings), stop.asked)
    crawls = Crawls(
        settings,
        run,
        stop.asked,
        fetches=reads or settings.links,
        reads=reads,
        is_ready=extractors.is_warm,
    )
    atexit.register(_farewell, run, stop, screen, extractors)
    screen.start(crawls)
    if reads:
        extractors.start()
    sites = crawls.sites()
    sink = ParquetSink(
        run,
        sites,
        settings.content_hash,
        max_removed=settings.max_removed,
        on_rows=screen.count,
    )
    return Running(
        settings=settings,
        ends=Connectors(
            sites=SiteSource(crawls),
            requests=RequestSink(crawls),
            responses=ResponseSource(crawls),
            extractors=extractors,
            dataset=sink,
        ),
    )


def workers(settings: Settings) -> int:
    """Return how many extraction processes this process starts."""
    processes = cluster(sys.argv, os.environ)[1]
    return settings.extract_workers or max(1, len(os.sched_getaffinity(0)) // processes)


def cluster(argv: Sequence[str], env: Mapping[str, str]) -> tuple[int, int]:
    """Return the number of this process and how many there are, as Bytewax was told.

    >>> cluster(["run", "flow", "-i", "1", "-a", "localhost:2101;localhost:2102"], {})
    (1, 2)
    >>> cluster(["run", "flow"], {})
    (0, 1)
    """

    def told(short: str, long: str, variable: str) -> str:
        said = [argv[at + 1] for at, word in enumerate(argv[:-1]) if word in (short, long)]
        return said[-1] if said else env.get(variable, "")

    addresses = told("-a", "--addresses", "BYTEWAX_ADDRESSES")
    number = told("-i", "--process-id", "BYTEWAX_PROCESS_ID")
    count = len([address for address in addresses.split(";") if address])
    return int(number) if number.isdecimal() else 0, max(1, count)


def _with_demo(settings: Settings) -> Settings:
    """Return the settings, with the demo site served and named when they name no site."""
    if settings.sites:
        return settings
    origin = demo.serve(settings.demo_port, settings.demo_edition).origin
    url = urls.canonical(origin)
    assert url is not None  # noqa: S101  # our own address
    rate = None if "INGEST_RATE" in os.environ else 0.0
    network = Settings.from_env({"INGEST_ALLOW_NETWORKS": f"{demo.HOST}/32"}).allow_networks
    return replace(
        settings,
        sites=(Site(origin=origin, start_url=url, rate=rate),),
        allow_networks=settings.allow_networks + network,
    )


def disarm(env: "os._Environ[str]") -> None:
    """Unset the switch of Bytewax's web server where somebody meant to turn it off."""
    if env.get(DATAFLOW_API, "-").strip().lower() in ("", "0", "false", "no", "off"):
        del env[DATAFLOW_API]


def refuse(why: Exception) -> NoReturn:
    """End the process with one line that says why it does not begin."""
    sys.exit(f"sitewax: {why}")


def _farewell(run: Run, stop: Stop, screen: Progress, extractors: Extractors) -> None:
    """Say how the run ended, whichever way it did."""
    screen.stop()
    extractors.close()
    if run.is_complete:
        if cluster(sys.argv, os.environ)[0] == 0:
            told = report.read(run.folder)
            said = report.render(told, alerts=report.alerts(run.folder), folder=run.dataset.root)
            sys.stdout.write(said)
    elif stop.asked.is_set():
        sys.stderr.write("sitewax: stopped; what is done is committed, start again to go on\n")
        sys.stderr.flush()
        os._exit(128 + stop.signal)
