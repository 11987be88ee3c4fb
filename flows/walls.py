"""Pages that stand in front of a page: soft errors, sign-in, consent, refresh stubs, script shells.

Each judgement needs a page that is short and says so in its title or heading, or in its markup: an
article *about* a 404 page, a sign-in flow or cookies is an article.
"""

import re
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

from lxml.etree import _Element

from flows.records import Outcome

Wall = tuple[Outcome, str]

STUB_WORDS = 100
"""Most words of a page whose meta refresh counts."""

NOTICE_WORDS = 120
"""Most words of a page that is nothing but a notice."""

CONSENT_WORDS = 250
"""Most words of a consent wall; they are wordy."""

SHELL_WORDS = 20
"""Most words of an application shell that no script has filled."""

_REFRESH_S = 5.0

_LETTERS = re.compile(r"[^\W_]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_SEPARATORS = re.compile(r"\s*(?:[|\u2022\u00b7\u00bb\u00ab]|\s[-\u2013\u2014:]\s)\s*")
_LOWER = "translate({}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')"

_THING = (
    r"(?:the |this |that |your |requested )*(?:requested )?"
    r"(?:page|web ?page|site|article|post|product|item|document|resource|url|file|content|entry|"
    r"topic|listing|job|event|question|link)"
)
_NOT_FOUND = re.compile(
    r"(?:(?:oops|whoops|sorry|uh[- ]oh|ooops|hmm+|error)\W*)*"
    r"(?:(?:http )?(?:error|status|code|fehler|erreur|errore)?\s*#?404"
    r"(?:\s*[-:(]?\s*(?:error|fehler|page|not found|page not found|file not found|seite nicht"
    r" gefunden|file or directory not found)\)?)*"
    rf"|(?:404\W+)?{_THING}?\s*(?:(?:you(?:'re| are| were)? (?:looking for|requested)|requested) )?"
    r"(?:was |were |is |could |can |does |has |be )*"
    r"(?:not|cannot|can't|couldn't|could not|doesn't|isn't|wasn't|no longer|n't)\s*(?:be )?"
    r"(?:found|exists?|available|located)(?: \(?404\)?| error)?"
    rf"|(?:we )?(?:can't|cannot|couldn't|could not) find {_THING}(?: you.{{0,40}})?"
    rf"|{_THING} missing|nothing (?:was )?found(?: here)?|no such page|no results found"
    r"|(?:die )?(?:seite|dokument|artikel) (?:wurde )?nicht gefunden|nicht gefunden"
    r"|(?:cette )?page (?:non trouvée|introuvable)|page inexistante"
    r"|página no encontrada|no encontrad[oa]|pagina non trovata"
    r"|página não encontrada|pagina niet gevonden|nie znaleziono(?: strony)?"
    r"|strona nie istnieje|sidan (?:hittades|finns) inte|siden (?:blev ikke fundet|findes ikke)"
    r"|sivua ei löydy|stránka nenalezena|az oldal nem található|sayfa bulunamadı"  # noqa: RUF001
    r"|страница не найдена|ページが見つかりません(?:でした)?"
    r"|(?:页面|頁面)(?:不存在|未找到)|找不到(?:页面|頁面)|페이지를 찾을 수 없습니다)\W*",
    re.IGNORECASE,
)
_APOLOGY = re.compile(
    r"\bsorry\b|\boops\b|you(?:'re| are| were)? (?:looking for|requested|trying to)"
    r"|(?:go|return|back|head|take me) (?:back )?(?:to )?(?:the |our )?(?:home|start|main)"
    r"|check (?:the |your )?(?:url|address|spelling|link)|may have been (?:moved|removed|deleted)"
    r"|(?:has been|was) (?:moved|removed|deleted)|mistyped|broken link"
    r"|(?:does not|doesn't|no longer) exists?|we (?:can't|cannot|couldn't|could not) find"
    r"|startseite|page d'accueil|leider|désolé|lo sentimos|spiacenti|desculpe",
    re.IGNORECASE,
)
_GONE_SENTENCE = re.compile(
    rf"(?:sorry|oops|unfortunately)\W[^.]{{0,60}}{_THING}[^.]{{0,60}}"
    r"(?:not (?:be )?found|not exist|doesn't exist|no longer (?:exists?|available))"
    rf"|{_THING} you(?:'re| are| were)? (?:looking for|requested|trying to (?:reach|view|open))"
    r"[^.]{0,40}(?:not|n't|no longer)",
    re.IGNORECASE,
)
_GONE_PATH = re.compile(
    r"/(?:error[-_/]?)?(?:404|not[-_]?found|page[-_]?not[-_]?found)(?:\.\w+)?/?$"
)

_ERROR = re.compile(
    r"(?:(?:oops|whoops|sorry|uh[- ]oh)\W*)*"
    r"(?:(?:http )?(?:error )?(?:status )?(?:500|502|503|504)(?:\s*[-:]?\s*"
    r"(?:error|internal server error|server error|bad gateway|service (?:temporarily )?unavailable"
    r"|gateway time-?out))?"
    r"|(?:internal )?server error|bad gateway|gateway time-?out"
    r"|(?:the |this )?(?:service|site|website|page|server) (?:is )?(?:currently |temporarily )*"
    r"(?:unavailable|down|offline)(?: for maintenance)?"
    r"|error|an? (?:unexpected |unknown |internal )?error (?:has )?occur+ed"
    r"|something went (?:terribly )?wrong|(?:looks like )?something went wrong"
    r"|(?:application|database|runtime|fatal|unexpected|unhandled|server) (?:error|exception)"
    r"|error establishing a database connection|database connection error"
    r"|(?:under |scheduled |site )?maintenance(?: mode)?|(?:we(?:'re| are)|site is|down|closed)"
    r"(?: currently)? (?:under|for|undergoing|down for) (?:scheduled )?maintenance"
    r"|we'll be (?:right )?back(?: soon| shortly)?|account suspended"
    r"|(?:too many|excessive) requests|try again later|wartungsarbeiten|es ist ein fehler"
    r" aufgetreten|une erreur (?:est survenue|s'est produite))\W*",
    re.IGNORECASE,
)
_DUMP = re.compile(
    r"\s*(?:(?:php )?(?:fatal error|parse error|warning|notice): .{1,400} on line \d+"
    r"|error establishing a database connection|traceback \(most recent call last\)"
    r"|(?:uncaught|unhandled) (?:\w+)?(?:error|exception)\b|server error in '/|ora-\d{5}:"
    r"|you have an error in your sql syntax)",
    re.IGNORECASE | re.DOTALL,
)

_SIGN_IN = re.compile(
    r"\b(?:log ?-?in|sign ?-?in|log ?-?on|sign ?-?on|logging in|signing in|anmelden|anmeldung|"
    r"einloggen|se connecter|connexion|identifiez-vous|iniciar sesión|inicia sesión|accedi|"
    r"accesso|fazer login|entrar|inloggen|logga in|log ind|zaloguj|войти|вход)\b"
    r"|ログイン|登录|登入|로그인",
    re.IGNORECASE,
)
_MEMBERS = re.compile(
    r"\b(?:(?:please |you (?:must|need to|have to|should) (?:be )?)?(?:log(?:ged)?|sign(?:ed)?)"
    r"[- ]?in (?:first )?(?:to|in order to|before)\b[^.]{0,40}"
    r"(?:view|see|continue|access|read|proceed)"
    r"|you (?:must|need to|have to) (?:be )?(?:log(?:ged)?|sign(?:ed)?)[- ]?in"
    r"|(?:for|to) (?:registered |logged[- ]in )(?:users|members) only"
    r"|(?:members|subscribers)[- ]only|(?:requires|need) (?:a )?(?:subscription|membership)"
    r"|subscribe to (?:continue|read|keep)|login required|authentication (?:is )?required"
    r"|access (?:is )?restricted)",
    re.IGNORECASE,
)
_MEMBERS_WORDS = 60

_CONSENT_HEAD = re.compile(
    r"before you continue|we (?:value|respect|care about) your privacy"
    r"|(?:cookie|your|manage) consent|consent|cookies? (?:settings|preferences|consent|notice)?"
    r"|(?:your )?privacy (?:choices|settings|preferences)|we use cookies"
    r"|accept (?:all )?cookies|cookie[- ]?(?:zustimmung|einstellungen)"
    r"|datenschutz-?einstellungen|mit werbung weiterlesen|gestion des cookies|vos choix",
    re.IGNORECASE,
)
_CONSENT_TOPIC = re.compile(
    r"cookie|consent|privacy|personal(?:i[sz]ed)? (?:data|ads|content)|partners|vendors|legitimate"
    r" interest|einwilligung|zustimm|datenschutz|consentement|consentimiento|consenso|tracking",
    re.IGNORECASE,
)
_ACCEPT = re.compile(
    r"\b(?:accept|agree|consent|allow|reject|decline|got it|akzeptieren|zustimmen|einverstanden|"
    r"ablehnen|accepter|refuser|aceptar|rechazar|accetta|rifiuta|aceitar|akkoord)\b",
    re.IGNORECASE,
)
_POLICY = re.compile(
    r"polic|notice|statement|terms|richtlinie|erklärung|politique|política|informativa|guide|"
    r"how |what |about ",
    re.IGNORECASE,
)

_NEEDS_SCRIPT = re.compile(
    r"(?:enable|activate|turn on|requires?|need|without|allow|unterstützt|aktivieren)"
    r"[^.]{0,60}javascript|javascript[^.]{0,60}(?:disabled|required|enable|aktivier|activ|nötig)",
    re.IGNORECASE,
)
_MOUNTS = frozenset(
    {
        "root",
        "app",
        "__next",
        "__nuxt",
        "___gatsby",
        "application",
        "main-app",
        "app-root",
        "react-root",
    }
    | {"react-app", "vue-app", "ember-app", "svelte", "q-app", "mount", "content-root", "spa"}
)
_MOUNT_TAGS = frozenset({"app-root", "my-app", "ion-app", "app-component"})
_UNSEEN = frozenset({"script", "style", "noscript", "template", "head", "title", "svg", "iframe"})


def judge(tree: _Element, text: str, url: str) -> Wall | None:
    """Return which wall a page is and how that is known, or None when it is a page.

    `tree` is the whole HTML, `text` the main content extracted from it.
    """
    size = words(text)
    if size > CONSENT_WORDS:
        return None
    says = list(_headlines(tree))
    return (
        _refresh(tree, size, url)
        or _not_found(tree, says, text, size, url)
        or _error(says, text, size)
        or _consent(tree, says, text, size, url)
        or _sign_in(tree, says, text, size)
        or _shell(tree, text, size)
    )


def words(text: str) -> int:
    """Return the number of words; in scripts that do not space them, of pairs of letters.

    >>> words("one two"), words("\u30da\u30fc\u30b8\u304c\u898b")
    (2, 2)
    """
    unspaced = len(_CJK.findall(text))
    return len(_LETTERS.findall(_CJK.sub(" ", text) if unspaced else text)) + unspaced // 2


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
    return " ".join("".join(map(str, element.itertext())).split()).replace("\u2019", "'")


def _refresh(tree: _Element, size: int, url: str) -> Wall | None:
    if size > STUB_WORDS:
        return None
    for meta in tree.iter("meta"):
        if (meta.get("http-equiv") or "").strip().lower() != "refresh":
            continue
        after, _, target = (meta.get("content") or "").partition(";")
        target = re.sub(r"^\s*url\s*=\s*", "", target, flags=re.IGNORECASE).strip(" '\"")
        inside = any(parent.tag == "noscript" for parent in meta.iterancestors())
        if target and not inside and _seconds(after) <= _REFRESH_S and not _same(url, target):
            return Outcome.META_REFRESH, f"sends on to {target[:200]}"
    return None


def _seconds(text: str) -> float:
    found = re.match(r"\s*(\d{1,6}(?:\.\d{1,3})?)", text)
    return float(found[1]) if found else 0.0


def _same(url: str, target: str) -> bool:
    try:
        return urljoin(url, target).partition("#")[0] == url.partition("#")[0]
    except ValueError:
        return False


def _not_found(tree: _Element, says: list[str], text: str, size: int, url: str) -> Wall | None:
    if size > NOTICE_WORDS or next(tree.iter("pre"), None) is not None:
        return None
    body = text.replace("\u2019", "'")
    named = next((said for said in says if _NOT_FOUND.fullmatch(said)), None)
    if named and (size <= SHELL_WORDS or _APOLOGY.search(body)):
        return Outcome.SOFT_404, f"says {named[:80]!r}"
    found = _GONE_SENTENCE.search(body) if size <= NOTICE_WORDS // 2 else None
    if found or (named and _GONE_PATH.search(_path(url))):
        return Outcome.SOFT_404, f"says {(found[0] if found else named or '')[:80]!r}"
    return None


def _path(url: str) -> str:
    try:
        return urlsplit(url).path.lower()
    except ValueError:
        return ""


def _error(says: list[str], text: str, size: int) -> Wall | None:
    if size > NOTICE_WORDS // 2:
        return None
    found = next((said for said in says if _ERROR.fullmatch(said)), None)
    dump = None if found else _DUMP.match(text)
    if found or dump:
        return Outcome.SOFT_ERROR, f"says {(found or text.strip())[:80]!r}"
    return None


def _sign_in(tree: _Element, says: list[str], text: str, size: int) -> Wall | None:
    if size > NOTICE_WORDS:
        return None
    asked = next((said for said in says if _SIGN_IN.search(said)), None)
    password = any((i.get("type") or "").strip().lower() == "password" for i in tree.iter("input"))
    if password and (asked or size <= SHELL_WORDS // 2):
        return Outcome.LOGIN_REQUIRED, f"a form for a password, and {size} words"
    if size <= _MEMBERS_WORDS:
        found = next(filter(None, map(_MEMBERS.search, [*says, text])), None)
        if found:
            return Outcome.LOGIN_REQUIRED, f"says {found[0][:80]!r}"
    return None


def _consent(tree: _Element, says: list[str], text: str, size: int, url: str) -> Wall | None:
    headed = any(_CONSENT_HEAD.fullmatch(said) for said in says)
    if any(_POLICY.search(said) for said in says) or _POLICY.search(_path(url)):
        return None
    topics = len(_CONSENT_TOPIC.findall(text))
    dense = topics >= 3 and topics * 25 >= size
    if not dense or not (headed or topics * 12 >= size):
        return None
    buttons = (_said(button) for button in tree.iter("button", "a", "label"))
    values = (i.get("value") or "" for i in tree.iter("input"))
    pressed = next((b for part in (buttons, values) for b in part if _ACCEPT.search(b[:80])), None)
    return (Outcome.CONSENT_WALL, f"asks to press {pressed[:60]!r}") if pressed else None


def _shell(tree: _Element, text: str, size: int) -> Wall | None:
    asked = _NEEDS_SCRIPT.search(text)
    if (
        size > (2 * SHELL_WORDS if asked else SHELL_WORDS)
        or next(tree.iter("script"), None) is None
    ):
        return None
    seen = words(_visible(tree))
    if seen > (2 * SHELL_WORDS if asked else SHELL_WORDS):
        return None
    told = asked or any(_NEEDS_SCRIPT.search(_said(n)) for n in tree.iter("noscript"))
    if told or _empty_mount(tree) or seen == 0:
        return Outcome.JS_REQUIRED, f"{seen} words before its scripts run"
    return None


def _empty_mount(tree: _Element) -> bool:
    mounts = (
        element
        for element in tree.iter("div", "main", "section", *_MOUNT_TAGS)
        if element.tag in _MOUNT_TAGS or (element.get("id") or "").lower() in _MOUNTS
    )
    return any(words(_visible(element)) <= SHELL_WORDS // 4 for element in mounts)


def _visible(tree: _Element) -> str:
    """Return the text that is shown without scripts."""
    parts: list[str] = []
    unseen = 0
    stack: list[tuple[_Element, bool]] = [(tree, False)]
    while stack:
        element, done = stack.pop()
        hidden = element.tag in _UNSEEN or not isinstance(element.tag, str)
        if done:
            unseen -= hidden
            parts.append((element.tail or "") if not unseen and element is not tree else "")
            continue
        unseen += hidden
        parts.append((element.text or "") if not unseen else "")
        stack.append((element, True))
        stack.extend((child, False) for child in reversed(element))
    return " ".join(parts)
