"""A chunk stands alone: within its limit, under its headings, whole in itself, and nothing lost."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import chunks, tokens
from flows.chunks import Limits
from flows.records import Chunk, Document
from tests.documents import PROSE, document

SMALL = Limits(max_tokens=64, min_tokens=8)


def cut(markdown: str, limits: Limits = SMALL) -> tuple[Chunk, ...]:
    return chunks.cut(document(markdown), limits)


def paths(markdown: str) -> list[tuple[str, ...]]:
    return [chunk.heading_path for chunk in cut(markdown)]


def lines(count: int) -> str:
    return "\n".join(f"value_{n} = compute({n})" for n in range(count))


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("text", [()]),
        (f"# A\n\n{PROSE}\n\n## B\n\n{PROSE}\n\n# C\n\n{PROSE}", [("A",), ("A", "B"), ("C",)]),
        (f"# A\n\n## B\n\n{PROSE}", [("A", "B")]),
        (f"### A\n\n{PROSE}\n\n## B\n\n{PROSE}", [("A",), ("B",)]),
        (f"A\n=\n\n{PROSE}\n\nB\n-\n\n{PROSE}", [("A",), ("A", "B")]),
        (f"# The `a_b` of [*c*](d)\n\n{PROSE}", [("The a_b of c",)]),
        (f"# A\n\n```\n# no heading\n```\n\n{PROSE}", [("A",)]),
        (f"# A\n\n~~~sh\n# no heading\n~~~\n\n{PROSE}", [("A",)]),
        (f"- a\n\n  ## B\n\n  {PROSE}", [(), ("B",)]),
    ],
    ids=["none", "nested", "bare", "levels skipped", "setext", "markup", "fence", "tilde", "list"],
)
def test_a_chunk_knows_the_headings_above_it(
    markdown: str, expected: list[tuple[str, ...]]
) -> None:
    assert paths(markdown) == expected


def test_no_heading_ends_a_chunk() -> None:
    found = cut(f"# A\n\n{PROSE * 4}\n\n## B\n\n{PROSE * 4}\n\n## C\n\n{PROSE}")

    assert [c.text for c in found if re.search(r"^#+ .*\Z", c.text, re.MULTILINE)] == []


def test_cut_code_is_fenced_again_with_its_language() -> None:
    found = cut(f"# A\n\n```python\n{lines(40)}\n```")

    assert len(found) > 3
    assert all(c.text.count("```python\n") == 1 for c in found)
    assert all(c.text.endswith("\n```") for c in found)
    assert "\n".join(
        re.findall(r"^value.*$", "\n".join(c.text for c in found), re.MULTILINE)
    ) == lines(40)


def test_a_fence_in_a_list_is_repeated_at_its_depth() -> None:
    inside = lines(40).replace("\n", "\n  ")
    found = cut(f"- item\n\n  ```py\n  {inside}\n  ```")

    assert all("  ```py\n" in c.text and c.text.endswith("\n  ```") for c in found[1:])


def test_a_cut_table_repeats_its_header_and_is_cut_between_rows() -> None:
    rows = [f"| name {n} | {n} metres |" for n in range(40)]
    header = "| Name | Length |\n| --- | --- |\n"
    found = cut(header + "\n".join(rows))

    assert len(found) > 3
    assert all(c.text.startswith(header) for c in found)
    assert [row for c in found for row in c.text.splitlines()[2:]] == rows


def test_long_text_is_cut_between_sentences() -> None:
    found = cut(PROSE * 20)

    assert all(c.text.endswith(".") for c in found)


@pytest.mark.parametrize(
    "text", ["漢字の文。" * 100, "漢" * 400, "x" * 4_000, "👩\u200d🚀" * 200, "e\u0301" * 400]
)
def test_text_without_spaces_is_cut_and_no_character_broken(text: str) -> None:
    found = cut(text)

    assert len(found) > 1
    assert "".join(c.text for c in found) == text
    assert not any(c.text[0] in "\u200d\u0301" for c in found)


def test_small_neighbours_under_one_heading_are_joined() -> None:
    found = cut(f"# A\n\n{PROSE * 3}\n\n- last", Limits(max_tokens=64, min_tokens=32))

    assert min(c.token_count for c in found) >= 32


def test_overlap_repeats_the_end_of_the_chunk_before() -> None:
    found = cut(PROSE * 20, Limits(max_tokens=64, overlap=24))

    assert all(c.text.startswith(PROSE) for c in found)
    assert all(c.token_count <= 64 for c in found)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))


def test_a_breadcrumb_says_where_a_chunk_stands_and_counts() -> None:
    limits = Limits(max_tokens=64, breadcrumb=True)
    found = chunks.cut(document(f"# A\n\n## B\n\n{PROSE * 9}", title="Site"), limits)

    assert all(c.text.startswith("Site > A > B\n\n") for c in found)
    assert all(tokens.count(c.text, "cl100k_base") == c.token_count <= 64 for c in found)


def test_anchors_are_the_pages_own_and_unique() -> None:
    markdown = f"# A `f()`\n\n{PROSE}\n\n# B\n\n{PROSE}\n\n# B\n\n{PROSE}\n\n# A b!\n\n{PROSE}"
    own = (("A `f()`", "own-id"), ("Gone", "gone"), ("B", "own-b"))
    found = chunks.cut(Document(url="u", markdown=markdown, content_hash="", anchors=own), SMALL)

    assert [c.anchor for c in found] == ["own-id", "own-b", "b", "a-b"]


def test_a_passage_keeps_its_id_when_the_page_around_it_changes() -> None:
    before = {c.text: c.chunk_id for c in cut(f"# A\n\n{PROSE}\n\n# B\n\n{PROSE * 2}")}
    after = {c.text: c.chunk_id for c in cut(f"# New\n\nwords\n\n# A\n\n{PROSE}\n\n# B\n\n{PROSE}")}

    assert {text for text in before if after.get(text) == before[text]} == {
        f"# A\n\n{PROSE}".strip()
    }


def test_a_passage_that_repeats_itself_has_an_id_each_time() -> None:
    found = cut(f"# A\n\n{PROSE}\n\n# A\n\n{PROSE}")

    assert found[0].text == found[1].text
    assert found[0].chunk_id != found[1].chunk_id


def test_the_same_words_on_another_page_have_another_id() -> None:
    here, there = (chunks.cut(document("text", f"https://a.test/{n}"), SMALL)[0] for n in "ab")

    assert here.chunk_id != there.chunk_id


@pytest.mark.parametrize("markdown", ["", "\n\n", "   \n"])
def test_nothing_has_no_chunks(markdown: str) -> None:
    assert cut(markdown) == ()


BLOCK = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=300),
    st.integers(1, 6).map(lambda level: f"{'#' * level} Heading {level}"),
    st.integers(1, 30).map(lambda count: f"```py\n{lines(count)}\n```"),
    st.integers(1, 30).map(lambda count: "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * count),
    st.integers(1, 9).map(lambda count: "\n".join(f"- item {n}\n  - inner" for n in range(count))),
    st.integers(1, 9).map(lambda count: "> " + PROSE * count),
    st.integers(1, 9).map(lambda count: PROSE * count),
)
LIMITS = st.builds(
    Limits,
    max_tokens=st.sampled_from([48, 96, 512]),
    overlap=st.sampled_from([0, 16]),
    breadcrumb=st.booleans(),
)


@given(st.lists(BLOCK, max_size=8).map("\n\n".join), LIMITS)
def test_spans_rebuild_the_page_and_limits_hold(markdown: str, limits: Limits) -> None:
    found = chunks.cut(document(markdown, title="Title"), limits)

    covered = "".join(markdown[c.start : c.end] for c in found)
    assert "".join(covered.split()) == "".join(markdown.split())
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    assert all(markdown[c.start : c.end].strip() in c.text for c in found)
    assert all(c.token_count == tokens.count(c.text, limits.encoding) for c in found)
    assert all(c.token_count <= limits.max_tokens for c in found)
    assert [c.chunk_index for c in found] == list(range(len(found)))
    assert len({c.chunk_id for c in found}) == len(found)
