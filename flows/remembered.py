"""What earlier runs know of the stored pages of a site, so that this one asks for little.

One row for each page of the corpus, found by the hash of its URL: some 250 bytes a page.
"""

import hashlib
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from flows import schema, trust
from flows.changes import Baseline
from flows.records import Failure, Outcome, Page
from flows.urls import hash64

STORED: Final = (Outcome.OK, Outcome.UNCHANGED, Outcome.NOT_MODIFIED)
"""Outcomes after which the corpus holds the page as the site has it."""

SAME: Final = (Outcome.UNCHANGED, Outcome.NOT_MODIFIED)
"""Outcomes of pages that are stored already, and may not have been read."""

GONE: Final = (Outcome.NOT_FOUND, Outcome.GONE)
"""Outcomes by which a site says that a page is no more; one such answer may be a mistake."""

LEAVING: Final = (
    *(*GONE, Outcome.NOINDEX, Outcome.NON_CANONICAL, Outcome.POLICY_DENIED, Outcome.DUPLICATE),
)
"""Outcomes by which a site may say that a page is not to be kept (`flows.removals`)."""

OF_PAGES: Final = ("url", "run_id", "content_hash", "settings_hash")
"""Columns of the stored pages that matter here."""

ANSWER: Final = (
    *("etag", "last_modified", "final_url", "content_type", "fetched_at", "lastmod"),
    *("fingerprint", "depth", "sitemap"),
)
"""Columns of a row of `urls` that tell on which answer a stored page rests."""

Column = Any
"""An Arrow array, in one piece or in several: no type of the library means both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A page that is stored, and the answer that it rests on."""

    is_current: bool = False
    """Stored by the settings of this run."""
    is_missing: bool = False
    """The site said when it was last asked that there is no such page."""
    was_leaving: bool = False
    """The last run ended with an outcome by which the page may leave."""
    etag: str | None = None
    last_modified: str | None = None
    final_url: str | None = None
    """Where the answer came from, when that was another address."""
    content_type: str | None = None
    fetched_at: datetime | None = None
    lastmod: datetime | None = None
    """What the lists said when the page was last known to be as it is stored."""
    fingerprint: str | None = None
    depth: int | None = None
    sitemap: str | None = None


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Memory:
    """What is remembered of a site: nothing, where it is read for the first time."""

    before: Baseline = field(default_factory=Baseline)
    rows: pa.Table | None = None
    """One for each page, in the order of `before`."""
    trusts_lastmod: bool = False
    """Whether a `lastmod` that stayed where it was has proved to mean what it says."""
    withheld: bool = False
    """Whether the last run found too many pages gone at once to believe it."""

    def __len__(self) -> int:
        """Return how many pages are stored."""
        return len(self.before)

    def of(self, url: str) -> Remembered | None:
        """Return what is known of a stored page, or None when `url` is none."""
        at = self.before.place(url)
        if self.rows is None or at is None:
            return None
        return Remembered(**{name: self.rows[name][at].as_py() for name in _KEPT})

    def urls(self) -> Iterator[str]:
        """Yield the URLs of the stored pages."""
        for url in () if self.rows is None else self.rows["url"]:
            yield url.as_py()

    def contents(self) -> dict[int, str]:
        """Return the URL of each content that is stored, by the content's `hash64`."""
        return dict(zip(self.before.contents, self.urls(), strict=True))

    def is_unmoved(
        self, url: str, lastmod: datetime | None, at: datetime, recheck_s: float
    ) -> bool:
        """Say whether a `lastmod` is reason enough not to ask for a page at the time `at`.

        After `recheck_s`, and twice that at most, it is not: so a mistake does not last.
        """
        was = self.of(url) if self.trusts_lastmod and lastmod else None
        if was is None or lastmod is None or was.fetched_at is None or not was.is_current:
            return False
        same = was.lastmod == lastmod and trust.is_over(lastmod, was.fetched_at)
        patience_s = recheck_s * (1 + hash64(url) / 2**64)  # so that not all are due at once
        return same and (at - was.fetched_at).total_seconds() < patience_s


_KEPT: Final = ("is_current", "is_missing", "was_leaving", *ANSWER)


