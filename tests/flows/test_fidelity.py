"""The Markdown of each kind of site keeps its structure: no page falls below its floor.

The floors are in tests/data/fidelity.toml; lowering one needs a reason beside it.
"""

import tomllib
from pathlib import Path

import pytest

from flows import content
from flows.records import Document
from tests.documents import page
from tests.fidelity import measure

DATA = Path(__file__).parents[1] / "data"
FLOORS: dict[str, dict[str, float]] = tomllib.loads((DATA / "fidelity.toml").read_text())
URL = "https://a.test/docs/page.html"


@pytest.mark.parametrize("kind", FLOORS)
def test_markdown_keeps_the_structure_of_a_page(kind: str) -> None:
    html = (DATA / "pages" / f"{kind}.html").read_text()

    document = content.extract(page(html, URL))
    assert isinstance(document, Document)
    scores = measure(html, document.markdown, URL)

    assert {part: score for part, score in scores.items() if score < FLOORS[kind][part]} == {}


@pytest.mark.parametrize(
    "path", sorted((DATA / "whole").glob("*.html")), ids=lambda path: path.stem
)
def test_a_whole_page_is_this_markdown_and_no_other(path: Path) -> None:
    document = content.extract(page(path.read_text(), URL))

    assert isinstance(document, Document)
    assert document.markdown == path.with_suffix(".md").read_text().rstrip("\n")


def test_each_page_has_its_floor() -> None:
    assert set(FLOORS) == {path.stem for path in (DATA / "pages").glob("*.html")}


def test_kinds_of_site_together_stay_above_the_bar() -> None:
    assert sum(floors["all"] for floors in FLOORS.values()) / len(FLOORS) >= 0.98
