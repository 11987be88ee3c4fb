"""What sites say of AI is found in each of its places, recorded as said, and obeyed for reading."""

import lxml.html
import pytest

from flows import content, rows, signals
from flows.records import (
    Attribution,
    Document,
    Entry,
    Exchange,
    Failure,
    Method,
    Outcome,
    Page,
    Reading,
)

SITE = "https://a.test"
TEXT = "<main><h1>Title</h1><p>" + "The words of a page that is long enough. " * 12 + "</p></main>"


def said(head: str = "", header: str | None = None) -> str | None:
    return signals.of_page(lxml.html.document_fromstring(f"<html><head>{head}</head>x"), header)


def page(head: str = "", header: str | None = None, site_says: str | None = None) -> Page:
    at = Attribution(method=Method.LINK)
    return Page(
        entry=Entry(site=SITE, url=SITE + "/p", attribution=at, ai_signals=site_says),
        exchange=Exchange(status=200, final_url=SITE + "/p"),
        body=f"<html><head>{head}</head><body>{TEXT}</body></html>".encode(),
        robots_tag=header,
    )


@pytest.mark.parametrize(
    ("head", "header", "expected"),
    [
        ("<meta name=robots content='noai, noimageai'>", None, "meta: noai, noimageai"),
        ("<META NAME=Robots CONTENT='INDEX;NoAI'>", None, "meta: noai"),
        ("<meta name=robots content='ai-input = no'>", None, "meta: ai-input=no"),
        ("<meta name=content-signal content='ai-train=no, search=yes'>", None,
         "meta: ai-train=no, search=yes"),
        ("", "noai\nai-train=no", "X-Robots-Tag: noai, ai-train=no"),
        ("", "*: noai", "X-Robots-Tag: noai"),
        ("<meta name=robots content=noimageai>", "noai", "X-Robots-Tag: noai; meta: noimageai"),
        ("", "otherbot: noai", None),
        ("<meta name=robots content='index, follow'><meta name=keywords content=noai>", None, None),
        ("<meta name=robots>", "", None),
    ],
)  # fmt: skip
def test_each_place_and_spelling_is_read(
    head: str, header: str | None, expected: str | None
) -> None:
    assert said(head, header) == expected


@pytest.mark.parametrize(
    ("head", "header", "by"),
    [
        ("<meta name=robots content=noai>", None, "meta: noai"),
        ("", "ai-input=no", "X-Robots-Tag: ai-input=no"),
    ],
    ids=["meta", "header"],
)
def test_a_page_that_no_model_may_read_is_not_stored(
    head: str, header: str | None, by: str
) -> None:
    left_out = content.extract(page(head, header))

    assert isinstance(left_out, Failure)
    assert (left_out.outcome, left_out.detail) == (Outcome.POLICY_DENIED, by)
    assert rows.url(left_out, run_id="r", settings_hash="s")["ai_signals"] == by


@pytest.mark.parametrize(
    ("head", "obeys"),
    [
        ("<meta name=robots content='noimageai, ai-train=no'>", True),
        ("<meta name=robots content=noai>", False),
    ],
    ids=["not about reading", "told to ignore"],
)
def test_any_other_signal_is_recorded_with_the_page_that_is_stored(head: str, obeys: bool) -> None:
    wanted = page(head, site_says="robots.txt: ai-train=no")

    read = content.extract(wanted, obeys_signals=obeys)

    assert isinstance(read, Document)
    stored = Reading(entry=wanted.entry, exchange=wanted.exchange, document=read, chunks=())
    told = rows.url(stored, run_id="r", settings_hash="s")
    assert told["ai_signals"] == f"robots.txt: ai-train=no; {said(head)}"


def test_a_page_that_is_left_out_for_another_reason_keeps_its_signals() -> None:
    left_out = content.extract(page("<meta name=robots content='noindex, noimageai'>"))

    assert isinstance(left_out, Failure)
    assert left_out.outcome is Outcome.NOINDEX
    assert left_out.ai_signals == "meta: noimageai"


def test_nothing_said_is_null() -> None:
    read = content.extract(page())

    assert isinstance(read, Document)
    assert read.ai_signals is None
    assert signals.of_robots(None) is None
    assert signals.denial(None) is None
