"""F1 of our text against trafilatura's default on public gold sets, both in one run.

    python bench/gold.py FOLDER [FOLDER …] [--worst 20] [--processes 2]

A FOLDER is a checkout of scrapinghub's article-extraction-benchmark, or of WCXB (the web content
extraction benchmark of 2026, seven types of page, splits `dev` and `test`); what lies in it tells
which. Each set is scored as its own `evaluate.py` does it: the first by shingles of four words and
the F1 of mean precision and mean recall, the second by counted words and the mean F1.

Trafilatura's text is what `trafilatura.extract(html)` returns. Ours is the Markdown as a reader
sees it, rendered by a CommonMark parser: no targets, no images, no marks. It opens with the page's
title, which the article set does not count as text: `untitled` is the same text without it. A page
that we leave out has no text; only what a page says of indexes and AI is not heeded here.
"""

import argparse
import gzip
import json
import logging
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean

import trafilatura
from markdown_it import MarkdownIt
from markdown_it.token import Token

from flows import content
from flows.records import Attribution, Document, Entry, Exchange, Method, Page

Figures = tuple[float, float, float]
"""Precision, recall, F1."""
_WORD = re.compile(r"\w+")
_READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@dataclass(frozen=True, slots=True)
class Case:
    """A page of a gold set."""

    name: str
    kind: str
    url: str
    path: Path
    text: str
    """What its makers say that the page's content is."""


@dataclass(frozen=True, slots=True)
class Score:
    """How well the texts of one page are found."""

    case: Case
    way: str
    """How our text was found, or the outcome of a page that was left out."""
    ours: Figures
    untitled: Figures
    theirs: Figures


def main() -> None:
    """Print the F1 of both, by kind of page, and the pages on which ours loses most."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--worst", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    for folder in args.folders:
        articles = (folder / "ground-truth.json").exists()
        for split in [""] if articles else ["dev", "test"]:
            cases = shingled(folder) if articles else worded(folder, split)
            with ProcessPoolExecutor(args.processes) as pool:
                scores = list(pool.map(partial(scored, by_shingles=articles), cases, chunksize=4))
            show(f"{folder.name} {split}", scores, of_means if articles else mean_of)
            for score in sorted(scores, key=lambda s: s.ours[2] - s.theirs[2])[: args.worst]:
                print(f"    {score.ours[2]:.3f} {score.theirs[2]:.3f} {score.case}"[:160])


def shingled(folder: Path) -> Iterator[Case]:
    """Yield the pages of the article benchmark."""
    for name, truth in json.loads((folder / "ground-truth.json").read_text("utf-8")).items():
        path = folder / "html" / f"{name}.html.gz"
        yield Case(name, "article", truth["url"], path, truth["articleBody"])


def worded(folder: Path, split: str) -> Iterator[Case]:
    """Yield the pages of one split of WCXB."""
    for path in sorted((folder / split / "ground-truth").glob("*.json")):
        said = json.loads(path.read_text("utf-8"))
        kind = said["_internal"]["page_type"]["primary"]
        page = folder / split / "html" / f"{path.stem}.html.gz"
        text = said["ground_truth"].get("main_content") or ""
        yield Case(path.stem, kind, said.get("url", "https://a.test/"), page, text)


def show(name: str, scores: list[Score], f1: Callable[[Iterable[Figures]], float]) -> None:
    """Print a line for the set, and one for each kind of page and way of finding the content."""
    groups = defaultdict(list, {"": scores})
    for score in scores:
        groups[score.case.kind].append(score)
        groups["way: " + score.way].append(score)
    print(f"{name:40} pages    ours  untitled  theirs  difference")
    for kind, members in sorted(groups.items()):
        ours, untitled = f1(s.ours for s in members), f1(s.untitled for s in members)
        theirs = f1(s.theirs for s in members)
        figures = f"{ours:7.3f}  {untitled:8.3f} {theirs:7.3f}  {ours - theirs:+10.3f}"
        print(f"  {kind:38} {len(members):5} {figures}")


def of_means(scores: Iterable[Figures]) -> float:
    """Return the F1 of mean precision, of pages with a text, and mean recall."""
    precisions, recalls, _ = zip(*scores, strict=True)
    return harmonic(mean([p for p in precisions if p >= 0] or [0.0]), mean(recalls))


def mean_of(scores: Iterable[Figures]) -> float:
    """Return the mean F1."""
    return mean(f1 for _, _, f1 in scores)


def scored(case: Case, *, by_shingles: bool) -> Score:
    """Return how well both find the text of a page."""
    logging.disable(logging.CRITICAL)
    body = gzip.decompress(case.path.read_bytes())
    theirs = trafilatura.extract(body.decode("utf-8", "replace")) or ""
    markdown, way = ours(body, case.url)
    texts = (plain(markdown), plain(markdown, titled=False), theirs)
    units = shingles if by_shingles else words
    return Score(case, way, *(compared(units(text), units(case.text)) for text in texts))


def words(text: str) -> list[str]:
    """Return the words of a text as WCXB counts them."""
    return _WORD.findall(text.lower())


def shingles(text: str) -> list[tuple[str, ...]]:
    """Return each four words in a row, all where there are fewer; none without words."""
    found = _WORD.findall(text)
    return [s for n in range(max(1, len(found) - 3)) if (s := tuple(found[n : n + 4]))]


def compared(found: list, wanted: list) -> Figures:  # type: ignore[type-arg]  # words or shingles
    """Return how well `wanted` is found; the precision of nothing is -1, for it is left out."""
    common = (Counter(found) & Counter(wanted)).total()
    if not wanted:
        return (0.0, 0.0, 0.0) if found else (1.0, 1.0, 1.0)
    precision = common / len(found) if found else -1.0
    recall = common / len(wanted)
    return precision, recall, harmonic(precision, recall) if common else 0.0


def harmonic(precision: float, recall: float) -> float:
    """Return the F1 of both."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def ours(body: bytes, url: str) -> tuple[str, str]:
    """Return our Markdown of a page, and how it was found."""
    entry = Entry(site="https://a.test", url=url, attribution=Attribution(method=Method.GIVEN))
    body = re.sub(rb"\bnoindex\b", b"index", body, flags=re.IGNORECASE)
    page = Page(entry=entry, exchange=Exchange(final_url=url), body=body, charset="utf-8")
    found = content.extract(page, obeys_signals=False)
    if isinstance(found, Document):
        return found.markdown, found.extraction or ""
    return "", found.outcome


def plain(markdown: str, *, titled: bool = True) -> str:
    """Return the words of Markdown as a reader sees them, without its first title on demand."""
    parts: list[str] = []
    skipped = titled
    heading = False
    for token in _READER.parse(markdown):
        if token.type in ("fence", "code_block"):
            parts.append(token.content)
        elif token.children is not None and (skipped or not heading):
            parts.append("".join(map(shown, token.children)))
        elif token.children is not None:
            skipped = True
        heading = token.type == "heading_open" and token.tag == "h1"
    return "\n".join(parts)


def shown(token: Token) -> str:
    """Return what a reader sees of an inline token."""
    if token.type in ("text", "code_inline"):
        return token.content
    is_break = token.type in ("softbreak", "hardbreak") or token.content in ("<br>", "</li>")
    return "\n" if is_break else ""


if __name__ == "__main__":
    main()
