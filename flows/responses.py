"""From an HTTP answer to a page, or to the outcome that says why it is none."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlsplit

from flows import challenges, media, politeness, urls, walls
from flows.records import Entry, Exchange, Failure, Link, Offer, Outcome, Page

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer that came whole; redirects were followed, the content coding is undone."""

    url: str
    """Where the answer came from, after redirects."""
    status: int
    headers: Headers = ()
    """Names in lower case, in the order sent."""
    body: bytes = b""
    """Of an answer that is no success, or no page, only the beginning."""
    wire_bytes: int = 0
    """Body bytes as they came over the wire."""
    elapsed_ms: float = 0.0
    hops: tuple[str, ...] = ()
    """Every URL asked for, in order; the last one is `url`."""
    moved: bool = False
    """Whether redirects led here, and all of them say that they are for good (301, 308)."""
    fetched_at: datetime | None = None
    attempts: int = 1
    cleared: bool = False
    """Searched for a challenge already, and none was found."""

    def header(self, name: str) -> str | None:
        """Return the first header of a name given in lower case, or None."""
        return header(self.headers, name)

    @property
    def retry_after_s(self) -> float | None:
        """What the answer asks us to wait."""
        if self.fetched_at is None or self.status < 300:
            return None
        asked, date = self.header("retry-after"), self.header("date")
        return politeness.parse_retry_after(asked, date, self.fetched_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fetch that brought nothing to read, with what is known of it."""

    outcome: Outcome
    detail: str
    url: str
    """Where it went wrong."""
    status: int | None = None
    headers: Headers = ()
    wire_bytes: int = 0
    elapsed_ms: float = 0.0
    hops: tuple[str, ...] = ()
    fetched_at: datetime | None = None
    attempts: int = 1
    passing: bool = False
    """A fault of the connection, which another try may not meet."""
    retry_after_s: float | None = None
    provider: str | None = None

    def header(self, name: str) -> str | None:
        """Return the first header of a name given in lower case, or None."""
        return header(self.headers, name)


Answer = Response | Fault

STATUSES = {
    204: Outcome.EMPTY,
    205: Outcome.EMPTY,
    304: Outcome.NOT_MODIFIED,
    401: Outcome.AUTH_REQUIRED,
    403: Outcome.FORBIDDEN,
    404: Outcome.NOT_FOUND,
    410: Outcome.GONE,
    429: Outcome.RATE_LIMITED,
    451: Outcome.UNAVAILABLE_LEGAL,
}
"""Outcomes of statuses that have one of their own; others go by their class."""

SILENCES = frozenset(
    {
        Outcome.TIMEOUT,
        Outcome.CONNECTION_ERROR,
        Outcome.DNS_ERROR,
        Outcome.TLS_ERROR,
        Outcome.PROTOCOL_ERROR,
    }
)
"""Outcomes of a request that nobody answered."""

_LOOKED_AT = 256 * 1024
"""Bytes of a body that are searched for a form."""

_STUB_BYTES = 4 * 1024
"""Most bytes of a body whose Refresh header counts."""

_INDEX = re.compile(r"/(?:index|default|home|start|welcome)(?:\.\w{1,5})?/?", re.IGNORECASE)
_SIGN_IN = re.compile(
    r"/(?:log[-_]?in|sign[-_]?in|log[-_]?on|sign[-_]?on|sso|saml|oauth2?|auth|authenticate|wp-login"
    r"|sessions?/new|accounts?/login)(?:\.\w{2,5})?(?:/|$)",
    re.IGNORECASE,
)
_WAY_BACK = re.compile(
    r"(?:^|&)(?:next|return_?(?:to|url|path)?|redirect(?:_?(?:to|uri|url))?|continue|back(?:_?url)?"
    r"|dest(?:ination)?|target|from|goto|referer|service|came_from|ru)=",
    re.IGNORECASE,
)
_PASSWORD = re.compile(rb"<input[^>]{1,400}type\s*=\s*[\"']?password", re.IGNORECASE)


def judge(entry: Entry, answer: Answer, homes: Sequence[str] = ()) -> Page | Failure:
    """Return the page that an answer holds, or the failure that says why it holds none.

    `homes` are addresses that count as the site's home page, besides the root of its origin.
    """
    if isinstance(answer, Fault):
        return _failure(entry, answer, answer.outcome, answer.detail)
    blocked = challenged(answer)
    if blocked:
        return judge(entry, blocked)
    outcome = of_status(answer.status, answer.retry_after_s)
    if outcome is not Outcome.OK:
        return _failure(entry, answer, outcome, f"status {answer.status}")
    left_out = _unlike_a_page(answer) or _elsewhere(answer, homes)
    if left_out:
        return _failure(entry, answer, *left_out)
    if onward := _refreshed(answer):
        sent = _failure(entry, answer, Outcome.META_REFRESH, f"sends on to {onward[:200]}")
        target = urls.canonical(onward, answer.url)
        return replace(sent, links=(Link(url=target, rel="refresh"),)) if target else sent
    return Page(
        entry=entry,
        exchange=exchange(answer),
        body=answer.body,
        charset=_charset(answer),
        robots_tag=robots_tag(answer.headers),
        moved=answer.moved,
        offer=offered(answer),
    )


def offered(answer: Response, *, is_alternate: bool = False) -> Offer | None:
    """Return the Markdown that an answer of success is by its Content-Type, and by its bytes."""
    said = media.essence(answer.header("content-type"))
    if said not in media.MARKDOWN or media.is_document(answer.body) or not answer.body.strip():
        return None
    return Offer(
        body=answer.body, url=answer.url, charset=_charset(answer), is_alternate=is_alternate
    )


def challenged(answer: Response) -> Fault | None:
    """Return the fault `blocked` that names who challenges us in the site's place, or None."""
    if answer.cleared:
        return None
    provider = challenges.provider(answer.status, answer.headers, answer.body)
    if provider is None:
        return None
    return Fault(
        outcome=Outcome.BLOCKED,
        detail=challenges.advice(provider),
        provider=provider,
        url=answer.url,
        status=answer.status,
        headers=answer.headers,
        wire_bytes=answer.wire_bytes,
        elapsed_ms=answer.elapsed_ms,
        hops=answer.hops,
        fetched_at=answer.fetched_at,
        attempts=answer.attempts,
        retry_after_s=answer.retry_after_s,
    )


def refusal(answer: Answer) -> str | None:
    """Return how a site refuses to be asked, in words for people, or None when it does not."""
    if isinstance(answer, Fault):
        return answer.detail if answer.outcome is Outcome.BLOCKED else None
    limited = politeness.is_rate_limit(answer.status, answer.retry_after_s)
    return "the site limits how often it may be asked" if limited else None


def is_silence(answer: Answer) -> bool:
    """Return whether a site was asked and gave no answer at all."""
    return isinstance(answer, Fault) and answer.status is None and answer.outcome in SILENCES


def of_status(status: int, retry_after_s: float | None = None) -> Outcome:
    """Return the outcome of a status, `ok` for one that comes with a page.

    >>> of_status(503).value, of_status(503, 30.0).value, of_status(418).value
    ('server_error', 'rate_limited', 'http_error')
    """
    if status in STATUSES:
        return STATUSES[status]
    if politeness.is_rate_limit(status, retry_after_s):
        return Outcome.RATE_LIMITED
    if 200 <= status < 300 and status != 206:  # a part that nobody asked for is no page
        return Outcome.OK
    return Outcome.SERVER_ERROR if 500 <= status < 600 else Outcome.HTTP_ERROR


def exchange(answer: Answer, attempts: int | None = None) -> Exchange:
    """Return what is kept of a fetch."""
    return Exchange(
        status=answer.status,
        final_url=answer.url,
        content_type=answer.header("content-type"),
        etag=answer.header("etag"),
        last_modified=answer.header("last-modified"),
        attempts=attempts or answer.attempts,
        bytes=answer.wire_bytes,
        elapsed_ms=answer.elapsed_ms,
        fetched_at=answer.fetched_at,
        retry_after_s=answer.retry_after_s,
        provider=answer.provider if isinstance(answer, Fault) else None,
    )


def robots_tag(headers: Headers) -> str | None:
    """Return the X-Robots-Tag lines, joined by line ends, or None."""
    lines = [value for name, value in headers if name == "x-robots-tag"]
    return "\n".join(lines) if lines else None


def header(headers: Headers, name: str) -> str | None:
    """Return the first header of a name given in lower case, or None."""
    return next((value for key, value in headers if key == name), None)


def _failure(entry: Entry, answer: Answer, outcome: Outcome, detail: str) -> Failure:
    return Failure(entry=entry, outcome=outcome, detail=detail, exchange=exchange(answer))


def _charset(answer: Response) -> str | None:
    """Return the charset of the first Content-Type line that names one."""
    lines = (value for name, value in answer.headers if name == "content-type")
    return next((found for found in map(media.charset, lines) if found), None)


def _unlike_a_page(answer: Response) -> tuple[Outcome, str] | None:
    content_type = answer.header("content-type")
    said = media.essence(content_type)
    if said is not None and said not in (*media.HTML, *media.MARKDOWN):
        return Outcome.NOT_HTML, said
    if not answer.body.strip():
        return Outcome.EMPTY, "no body"
    found = media.other_than_html(answer.body, content_type)
    return (Outcome.NOT_HTML, found) if found else None


def _elsewhere(answer: Response, homes: Sequence[str]) -> tuple[Outcome, str] | None:
    """Return why a redirect did not lead to the page that was asked for, or None."""
    if len(answer.hops) < 2 or answer.hops[0] == answer.url:
        return None
    asked, got = urlsplit(answer.hops[0]), urlsplit(answer.url)
    led = _SIGN_IN.search(got.path) and not _SIGN_IN.search(asked.path)
    if led and (_WAY_BACK.search(got.query) or _PASSWORD.search(answer.body[:_LOOKED_AT])):
        return Outcome.LOGIN_REQUIRED, f"redirected to {got.path[:200]}"
    home = got.path in {"", "/"} and not got.query
    if (home or answer.url in homes) and not _is_home(answer.hops[0], homes):
        return Outcome.REDIRECTED_HOME, f"redirected to {answer.url[:200]}"
    return None


def _refreshed(answer: Response) -> str | None:
    """Return where a Refresh header sends a reader on who has hardly anything to read."""
    if len(answer.body) > _STUB_BYTES:
        return None
    return walls.sends_on(answer.header("refresh") or "", answer.url)


def _is_home(url: str, homes: Sequence[str]) -> bool:
    path = urlsplit(url).path
    return url in homes or path in {"", "/"} or bool(_INDEX.fullmatch(path))
