"""The demo site: a few pages about this project, served on loopback by the standard library."""

import errno
import http.client
import logging
import socketserver
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from connectors.demo import editions, site

logger = logging.getLogger(__name__)

HOST = "127.0.0.1"
IDLE_S = 60
"""Seconds after which a connection without a request is closed."""
PROBE_S = 2
"""Seconds we wait to learn who holds the port."""


class Demo:
    """The demo site at `origin`, for as long as the context lasts.

    `server` is None when another process of this machine serves the same site at that port: it
    is then only used, and ends with that process.
    """

    def __init__(self, origin: str, server: ThreadingHTTPServer | None = None) -> None:
        """Take a server that is bound already, and answer from a thread of its own."""
        self.origin = origin
        self._server = server
        if server is not None:
            threading.Thread(target=server.serve_forever, name="demo", daemon=True).start()

    @property
    def shared(self) -> bool:
        """Whether another process does the serving."""
        return self._server is None

    def close(self) -> None:
        """Stop serving; without effect the second time."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def __enter__(self) -> Self:
        """Return the site itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop serving."""
        self.close()


def serve(port: int, edition: int = 1) -> Demo:
    """Return an edition of the demo site served at `port` of 127.0.0.1; 0 takes any free port.

    A port that serves this very site already (a second process of a cluster) is shared.

    Raises:
        ValueError: the port cannot be had, and not because this site is there, or there is no
            such edition.
    """
    if not 1 <= edition <= editions.count():
        raise ValueError(f"INGEST_DEMO_EDITION must be 1 to {editions.count()}, not {edition}")
    try:
        server = _Server((HOST, port), _Handler)
    except (OSError, OverflowError) as error:
        if getattr(error, "errno", None) == errno.EADDRINUSE and _serves_demo(port, edition):
            return Demo(f"http://{HOST}:{port}")
        reason = getattr(error, "strerror", None) or "no such port"
        raise ValueError(
            f"INGEST_DEMO_PORT: the demo site cannot be served at {HOST}:{port} ({reason.lower()});"
            " choose another port, or 0 for any free one"
        ) from None
    server.signature = site.signature(edition)
    server.answers = site.answers(origin := f"http://{HOST}:{server.server_port}", edition)
    return Demo(origin, server)


def _serves_demo(port: int, edition: int) -> bool:
    """Return whether what listens at `port` is this edition of this version of the demo site."""
    connection = http.client.HTTPConnection(HOST, port, timeout=PROBE_S)
    try:
        connection.request("HEAD", "/robots.txt")
        return connection.getresponse().getheader("Server") == site.signature(edition)
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # an idle kept-alive connection would hold up the end of a run
    request_queue_size = 64
    answers: dict[str, site.Answer]
    signature: str

    def server_bind(self) -> None:
        """Bind without asking a name server for our own name, as HTTPServer does."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def handle_error(self, request: object, client_address: object) -> None:
        """Stay quiet: a client that goes away in the middle is no news on a terminal."""
        logger.debug("demo request failed", extra={"error": repr(sys.exception())})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    wbufsize = -1  # head and body leave together, or Nagle's algorithm delays the body by 40 ms
    server: _Server

    def do_GET(self) -> None:
        """Answer with a page, 304 or 404."""
        self._answer(body=True)

    def do_HEAD(self) -> None:
        """Answer as to GET, without the body."""
        self._answer(body=False)

    def version_string(self) -> str:
        """Return what tells another process that this is the same site."""
        return self.server.signature

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
        """Stay quiet: standard error belongs to the run."""

    def _answer(self, *, body: bool) -> None:
        answer = self.server.answers.get(self.path.partition("?")[0])
        if answer is None:
            return self._send(404, site.NOT_FOUND, body=body)
        if answer.is_fresh(
            self.headers.get("If-None-Match"), self.headers.get("If-Modified-Since")
        ):
            return self._send(304, answer, body=False)
        return self._send(200, answer, body=body)

    def _send(self, status: int, answer: site.Answer, *, body: bool) -> None:
        self.send_response(status)
        for name, value in answer.headers(with_length=status != 304):
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(answer.body)
