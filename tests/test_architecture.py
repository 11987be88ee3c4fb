"""Arrows point inwards: verbs may know connectors, connectors know nouns, nouns know neither."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import connectors
import flows

ROOT = Path(flows.__file__).parents[1]
VERBS = {
    *("ingest", "discover", "export", "index", "prune", "publish", "rechunk", "report", "search"),
}
"""Modules that are run: they define a dataflow, or a command."""
WIRING = {"operators"}
"""Modules that may know the engine, and that connectors may use."""
OUTSIDE = {"bytewax", "connectors", "httpx", "httpcore", "socket", "requests", "pebble"}
"""What a noun must not import: the engine, the network, other processes, and what uses them."""


def modules(package: Path) -> list[Path]:
    return sorted(path for path in package.rglob("*.py") if "__pycache__" not in path.parts)


FLOWS = modules(Path(flows.__file__).parent)
NOUNS = [path for path in FLOWS if path.stem not in VERBS | WIRING]
CONNECTORS = modules(Path(connectors.__file__).parent)


def name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> Iterator[str]:
    """Yield the dotted name of every import of a file, those inside functions included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", NOUNS, ids=name)
def test_a_noun_imports_nothing_from_outside(path: Path) -> None:
    assert {module.partition(".")[0] for module in imported(path)} & OUTSIDE == set()


@pytest.mark.parametrize("path", NOUNS + CONNECTORS, ids=name)
def test_a_flow_is_imported_by_flows_alone(path: Path) -> None:
    verbs = {f"flows.{verb}" for verb in VERBS}

    assert {".".join(module.split(".")[:2]) for module in imported(path)} & verbs == set()


def test_the_package_of_flows_is_a_docstring() -> None:
    tree = ast.parse((ROOT / "flows" / "__init__.py").read_text(encoding="utf-8"))

    assert [type(node) for node in tree.body] == [ast.Expr]


@pytest.mark.parametrize("path", FLOWS + CONNECTORS, ids=name)
def test_no_expression_repeats_a_group_possessively(path: Path) -> None:
    """CPython before 3.11.5 loses its place in those; atomic groups do the same everywhere."""
    found = re.findall(r"[^\\\[]\)(?:[*+?]|\{\d+(?:,\d*)?\})\+", path.read_text(encoding="utf-8"))

    assert [one for one in found if one != "()*+"] == []


def test_importing_everything_prints_nothing() -> None:
    names = ", ".join(name(path) for path in FLOWS + CONNECTORS if path.stem != "__main__")
    done = subprocess.run(
        [sys.executable, "-c", f"import {names}"], cwd=ROOT, capture_output=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_verb_starts_without_what_reads_pages_and_without_pandas() -> None:
    """Extraction processes load the one, and a table of rows that are written the other."""
    names = ", ".join(f"flows.{verb}" for verb in VERBS)
    heavy = {"bs4", "dateparser", "lancedb", "markdown_it", "pandas", "trafilatura"}
    told = f"import sys, {names}; print(*sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", told], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["markdown_it"]  # of `flows.rechunk`, which cuts at once
