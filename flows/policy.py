"""Admit or refuse a URL before anything is asked of its site."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from flows import robots, signals, urls
from flows.records import Columns, Entries, Entry, Failure, LeftOut, Method, Outcome, Rules
from flows.settings import Settings, Site
from flows.shares import Shares, together
from flows.traps import LINKED, Traps

NOT_PAGES = frozenset(
    """
    7z aac apk avi avif bin bmp bz2 class css csv dat deb dmg doc docx eot epub exe flac gif gz ico
    ics iso jar jpeg jpg js json jsonld m4a m4v mjs mkv mov mp3 mp4 mpeg mpg msi odp ods odt ogg ogv
    otf pdf pkg png ppt pptx ps psd rar rpm rtf svg swf tar tgz tif tiff torrent ttf wasm wav webm
    webmanifest webp whl wma wmv woff woff2 xls xlsx xml xpi xz zip zst
    """.split()  # noqa: SIM905  # one a line would fill two screens
)
"""Endings of a path that say its content is no HTML page."""

_ENDINGS = re.compile(r"\.([A-Za-z0-9]++)(?:[?\n]|$)").findall


def ending(url: str) -> str | None:
    """Return the lower-case ending of the last segment of a URL's path, or None.

    >>> ending("https://a.test/files/Report.PDF?download=1")
    'pdf'
    >>> ending("https://a.test/v1.2/") is None
    True
    """
    name = url.partition("?")[0].rpartition("/")[2]
    stem, dot, last = name.rpartition(".")
    return last.lower() if dot and stem and last else None


LINKS_SHARE = 2
"""Part of the page budget that links may use while the site still declares URLs: one in two. Each
page links many others, so that links alone would use it up before a long sitemap has been read."""


NOT_OWN = (Outcome.INVALID_URL, Outcome.OFF_ORIGIN)
"""Reasons that a URL is none of the site's, so that what its robots.txt says is not said of it."""

Reason = tuple[Outcome, str]
"""An outcome, and its detail for people."""

INVALID = (Outcome.INVALID_URL, "not an http or https URL")

SPENT = "the site's page budget is used up"


