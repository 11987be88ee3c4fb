"""A page that stands in front of a page is no document; a page about such pages is one."""

import lxml.html
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import walls

URL = "https://a.test/guide/boats"
LONG = "The harbour keeps a ledger of every boat that ties up before noon. " * 25


def judged(title: str, body: str, text: str | None = None, head: str = "", url: str = URL) -> str:
    """Return the outcome of a page whose main text is `text`, or all that its body shows."""
    tree = lxml.html.document_fromstring(
        f"<html><head><title>{title}</title>{head}</head><body>{body}</body></html>"
    )
    if text is None:
        shown = lxml.html.document_fromstring(f"<html><body>{body} </body></html>")
        for unseen in list(shown.iter("script", "noscript", "style", "nav")):
            unseen.drop_tree()
        text = " ".join(shown.text_content().split())
    found = walls.judge(tree, text, url)
    return found[0].value if found else "page"


FORM = "<form method=post><input type=email name=e><input type=password name=p></form>"


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("404 - Page not found", "<h1>Page not found</h1><p>Sorry, it does not exist."),
        ("Page not found | Harbour", "<h1>Oops!</h1><p>We can't find that page."),
        ("Harbour", "<h1>404</h1>"),
        ("Error 404 (Not Found)", "<p>The requested URL was not found. That's all we know."),
        ("Harbour", "<h1>This page doesn\u2019t exist</h1><p>Go back to the home page."),
        ("Harbour", "<p>Sorry, the page you are looking for could not be found."),
        ("Harbour", "<p>The product you requested is no longer available."),
        ("Seite nicht gefunden", "<p>Leider gibt es diese Seite nicht. Zur Startseite"),
        ("Page introuvable", "<p>Désolé."),
        ("\u30da\u30fc\u30b8\u304c\u898b\u3064\u304b\u308a\u307e\u305b\u3093", "<p>404"),
        ("Nothing found", "<p>It seems we can't find what you're looking for."),
    ],
)
def test_a_page_that_says_it_is_not_there_is_a_soft_404(title: str, body: str) -> None:
    assert judged(title, body) == "soft_404"


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("How to write a good Page not found message", f"<h1>A good message</h1><p>{LONG}"),
        ("404 Not Found", f"<h1>404 Not Found</h1><p>{LONG} Sorry is a good word."),
        ("404 Not Found - HTTP", "<h1>404 Not Found</h1><p>" + "The status means that a server "
         "has no representation of the target, or does not want to say that it has one. " * 2),
        ("NotFound", "<h1>NotFound</h1><p>Raised when a key is missing.</p>"),
        ("Not found", "<h1>Not found</h1><p>Example:</p><pre>raise NotFound</pre>"),
        ("Room 404", "<p>The room on the fourth floor."),
        ("Lost and found", "<p>Ask at the desk for what was found."),
        ("Changes", "<p>The page size was not set. It is now."),
    ],
)  # fmt: skip
def test_a_page_about_missing_pages_is_a_page(title: str, body: str) -> None:
    assert judged(title, body) == "page"


def test_an_address_of_error_pages_settles_a_headline() -> None:
    words = "The harbour keeps a ledger of boats. " * 6

    assert judged("Page not found", f"<p>{words}", url="https://a.test/404.html") == "soft_404"
    assert judged("Page not found", f"<p>{words}") == "page"


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("500 Internal Server Error", "<h1>Internal Server Error</h1>"),
        ("Harbour", "<h1>Something went wrong</h1><p>We are looking into it."),
        ("Error", "<p>Sorry, an error occurred. Please try again later."),
        ("503 Service Temporarily Unavailable", "<hr>nginx"),
        ("Harbour", "<p>Fatal error: Uncaught Error in /var/www/index.php on line 7"),
        ("Database Error", "<h1>Error establishing a database connection</h1>"),
        ("Maintenance", "<h1>We'll be back soon!</h1><p>Sorry for the inconvenience."),
    ],
)
def test_a_page_that_reports_a_failure_is_a_soft_error(title: str, body: str) -> None:
    assert judged(title, body) == "soft_error"


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Error", "<h1>Error</h1><p>The interface that all errors implement.</p>"),
        ("Maintenance", "<h1>Maintenance</h1><p>Grease the pump every spring.</p>"),
        ("Internal server error", f"<h1>500</h1><p>{LONG}"),
        ("500 Internal Server Error", "<p>Returned by:</p><pre>GET /boats</pre>"),
        ("Server error log", "<p>Where the log is kept."),
    ],
)
def test_a_page_about_errors_is_a_page(title: str, body: str) -> None:
    assert judged(title, body) == "page"


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Log in to continue", f"<h1>Log in to continue reading</h1>{FORM}"),
        ("Sign in", f"<h1>Sign in</h1>{FORM}<p>Forgot your password? Ask us for a new one."),
        ("Anmelden | Hafen", FORM),
        ("Harbour", FORM),
        ("Harbour", "<p>You must be logged in to view this page."),
        ("Harbour", "<p>This content is for members only."),
        ("Ledger", "<h1>Ledger</h1><p>Subscribe to continue reading."),
    ],
)
def test_a_page_that_wants_a_sign_in_is_no_page(title: str, body: str) -> None:
    assert judged(title, body) == "login_required"


