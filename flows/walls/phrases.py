"""What walls say: the wording of soft errors, sign-in, consent and script notices, by language.

Patterns named after a headline are for `fullmatch` on a title, a heading, or the part of one that
a site's name leaves; the others are searched for in the text of a short page.
"""

import re

_I = re.IGNORECASE

_THING = (
    r"(?:the |this |that |your |requested )*(?:web ?)?"
    r"(?:page|site|article|post|product|item|document|resource|url|file|content|entry|topic"
    r"|listing|job|event|question|link|thread|profile|user)"
)
_OH = r"(?:(?:oo+ps|whoops|sorry|uh[- ]?oh|hmm+|error|ouch|aw,? snap)\W*)*"

NOT_FOUND_HEADLINE = re.compile(
    rf"{_OH}(?:"
    # 404, in figures
    r"(?:http )?(?:error|status|code|fehler|erreur|errore)*\s*#?404"
    r"(?:\s*[-:(]?\s*(?:error|fehler|(?:page |file |file or directory |seite )?not found"
    r"|seite nicht gefunden)\)?)*"
    # "the page you requested could not be found"
    rf"|(?:404\W+)?(?:{_THING}\s+)?"
    r"(?:(?:you(?:'re| are| were)? (?:looking for|requested)|requested) )?"
    r"(?:was |were |is |could |can |does |has |be )*"
    r"(?:not|cannot|can't|couldn't|doesn't|isn't|wasn't|no longer)\s+(?:be )?"
    r"(?:found|exists?|available|located)(?: \(?404\)?| error)?"
    rf"|(?:we )?(?:can't|cannot|couldn't|could not) find {_THING}(?: you.{{0,40}})?"
    rf"|{_THING} missing|nothing (?:was )?found(?: here)?|no such page|no results found"
    # other languages
    r"|(?:die |diese )?(?:seite|dokument|artikel) (?:wurde )?nicht gefunden|nicht gefunden"
    r"|(?:cette )?page (?:non trouvée|introuvable)|page inexistante"
    r"|página no encontrada|no encontrad[oa]|pagina non trovata"
    r"|página não encontrada|pagina niet gevonden|nie znaleziono(?: strony)?"
    r"|strona nie istnieje|sidan (?:hittades|finns) inte|siden (?:blev ikke fundet|findes ikke)"
    r"|sivua ei löydy|stránka nenalezena|az oldal nem található"
    r"|sayfa bulunamadı|страница не найдена"  # noqa: RUF001  # Turkish and Russian
    r"|ページが見つかりません(?:でした)?|(?:页面|頁面)(?:不存在|未找到)|找不到(?:页面|頁面)"
    r"|페이지를 찾을 수 없습니다"
    r")\W*",
    _I,
)

APOLOGY = re.compile(
    r"\bsorry\b|\boops\b|you(?:'re| are| were)? (?:looking for|requested|trying to)"
    r"|(?:go|return|back|head|take me) (?:back )?(?:to )?(?:the |our )?(?:home|start|main)"
    r"|check (?:the |your )?(?:url|address|spelling|link)|may have been (?:moved|removed|deleted)"
    r"|(?:has been|was) (?:moved|removed|deleted)|mistyped|broken link"
    r"|(?:does not|doesn't|no longer) exists?|we (?:can't|cannot|couldn't|could not) find"
    r"|startseite|page d'accueil|leider|désolé|lo sentimos|spiacenti|desculpe",
    _I,
)
"""What a page says when it excuses itself for not being there."""

GONE_SENTENCE = re.compile(
    rf"(?:sorry|oops|unfortunately)\W[^.]{{0,60}}{_THING}\b[^.]{{0,60}}"
    r"(?:not (?:be )?found|not exist|doesn't exist|no longer (?:exists?|available))"
    rf"|\b{_THING} you(?:'re| are| were)? (?:looking for|requested|trying to (?:reach|view|open))\b"
    r"[^.]{0,40}(?:\bnot\b|n't\b|no longer)",
    _I,
)

GONE_PATH = re.compile(
    r"/(?:error[-_/]?)?(?:404|not[-_]?found|page[-_]?not[-_]?found)(?:\.\w+)?/?$", _I
)

ERROR_HEADLINE = re.compile(
    rf"{_OH}(?:"
    r"(?:http )?(?:error )?(?:status )?(?:500|502|503|504)\s*[-:|]?\s*(?:http )?"
    r"(?:error|internal server error|server error|bad gateway"
    r"|service (?:temporarily )?unavailable|gateway time-?out)"
    r"|internal server error|bad gateway|gateway time-?out|service temporarily unavailable"
    r"|(?:the |this |our )?(?:service|site|website|page|server) is (?:currently |temporarily )*"
    r"(?:unavailable|down|offline)(?: for maintenance)?"
    r"|an? (?:unexpected |unknown |internal )?error (?:has )?occur+ed|(?:looks like )?something"
    r" (?:went|has gone) (?:terribly )?wrong|error establishing a database connection"
    r"|(?:we(?:'re| are)|(?:the |this )?site is|down|closed)(?: currently)? "
    r"(?:under|for|undergoing|down for) (?:scheduled )?maintenance"
    r"|we'll be (?:right )?back(?: soon| shortly)?|account suspended"
    r"|es ist ein fehler aufgetreten|une erreur (?:est survenue|s'est produite)"
    r")\W*",
    _I,
)

