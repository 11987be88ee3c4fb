"""What a person should know of a site when its run has ended, by itself and beside earlier ones.

Thresholds are explained in docs/data-format.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from flows import alerts, trust
from flows.history import Earlier, Listing, Lists, baseline
from flows.inventory import Shift
from flows.records import Alert, Method, Outcome, Severity
from flows.remembered import STORED
from flows.trust import Evidence

FEWER: Final = 2
FEWER_AT_LEAST: Final = 20
"""A drop: less than one part in so many is left, and at least so many URLs went."""
MORE: Final = 3
MORE_AT_LEAST: Final = 100
"""A jump: more than so many times the URLs, and at least so many came."""
BACK_SHARE: Final = 10
"""One URL in so many with an earlier `lastmod` than before is more than an oddity."""
STALE: Final = timedelta(days=365)
"""Age of the newest `lastmod` of a site to which pages still come."""

MANY: Final = 10
MANY_SHARE: Final = 5
"""Pages, at least so many and more than one in so many, that say something of a whole site."""
HALF: Final = 2
"""Walls in place of more than one page in so many are news, however small the site."""
WALLS: Final = (
    Outcome.SOFT_404,
    Outcome.SOFT_ERROR,
    Outcome.LOGIN_REQUIRED,
    Outcome.CONSENT_WALL,
)
"""Pages that say with a status of success that they are none."""
OLDER: Final = timedelta(days=30)
"""How much older the newest date of one sitemap is than that of another before it is frozen."""

GUESSED: Final = (Method.PROBE, Method.HTML, Method.GIVEN)
"""Methods of sitemaps that robots.txt does not name."""

SITEMAPS: Final = ("urlset", "index", "text")
"""Kinds of lists that name all pages: a feed names the last ones."""


def noticed(
    site: str, now: Mapping[str, Any], lists: Lists, runs: Sequence[Earlier]
) -> list[Alert]:
    """Return what a person should know of a site, whatever became of it and of its earlier runs.

    `now` is the site as `report.json` tells it, `lists` are those that this run has read.
    """
    count = now["outcomes"].get
    limited, blocked = count(Outcome.RATE_LIMITED, 0), count(Outcome.BLOCKED, 0)
    unsafe = count(Outcome.TLS_ERROR, 0)
    said: list[tuple[str, int, str]] = [
        ("rate_limited_pages", limited, f"refused, asked too often: {_pages(limited)}"),
        ("blocked_pages", blocked, f"refused by a bot protection: {_pages(blocked)}"),
        ("tls_problem", unsafe, f"no valid certificate: {_pages(unsafe)}"),
    ]
    found = [
        alerts.alert(site, kind, site, message, number)
        for kind, number, message in said
        if number and kind not in lists.heard
    ]
    if not runs:
        message = "no complete run before this one: nothing is compared"
        found.append(alerts.alert(site, "no_baseline", site, message))
    if now["status"] == "stopped_by_budget":
        left = count(Outcome.BUDGET, 0) + count(Outcome.NOT_REACHED, 0)
        message = f"{left:,} URLs were left out; {now['detail'] or 'the page budget is used up'}"
        found.append(alerts.alert(site, "budget_stop", site, message, left))
    others = (
        _thin(site, now),
        _walled(site, now, runs),
        _repeated(site, now),
        _stale(site, lists),
    )
    return found + [alert for alert in others if alert is not None]


def _pages(number: int) -> str:
    return f"{number:,} page{'' if number == 1 else 's'}"


def _thin(site: str, now: Mapping[str, Any]) -> Alert | None:
    """Tell that many pages have no text to speak of."""
    count = now["outcomes"].get
    thin = sum(count(word, 0) for word in (Outcome.THIN, Outcome.EMPTY, Outcome.JS_REQUIRED))
    read = thin + sum(count(word, 0) for word in STORED)
    said = f"{thin:,} of {read:,} pages have hardly any text"
    return _many(site, "thin_content", thin, read, said)


def _walled(site: str, now: Mapping[str, Any], runs: Sequence[Earlier]) -> Alert | None:
    """Tell that many pages are walls; an error where they stand for most of what was stored."""
    count = now["outcomes"].get
    walls = {word: count(word, 0) for word in WALLS if count(word, 0)}
    walled, stored = sum(walls.values()), _stored(now)
    read = walled + stored
    least = min(read / HALF, max(read / MANY_SHARE, MANY - 1))
    if walled <= least:
        return None
    kinds = ", ".join(f"{number:,} {word}" for word, number in walls.items())
    said = f"{walled:,} of {read:,} pages say with a status of success that they are none: {kinds}"
    found = alerts.alert(site, "walled_pages", site, said, walled, least)
    had = _stored(runs[0].told) if runs else 0
    return replace(found, severity=Severity.ERROR) if stored * HALF < had else found


def _stored(told: Mapping[str, Any]) -> int:
    outcomes = told.get("outcomes", {})
    return sum(outcomes.get(word, 0) for word in STORED)


def _repeated(site: str, now: Mapping[str, Any]) -> Alert | None:
    """Tell that many addresses lead to the same pages."""
    count = now["outcomes"].get
    twice = count(Outcome.DUPLICATE, 0)
    read = twice + sum(count(word, 0) for word in STORED)
    said = f"{twice:,} of {read:,} addresses have the page of another one"
    return _many(site, "duplicate_content", twice, read, said)


def _many(site: str, kind: str, count: int, of: int, said: str) -> Alert | None:
    if count < MANY or count * MANY_SHARE <= of:
        return None
    return alerts.alert(site, kind, site, said, count, max(of / MANY_SHARE, MANY))


def _stale(site: str, lists: Lists) -> Alert | None:
    """Tell that robots.txt names a sitemap that is dead or frozen, and another one lives."""
    roots = [one for one in lists.by_url.values() if one.parent is None and not one.is_robots]
    named = [one for one in roots if one.method == Method.ROBOTS]
    known = {place for one in named for place in (one.url, one.final_url)}
    living = [
        one
        for one in roots
        if one.method in GUESSED and one.is_alive and one.kind in SITEMAPS
        if one.url not in known and (one.final_url is None or one.final_url not in known)
    ]
    for old in named:
        for new in living:
            if not old.is_alive or _is_older(old, new, lists):
                fault = "is frozen" if old.is_alive else "is dead"
                said = f"robots.txt names this sitemap, which {fault}; {new.url} is alive"
                return alerts.alert(site, "stale_pointer", old.url, said)
    return None


def _is_older(old: Listing, new: Listing, lists: Lists) -> bool:
    before, after = _newest(old, lists), _newest(new, lists)
    return before is not None and after is not None and after - before > OLDER


def _newest(root: Listing, lists: Lists) -> datetime | None:
    """Return the newest date in a sitemap and in all below it."""
    below, found = {root.url}, [root]
    for _ in range(len(lists.by_url)):
        more = [
            one for one in lists.by_url.values() if one.parent in below and one.url not in below
        ]
        if not more:
            break
        below |= {one.url for one in more}
        found += more
    return max((one.lastmod_max for one in found if one.lastmod_max), default=None)


def compared(
    site: str,
    now: Mapping[str, Any],
    runs: Sequence[Earlier],
    shift: Shift | None,
    at: datetime,
    seen: Evidence | None = None,
) -> list[Alert]:
    """Return what a person should know of a site that was read to its end at the time `at`.

    `now` is the site as `report.json` tells it, `runs` are its last complete runs; `shift` says
    how `lastmod` moved since, `seen` what the pages say of it. No earlier run, no alert.
    """
    if not runs:
        return []
    found = (
        _counted(site, now, baseline(runs)[-1]),
        _back(site, shift) if now.get("whole") and shift else None,
        _frozen(site, now, runs) or _stalled(site, now, at),
        _unreliable(site, seen or Evidence()),
    )
    return [alert for alert in found if alert is not None]


def _unreliable(site: str, seen: Evidence) -> Alert | None:
    """Tell that dates move without the pages, or pages without their dates."""
    found = trust.unreliable(seen)
    return found and alerts.alert(site, "lastmod_unreliable", site, *found)


def _counted(site: str, now: Mapping[str, Any], before: Earlier) -> Alert | None:
    """Tell that far fewer or far more URLs are listed than before."""
    have, had = now["listed"], before.told.get("listed")
    if had is None:
        return None
    said = f"{have:,} URLs are listed, {had:,} were in run {before.run_id}"
    if have * FEWER < had and had - have >= FEWER_AT_LEAST:
        return alerts.alert(site, "url_count_drop", site, said, have, had / FEWER)
    if had and have > had * MORE and have - had >= MORE_AT_LEAST:
        return alerts.alert(site, "url_count_jump", site, said, have, had * MORE)
    return None


def _back(site: str, shift: Shift) -> Alert | None:
    """Tell that pages are dated earlier than before."""
    receded = bool(shift.before and shift.now and shift.now < shift.before)
    if not shift.back or not (receded or shift.back * BACK_SHARE >= shift.both):
        return None
    said = f"lastmod went back for {shift.back:,} of {shift.both:,} URLs"
    return alerts.alert(site, "lastmod_backwards", site, said, shift.back)


def _frozen(site: str, now: Mapping[str, Any], runs: Sequence[Earlier]) -> Alert | None:
    """Tell that pages came in two runs one after the other, and the newest `lastmod` stayed."""
    if len(runs) < 2:
        return None
    newest = {one.get("lastmod_max") for one in (now, runs[0].told, runs[1].told)}
    if len(newest) != 1 or None in newest or not (_came(now) and _came(runs[0].told)):
        return None
    said = f"pages come, and the newest lastmod stays {now['lastmod_max']}"
    return alerts.alert(site, "lastmod_frozen", site, said)


def _stalled(site: str, now: Mapping[str, Any], at: datetime) -> Alert | None:
    """Tell that pages come whose `lastmod` does not show it."""
    newest = now.get("lastmod_max")
    if newest is None or not _came(now):
        return None
    age = at - datetime.fromisoformat(newest)
    if age <= STALE:
        return None
    said = f"pages come, and the newest lastmod is {newest}"
    return alerts.alert(site, "lastmod_stalled", site, said, age.days, STALE.days)


def _came(told: Mapping[str, Any]) -> bool:
    return bool(told.get("changes", {}).get("new"))