@pytest.mark.parametrize(
    ("title", "body"),
    [
        (
            "Can't log in",
            f"<p>It worked until Friday, and now the form comes back empty.</p><nav>{FORM}</nav>",
        ),
        (
            "Login problem on boats",
            f"<p>I see an empty page after the form, why? It is so on each of my boats.</p>{FORM}",
        ),
        ("Boats", f"<p>A short note on boats, with a box for members beside it.</p>{FORM}"),
        ("Boats", "<p>A short note. You must be logged in to post a comment."),
        ("Log in", f"<h1>Log in</h1><p>{LONG}</p>"),
    ],
)
def test_a_page_with_a_sign_in_beside_it_is_a_page(title: str, body: str) -> None:
    assert judged(title, body) == "page"


CONSENT = (
    "We and our 842 partners store cookies and process personal data. With your consent we use "
    "them for tracking and personalised ads. You can change your privacy choices at any time."
)


def test_a_consent_wall_is_no_page() -> None:
    body = f"<h1>We value your privacy</h1><p>{CONSENT}</p><button>Accept all</button>"

    assert judged("Harbour", body) == "consent_wall"
    assert judged("Before you continue", f"<p>{CONSENT}<input value='I agree'>") == "consent_wall"


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Cookie policy", f"<h1>Cookie policy</h1><p>{CONSENT}</p><button>Accept</button>"),
        ("Your consent", f"<h1>Consent</h1><p>{CONSENT}</p>"),
        ("Boats", f"<p>{LONG}</p><div>We use cookies <button>Accept</button></div>"),
        ("Boats", "<p>Tides are kept in a ledger.</p><button>Accept cookies</button>"),
    ],
)
def test_a_page_about_consent_or_beside_a_banner_is_a_page(title: str, body: str) -> None:
    assert judged(title, body) == "page"


@pytest.mark.parametrize(
    "content", ["0; url=/new", "0;URL='/new'", "3; /new", "0, url=https://b.test/", "; url=/new"]
)
def test_a_stub_that_sends_on_is_no_page(content: str) -> None:
    head = f'<meta http-equiv="Refresh" content="{content}">'

    assert judged("Moved", "<p>You are being sent on.", head=head) == "meta_refresh"


@pytest.mark.parametrize(
    "head",
    [
        '<meta http-equiv=refresh content="300">',
        '<meta http-equiv=refresh content="300; url=/new">',
        '<meta http-equiv=refresh content="0; url=/guide/boats#top">',
        '<noscript><meta http-equiv=refresh content="0; url=/plain"></noscript>',
        '<meta http-equiv=refresh content="0; url=http://[">',
    ],
    ids=["reload", "later", "itself", "without scripts", "broken"],
)
def test_a_page_that_refreshes_itself_is_a_page(head: str) -> None:
    body = "<p>Tides of today: high water at noon, low water at six, by the harbour's clock."
    expected = "meta_refresh" if "[" in head else "page"

    assert judged("Tides", body, head=head) == expected


@pytest.mark.parametrize(
    "body",
    [
        "<div id=root></div><script src=/main.js></script>",
        "<noscript>You need to enable JavaScript to run this app.</noscript><script></script>",
        "<app-root></app-root><script type=module src=/m.js></script>",
        "<div id=app><p>Loading...</p></div><script src=/m.js></script>",
        "<p>Please enable JavaScript to view this site.</p><script src=/m.js></script>",
    ],
)
def test_an_empty_shell_needs_scripts(body: str) -> None:
    assert judged("App", body) == "js_required"


@pytest.mark.parametrize(
    "body",
    [
        "<h1>open()</h1><p>Opens a boat.</p><script src=/search.js></script>",
        f"<div id=root><p>{LONG}</p></div><script src=/main.js></script>",
        "<div id=root></div>",
        "<p>Opens a boat.</p><noscript>Enable JavaScript for comments.</noscript>",
    ],
    ids=["few words", "rendered by the server", "no script", "no script, a note"],
)
def test_a_page_of_few_words_is_a_page(body: str) -> None:
    assert judged("Boats", body) == "page"


def test_the_noscript_of_a_page_with_text_is_no_shell() -> None:
    note = "<noscript>JavaScript is disabled on your browser.</noscript><script></script>"
    words = "<p>Opens a boat and returns its keel, its mast and its sails; raises when it leaks. "

    assert judged("Boats", note + words + "The second argument is the tide.</p>") == "page"


@given(st.text(max_size=300), st.text(max_size=300), st.text(max_size=80))
def test_any_page_is_judged_without_raising(title: str, text: str, url: str) -> None:
    tree = lxml.html.Element("html")
    tree.append(lxml.html.Element("title"))
    tree[0].text = "".join(c for c in title if c.isprintable())
    tree.append(lxml.html.Element("meta", {"http-equiv": "refresh", "content": "0;x"}))

    walls.judge(tree, text, url)
