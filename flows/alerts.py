"""What is worth telling a person, and how much it matters; docs/data-format.md has thresholds."""

from flows.problems import Problem
from flows.records import Alert, Severity

ERRORS = frozenset(
    {
        "robots_unreachable",
        "robots_rate_limited",
        "sitemap_http_error",
        "sitemap_timeout",
        "sitemap_rate_limited",
        "sitemap_gzip_error",
        "sitemap_not_xml",
        "sitemap_truncated",
        "url_count_drop",
        "pages_removed",
    }
)
"""Kinds by which pages, or a whole site, are missing from a run."""

NOTES = frozenset(
    {
        "robots_forbidden",
        "robots_not_text",
        "robots_sitemap_relative",
        "sitemap_redirected",
        "sitemap_dtd",
        "sitemap_too_many_urls",
        "content_type_mismatch",
        "loc_relative",
        "field_invalid",
        "lastmod_invalid",
        "lastmod_future",
        "lastmod_uniform",
        "no_sitemap",
        "no_baseline",
    }
)
"""Kinds that cost no page, and that the owner of a site may want to know."""


def severity(kind: str) -> Severity:
    """Return how much an alert kind matters.

    >>> severity("robots_unreachable").value, severity("sitemap_cycle").value
    ('error', 'warning')
    """
    if kind in ERRORS:
        return Severity.ERROR
    return Severity.INFO if kind in NOTES else Severity.WARNING


def alert(
    site: str,
    kind: str,
    subject: str,
    message: str,
    value: float | None = None,
    threshold: float | None = None,
) -> Alert:
    """Return an alert of a kind, with the severity that the kind has."""
    return Alert(
        site=site,
        kind=kind,
        severity=severity(kind),
        subject=subject,
        message=message,
        value=value,
        threshold=threshold,
    )


def of(site: str, problem: Problem) -> Alert:
    """Return the alert that a file's problem makes."""
    return alert(site, problem.kind, problem.subject, problem.detail)
