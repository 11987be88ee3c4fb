"""Guaranteed: a date means one instant in UTC or none, and no text raises."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import sitemaps


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("2024", "2024-01-01T00:00:00", id="W3C year"),
        pytest.param("2024-02", "2024-02-01T00:00:00", id="W3C month"),
        pytest.param("2024-02-03", "2024-02-03T00:00:00", id="W3C day"),
        pytest.param("2024-02-03T04:05Z", "2024-02-03T04:05:00", id="W3C minute"),
        pytest.param("2024-02-03T04:05:06Z", "2024-02-03T04:05:06", id="W3C second"),
        pytest.param("2024-02-03T04:05:06.7Z", "2024-02-03T04:05:06.700000", id="W3C fraction"),
        pytest.param(
            "2024-02-03T04:05:06.123456789Z", "2024-02-03T04:05:06.123456", id="W3C long fraction"
        ),
        pytest.param("2024-02-03T04:05:06+05:30", "2024-02-02T22:35:06", id="W3C zone east"),
        pytest.param("2024-02-03T04:05:06-08:00", "2024-02-03T12:05:06", id="W3C zone west"),
        pytest.param("2024-02-03T04:05:06+0530", "2024-02-02T22:35:06", id="zone without a colon"),
        pytest.param("2024-02-03T04:05:06+05", "2024-02-02T23:05:06", id="zone of hours"),
        pytest.param("2024-02-03T04:05:06", "2024-02-03T04:05:06", id="no zone is UTC"),
        pytest.param("2024-02-03 04:05:06", "2024-02-03T04:05:06", id="SQL"),
        pytest.param("2024-02-03 04:05:06 +0200", "2024-02-03T02:05:06", id="SQL with zone"),
        pytest.param("2024-02-03 04:05:06 UTC", "2024-02-03T04:05:06", id="SQL with UTC"),
        pytest.param("20240203", "2024-02-03T00:00:00", id="ISO 8601 basic day"),
        pytest.param("20240203T040506Z", "2024-02-03T04:05:06", id="ISO 8601 basic second"),
        pytest.param("2016-12-31T23:59:60Z", "2016-12-31T23:59:59", id="RFC 3339 §5.7 leap second"),
        pytest.param("Sat, 03 Feb 2024 04:05:06 GMT", "2024-02-03T04:05:06", id="RFC 822"),
        pytest.param("3 Feb 24 04:05 -0500", "2024-02-03T09:05:00", id="RFC 822 short"),
        pytest.param("Sat, 03 Feb 2024 04:05:06 -0000", "2024-02-03T04:05:06", id="RFC 5322 §3.3"),
        pytest.param(" \n2024-02-03\t", "2024-02-03T00:00:00", id="space around"),
    ],
)
def test_a_date_names_one_instant_in_utc(text: str, expected: str) -> None:
    assert sitemaps.parse_lastmod(text) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2024-02-30",
        "2024-13-01",
        "2024-00-00",
        "0000-00-00",
        "0001-01-01T00:00:00Z",
        "1970-01-01",
        "2024-02-03T25:00:00Z",
        "2024-02-03T04:05:61Z",
        "2024-02-03T04:05:06+99:99",
        "9999-12-31T23:59:59-12:00",
        "24-02-03",
        "2024-2-3",
        "2024-W05-6",
        "2024/02/03",
        "03.02.2024",
        "1706933106",
        "٢٠٢٤-٠٢-٠٣",
        "Sat, 31 Feb 2024 04:05:06 GMT",
        "2024-02-03T04:05:06Z and more",
    ],
)
def test_what_names_no_instant_is_none(text: str) -> None:
    assert sitemaps.parse_lastmod(text) is None


@given(st.text(max_size=40) | st.text(st.sampled_from("0123456789-:TZ+. GMTJanSat,"), max_size=40))
def test_any_text_is_an_instant_in_utc_or_none(text: str) -> None:
    found = sitemaps.parse_lastmod(text)

    assert found is None or found.utcoffset() == timedelta(0)


@given(st.datetimes(min_value=datetime(1990, 1, 2), max_value=datetime(2100, 1, 1)))  # noqa: DTZ001
def test_what_python_writes_is_read(moment: datetime) -> None:
    assert sitemaps.parse_lastmod(moment.isoformat()) == moment.replace(tzinfo=UTC)
