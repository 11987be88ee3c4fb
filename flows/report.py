"""The last run as a table for people: `python -m flows.report [DIR] [--fail-on warning|error]`.

Exit status: 0 complete, 2 bad usage or no dataset, 3 integrity broken, 4 alerts at or above
`--fail-on`, 5 run not complete (unfinished, or a site failed as a whole).
"""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from flows import totals
from flows.records import Outcome, Severity
from flows.schema import TABLES

WIDTH: Final = 100
"""Columns of the terminal we write for."""
MOST_SITES: Final = 60
MOST_ALERTS: Final = 20
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
_HEADS = (
    ("declared", "declared"),
    ("stored", "stored"),
    ("discovered", "discovered"),
    ("same", "same"),
    ("left_out", "left out"),
    ("failed", "failed"),
    ("chunks", "chunks"),
    ("tokens", "tokens"),
    ("requests", "requests"),
    ("bytes", "MB"),
    ("seconds", "time"),
    ("alerts", "alerts"),
)
_ALWAYS = {"declared"}
_SEVERITIES = tuple(reversed(Severity))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the last run of a dataset and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m flows.report", description="The last run as a table for each site."
    )
    parser.add_argument("folder", nargs="?", default="data", type=Path, metavar="DIR")
    parser.add_argument("--fail-on", choices=("warning", "error"), help="exit 4 on such alerts")
    given = parser.parse_args(arguments)
    try:
        run = newest(given.folder)
        report, alarms = read(run), alerts(run)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"flows.report: {str(error).splitlines()[0]}\n")
        return 2
    sys.stdout.write(render(report, alerts=alarms, folder=given.folder))
    return status(report, given.fail_on)


def status(report: Mapping[str, Any], fail_on: str | None = None) -> int:
    """Return the exit status that a report deserves.

    >>> status({"status": "complete", "total": {"alerts": {"warning": 2}}}, "warning")
    4
    """
    if report["status"] == "failed_integrity":
        return 3
    if report["status"] not in {"complete", "stopped_by_budget"}:
        return 5
    grave = {"warning": ("warning", "error"), "error": ("error",)}.get(fail_on or "", ())
    return 4 if any(report["total"]["alerts"].get(severity) for severity in grave) else 0


def newest(folder: Path) -> Path:
    """Return the folder of the newest run of a dataset; ValueError when there is none."""
    runs = sorted(path for path in (folder / "runs").glob("*") if path.is_dir())
    if not runs:
        raise ValueError(f"no run in {folder}: is it a dataset folder?")
    return runs[-1]


def read(run: Path) -> dict[str, Any]:
    """Return the report of a run; counted from its rows while it is unfinished."""
    for _ in range(3):
        try:
            return _read(run / "report.json") or _count(run)
        except FileNotFoundError:
            continue  # the run was completed while we looked: its files have other names now
    raise ValueError(f"the files of {run} change faster than they can be read")


def alerts(run: Path) -> list[dict[str, Any]]:
    """Return the alerts of a run as rows, the gravest first."""
    found = [row for rows in _tables(run / "alerts") for row in rows.to_pylist()]
    return sorted(found, key=lambda row: (_gravity(row["severity"]), row["site"], row["kind"]))


def render(
    report: Mapping[str, Any],
    *,
    alerts: Sequence[Mapping[str, Any]] = (),
    folder: Path | None = None,
    width: int = WIDTH,
) -> str:
    """Return a report as text for a terminal: a table of sites, and what a person should know."""
    sites = dict(sorted(report["sites"].items(), key=_by_need))
    parts = [
        _headline(report),
        *_table(report, dict(list(sites.items())[:MOST_SITES]), width),
        *([f"… and {len(sites) - MOST_SITES:,} more sites"] if len(sites) > MOST_SITES else []),
        *_outcomes(report["total"]["outcomes"], width),
        *_notes(sites),
        *_alert_lines(alerts, report["total"]["alerts"], width),
        *([] if folder is None else ["", *_places(folder, report["run_id"])]),
    ]
    return "\n".join(parts) + "\n"


