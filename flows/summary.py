"""A run's report as text for a terminal: a table of sites, and what a person should know."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from flows import totals
from flows.records import Change, Outcome, Severity

WIDTH: Final = 100
"""Columns of the terminal we write for."""
NARROWEST: Final = 16
"""Columns that a site's name has at least."""
MOST_SITES: Final = 60
MOST_NOTES: Final = 20
NEED_A_PERSON: Final = (Severity.ERROR, Severity.WARNING)
UNSAID: Final = "no_baseline"
"""An alert for programs: a person knows that it is the first run."""
SAME: Final = (Outcome.UNCHANGED, Outcome.NOT_MODIFIED)
FAILED: Final = (
    Outcome.HTTP_ERROR,
    Outcome.SERVER_ERROR,
    Outcome.RATE_LIMITED,
    Outcome.BLOCKED,
    Outcome.TIMEOUT,
    Outcome.CONNECTION_ERROR,
    Outcome.DNS_ERROR,
    Outcome.TLS_ERROR,
    Outcome.PROTOCOL_ERROR,
    Outcome.HEADERS_TOO_LARGE,
    Outcome.TRUNCATED,
    Outcome.DECODE_ERROR,
    Outcome.PARSE_ERROR,
    Outcome.NOT_REACHED,
    Outcome.COULD_NOT_VERIFY,
)
"""Outcomes that another day may turn into a page; every other one is the site's own word."""
_HEADS: Final = {
    "declared": "declared",
    "stored": "stored",
    "discovered": "discovered",
    "same": "same",
    "left_out": "left out",
    "failed": "failed",
    "chunks": "chunks",
    "tokens": "tokens",
    "requests": "requests",
    "bytes": "MB",
    "seconds": "time",
    "alerts": "alerts",
}
_DISPENSABLE = ("bytes", "seconds", "requests", "tokens", "same")
"""What a narrow terminal does without, in this order; `report.json` has it."""
_GRAVEST_FIRST = tuple(reversed(Severity))


def render(
    report: Mapping[str, Any],
    *,
    alerts: Sequence[Mapping[str, Any]] = (),
    folder: Path | None = None,
    width: int = WIDTH,
) -> str:
    """Return what `report.json` says as text; `folder` is the dataset, to say where the rows are.

    `alerts` are rows of the run's table, the gravest first.
    """
    sites = dict(sorted(report["sites"].items(), key=_by_need))
    shown = dict(list(sites.items())[:MOST_SITES])
    parts = [
        _headline(report),
        *_table(report, shown, width),
        *([f"… and {len(sites) - len(shown):,} more sites"] if len(sites) > len(shown) else []),
        *_changes(report["total"]["changes"]),
        *_reasons(report["total"]["outcomes"], width),
        *_details(sites),
        *_alerts(alerts, report["total"]["alerts"], width),
        *([] if folder is None else _places(folder, report["run_id"])),
    ]
    return "\n".join(parts) + "\n"


def gravity(severity: str) -> int:
    """Return the place of a severity among all of them, the gravest first.

    >>> sorted(["info", "error", "warning"], key=gravity)
    ['error', 'warning', 'info']
    """
    return next((at for at, known in enumerate(_GRAVEST_FIRST) if known == severity), 3)


def short(value: float) -> str:
    """Return a count in few signs.

    >>> short(999), short(12_345), short(7_654_321)
    ('999', '12.3k', '7.7M')
    """
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.1f}{unit}"
    return f"{value:,}"


def duration(seconds: float | None) -> str:
    """Return a time in few signs.

    >>> duration(4.21), duration(75), duration(7322)
    ('4.2s', '1m15s', '2h02m')
    """
    if seconds is None:
        return "-"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{seconds:.1f}s"
    return f"{minutes}m{rest:02d}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02d}m"


def _by_need(item: tuple[str, Mapping[str, Any]]) -> tuple[int, str]:
    return -totals.STATUSES.index(item[1]["status"]), item[0]


def _headline(report: Mapping[str, Any]) -> str:
    if report["ended_at"] is None:
        return f"run {report['run_id']}: not complete; it is still running, or was interrupted"
    ended = datetime.fromisoformat(report["ended_at"]).astimezone(UTC)
    took = duration(report["total"]["seconds"])
    return f"run {report['run_id']}: {report['status']}, {took}, ended {ended:%Y-%m-%d %H:%M} UTC"


def _table(
    report: Mapping[str, Any], sites: Mapping[str, Mapping[str, Any]], width: int
) -> list[str]:
    """The fullest table that fits: numbers in full, else in short, else fewer of them."""
    mixed = len({site["status"] for site in report["sites"].values()}) > 1
    names = [[name, *([site["status"]] if mixed else [])] for name, site in sites.items()]
    figures = [_figures(site) for site in sites.values()]
    if len(report["sites"]) > 1:
        names.append(["total", *([""] if mixed else [])])
        figures.append(_figures(report["total"]))
    heads = ["site", *(["status"] if mixed else [])]
    rows: list[list[str]] = []
    for columns, brief in _choices(_figures(report["total"])):
        cells = [[_text(key, row[key], brief=brief) for key in columns] for row in figures]
        rows = [[*heads, *(_HEADS[key] for key in columns)]]
        rows += [name + cell for name, cell in zip(names, cells, strict=True)]
        if _spare(rows, width) >= NARROWEST:
            break
    return _aligned(rows, len(heads), width)


