"""Small web sites on loopback for tests: paths to answers, and a log of what was asked."""

import gzip
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a path answers."""

    body: bytes = b""
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    markdown: bytes | None = None
    """What is answered instead to who prefers Markdown."""


def page(title: str, *links: str, text: str = "", head: str = "") -> Answer:
    """Return an article that links to the given addresses."""
    body = text or f"The words of {title} are its own. " * 12
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    return Answer(
        f"<!doctype html><html lang=en><head><title>{title}</title>{head}</head><body>"
        f"<nav><ul>{anchors}</ul></nav><main><h1>{title}</h1><p>{body}</p></main></body></html>".encode()
    )


def urlset(*locations: str, packed: bool = False) -> Answer:
    """Return a sitemap that lists the given URLs."""
    urls = "".join(f"<url><loc>{location}</loc></url>" for location in locations)
    xml = f'<urlset xmlns="{NAMESPACE}">{urls}</urlset>'.encode()
    return Answer(gzip.compress(xml, mtime=0) if packed else xml, "application/xml")


def index(*locations: str) -> Answer:
    """Return a sitemap index that lists the given sitemaps."""
    maps = "".join(f"<sitemap><loc>{location}</loc></sitemap>" for location in locations)
    return Answer(
        f'<sitemapindex xmlns="{NAMESPACE}">{maps}</sitemapindex>'.encode(), "application/xml"
    )


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Stay quiet: a client that is killed leaves connections half-way."""


@dataclass
class Site:
    """A site on an address of its own; `answers` may be changed while it serves."""

    answers: Callable[[str], Mapping[str, Answer]]
    """From the site's origin to what its paths answer."""
    address: str = "127.0.0.1"
    log: list[str] = field(default_factory=list)
    """Paths asked for, in order."""
    sent: list[tuple[float, dict[str, str]]] = field(default_factory=list)
    """When each was asked for, and with which headers."""

    def __enter__(self) -> Self:
        """Serve from a thread until the block ends."""
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one packet: two would wait for each other's ACK

            def do_GET(self) -> None:
                site.log.append(self.path)
                site.sent.append((time.monotonic(), dict(self.headers)))
                answer = site.routes.get(self.path, Answer(b"not here", status=404))
                if answer.markdown and self.headers["Accept"].startswith("text/markdown"):
                    answer = replace(answer, body=answer.markdown, kind="text/markdown")
                known = dict(answer.headers).get("ETag")
                same = known is not None and self.headers.get("If-None-Match") == known
                self.send_response(304 if same else answer.status)
                self.send_header("Content-Type", answer.kind)
                self.send_header("Content-Length", "0" if same else str(len(answer.body)))
                for name, value in answer.headers:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(b"" if same else answer.body)

            def log_message(self, *_: object) -> None:
                """Stay quiet."""

        self._server = _Server((self.address, 0), Handler)
        self.origin = f"http://{self.address}:{self._server.server_address[1]}"
        self.routes = dict(self.answers(self.origin))
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}
        )
        self._thread.start()
        return self

    def wrap(self, context: ssl.SSLContext) -> None:
        """Speak TLS from here on."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.origin = self.origin.replace("http:", "https:")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