def memory(
    stored: pa.Table,
    runs: Iterable[pa.Table],
    settings_hash: str,
    *,
    trusts_lastmod: bool = False,
    withheld: bool = False,
) -> Memory:
    """Return what is remembered of the pages `stored` (columns `OF_PAGES`).

    `runs` are rows of `urls` of earlier runs (with `run_id`, `url`, `outcome`), the newest run
    first. A page rests on the newest answer after which it was stored as it is; what is older
    than the stored page says nothing of it.
    """
    found = list(runs)
    current: Column = pc.equal(stored["settings_hash"], pa.scalar(settings_hash))
    columns: dict[str, Column] = {
        "url": stored["url"],
        "is_current": pc.fill_null(current, pa.scalar(False)),
        **_last_words(stored, found),
        **_answers(stored, [run.filter(_is_one_of(run, STORED)) for run in found]),
    }
    hashes, contents = _hashes(stored["url"]), _hashes(stored["content_hash"])
    order = sorted(range(len(hashes)), key=hashes.__getitem__)
    before = Baseline(
        array("Q", (hashes[at] for at in order)), array("Q", (contents[at] for at in order))
    )
    rows = pa.table(columns).take(pa.array(order, pa.int64())).combine_chunks()
    return Memory(before, _slim(rows), trusts_lastmod, withheld)


def _slim(rows: pa.Table) -> pa.Table:
    """Return the rows without what they say over and over."""
    url: Column = rows["url"]
    final: Column = rows["final_url"]
    elsewhere = pc.if_else(pc.equal(final, url), pa.scalar(None, pa.string()), final)
    slim = {"final_url": elsewhere}
    for name in ("content_type", "sitemap", "last_modified"):
        column: Column = rows[name]
        slim[name] = pc.dictionary_encode(column)
    for name, values in slim.items():
        rows = rows.set_column(rows.column_names.index(name), name, values)
    return rows


def _hashes(column: Column) -> list[int]:
    return [hash64(text) for text in column.to_pylist()]


def _last_words(stored: pa.Table, runs: list[pa.Table]) -> dict[str, Column]:
    """Say which pages were found gone, or about to leave, when they were last asked for."""
    word: Column = pa.nulls(stored.num_rows, pa.string())
    for run in runs:
        at: Column = pc.index_in(stored["url"], value_set=run["url"].combine_chunks())
        word = pc.coalesce(word, run["outcome"].take(at))
    return {
        "is_missing": pc.is_in(word, value_set=_words(GONE)),
        "was_leaving": pc.is_in(word, value_set=_words(LEAVING)),
    }


def _answers(stored: pa.Table, runs: list[pa.Table]) -> dict[str, Column]:
    """Return the columns of the answers that the pages rest on; null where there is none."""
    if not runs:
        nothing = schema.columns("urls", stored.select(["url"]), ANSWER)
        return dict(zip(ANSWER, nothing.columns, strict=True))
    rests = pa.concat_tables(runs)
    at: Column = pc.index_in(stored["url"], value_set=rests["url"].combine_chunks())
    newer: Column = pc.greater_equal(rests["run_id"].take(at), stored["run_id"])
    at = pc.if_else(newer, at, pa.scalar(None, pa.int32()))
    return {name: rests[name].take(at) for name in ANSWER}


def _is_one_of(rows: pa.Table, outcomes: Iterable[Outcome]) -> Column:
    return pc.is_in(rows["outcome"], value_set=_words(outcomes))


def _words(outcomes: Iterable[Outcome]) -> "pa.Array[Any]":
    return pa.array([str(outcome) for outcome in outcomes], pa.string())


def fingerprint(page: Page) -> str:
    """Return the digest of all that decides what is read of a page.

    >>> from flows.records import Attribution, Entry, Exchange, Method
    >>> entry = Entry(site="s", url="u", attribution=Attribution(method=Method.LINK))
    >>> page = Page(entry=entry, exchange=Exchange(), body=b"<p>words</p>")
    >>> fingerprint(page) == fingerprint(page), len(fingerprint(page))
    (True, 32)
    """
    digest = hashlib.blake2b(page.body, digest_size=16)
    if page.offer and page.offer.is_alternate:
        digest.update(page.offer.body)
    for word in (page.charset, page.robots_tag, page.base_url):
        digest.update(b"\0" + (word or "").encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def is_gone(answer: Page | Failure) -> bool:
    """Say whether an answer says that there is no such page."""
    return isinstance(answer, Failure) and answer.outcome in GONE
