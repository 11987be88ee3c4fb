"""Pages that stand in front of a page: soft errors, sign-in, consent, refresh stubs, script shells.

Each judgement needs a page that is short, and that says so in its title or heading or by its
markup: an article *about* a 404 page, a sign-in flow or cookies is an article.
"""

import re
from collections.abc import Iterator
from itertools import islice
from urllib.parse import urljoin, urlsplit

from lxml.etree import _Element

from flows import elements
from flows.records import Outcome
from flows.walls import phrases

Wall = tuple[Outcome, str]

MAX_LETTERS = 4_000
"""Characters of main text above which nothing is a wall."""

CONSENT_WORDS = 250
"""Most words of a consent wall; they are wordy."""

NOTICE_WORDS = 120
"""Most words of a page that is nothing but a notice or a form."""

STUB_WORDS = 100
"""Most words of a page whose meta refresh counts."""

SENTENCE_WORDS = 50
"""Most words of a page that is judged by a sentence of its text."""

SHELL_WORDS = 20
"""Most words of an application shell that no script has filled."""

MAX_HEADLINES = 40
"""Titles, headings and parts of them that are looked at."""

MAX_MOUNTS = 8
"""Elements that applications are mounted in that are looked at."""

REFRESH_S = 5.0
"""Longest delay of a meta refresh that sends a reader on."""

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_SEPARATORS = re.compile(r"\s*[|\u2022\u00b7\u00bb\u00ab]\s*|\s+[-\u2013\u2014:]+\s+")
_URL = re.compile(r"^\s*url\s*=\s*", re.IGNORECASE)
_DELAY = re.compile(r"\s*(\d{1,6}(?:\.\d{1,3})?)")

_MOUNTS = frozenset(
    {"root", "app", "__next", "__nuxt", "___gatsby", "application", "main-app", "app-root"}
    | {"react-root", "react-app", "vue-app", "ember-app", "svelte", "q-app", "mount", "spa"}
)
"""Ids of the elements that applications are mounted in."""

_MOUNT_TAGS = ("app-root", "my-app", "ion-app")
_UNSEEN = frozenset({"script", "style", "noscript", "template", "head", "title", "svg", "iframe"})


def judge(tree: _Element, text: str, url: str) -> Wall | None:
    """Return which wall a page is and how that is known, or None when it is a page.

    `tree` is the whole HTML, `text` the main content extracted from it.
    """
    if len(text) > MAX_LETTERS or (size := words(text)) > CONSENT_WORDS:
        return None
    says = list(islice(_headlines(tree), MAX_HEADLINES))
    plain = text.replace("\u2019", "'")
    return (
        _refresh(tree, size, url)
        or _not_found(tree, says, plain, size, url)
        or _error(tree, says, plain, size)
        or _consent(tree, says, plain, size, url)
        or _sign_in(tree, says, plain, size)
        or _shell(tree, plain, size)
    )


def words(text: str) -> int:
    """Return the number of words; in scripts that do not space them, of pairs of letters.

    >>> words("one two"), words("\u30da\u30fc\u30b8\u304c")
    (2, 2)
    """
    unspaced = len(_UNSPACED.findall(text))
    return len(_WORD.findall(_UNSPACED.sub(" ", text) if unspaced else text)) + unspaced // 2


def _headlines(tree: _Element) -> Iterator[str]:
    """Yield the title and the first headings, whole and in the parts a site's name leaves."""
    for element in tree.iter("title", "h1", "h2"):
        whole = _said(element)[:300]
        if whole:
            yield whole
            yield from (part for part in _SEPARATORS.split(whole) if part and part != whole)
        if element.tag == "h2":
            return


def _said(element: _Element) -> str:
    return " ".join(elements.beginning(element, MAX_LETTERS).split()).replace("\u2019", "'")


def _has(tree: _Element, *tags: str) -> bool:
    return next(tree.iter(*tags), None) is not None


def _refresh(tree: _Element, size: int, url: str) -> Wall | None:
    if size > STUB_WORDS:
        return None
    for meta in tree.iter("meta"):
        if (meta.get("http-equiv") or "").strip().lower() != "refresh":
            continue
        target = sends_on(meta.get("content") or "", url)
        if target and not any(parent.tag == "noscript" for parent in meta.iterancestors()):
            return Outcome.META_REFRESH, f"sends on to {target[:200]}"
    return None


def sends_on(refresh: str, url: str) -> str | None:
    """Return where a refresh sends the reader of `url` at once, or None when it does not.

    Source: HTML standard, shared declarative refresh steps; for the header and the element.

    >>> sends_on("0; url=/new", "https://a.test/old")
    '/new'
    >>> sends_on("300; url=/new", "https://a.test/old") is None
    True
    """
    delay, _, target = refresh[:MAX_LETTERS].replace(",", ";", 1).partition(";")
    target = _URL.sub("", target).strip(" '\"")
    if not target or _is_same(url, target):
        return None
    found = _DELAY.match(delay)
    return target if not found or float(found[1]) <= REFRESH_S else None