VAGUE_ERROR_HEADLINE = re.compile(
    r"(?:(?:http )?(?:error )?50[0234]|(?:unknown |server |application |database |runtime |fatal "
    r"|unexpected |unhandled )?(?:error|exception)|(?:service|site|server) unavailable|(?:under |"
    r"scheduled |site )?maintenance(?: mode)?|too many requests|try again later"
    r"|wartung(?:sarbeiten)?|fehler|erreur)\W*",
    _I,
)
"""Headlines of errors, and of articles about them: they need an excuse in the text."""

EXCUSE = re.compile(
    r"\btry (?:again|later|refreshing)|\bsorry\b|\bapologi[sz]e|inconvenience|\badministrator\b"
    r"|contact (?:us|support|the)|\b(?:re-?load|refresh) (?:the|this)|temporar(?:y|ily)"
    r"|back (?:soon|shortly|online)|our (?:team|engineers)|working on|request id"
    r"|reference (?:id|#)",
    _I,
)

DUMP = re.compile(
    r"\s*(?:(?:php )?(?:fatal error|parse error|warning|notice): .{1,400} on line \d+"
    r"|error establishing a database connection|traceback \(most recent call last\)"
    r"|(?:uncaught|unhandled) (?:\w+)?(?:error|exception)\b|server error in '/|ora-\d{5}:"
    r"|you have an error in your sql syntax)",
    _I | re.DOTALL,
)
"""How a page begins whose program failed."""

SIGN_IN_HEADLINE = re.compile(
    r"(?:please |you (?:must|need to|have to) )?(?:"
    r"log ?-?in|sign ?-?in|log ?-?on|sign ?-?on|(?:user|member|admin|customer|account|staff) "
    r"(?:log|sign)[- ]?in|anmelden|anmeldung|einloggen|se connecter|connexion|identifiez-vous"
    r"|iniciar sesión|inicia sesión|accedi|fazer login|entrar|inloggen|logga in|log ind|zaloguj(?:"
    r" się)?|вход|войти|ログイン|登录|登入|로그인|welcome back"
    r"|authentication required|login required"
    r")(?:(?:\W*$|\W+(?:to|in|with|or|and|required|page|form|here|now|continue|using|into|via|first|"
    r"für|mit|bei|à|avec|con|com|met)\b).*)?",
    _I | re.DOTALL,
)

MEMBERS_ONLY = re.compile(
    r"\b(?:please |you (?:must|need to|have to|should) (?:be )?)?(?:log(?:ged)?|sign(?:ed)?)"
    r"[- ]?in (?:first )?(?:to|in order to|before)\b[^.]{0,40}?"
    r"\b(?:view|see|continue|access|read|proceed)\b"
    r"|(?:this|the) (?:page|content|article|area|section|topic|document) (?:is |requires )"
    r"[^.]{0,40}(?:registered|logged[- ]in|members|subscribers|subscription|membership"
    r"|log(?:ging)? ?in)"
    r"|subscribe (?:now )?to (?:continue|read|keep)",
    _I,
)

CONSENT_HEADLINE = re.compile(
    r"before you continue|we (?:value|respect|care about) your privacy"
    r"|(?:cookie|your|manage) consent|consent|cookies? (?:settings|preferences|consent|notice)?"
    r"|(?:your )?privacy (?:choices|settings|preferences)|we use cookies"
    r"|accept (?:all )?cookies|cookie[- ]?(?:zustimmung|einstellungen)"
    r"|datenschutz-?einstellungen|mit werbung weiterlesen|gestion des cookies|vos choix",
    _I,
)

CONSENT_TOPIC = re.compile(
    r"cookie|consent|privacy|personal(?:i[sz]ed)? (?:data|ads|content)|partners|vendors"
    r"|legitimate interest|einwilligung|zustimm|datenschutz|consentement|consentimiento|consenso"
    r"|tracking",
    _I,
)

ACCEPT = re.compile(
    r"\b(?:accept|agree|consent|allow|reject|decline|got it|akzeptieren|zustimmen|einverstanden"
    r"|ablehnen|accepter|refuser|aceptar|rechazar|accetta|rifiuta|aceitar|akkoord)\b",
    _I,
)
"""What the buttons of a consent wall say."""

ABOUT_CONSENT = re.compile(
    r"polic|notice|statement|terms|richtlinie|erklärung|politique|política|informativa|guide"
    r"|\bhow\b|\bwhat\b|\babout\b|\bapi\b",
    _I,
)
"""Headlines of pages that are about cookies and privacy, and so are pages."""

POLICY_PATH = re.compile(r"polic|privacy|cookie|datenschutz|legal|terms|imprint|impressum", _I)
"""Addresses of such pages."""

NEEDS_SCRIPT = re.compile(
    r"(?:enable|activate|turn on|requires?|need|without|allow|unterstützt|aktivieren)"
    r"[^.]{0,60}javascript|javascript[^.]{0,60}(?:disabled|required|enable|aktivier|activ|nötig)",
    _I,
)
