"""The dates that sitemaps and feeds write."""

import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime

_USUAL = re.compile(
    r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:[0-5]\d(?:\.\d{3}|\.\d{6})?(?:Z|[+-]\d\d:\d\d)?)?", re.ASCII
).fullmatch
"""The forms that nearly all dates have, and that the standard library reads quickly."""

_W3C = re.compile(
    r"""(\d{4})(?:-?(\d\d)(?:-?(\d\d)
        (?:[T\ ]\s*(\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d{1,12}))?)?
        \s*(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?)?)?""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
).fullmatch

_RFC_822 = re.compile(
    r"(?:[A-Z]{3,9},?\s+)?\d{1,2}[ -][A-Z]{3,9}[ -]\d{2,4}"
    r"\s+\d\d?:\d\d(?::\d\d)?(?:\s+[A-Z0-9+-]+)?",
    re.IGNORECASE | re.ASCII,
).fullmatch


FIRST_YEAR = 1990
"""Nothing on the Web is older; 0001-01-01 and 1970-01-01 are the zeros of clocks, not dates."""


def parse_lastmod(text: str) -> datetime | None:
    """Return the instant a `lastmod` names, in UTC, or None when it names none.

    A date alone means its first instant, a missing zone means UTC; what is older than the Web is no
    date. Never raises: sites write anything here, and a bad date must not cost us the URL.

    Source: sitemaps.org protocol, `lastmod`; W3C NOTE-datetime. Also read: the same without
    hyphens or with a space for the T (SQL), and RFC 822 dates, which feeds hold.

    >>> parse_lastmod("2024-05-01T12:00:00+02:00").isoformat()
    '2024-05-01T10:00:00+00:00'
    >>> parse_lastmod("Wed, 01 May 2024 12:00:00 +0200").isoformat()
    '2024-05-01T10:00:00+00:00'
    >>> parse_lastmod("yesterday") is None
    True
    """
    text = text.strip()
    try:
        found = _in_utc(_read(text))
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
    return found if found.year >= FIRST_YEAR else None


def _read(text: str) -> datetime:
    if _USUAL(text):
        return datetime.fromisoformat(text)
    found = _W3C(text)
    if found:
        return _instant(*found.groups())
    if _RFC_822(text):
        return parsedate_to_datetime(text)
    raise ValueError(text)


def _instant(
    year: str,
    month: str | None,
    day: str | None,
    hour: str | None,
    minute: str | None,
    second: str | None,
    fraction: str | None,
    zone: str | None,
) -> datetime:
    seconds = 59 if second == "60" else int(second or 0)  # datetime knows no leap second
    micros = int((fraction or "0").ljust(6, "0")[:6])
    parts = int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0)
    return datetime(*parts, seconds, micros, tzinfo=_zone(zone))


def _zone(name: str | None) -> timezone:
    if name is None or name[0] not in "+-":
        return UTC
    digits = name[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    return timezone(-offset if name[0] == "-" else offset)


def _in_utc(moment: datetime) -> datetime:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC)