def _is_same(url: str, target: str) -> bool:
    try:
        return urljoin(url, target).partition("#")[0] == url.partition("#")[0]
    except ValueError:
        return False


def _path(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def _not_found(tree: _Element, says: list[str], text: str, size: int, url: str) -> Wall | None:
    if size > NOTICE_WORDS or _has(tree, "pre"):
        return None
    named = next((said for said in says if phrases.NOT_FOUND_HEADLINE.fullmatch(said)), None)
    if named and (
        size <= SHELL_WORDS or phrases.APOLOGY.search(text) or phrases.GONE_PATH.search(_path(url))
    ):
        return Outcome.SOFT_404, f"says {named[:80]!r}"
    found = phrases.GONE_SENTENCE.search(text) if size <= SENTENCE_WORDS else None
    return (Outcome.SOFT_404, f"says {found[0][:80]!r}") if found else None


def _error(tree: _Element, says: list[str], text: str, size: int) -> Wall | None:
    if size > SENTENCE_WORDS:
        return None
    if phrases.DUMP.match(text):
        return Outcome.SOFT_ERROR, f"says {text.strip()[:80]!r}"
    excused = phrases.EXCUSE.search(text)
    for said in says:
        plain = phrases.ERROR_HEADLINE.fullmatch(said) and not _has(tree, "pre")
        if plain or (excused and phrases.VAGUE_ERROR_HEADLINE.fullmatch(said)):
            return Outcome.SOFT_ERROR, f"says {said[:80]!r}"
    return None


def _consent(tree: _Element, says: list[str], text: str, size: int, url: str) -> Wall | None:
    if any(map(phrases.ABOUT_CONSENT.search, says)) or phrases.POLICY_PATH.search(_path(url)):
        return None
    topics = len(phrases.CONSENT_TOPIC.findall(text))
    headed = any(map(phrases.CONSENT_HEADLINE.fullmatch, says))
    if topics < 3 or topics * (25 if headed else 12) < size:
        return None
    button = next((b for b in _buttons(tree) if phrases.ACCEPT.search(b[:80])), None)
    return (Outcome.CONSENT_WALL, f"asks to press {button[:60]!r}") if button else None


def _buttons(tree: _Element) -> Iterator[str]:
    yield from (_said(element) for element in tree.iter("button", "a", "label"))
    yield from (element.get("value") or "" for element in tree.iter("input"))


def _sign_in(tree: _Element, says: list[str], text: str, size: int) -> Wall | None:
    if size > NOTICE_WORDS:
        return None
    asked = any(map(phrases.SIGN_IN_HEADLINE.fullmatch, says))
    password = any((i.get("type") or "").strip().lower() == "password" for i in tree.iter("input"))
    if password and (asked or size <= SHELL_WORDS // 2):
        return Outcome.LOGIN_REQUIRED, f"a form for a password, and {size} words"
    if size <= SENTENCE_WORDS:
        found = next(filter(None, map(phrases.MEMBERS_ONLY.search, [*says, text])), None)
        if found:
            return Outcome.LOGIN_REQUIRED, f"says {found[0][:80]!r}"
    return None


def _shell(tree: _Element, text: str, size: int) -> Wall | None:
    asked = phrases.NEEDS_SCRIPT.search(text)
    most = 2 * SHELL_WORDS if asked else SHELL_WORDS
    if size > most or not _has(tree, "script"):
        return None
    seen = words(_visible(tree))
    if seen > most:
        return None
    told = asked or any(phrases.NEEDS_SCRIPT.search(_said(n)) for n in tree.iter("noscript"))
    if told or seen == 0 or _has_empty_mount(tree):
        return Outcome.JS_REQUIRED, f"{seen} words before its scripts run"
    return None


def _has_empty_mount(tree: _Element) -> bool:
    mounts = (
        element
        for element in tree.iter("div", "main", "section", *_MOUNT_TAGS)
        if element.tag in _MOUNT_TAGS or (element.get("id") or "").lower() in _MOUNTS
    )
    return any(
        words(_visible(element)) <= SHELL_WORDS // 4 for element in islice(mounts, MAX_MOUNTS)
    )


def _visible(tree: _Element) -> str:
    """Return the text that is shown without scripts."""
    parts: list[str] = []
    stack = [tree]
    while stack:
        element = stack.pop()
        if element is not tree:
            parts.append(element.tail or "")
        if isinstance(element.tag, str) and element.tag not in _UNSEEN:
            parts.append(element.text or "")
            stack.extend(element)
    return " ".join(parts)
