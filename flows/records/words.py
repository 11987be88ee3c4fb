"""The closed lists of words that rows use; described in docs/data-format.md."""

from enum import StrEnum


class Method(StrEnum):
    """How a URL, or a sitemap, was found."""

    ROBOTS = "robots"
    PROBE = "probe"
    HTML = "html"
    GIVEN = "given"
    LLMS = "llms"
    LINK = "link"
    PAGINATION = "pagination"
    CANONICAL = "canonical"
    INVENTORY = "inventory"
    PATTERN = "pattern"
    RENDER = "render"


class Change(StrEnum):
    """A URL of this run against the last complete run of its site."""

    NEW = "new"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REMOVED = "removed"


class Outcome(StrEnum):
    """How a URL left the stream; a closed list, described in docs/data-format.md."""

    OK = "ok"
    DISCOVERED = "discovered"
    NOT_MODIFIED = "not_modified"
    UNCHANGED = "unchanged"
    # refused before a request
    ROBOTS_DISALLOWED = "robots_disallowed"
    OFF_ORIGIN = "off_origin"
    INVALID_URL = "invalid_url"
    NOT_HTML = "not_html"
    POLICY_DENIED = "policy_denied"
    BUDGET = "budget"
    # after a request
    REDIRECT_LOOP = "redirect_loop"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    REDIRECTED_HOME = "redirected_home"
    AUTH_REQUIRED = "auth_required"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    GONE = "gone"
    UNAVAILABLE_LEGAL = "unavailable_legal"
    HTTP_ERROR = "http_error"
    SERVER_ERROR = "server_error"
    RATE_LIMITED = "rate_limited"
    BLOCKED = "blocked"
    TIMEOUT = "timeout"
    CONNECTION_ERROR = "connection_error"
    DNS_ERROR = "dns_error"
    TLS_ERROR = "tls_error"
    PROTOCOL_ERROR = "protocol_error"
    HEADERS_TOO_LARGE = "headers_too_large"
    TOO_LARGE = "too_large"
    TRUNCATED = "truncated"
    DECODE_ERROR = "decode_error"
    # after reading the page
    NOINDEX = "noindex"
    NON_CANONICAL = "non_canonical"
    DUPLICATE = "duplicate"
    EMPTY = "empty"
    THIN = "thin"
    SOFT_404 = "soft_404"
    SOFT_ERROR = "soft_error"
    LOGIN_REQUIRED = "login_required"
    CONSENT_WALL = "consent_wall"
    META_REFRESH = "meta_refresh"
    JS_REQUIRED = "js_required"
    PARSE_ERROR = "parse_error"
    # the run ended first
    NOT_REACHED = "not_reached"
    COULD_NOT_VERIFY = "could_not_verify"
    # not of this run: known from an earlier one
    UNDECLARED = "undeclared"


class Severity(StrEnum):
    """How much an alert matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