def _read(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def _count(run: Path) -> dict[str, Any]:
    noted = _read(run.parents[1] / ".current") or {}
    counted = totals.Totals()
    for name in TABLES:
        for rows in _tables(run / name):
            counted.add(name, rows)
    mine = noted if noted.get("run_id") == run.name else {}
    return totals.report(
        counted,
        {},
        run_id=run.name,
        started_at=datetime.fromisoformat(mine.get("started_at") or "1970-01-01T00:00:00+00:00"),
        ended_at=None,
        settings_hash=mine.get("settings_hash", ""),
        version=mine.get("version", ""),
    )


def _tables(folder: Path) -> Iterable[pa.Table]:
    """The files of a table, without the columns that are heavy and not counted."""
    for path in sorted(folder.glob("*.parquet")):
        try:
            with pq.ParquetFile(path) as file:
                light = [name for name in file.schema_arrow.names if name not in _HEAVY]
                yield file.read(columns=light, use_threads=False)
        except pa.ArrowException as error:
            raise ValueError(f"damaged file {path}: {error}") from error


_HEAVY = frozenset({"markdown", "html", "text", "links", "structured", "detail"})


def _gravity(severity: str) -> int:
    return _SEVERITIES.index(Severity(severity)) if severity in _SEVERITIES else len(_SEVERITIES)


def _by_need(item: tuple[str, Mapping[str, Any]]) -> tuple[int, str]:
    return -totals.STATUSES.index(item[1]["status"]), item[0]


def _headline(report: Mapping[str, Any]) -> str:
    total = report["total"]
    if report["ended_at"] is None:
        return f"run {report['run_id']}: not complete; it is still running, or was interrupted"
    ended = datetime.fromisoformat(report["ended_at"]).astimezone(UTC)
    took = _time(total["seconds"])
    return f"run {report['run_id']}: {report['status']}, {took}, ended {ended:%Y-%m-%d %H:%M} UTC"


def _table(
    report: Mapping[str, Any], sites: Mapping[str, Mapping[str, Any]], width: int
) -> list[str]:
    rows = [_figures(site) for site in sites.values()]
    total = _figures(report["total"])
    shown = [(key, head) for key, head in _HEADS if total[key] or key in _ALWAYS]
    uniform = all(site["status"] == report["status"] for site in sites.values())
    lines = [
        [name, *([] if uniform else [site["status"]]), *(_text(key, row[key]) for key, _ in shown)]
        for (name, site), row in zip(sites.items(), rows, strict=True)
    ]
    heads = ["site", *([] if uniform else ["status"]), *(head for _, head in shown)]
    if len(report["sites"]) > 1:
        blank = [] if uniform else [""]
        lines.append(["total", *blank, *(_text(key, total[key]) for key, _ in shown)])
    return _aligned([heads, *lines], 1 if uniform else 2, width)


def _figures(counts: Mapping[str, Any]) -> dict[str, Any]:
    outcomes = counts["outcomes"]
    told = {
        "stored": outcomes.get(Outcome.OK, 0),
        "discovered": outcomes.get(Outcome.DISCOVERED, 0),
        "same": sum(outcomes.get(outcome, 0) for outcome in SAME),
        "failed": sum(outcomes.get(outcome, 0) for outcome in FAILED),
    }
    return {
        **{name: counts.get(name) for name in ("declared", "chunks", "tokens", "requests")},
        **{name: counts.get(name) for name in ("bytes", "seconds")},
        **told,
        "left_out": sum(outcomes.values()) - sum(told.values()),
        "alerts": sum(counts["alerts"].values()),
    }


def _aligned(rows: Sequence[Sequence[str]], left: int, width: int) -> list[str]:
    """Rows as lines: the first `left` columns to the left, numbers to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    spare = width - sum(widths[1:]) - 2 * (len(widths) - 1)
    widths[0] = min(widths[0], max(spare, 16))
    lines = []
    for row in rows:
        cells = [
            _cut(cell, size).ljust(size) if at < left else cell.rjust(size)
            for at, (cell, size) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else text[: size - 1] + "…"


def _text(key: str, value: float | None) -> str:
    if not value:
        return "-"
    if key == "bytes":
        return f"{value / 1e6:,.1f}"
    if key == "seconds":
        return _time(value)
    return _short(value) if key == "tokens" else f"{value:,}"


def _short(value: float) -> str:
    """A count in few signs.

    >>> _short(999), _short(12_345), _short(7_654_321)
    ('999', '12.3k', '7.7M')
    """
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.1f}{unit}"
    return f"{value:,}"


def _time(seconds: float | None) -> str:
    """A duration in few signs.

    >>> _time(4.21), _time(75), _time(7322)
    ('4.2s', '1m15s', '2h02m')
    """
    if seconds is None:
        return "-"
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02d}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02d}m"


def _outcomes(outcomes: Mapping[str, int], width: int) -> list[str]:
    """Why URLs were not stored, the most frequent reason first."""
    stored = {Outcome.OK, Outcome.DISCOVERED}
    reasons = sorted((-number, name) for name, number in outcomes.items() if name not in stored)
    if not reasons:
        return []
    return ["", *_wrapped("not stored: ", [f"{-n:,} {name}" for n, name in reasons], width)]


def _wrapped(lead: str, words: Sequence[str], width: int) -> list[str]:
    lines = [lead + words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 3 > width:
            lines[-1] += ","
            lines.append(" " * len(lead) + word)
        else:
            lines[-1] += f", {word}"
    return lines


def _notes(sites: Mapping[str, Mapping[str, Any]]) -> list[str]:
    noted = [(name, site["detail"]) for name, site in sites.items() if site.get("detail")]
    return ["", *(f"{name}: {detail}" for name, detail in noted[:MOST_ALERTS])] if noted else []


def _alert_lines(
    alerts: Sequence[Mapping[str, Any]], counted: Mapping[str, int], width: int
) -> list[str]:
    if not alerts:
        return []
    sums = ", ".join(f"{counted[name]:,} {name}" for name in _SEVERITIES if counted.get(name))
    lines = [
        _cut(f"  {row['severity']:7}  {row['kind']}  {row['subject']}: {row['message']}", width)
        for row in alerts[:MOST_ALERTS]
    ]
    more = len(alerts) - MOST_ALERTS
    return ["", f"alerts: {sums}", *lines, *([f"  … and {more:,} more"] if more > 0 else [])]


def _places(folder: Path, run_id: str) -> list[str]:
    return [f"corpus: {folder / 'corpus'}", f"run:    {folder / 'runs' / run_id}"]


if __name__ == "__main__":
    sys.exit(main())
