"""A process that runs a flow: settings, dataset and ends put together, and how it ends."""

import atexit
import gc
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Final, NoReturn

from bytewax.dataflow import Dataflow
from bytewax.inputs import Source
from bytewax.outputs import Sink

from connectors import demo, engine, largest, logs
from connectors.cluster import told
from connectors.crawls import Crawls
from connectors.dataset import Dataset, Run, reported
from connectors.extractors import Extractors
from connectors.indexing.live import Outlet
from connectors.parquet import ParquetSink
from connectors.progress import Progress
from connectors.site import SiteSource
from connectors.stopping import STOP
from connectors.web import RequestSink, ResponseSource
from connectors.webhook import Webhook
from flows import cycles, index_report, summary, urls
from flows.operators import Pool
from flows.records import Failure, Page, Reading
from flows.settings import Settings, Site, package_version
from flows.settings.index import IndexSettings

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


GARBAGE: Final = 50_000
"""New objects after which Python looks for circles among them. A block of a sitemap is thousands
of objects that live for a moment and form none; looking after 700 costs a twentieth of a run."""

Build = Callable[[Settings, Connectors], Dataflow]


def dataflow(flow: str, build: Build, *, reads: bool = True, **defaults: object) -> Dataflow:
    """Return the dataflow of a run that is about to begin; ends the process in one line otherwise.

    `defaults` are the flow's own, where they differ from those of `Settings`; without `reads`
    admitted pages are not stored, and fetched only where links are followed.
    """
    STOP.listen()
    try:
        settings = _with_demo(Settings.from_env(os.environ, **defaults))
    except (ValueError, OSError) as why:
        refuse(why)
    host = Host(flow, settings, reads=reads)
    host.heed()
    if settings.every:
        host.repeat(build)
    run = host.open()
    host.heed()
    atexit.register(host.leave, run)
    return build(settings, host.ends(run))


def refuse(why: Exception) -> NoReturn:
    """End the process with one line that says why it does not begin."""
    logs.say(os.environ.get("INGEST_LOG", ""), logging.ERROR, str(why))
    sys.exit(1)


