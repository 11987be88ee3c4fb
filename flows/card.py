"""The card of an exported dataset: what is in it and where it is from, for Hugging Face."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

MARK: Final = "<!-- written by sitewax -->"
"""Says that a folder is an export of ours, and may be replaced by a newer one."""

_TOKENS: Final = {"pages": "tokens", "chunks": "token_count"}
_SIZES: Final = (
    *((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")),
    *((10_000_000, "1M<n<10M"), (100_000_000, "10M<n<100M"), (1_000_000_000, "100M<n<1B")),
)
"""Categories of the Hub, by their upper ends."""
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_NAMED: Final = 50
"""Sites that are named in the card."""


@dataclass(slots=True)
class Tally:
    """What an export holds, counted while it is written."""

    rows: dict[str, Counter[str]] = field(default_factory=dict)
    """Rows by site, for each table."""
    tokens: dict[str, Counter[str]] = field(default_factory=dict)
    languages: Counter[str] = field(default_factory=Counter)
    first: datetime | None = None
    last: datetime | None = None
    """When the oldest and the newest row was fetched."""

    def add(self, name: str, rows: pa.Table) -> None:
        """Count some rows of a table."""
        counts, tokens = (each.setdefault(name, Counter()) for each in (self.rows, self.tokens))
        sums = rows.group_by("site").aggregate([(_TOKENS[name], "sum"), ("url", "count")])
        for site, summed, count in zip(*(c.to_pylist() for c in sums.columns), strict=True):
            counts[site] += count
            tokens[site] += summed or 0
        languages: Any = rows["lang"]
        spoken = zip(
            *(part.to_pylist() for part in languages.value_counts().flatten()), strict=True
        )
        self.languages.update({tag: count for tag, count in spoken if tag})
        span: Any = pc.min_max(rows["fetched_at"])
        self.first = min(filter(None, (self.first, span["min"].as_py())), default=None)
        self.last = max(filter(None, (self.last, span["max"].as_py())), default=None)

    def total(self, name: str) -> int:
        """Return how many rows of a table there are."""
        return self.rows.get(name, Counter()).total()


def render(tally: Tally, tables: Iterable[str], version: str) -> str:
    """Return the card as Markdown with its YAML head; the first of `tables` is the default."""
    names = tuple(tables)
    head = "\n".join(("---", *_head(tally, names), "---"))
    return f"{head}\n{MARK}\n\n{_body(tally, names, version)}"


def _head(tally: Tally, names: tuple[str, ...]) -> Iterable[str]:
    yield f"pretty_name: {_title(tally)}"
    if spoken := _languages(tally.languages):
        yield "language:"
        yield from (f"- {code}" for code in spoken)
    yield "license: other"
    yield "license_name: rights-of-each-site"
    yield f"size_categories:\n- {_size(max(tally.total(name) for name in names))}"
    yield "tags:\n- web\n- markdown\n- rag"
    yield "configs:"
    for at, name in enumerate(names):
        yield f"- config_name: {name}"
        if at == 0:
            yield "  default: true"
        yield f"  data_files:\n  - split: train\n    path: {name}/*.parquet"


def _body(tally: Tally, names: tuple[str, ...], version: str) -> str:
    lines = [
        f"# {_title(tally)}\n",
        f"Main content of web pages as Markdown, made by sitewax {version}{_fetched(tally)}.",
        "Each row names its page, and the sitemap or link that led there.\n",
        *(f"* `{name}`: {_ABOUT[name]}; {tally.total(name):,} rows." for name in names),
        "\n## Sites\n",
        f"| site | {' | '.join(names)} | tokens |",
        f"| --- | {'---: | ' * len(names)}---: |",
        *_sites(tally, names),
        "\n## Rights\n",
        _RIGHTS,
    ]
    return "\n".join(lines) + "\n"


_ABOUT: Final = {
    "chunks": "passages cut at headings, with the headings above each and its place in the page",
    "pages": "whole pages, with title, language, dates, links and structured data",
}
_RIGHTS: Final = """\
The texts belong to their sites; this dataset grants no rights in them. Before you train on it or
publish it, look at the terms of each site, and at what it says of AI: `ai_signals` in the table
`urls` of the run that made it."""


def _fetched(tally: Tally) -> str:
    days = sorted({f"{moment:%Y-%m-%d}" for moment in (tally.first, tally.last) if moment})
    return f", fetched {' to '.join(days)} (UTC)" if days else ""


def _sites(tally: Tally, names: tuple[str, ...]) -> Iterable[str]:
    counted = {name: tally.rows.get(name, Counter()) for name in names}
    sites = sorted({site for rows in counted.values() for site in rows})
    for site in sites[:_NAMED]:
        counts = " | ".join(f"{counted[name][site]:,}" for name in names)
        yield f"| {site} | {counts} | {tally.tokens[names[0]][site]:,} |"
    if len(sites) > _NAMED:
        yield f"\nand {len(sites) - _NAMED:,} more."


def _title(tally: Tally) -> str:
    counts = sum(tally.rows.values(), Counter())
    if not counts:
        return "Web pages of no site"
    largest = counts.most_common(1)[0][0].partition("://")[2]
    others = len(counts) - 1
    return f"Web pages of {largest}" + (f" and {others:,} more" if others else "")


def _languages(spoken: Mapping[str, int]) -> list[str]:
    """Return the codes that the Hub knows, most spoken first: the tags without their regions."""
    codes: Counter[str] = Counter()
    for tag, count in spoken.items():
        if code := _LANGUAGE.fullmatch(re.split("[-_]", tag.lower())[0]):
            codes[code[0]] += count
    return [code for code, _ in codes.most_common()]


def _size(rows: int) -> str:
    return next((name for most, name in _SIZES if rows < most), "n>1B")
