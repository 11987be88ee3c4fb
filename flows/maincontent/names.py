"""Class and id words by which page templates name what is not content."""

import functools
import re

_ALWAYS = (
    r"bread-?crumbs?|pagination|pager|page-?nav|prev-?next|next-?prev",
    r"(?:post|article|page|site|doc|entry)s?-(?:nav|navigation|footer-nav)",
    r"share-?(?:bar|buttons?|links?)|sharedaddy|addtoany|social-?(?:links|share|media|icons)",
    r"related(?:-?(?:posts?|articles?|content|links|products|stories|items))?",
    r"recommend(?:ed|ations?)?|you-?may-?(?:also-?)?like|also-?like|upsells?|cross-?sells?",
    r"more-?(?:stories|from|on|posts|topics)|suggested(?:-?topics)?|newsletter|subscribe|subscription|sign-?up",
    r"cookies?|consent|gdpr|skip-?(?:link|to-?content)|jump-?link",
    r"edit-?(?:this-?)?(?:page|link|section|post)|editsection|mw-editsection",
    r"feedback|helpful|comment-?form|respond|reply-?form",
    r"advert(?:isement|s|ising)?|ads|sponsor(?:ed)?|outbrain|taboola|back-?to-?top",
    r"copyright|printfooter|catlinks|navbox|sitesub|jump-to-nav|source-?file|copy-?button|byline",
    r"message-(?:attribution|signature|footer|user(?!-content))|message-cell--user|post-?profile",
    r"(?:post|message|user|entry)-?signature|user-?(?:info|details)",
    r"print-?(?:only|header|footer)|visible-print|post-comments?|comments?-(?:list|component)",
    r"last-?(?:updated|mod(?:ified)?)|version-badge|post-likes|hideme",
    r"(?:post|entry|article)-?meta|postmetadata|tag-?(?:list|cloud|links)",
    r"(?:post|entry|article)-?tags|content-?tabs-?nav|author-?(?:box|bio|card|info)",
)
"""Names of chrome, whether trafilatura kept it or not."""
_SHARING = (r"share|sharing|social",)
"""Names of buttons by which a page is shared; articles have them for pictures of such pages too."""
_TALK = (r"reviews?|ratings?|comments?|discussion",)
"""Names of what readers say: content, but not where it is only an invitation to say something."""
_USUALLY = (
    r"nav|navbar|navigation|menu|sidebar|popup|modal|overlay|toolbar|footer|metadata|tags|dropdown",
)
"""Names of chrome that content has as well."""
_CONTENTS = (r"toc|table-?of-?contents|on-?this-?page|contents-?list",)
_BEFORE = r"(?<!has-)(?<!with-)(?<!no-)\b(?:"
_CAMEL = re.compile(r"([a-z])([A-Z])")


def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"{_BEFORE}{'|'.join(words)})\\b", re.IGNORECASE)


KINDS = ALWAYS, SHARING, USUALLY, CONTENTS, TALK = tuple(
    map(_pattern, (_ALWAYS, _SHARING, _USUALLY, _CONTENTS, _TALK))
)


@functools.lru_cache(maxsize=4096)
def spoken(names: str) -> re.Pattern[str] | None:
    """Return which pattern class or id words match, if any.

    >>> spoken("postFooter") is USUALLY, spoken("has-sidebar"), spoken("related_posts") is ALWAYS
    (True, None, True)
    """
    words = _CAMEL.sub(r"\1-\2", names).replace("_", "-")
    return next((kind for kind in KINDS if kind.search(words)), None)
