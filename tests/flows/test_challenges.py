"""A challenge is known by its marks and its provider named; a page about challenges is a page."""

import pytest

from flows import challenges

WORDS = "The harbour keeps a ledger of every boat that ties up before noon. " * 30
SHORT = "<p>A page of a few words.</p>"
NOTE = "<p>One more step before the page is shown to you; it needs a browser that runs scripts.</p>"


def page(title: str = "", body: str = "", head: str = "") -> bytes:
    return f"<html><head><title>{title}</title>{head}</head><body>{body}</body></html>".encode()


CHALLENGES = [
    pytest.param(
        "cloudflare",
        403,
        (("cf-mitigated", "challenge"),),
        page("Just a moment..."),
        id="cloudflare says so",
    ),
    pytest.param(
        "cloudflare",
        403,
        (),
        page("Just a moment...", NOTE + "<script>window._cf_chl_opt={cvId:'3'};</script>"),
        id="cloudflare managed challenge",
    ),
    pytest.param(
        "cloudflare",
        200,
        (),
        page(
            "",
            NOTE,
            "<script src=/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1></script>",
        ),
        id="cloudflare as a success",
    ),
    pytest.param(
        "cloudflare",
        503,
        (("server", "cloudflare"),),
        page("Just a moment...", "<form id=challenge-form><input name=jschl_vc></form>"),
        id="cloudflare of old",
    ),
    pytest.param(
        "cloudflare",
        403,
        (("server", "cloudflare"),),
        page("Attention Required! | Cloudflare", "<div id=cf-error-details>You are blocked</div>"),
        id="cloudflare firewall",
    ),
    pytest.param("cloudflare", 403, (), b"error code: 1020\n", id="cloudflare in plain text"),
    pytest.param(
        "akamai",
        403,
        (("server", "AkamaiGHost"),),
        page("Access Denied", "<H1>Access Denied</H1>Reference&#32;&#35;18&#46;2d351ab8&#46;17"),
        id="akamai edge",
    ),
    pytest.param(
        "akamai",
        403,
        (),
        page("Access Denied", "You don't have permission. Reference #18.2d351ab8.17.a1b2c3"),
        id="akamai, server unnamed",
    ),
    pytest.param(
        "akamai",
        200,
        (),
        page("", '<div id="sec-if-cpt-container"></div>'),
        id="akamai bot manager",
    ),
    pytest.param(
        "datadome",
        403,
        (("x-datadome", "protected"),),
        page("a.test", "<script>var dd={'host':'geo.captcha-delivery.com'}</script>"),
        id="datadome",
    ),
    pytest.param(
        "datadome",
        403,
        (),
        b'{"url":"https://geo.captcha-delivery.com/captcha/?initialCid=x"}',
        id="datadome as json",
    ),
    pytest.param(
        "imperva",
        200,
        (("x-iinfo", "1-1-0"),),
        page("", "<iframe id=main-iframe src='/_Incapsula_Resource?CWUDNSAI=1&xinfo=2'></iframe>"),
        id="imperva",
    ),
    pytest.param(
        "aws_waf",
        202,
        (("x-amzn-waf-action", "challenge"),),
        page("", "<script src=https://a.token.awswaf.com/a/challenge.js></script>"),
        id="aws waf says so",
    ),
    pytest.param(
        "aws_waf", 405, (), page("", "<script>window.gokuProps = {}</script>"), id="aws waf captcha"
    ),
    pytest.param("vercel", 429, (("x-vercel-mitigated", "challenge"),), b"", id="vercel says so"),
    pytest.param("vercel", 403, (), page("Vercel Security Checkpoint", NOTE), id="vercel by title"),
    pytest.param(
        "perimeterx",
        403,
        (),
        page("Access to this page has been denied", "<div id='px-captcha'></div>"),
        id="perimeterx",
    ),
    pytest.param(
        "perimeterx",
        403,
        (),
        b'{"appId":"PX1","jsClientSrc":"/1/init.js"}',
        id="perimeterx as json",
    ),
    pytest.param(
        "sucuri",
        403,
        (),
        page("Sucuri WebSite Firewall - Access Denied", "<p>Block ID: IPB17</p>"),
        id="sucuri firewall",
    ),
    pytest.param(
        "sucuri", 200, (), page("", "<script>var sucuri_cloudproxy_js='';</script>"), id="sucuri js"
    ),
    pytest.param("siteground", 202, (("sg-captcha", "challenge"),), b"", id="siteground says so"),
    pytest.param(
        "siteground",
        200,
        (),
        page("", "", "<meta http-equiv=refresh content='0;/.well-known/sgcaptcha/?r=%2F'>"),
        id="siteground refresh",
    ),
    pytest.param(
        "anubis",
        200,
        (),
        page(
            "Making sure you&#39;re not a bot!",
            "<img src=/.within.website/x/cmd/anubis/static/img/pensive.webp>",
        ),
        id="anubis",
    ),
    pytest.param("f5", 200, (), page("Request Rejected", "Your support ID is: 17"), id="f5"),
    pytest.param(
        "unknown",
        200,
        (),
        page("Are you a robot?", NOTE + "<div class='g-recaptcha' data-sitekey=k></div>"),
        id="home-made captcha",
    ),
    pytest.param(
        "unknown",
        403,
        (),
        page("a.test", "<h1>Please verify you are a human</h1><div class=cf-turnstile></div>"),
        id="home-made turnstile",
    ),
]


