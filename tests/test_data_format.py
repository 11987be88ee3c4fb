"""docs/data-format.md is the contract: it names every column, word and kind, and only those."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from connectors import reading
from flows import alerts, schema
from flows.records import Change, Method, Outcome

ROOT = Path(schema.__file__).parents[1]
PAGE = (ROOT / "docs" / "data-format.md").read_text(encoding="utf-8")
SOURCES = [
    path
    for package in ("flows", "connectors")
    for path in sorted((ROOT / package).rglob("*.py"))
    if path not in (ROOT / "flows" / "records" / "words.py", ROOT / "flows" / "alerts.py")
]
PLANNED = "*(planned)*"
RAISING = ("Problem", "alert", "_alert", "_tell", ".add", ".once")
"""Ends of the names of what is called with the kind of an alert."""
KIND = re.compile(r"[a-z]+(?:_[a-z]+)+").fullmatch


def section(heading: str) -> str:
    """Return the text below a heading, up to the next of the same or a higher level."""
    level = heading.partition(" ")[0]
    _, found, rest = PAGE.partition(f"\n{heading}\n")
    assert found, heading
    return re.split(rf"\n#{{1,{len(level)}}} ", rest, maxsplit=1)[0]


def rows(heading: str) -> Iterator[list[str]]:
    """Yield the rows of the tables in a section that begin with a word in code."""
    for line in section(heading).splitlines():
        if line.startswith("| `"):
            yield [cell.strip() for cell in line.strip("| ").split(" | ")]


def words(heading: str) -> dict[str, str]:
    return {row[0].strip("`"): " | ".join(row[1:]) for row in rows(heading)}


def written(kind: pa.DataType) -> str:
    """Return a type as the page spells it."""
    if pa.types.is_list(kind):
        return f"list<{written(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(field.name for field in kind)}>"
    return "timestamp" if pa.types.is_timestamp(kind) else str(kind)


def identifiers() -> set[str]:
    """Return every attribute and every text constant in the code that could be a word of ours."""
    found = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                found.add(f"{ast.unparse(node.value)}.{node.attr}")
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found


CODE = identifiers()


@pytest.mark.parametrize("table", schema.TABLES)
def test_every_column_is_described_with_its_type_and_in_order(table: str) -> None:
    described = [(row[0].strip("`"), row[1]) for row in rows(f"### {table}")]

    assert described == [(field.name, written(field.type)) for field in schema.SCHEMAS[table]]


@pytest.mark.parametrize(
    ("heading", "words_of_code"),
    [("## Outcomes", Outcome), ("## Changes", Change), ("## Methods", Method)],
    ids=["outcomes", "changes", "methods"],
)
def test_every_word_is_defined_and_no_other(heading: str, words_of_code: type) -> None:
    assert sorted(words(heading)) == sorted(words_of_code)


@pytest.mark.parametrize(
    ("heading", "words_of_code"),
    [("## Outcomes", Outcome), ("## Changes", Change), ("## Methods", Method)],
    ids=["outcomes", "changes", "methods"],
)
def test_every_word_that_no_code_names_is_planned(heading: str, words_of_code: type) -> None:
    unused = {w.value for w in words_of_code if f"{words_of_code.__name__}.{w.name}" not in CODE}

    assert unused <= {word for word, text in words(heading).items() if PLANNED in text}


def test_every_alert_has_the_severity_that_the_code_gives_it() -> None:
    described = {kind: text.partition(" ")[0] for kind, text in words("## Alerts").items()}

    assert described == {kind: alerts.severity(kind).value for kind in described}
    assert set(described) >= alerts.ERRORS | alerts.NOTES


def test_exactly_the_alerts_that_no_code_raises_are_planned() -> None:
    described = words("## Alerts")

    assert {k for k, text in described.items() if PLANNED in text} == set(described) - CODE


def raised() -> set[str]:
    """Return the kinds that the code hands to what makes an alert, or a fault that becomes one."""
    found = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(RAISING):
                kinds = [*node.args[:2], *(k.value for k in node.keywords if k.arg == "kind")]
                texts = [text for kind in kinds for text in ast.walk(kind)]
                found |= {t.value for t in texts if isinstance(t, ast.Constant)}
    return {kind for kind in found if isinstance(kind, str) and KIND(kind)}


def test_every_alert_that_is_raised_is_described() -> None:
    kinds = raised() | set(reading.ALERT_OF.values())

    assert len(kinds) > 30
    assert kinds <= set(words("## Alerts"))


def test_every_alert_that_is_described_is_made_by_a_test() -> None:
    tests = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = set(re.findall(r"[a-z_]+", " ".join(text for text in tests if "planned" not in text)))

    assert {k for k, text in words("## Alerts").items() if PLANNED not in text} <= named


def test_the_version_of_the_layout_is_stated() -> None:
    assert f"the version of the layout: **{schema.VERSION}**" in PAGE