def _choices(total: Mapping[str, Any]) -> Iterator[tuple[list[str], bool]]:
    columns = [key for key in _HEADS if total[key] or key == "declared"]
    yield columns, False
    yield columns, True
    for key in _DISPENSABLE:
        columns = [column for column in columns if column != key]
        yield columns, True


def _figures(counts: Mapping[str, Any]) -> dict[str, Any]:
    outcomes = counts["outcomes"]
    told = {
        "stored": outcomes.get(Outcome.OK, 0),
        "discovered": outcomes.get(Outcome.DISCOVERED, 0),
        "same": sum(outcomes.get(outcome, 0) for outcome in SAME),
        "failed": sum(outcomes.get(outcome, 0) for outcome in FAILED),
    }
    taken = ("declared", "chunks", "tokens", "requests", "bytes", "seconds")
    return {
        **{name: counts[name] for name in taken},
        **told,
        "left_out": counts["declared"] - sum(told.values()),
        "alerts": sum(counts["alerts"].get(severity, 0) for severity in NEED_A_PERSON),
    }


def _text(key: str, value: float | None, *, brief: bool) -> str:
    if not value:
        return "-"
    if key == "bytes":
        return short(round(value / 1e6, 1)) if brief else f"{value / 1e6:,.1f}"
    if key == "seconds":
        return duration(value)
    return short(value) if brief or key == "tokens" else f"{value:,}"


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]


def _spare(rows: Sequence[Sequence[str]], width: int) -> int:
    """The columns that are left for the first cell of each row."""
    return width - sum(size + 2 for size in _widths(rows)[1:])


def _aligned(rows: Sequence[Sequence[str]], left: int, width: int) -> list[str]:
    """Rows as lines: the first `left` columns to the left, numbers to the right."""
    widths = _widths(rows)
    widths[0] = min(widths[0], max(_spare(rows, width), NARROWEST))
    lines = []
    for row in rows:
        cells = [
            _cut(cell, size).ljust(size) if at < left else cell.rjust(size)
            for at, (cell, size) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _cut(text: str, size: int) -> str:
    if len(text) > size:
        text = text.removeprefix("https://")
    return text if len(text) <= size else text[: size - 1] + "…"


def _changes(changes: Mapping[str, int]) -> list[str]:
    """What changed since the last run; nothing to say where everything is new."""
    if not set(changes) - {Change.NEW}:
        return []
    words = (f"{changes[change]:,} {change}" for change in Change if changes.get(change))
    return ["", f"changes: {', '.join(words)}"]


def _reasons(outcomes: Mapping[str, int], width: int) -> list[str]:
    """Why URLs were not stored, the most frequent reason first."""
    stored = {Outcome.OK, *SAME, Outcome.DISCOVERED, Outcome.UNDECLARED}
    reasons = sorted((-number, name) for name, number in outcomes.items() if name not in stored)
    if not reasons:
        return []
    words = [f"{-number:,} {name}" for number, name in reasons]
    lead, lines = "not stored: ", [f"not stored: {words[0]}"]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 3 > width:
            lines[-1] += ","
            lines.append(" " * len(lead) + word)
        else:
            lines[-1] += f", {word}"
    return ["", *lines]


def _details(sites: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What sites that went wrong have to say."""
    said = [(name, site["detail"]) for name, site in sites.items() if site.get("detail")]
    more = len(said) - MOST_NOTES
    lines = [f"{name}: {detail}" for name, detail in said[:MOST_NOTES]]
    return ["", *lines, *([f"… and {more:,} more"] if more > 0 else [])] if lines else []


def _alerts(
    alerts: Sequence[Mapping[str, Any]], counted: Mapping[str, int], width: int
) -> list[str]:
    shown = [row for row in alerts if row["kind"] != UNSAID]
    if not shown:
        return []
    unsaid = len(alerts) - len(shown)
    alerts = shown
    sums = ", ".join(f"{counted[name]:,} {name}" for name in _GRAVEST_FIRST if counted.get(name))
    sums += f" ({unsaid:,} {UNSAID} not listed)" if unsaid else ""
    lines = [
        _cut(f"  {row['severity']:7}  {row['kind']}  {row['subject']}: {row['message']}", width)
        for row in alerts[:MOST_NOTES]
    ]
    more = len(alerts) - MOST_NOTES
    return ["", f"alerts: {sums}", *lines, *([f"  … and {more:,} more"] if more > 0 else [])]


def _places(folder: Path, run_id: str) -> list[str]:
    return ["", f"corpus: {folder / 'corpus'}", f"run:    {folder / 'runs' / run_id}"]