@pytest.mark.parametrize(("provider", "status", "headers", "body"), CHALLENGES)
def test_a_challenge_is_known_and_its_provider_named(
    provider: str, status: int, headers: tuple[tuple[str, str], ...], body: bytes
) -> None:
    assert challenges.provider(status, headers, body) == provider


BEHIND_CLOUDFLARE = (("server", "cloudflare"), ("cf-ray", "8a0f-AMS"))
PAGES = [
    pytest.param(
        200,
        BEHIND_CLOUDFLARE,
        page("What Just a moment... means", f"<p>{WORDS}</p><pre>cf-mitigated: challenge</pre>"),
        id="an article about challenges",
    ),
    pytest.param(
        200,
        (),
        page("px-captcha", "<p>Set the id to <code>px-captcha</code>.</p>"),
        id="a short note about a mark",
    ),
    pytest.param(
        200,
        (),
        page("How it works", "<pre>&lt;script src='/cdn-cgi/x/orchestrate/'&gt;</pre>"),
        id="a mark quoted as code",
    ),
    pytest.param(
        200,
        BEHIND_CLOUDFLARE,
        page(
            "A page", f"{SHORT}<script>d.src='/cdn-cgi/challenge-platform/scripts/jsd.js'</script>"
        ),
        id="cloudflare's own script in a page",
    ),
    pytest.param(
        200,
        (("x-cdn", "Imperva"),),
        page("A page", f"{SHORT}<script src='/_Incapsula_Resource?SWJIYLWA=719'></script>"),
        id="imperva's own script in a page",
    ),
    pytest.param(
        200,
        (("x-datadome", "protected"),),
        page("A page", f"{SHORT}<script src='https://js.datadome.co/tags.js'></script>"),
        id="datadome's own script in a page",
    ),
    pytest.param(
        200,
        (),
        page("A page", f"{SHORT}<script>window._pxAppId='PX1'</script>"),
        id="perimeterx's own script in a page",
    ),
    pytest.param(
        200,
        (),
        page("A page", f"{SHORT}<script src=https://a.token.awswaf.com/a/challenge.js></script>"),
        id="aws waf's own script in a page",
    ),
    pytest.param(
        200,
        (),
        page("Contact", f"<p>{WORDS}</p><h1>Contact</h1><div class='g-recaptcha'></div>"),
        id="a form with a captcha",
    ),
    pytest.param(
        200,
        (),
        page("Are you a robot?", f"<h1>Are you a robot?</h1><p>{WORDS}</p><i class=h-captcha></i>"),
        id="an essay under the title of a gate",
    ),
    pytest.param(
        520,
        BEHIND_CLOUDFLARE,
        page("a.test | 520: Web server is returning an unknown error", "<i id=cf-error-details>"),
        id="a CDN's report of a failed origin",
    ),
    pytest.param(
        429,
        BEHIND_CLOUDFLARE,
        page("Access denied", "<div id=cf-error-details>Error 1015: you are being rate limited"),
        id="a rate limit",
    ),
    pytest.param(403, (), page("403 Forbidden", "<h1>Forbidden</h1>"), id="the site's own refusal"),
    pytest.param(403, (), page("Access Denied", "Members only."), id="access denied, unsigned"),
    pytest.param(
        404, (), page("Not found", "<div id=px-captcha></div>"), id="a missing page with a script"
    ),
    pytest.param(
        410,
        (),
        page("Acme", f"<h1>Page not found</h1>{SHORT}<div id=px-captcha></div>"),
        id="a missing page under the name of its site",
    ),
    pytest.param(
        404, (), page("Acme", f"{'word ' * 250}<div id=px-captcha></div>"), id="a long missing page"
    ),
    pytest.param(
        200,
        (),
        page(
            "A page",
            SHORT,
            "<link rel=preconnect href=https://geo.captcha-delivery.com>"
            "<meta http-equiv=Content-Security-Policy content='script-src *.captcha-delivery.com'>",
        ),
        id="a page that may call datadome",
    ),
    pytest.param(200, (), page("Just a moment...", "<div id=app></div>"), id="a loading page"),
    pytest.param(200, (), page("Request rejected", "<p>A state of orders."), id="a rejected order"),
    pytest.param(200, (), b"", id="no body"),
]


@pytest.mark.parametrize(("status", "headers", "body"), PAGES)
def test_what_is_no_challenge_raises_no_alarm(
    status: int, headers: tuple[tuple[str, str], ...], body: bytes
) -> None:
    assert challenges.provider(status, headers, body) is None


@pytest.mark.parametrize("status", [404, 410])
@pytest.mark.parametrize(
    ("owner", "body"),
    [
        ("cloudflare", page("Just a moment...", "<script>window._cf_chl_opt={}</script>")),
        ("datadome", page("a.test", "<script src=https://ct.captcha-delivery.com/c.js></script>")),
        ("vercel", page("Vercel Security Checkpoint", "")),
        ("unknown", page("Are you a robot?", "<div class=g-recaptcha></div>")),
    ],
)
def test_a_challenge_that_calls_itself_missing_is_a_challenge(
    status: int, owner: str, body: bytes
) -> None:
    assert challenges.provider(status, (), body) == owner


def test_advice_names_the_provider_and_who_can_help() -> None:
    assert "akamai" in challenges.advice("akamai")
    assert "owner" in challenges.advice("akamai")
    assert "unknown" not in challenges.advice(challenges.UNKNOWN)
