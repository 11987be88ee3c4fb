"""Pages with nearly the same words find each other, in whatever order they come."""

import random

from hypothesis import given
from hypothesis import strategies as st

from flows import neighbours

WORDS = [f"word{number}" for number in range(2_000)]


def text(seed: int, words: int = 300) -> list[str]:
    return random.Random(seed).choices(WORDS, k=words)  # noqa: S311  # repeatable on purpose


def changed(words: list[str], count: int, seed: int = 9) -> list[str]:
    """Return the words with so many of them, spread over the text, replaced."""
    out = list(words)
    for at in random.Random(seed).sample(range(len(words)), count):  # noqa: S311
        out[at] = f"other{at}"
    return out


def signed(words: list[str]) -> bytes:
    found = neighbours.signature(" ".join(words))
    assert found is not None
    return found


def jaccard(one: list[str], other: list[str]) -> float:
    """Return the true part of the shingles that two texts have in common."""
    a, b = (set(zip(w, w[1:], w[2:], strict=False)) for w in (one, other))
    return len(a & b) / len(a | b)


def test_the_estimate_is_close_to_the_truth() -> None:
    first = text(1)
    for count in (0, 2, 10, 30, 100):
        second = changed(first, count)
        error = neighbours.likeness(signed(first), signed(second)) - jaccard(first, second)

        assert abs(error) < 0.15  # four standard deviations at the worst


def test_a_page_that_differs_in_a_word_or_two_is_marked_and_another_is_not() -> None:
    first = text(1)
    pages = {
        "https://a.test/print/one": signed(changed(first, 2)),
        "https://a.test/one": signed(first),
        "https://a.test/one?view=print": signed(changed(first, 1)),
        "https://a.test/half": signed(changed(first, 60)),
        "https://a.test/two": signed(text(2)),
        "https://a.test/short": None,
    }

    assert neighbours.near(pages.items()) == {
        "https://a.test/print/one": "https://a.test/one",
        "https://a.test/one?view=print": "https://a.test/one",
    }


@given(st.permutations(range(12)))
def test_the_order_in_which_pages_come_makes_no_difference(order: list[int]) -> None:
    first = text(3, 120)
    pages = [(f"https://a.test/{at}", signed(changed(first, at % 4, at))) for at in range(12)]

    assert neighbours.near(pages[at] for at in order) == neighbours.near(pages)


def test_nobody_points_to_a_page_that_points_elsewhere() -> None:
    first = text(4)
    pages = [(f"https://a.test/{at:03}", signed(changed(first, at, 1))) for at in range(60)]
    found = neighbours.near(pages)

    assert found
    assert not set(found.values()) & set(found)


def test_thousands_of_pages_that_are_all_alike_are_compared_with_few() -> None:
    sign = signed(text(5))
    pages = [(f"https://a.test/{at}", sign) for at in range(20_000)]

    assert len(neighbours.near(pages)) == 19_999


def test_a_signature_of_another_size_is_no_signature() -> None:
    assert neighbours.near([("https://a.test/", b"1"), ("https://a.test/b", b"1")]) == {}
