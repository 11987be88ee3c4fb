"""What an element holds is told without reading all of it, or once for a whole tree."""

import lxml.html
import pytest

from flows import elements
from tests.documents import tree


@pytest.mark.parametrize(
    ("most", "expected"), [(0, ""), (2, "on"), (5, "onetw"), (100, "onetwothree")]
)
def test_the_beginning_of_an_element_ends_where_asked(most: int, expected: str) -> None:
    element = lxml.html.fromstring("<p>one<b>two</b>three</p>")

    assert elements.beginning(element, most) == expected


def test_holders_are_the_elements_around_one_of_a_kind() -> None:
    root = tree("<div id=a><p id=b><code id=c>x</code></div><div id=d>y</div>")
    holders = elements.Holders()
    held = [e.get("id") for e in root.iter() if e.get("id") and holders.holds(e, "pre", "code")]

    assert held == ["a", "b"]


def test_names_are_cut_and_texts_are_kept() -> None:
    long = "x" * (elements.MOST_NAMES + 1)
    root = tree(
        f'<p class="{long}" id="short"><a href="{long}"><img alt="{long}" data-lang="{long}">'
    )
    elements.shorten_names(root)
    lengths = {name: len(value) for e in root.iter() for name, value in e.attrib.items()}

    assert lengths == {
        "class": elements.MOST_NAMES,
        "id": len("short"),
        "href": len(long),
        "alt": len(long),
        "data-lang": elements.MOST_NAMES,
    }


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (" ".join(f"a{n}=b" for n in range(2_000)), "<p>text"),
        (f"title='{'a' * 10_000}'", None),
        ("a=b " * 100, None),
    ],
    ids=["thousands", "a long one", "some"],
)
def test_a_tag_of_thousands_of_attributes_loses_them(attributes: str, expected: str | None) -> None:
    text = f"<p {attributes}>text"

    assert elements.without_crowds(text) == (expected or text)