class Host:
    """What this process has for all that it runs."""

    def __init__(self, flow: str, settings: Settings, *, reads: bool) -> None:
        """Prepare what all runs share; nothing is read or written."""
        disarm(os.environ)
        gc.freeze()
        gc.set_threshold(GARBAGE)
        self.settings = settings
        self.cluster = told(sys.argv, os.environ)
        self.stop = STOP
        self.screen = Progress(form=settings.log)
        logs.configure(settings.log, self.screen)
        self._plan = " ".join((flow, *sorted(site.origin for site in settings.sites)))
        self._reads = reads
        self._dataset = Dataset(settings.out)
        processes = settings.extract_workers or _share(self.cluster.size)
        self._extractors = Extractors(settings, processes, self.stop.asked)
        self._crawls: Crawls | None = None
        self._has_run = False
        self._ending = threading.Lock()
        self.stop.overdue = self._say_stopped
        if self.cluster.size > 1:
            sys.excepthook = self._hear_of_death

    def repeat(self, build: Build) -> NoReturn:
        """Do one run after the other, `every` seconds from start to start, until a signal comes.

        A run that takes longer holds the next one up: no site is started while it is busy.
        """
        while True:
            begun = time.monotonic()
            run = self.open(waits=True)
            if not self.stop.asked.is_set():
                engine.run(build(self.settings, self.ends(run, self._starts())))
            self._rest(run)
            self.stop.asked.wait(begun + self.settings.every - time.monotonic())
            self.heed()

    def _starts(self) -> dict[str, float]:
        """Return when each site starts in a cycle."""
        sites = sorted(site.origin for site in self.settings.sites)
        return cycles.starts(sites, self.settings.every, self._dataset.seconds(sites))

    def _rest(self, run: Run) -> None:
        """Leave the dataset to others between two runs, and say how the last one ended."""
        self.screen.pause()
        if self._crawls is not None:
            self._crawls.close()
        self._crawls = None
        self._dataset.leave()
        index = self._catch_up(run)
        if run.is_complete:
            self._say_complete(run, index)
        largest.trim()  # the next cycle need not find its memory in pieces

    def open(self, *, waits: bool = False) -> Run:
        """Take up the run that was left unfinished, or begin one; ends the process in one line.

        A run that another flow, or one over other sites, has left unfinished is not taken up.
        Who `waits` does so while somebody else is in the dataset, once they have been in it.
        """
        content = self.settings.content_hash
        party = f"{self.cluster.name} {content} {self._plan}" if self.cluster.name else ""
        try:
            self._enter(party, waits=waits and self._has_run)
            run = self._dataset.open_run(
                content, package_version(), plan=self._plan, reading=self.settings.reading_hash
            )
            run.check((site.origin for site in self.settings.sites), whole=self._reads)
            run.outlet = self._follow() if self._reads else None
        except (ValueError, OSError) as why:
            refuse(why)
        self._has_run = True
        return run

    def _enter(self, party: str, *, waits: bool) -> None:
        while True:
            try:
                self._dataset.enter(party, self.cluster.number)
            except ValueError:
                if not waits:
                    raise
                self.stop.asked.wait(1)
                self.heed()
            else:
                return

    def _follow(self) -> Outlet | None:
        """Return what keeps a vector store in step with a run, where one is wished for."""
        if not self.settings.index:
            return None
        told = replace(IndexSettings.from_env(os.environ), url=self.settings.index)
        try:
            return Outlet(self.settings.out, told)
        except ValueError as why:
            if not self._has_run:
                raise
            logger.warning("no index follows this run", extra={"why": str(why)})
            return None

    def _catch_up(self, run: Run) -> Mapping[str, Any] | None:
        """Wait until the index of a run has all of it, and return what it tells."""
        if run.outlet is None:
            return None
        return run.outlet.end(self.stop.asked.is_set, last=not self.cluster.number)

    def heed(self) -> None:
        """End the process if a signal has come while there is no dataflow that could end."""
        if self.stop.asked.is_set():
            self._extractors.close()
            self._say_stopped()
            sys.exit(self.stop.status)

    def ends(self, run: Run, starts: Mapping[str, float] | None = None) -> Connectors:
        """Return the ends of the dataflow of a run, which begins with them.

        `starts` says after how many seconds a site starts.
        """
        settings = self.settings
        crawls = Crawls(
            settings,
            run,
            self.stop.asked,
            fetches=self._reads or settings.links,
            reads=self._reads,
            is_ready=self._extractors.is_warm,
            starts=starts,
            on_fault=self.fail,
        )
        self._crawls = crawls
        self.screen.start(crawls)
        if self._reads:
            self._extractors.start()
        return Connectors(
            sites=SiteSource(crawls),
            requests=RequestSink(crawls),
            responses=ResponseSource(crawls),
            extractors=self._extractors,
            dataset=ParquetSink(
                run,
                crawls.sites(),
                settings.content_hash,
                max_removed=settings.max_removed,
                on_rows=self.screen.count,
                on_fault=self.fail,
                on_end=Webhook(settings.alert_webhook) if settings.alert_webhook else None,
            ),
        )

    def fail(self, why: OSError) -> None:
        """End the process at once, in one line: the place we read from or write to has failed.

        Nothing is tidied up, as little as by `kill -9`; what is committed is intact.
        """
        if not self._ending.acquire(blocking=False):
            threading.Event().wait()  # another thread is at it
        self.screen.stop()
        said = f"{_reason(why)}; what is committed is kept, start again to go on"
        logs.say(self.settings.log, logging.ERROR, said)
        self._extractors.close()
        os._exit(1)

    def leave(self, run: Run) -> None:
        """Say how a run ended, whichever way it did."""
        self.screen.stop()
        self._extractors.close()
        if run.is_complete:
            self._say_complete(run, self._catch_up(run))
        elif self.stop.asked.is_set():
            self._say_stopped()
            os._exit(self.stop.status)

    def _hear_of_death(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """Say in one line what the engine panics about when another process of its cluster dies."""
        if kind.__name__ != "PanicException":
            sys.__excepthook__(kind, error, trace)
            return
        said = f"another process of the cluster has ended ({error}); start all of them again"
        logs.say(self.settings.log, logging.ERROR, said)

    def _say_complete(self, run: Run, index: Mapping[str, Any] | None) -> None:
        if self.cluster.number:
            return
        read = reported.read(run.folder)
        if self.settings.log == "json":
            logger.info("run ended", extra={"run_id": run.id, "status": read["status"]})
            if index:
                logger.info("index ended", extra={"status": index["status"], **index["done"]})
            return
        alerts = reported.alerts(run.folder)
        sys.stdout.write(summary.render(read, alerts=alerts, folder=run.dataset.root))
        sys.stdout.write(index_report.render(index) if index else "")
        sys.stdout.flush()

    def _say_stopped(self) -> None:
        said = "stopped; what is done is committed, start again to go on"
        logs.say(self.settings.log, logging.WARNING, said)


def _share(processes: int) -> int:
    """Return how many cores of this machine fall to one process of the cluster."""
    return max(1, len(os.sched_getaffinity(0)) // processes)


def _reason(why: OSError) -> str:
    """Return what an error says, in one line: the system's word for it, and the file."""
    if not why.errno:
        return str(why).splitlines()[0]
    return f"{os.strerror(why.errno)}" + (f": {why.filename}" if why.filename else "")


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


def disarm(env: Mapping[str, str]) -> None:
    """Unset the switch of Bytewax's web server where somebody meant to turn it off."""
    if env.get(DATAFLOW_API, "-").strip().lower() in ("", "0", "false", "no", "off"):
        os.environ.pop(DATAFLOW_API)