class Gate:
    """What one site's rules and its budget say to each of its URLs, first come, first served.

    Until the site's `Rules` have arrived nothing is admitted; they always come first. While the
    site's lists are read, links get at most a share of the budget, and what earlier runs knew
    only what the lists leave; what a list declares is never refused as a trap.
    """

    def __init__(self, settings: Settings) -> None:
        """Hold the settings; the site is known when its rules arrive."""
        self._settings = settings
        self._site: Site | None = None
        self._origin = self._within = ""
        self._rulebook = robots.Rulebook.nothing()
        self._allow: list[re.Pattern[str]] = []
        self._deny: list[re.Pattern[str]] = []
        self._left = 0
        self._links_left = 0
        self._shares = Shares(0)
        self._traps = Traps()
        self._signals: str | None = None
        self._forbidden: str | None = None

    def follow(self, rules: Rules) -> None:
        """Take the rules of the site, its own settings and its budget into force."""
        site = next((s for s in self._settings.sites if s.origin == rules.site), None)
        self._site = site
        self._origin = rules.origin
        self._within = f"{rules.origin}/"
        if rules.robots is not None:
            self._rulebook = robots.Rulebook(rules.robots, self._settings.product_token)
        self._allow = _compiled(site.allow if site else ())
        self._deny = _compiled(site.deny if site else ())
        budget = self._settings.page_budget(site)
        self._left = max(0, budget - rules.spent) if budget else -1
        self._links_left = self._left // LINKS_SHARE if self._left > 0 else -1
        self._shares = Shares(self._left)
        self._signals = signals.of_robots(self._rulebook.content_signal)
        if self._settings.ai_signals == "obey":
            self._forbidden = signals.denial(self._signals)

    def all_declared(self) -> list[Entries | LeftOut]:
        """Hear that the site's lists have been read, and return decisions on what waits for that.

        From here on links may use what is left of the budget.
        """
        self._links_left = -1
        chosen, rest = self._shares.deal(self._left)
        self._left -= together(chosen)
        return [*filter(len, chosen), *map(_too_many, rest)]

    def recall(self, entry: Entry) -> None:
        """Hear of a URL on which an earlier start of the run has decided, its budget paid for."""
        if entry.attribution.method in LINKED:
            self._traps.count(entry)

    def decide(self, entry: Entry) -> Entry | Failure:
        """Return the entry when it may be fetched, or the failure that says why not."""
        if self._signals and urls.origin(entry.url) == self._origin:
            entry = replace(entry, ai_signals=self._signals)
        if refused := self._refusal(entry.url):
            return Failure(entry=entry, outcome=refused[0], detail=refused[1])
        if trap := self._traps.refusal(entry):
            return Failure(
                entry=entry, outcome=Outcome.BUDGET, detail=f"trap: {trap}", trap=str(trap)
            )
        is_link = entry.attribution.method in LINKED
        is_known = entry.attribution.method is Method.INVENTORY
        if short := self._shortage(is_link=is_link, is_known=is_known):
            return Failure(entry=entry, outcome=Outcome.BUDGET, detail=short)
        self._left -= 1
        if is_link:
            self._links_left -= 1
            self._traps.count(entry)
        return entry

    def sort(self, entries: Entries) -> Iterator[Entries | LeftOut]:
        """Yield those of a list that may be fetched now, and those that may not, by reason.

        The others wait until all lists have been read: see `waiting`.
        """
        own = replace(entries, ai_signals=self._signals) if self._signals else entries
        if self._lets_in(entries.declared):
            yield from self._shared(own)
            return
        reasons = list(map(self._reason, entries.declared.url, entries.declared.invalid))
        places: dict[Reason, list[int]] = {}
        for at, reason in enumerate(reasons):
            if reason is not None:
                places.setdefault(reason, []).append(at)
        for (outcome, detail), chosen in places.items():
            whose = entries if outcome in NOT_OWN else own
            yield LeftOut(entries=whose.at(chosen), outcome=outcome, detail=detail)
        yield from self._shared(own.where([said is None for said in reasons]))

    def _shared(self, entries: Entries) -> Iterator[Entries | LeftOut]:
        """Yield those that have their share of the budget now; the others wait, or are too many."""
        now, later = self._shares.at_once(entries)
        self._left -= len(now)
        if now:
            yield now
        if later:
            yield from map(_too_many, self._shares.wait(later))

    @property
    def waiting(self) -> int:
        """How many URLs of lists wait until all lists have been read."""
        return self._shares.waiting

    def may_think_again(self, refused: Failure) -> bool:
        """Say whether a link is refused only as one: a list that declares its URL changes that."""
        is_link = refused.entry.attribution.method in LINKED
        return is_link and refused.outcome is Outcome.BUDGET and self._left != 0

    def _shortage(self, *, is_link: bool, is_known: bool) -> str | None:
        if self._left == 0 or (is_known and self._left <= self._shares.waiting):
            return SPENT
        if is_link and self._links_left == 0:
            return "links get half of the page budget while the site's lists are read"
        return None

    def _lets_in(self, declared: Columns) -> bool:
        """Say whether surely no URL of a list is refused, as is usual and seen at a glance."""
        if self._forbidden or self._allow or self._deny or any(declared.invalid):
            return False
        lines = "\n".join(("", *declared.url))
        return (
            lines.count(f"\n{self._within}") == len(declared.url)
            and NOT_PAGES.isdisjoint(map(str.lower, _ENDINGS(lines)))
            and self._rulebook.allows_all(lines, self._origin)
        )

    def _reason(self, url: str, invalid: bool) -> Reason | None:
        return INVALID if invalid else self._refusal(url)

    def _refusal(self, url: str) -> Reason | None:
        if not url.startswith(self._within):
            origin = urls.origin(url)
            return (Outcome.OFF_ORIGIN, origin) if origin else INVALID
        if not self._rulebook.allows_path(url[len(self._origin) :]):
            return Outcome.ROBOTS_DISALLOWED, "robots.txt"
        if self._forbidden:
            return Outcome.POLICY_DENIED, self._forbidden
        if (name := ending(url)) in NOT_PAGES:
            return Outcome.NOT_HTML, f".{name}"
        return self._by_pattern(url) if self._allow or self._deny else None

    def _by_pattern(self, url: str) -> Reason | None:
        if self._allow and not any(pattern.search(url) for pattern in self._allow):
            return Outcome.POLICY_DENIED, "matches no allow pattern"
        for pattern in self._deny:
            if pattern.search(url):
                return Outcome.POLICY_DENIED, f"deny pattern {pattern.pattern}"
        return None


def _too_many(entries: Entries) -> LeftOut:
    return LeftOut(entries=entries, outcome=Outcome.BUDGET, detail=SPENT)


def _compiled(patterns: Iterable[str]) -> list[re.Pattern[str]]:
    return [re.compile(pattern) for pattern in patterns]
