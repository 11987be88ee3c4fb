"""What changed is told from hashes alone, and one content belongs to one URL."""

import pickle

from hypothesis import given
from hypothesis import strategies as st

from flows import changes
from flows.changes import Baseline
from flows.duplicates import Contents
from flows.records import Change

URLS = st.text(st.sampled_from("abc/"), max_size=4)
HASHES = st.sampled_from(["c0ffee", "decade", "facade"])


@given(before=st.dictionaries(URLS, HASHES), url=URLS, content=HASHES)
def test_a_change_is_what_comparing_the_contents_says(
    before: dict[str, str], url: str, content: str
) -> None:
    told = changes.change(url, content, changes.baseline(before.items()))

    if url not in before:
        assert told is Change.NEW
    else:
        assert told is (Change.UNCHANGED if before[url] == content else Change.UPDATED)


def test_without_a_baseline_everything_is_new() -> None:
    assert changes.change("https://a.test/", "c0ffee", Baseline()) is Change.NEW


def test_a_baseline_counts_its_pages_and_travels() -> None:
    before = changes.baseline([("https://a.test/a", "c0ffee"), ("https://a.test/b", "decade")])

    assert len(before) == 2
    assert pickle.loads(pickle.dumps(before)) == before  # noqa: S301  # our own


def test_the_first_url_of_a_content_keeps_it() -> None:
    contents = Contents([("https://a.test/stored", "c0ffee")])

    assert contents.claim("https://a.test/other", "c0ffee") == "https://a.test/stored"
    assert contents.claim("https://a.test/stored", "c0ffee") is None
    assert contents.claim("https://a.test/new", "decade") is None
    assert contents.claim("https://a.test/new2", "decade") == "https://a.test/new"
