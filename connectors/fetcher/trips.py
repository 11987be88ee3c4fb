"""A fetch on its way: the requests it makes, one hop after the other, and what they brought."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

import httpx

from connectors.fetcher.bodies import Body
from connectors.fetcher.faults import CAUGHT, Stop, reason
from connectors.fetcher.wants import Want
from flows import challenges, codings, media, responses, urls
from flows.records import Outcome
from flows.responses import Fault, Headers, Response

IDLE_S = 30.0
"""Longest silence of a server that is sending."""

MAX_HEADERS = 1_000
"""Header lines of one answer; their bytes are bounded by h11, at 100 KiB."""

MAX_COOKIES = 30
MAX_COOKIE_BYTES = 4_096
"""Cookies that live through one chain of redirects (RFC 6265 §6.1)."""

REDIRECTS = frozenset({301, 302, 303, 307, 308})

FOR_GOOD = frozenset({301, 308})
"""Redirects by which a page has moved (RFC 9110 §15.4)."""

_WITHOUT_BODY = frozenset({204, 205, 304})


class Turn(Protocol):
    """Whose turn a request is: told when it is on its way, asked before a redirect is followed."""

    def sent(self) -> None:
        """A request leaves now."""

    async def again(self) -> None:
        """Return when the next request may leave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What a fetch was asked to do."""

    url: str
    want: Want
    origin: str
    user_agent: str
    headers: Headers = ()
    """Sent to `origin` alone."""
    turn: Turn | None = None

    @property
    def is_conditional(self) -> bool:
        """Whether an answer may say that nothing has changed."""
        return any(name.lower().startswith("if-") for name, _ in self.headers)


class Trip:
    """One fetch: where it is, what it has seen, what it has cost."""

    def __init__(self, errand: Errand) -> None:
        """Start the clock; nothing is asked for yet."""
        self.errand = errand
        self.url = errand.url
        self.here: str | None = None
        """The origin of `url`, once it has been judged."""
        self.paused_s = 0.0
        """Seconds in which nothing was asked for, because of the site's pace."""
        self.fault: Fault | None = None
        """Why the trip ended early."""
        self._hops: list[str] = []
        self._for_good = True
        self._seen: set[tuple[str, str]] = set()
        self._cookies: dict[str, dict[str, str]] = {}
        self._status: int | None = None
        self._headers: Headers = ()
        self._bodies: list[Body] = []
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._fetched_at: datetime | None = None

    def judge(self) -> None:
        """Stop before a request that must not be made."""
        canonical = urls.canonical(self.url)
        if canonical is None:
            raise Stop(Outcome.INVALID_URL, "no http address")
        self.url, self.here = canonical, urls.origin(canonical)
        if not self.errand.want.cross_origin and self.here != self.errand.origin:
            raise Stop(Outcome.OFF_ORIGIN, f"{self.here} is another origin")
        if self._hops:
            self._judge_hop()
        self._seen.add((canonical, self._cookie()))
        self._hops.append(canonical)

    def _judge_hop(self) -> None:
        want = self.errand.want
        if (self.url, self._cookie()) in self._seen:
            raise Stop(Outcome.REDIRECT_LOOP, "redirected to where it came from")
        if len(self._hops) > want.max_hops:
            raise Stop(Outcome.TOO_MANY_REDIRECTS, f"more than {want.max_hops} redirects")
        refused = want.may(self.url) if want.may else None
        if refused:
            raise Stop(refused, f"redirected to {self.url}")

    def request(self) -> httpx.Request:
        """Return the request for where the trip is."""
        self._status, self._headers = None, ()
        own = self.errand.headers if self.here == self.errand.origin else ()
        headers = (
            ("User-Agent", self.errand.user_agent),
            ("Accept", self.errand.want.accept),
            ("Accept-Encoding", codings.OFFERED),
            *own,
            *((("Cookie", self._cookie()),) if self._cookie() else ()),
        )
        raw = [(name.encode("ascii", "replace"), value.encode()) for name, value in headers]
        try:
            return httpx.Request("GET", self.url, headers=raw, extensions=self._extensions())
        except httpx.InvalidURL as error:
            raise Stop(Outcome.INVALID_URL, str(error)) from None

    def _extensions(self) -> dict[str, object]:
        found: dict[str, object] = {
            # The canonical target to the letter: httpx has its own mind about percent-encoding.
            "target": self.url[len(self.here or "") :].encode("ascii"),
            "timeout": {"read": IDLE_S},
        }
        if self.errand.turn:
            found["sent"] = self.errand.turn.sent
        return found

    def arrived(self, got: httpx.Response) -> str | None:
        """Take the head of an answer; return where it redirects to, or None."""
        self._fetched_at = datetime.now(UTC)
        self._status = got.status_code
        self._bodies.append(Body(got))
        if len(got.headers.raw) > MAX_HEADERS:
            raise Stop(Outcome.HEADERS_TOO_LARGE, f"{len(got.headers.raw)} header lines")
        self._headers = tuple((_text(k).lower(), _text(v)) for k, v in got.headers.raw)
        self._take_cookies()
        location = responses.header(self._headers, "location")
        if got.status_code not in REDIRECTS or not location:
            return None
        onward = urls.canonical(location, base=self.url)
        if onward is None:
            raise Stop(Outcome.INVALID_URL, f"redirected to {location[:200]}")
        self._for_good &= got.status_code in FOR_GOOD
        return onward

    @property
    def body(self) -> Body:
        """The body of the last answer."""
        return self._bodies[-1]

    async def read(self) -> bytes:
        """Return the body of the last answer: whole for a success, the beginning of others."""
        if self._status == 304 and not self.errand.is_conditional:
            raise Stop(Outcome.HTTP_ERROR, "status 304, and nothing was known")
        if self._status in _WITHOUT_BODY:
            return b""
        if not self.is_success or challenges.by_header(self._headers):
            return await self.body.beginning()
        want, said = (
            self.errand.want,
            media.essence(responses.header(self._headers, "content-type")),
        )
        if want.types and said and said not in want.types:
            raise Stop(Outcome.NOT_HTML, said)
        return await self.body.whole(want.max_bytes, want.cut)

    @property
    def is_success(self) -> bool:
        """Whether the last answer holds what was asked for."""
        return self._status is not None and 200 <= self._status < 300

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Turn whatever a server does into the trip's fault."""
        try:
            yield
        except CAUGHT as error:
            outcome, detail, passing = reason(error, in_body=self._status is not None)
            self.fault = Fault(
                outcome=outcome,
                detail=detail,
                passing=passing,
                url=self.url,
                status=self._status,
                headers=self._headers,
                wire_bytes=self._wire_bytes(),
                elapsed_ms=self._elapsed_ms(),
                hops=tuple(self._hops),
                fetched_at=self._fetched_at,
            )

    def response(self, body: bytes = b"") -> Response:
        """Return the last answer, with what the whole trip has cost."""
        return Response(
            url=self.url,
            status=self._status or 0,
            headers=self._headers,
            body=body,
            wire_bytes=self._wire_bytes(),
            elapsed_ms=self._elapsed_ms(),
            hops=tuple(self._hops),
            moved=len(self._hops) > 1 and self._for_good,
            fetched_at=self._fetched_at,
        )

    def _wire_bytes(self) -> int:
        return sum(body.wire_bytes for body in self._bodies)

    def _elapsed_ms(self) -> float:
        return round((self._loop.time() - self._started - self.paused_s) * 1000, 3)

    def _cookie(self) -> str:
        jar = self._cookies.get(self.here or "")
        return "; ".join(f"{name}={value}" for name, value in jar.items()) if jar else ""

    def _take_cookies(self) -> None:
        """Keep what a gate sets, for the next hops to the same origin (RFC 6265, its gist)."""
        for line in (value for key, value in self._headers if key == "set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            jar = self._cookies.setdefault(self.here or "", {})
            if name.strip() and len(line) <= MAX_COOKIE_BYTES and len(jar) < MAX_COOKIES:
                jar[name.strip()] = value.strip()


def _text(raw: bytes) -> str:
    """Return a header as text: UTF-8 where it is that, else Latin-1 (RFC 9110 §5.5)."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
