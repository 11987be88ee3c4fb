"""Guaranteed: the most specific rule decides, in bounded time, as another reader says too."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from flows import urls
from flows.rules import Rules

PATTERNS = st.text(st.sampled_from("/ab*.=~é"), max_size=8).map("/".__add__)
"""Without a question mark: Protego counts it as the three octets of its escape."""
PATHS = st.text(st.sampled_from("/ab.?=~é"), max_size=10).map("/".__add__)


def asked(path: str, *lines: str) -> bool:
    """Return the verdict on a path of rules such as `-/private` and `+/private/open`."""
    return Rules((line[0] == "+", urls.encode(line[1:])) for line in lines).allow(path)


@pytest.mark.parametrize(
    ("path", "lines", "allowed"),
    [
        pytest.param("/x", ["-/y"], True, id="RFC 9309 §2.2.2 no match is allowed"),
        pytest.param("/x/y", ["-/x"], False, id="RFC 9309 §2.2.2 a path by its beginning"),
        pytest.param("/X", ["-/x"], True, id="RFC 9309 §2.2.2 case counts"),
        pytest.param("/x/y", ["-/x", "+/x/y"], True, id="RFC 9309 §2.2.2 longest match wins"),
        pytest.param("/x/y", ["+/x", "-/x/"], False, id="RFC 9309 §2.2.2 longest forbids"),
        pytest.param("/x", ["-/x", "+/x"], True, id="RFC 9309 §2.2.2 equal length allows"),
        pytest.param(
            "/x.php", ["+/x.ph", "-/*php"], True, id="RFC 9309 §2.2.2 equal with wildcard"
        ),
        pytest.param("/x.htm", ["+/x", "-/*.htm"], False, id="RFC 9309 §2.2.2 wildcard is longer"),
        pytest.param(
            "/x.htm", ["+/x.htm", "-/*.h"], True, id="RFC 9309 §2.2.2 wildcard is shorter"
        ),
        pytest.param("/a/b/c", ["-/a*c"], False, id="RFC 9309 §2.2.3 asterisk spans slashes"),
        pytest.param("/ac", ["-/a*c"], False, id="RFC 9309 §2.2.3 asterisk for nothing"),
        pytest.param("/acb", ["-/a*b*c"], True, id="RFC 9309 §2.2.3 asterisks in order"),
        pytest.param("/", ["-/*", "+/", "-/xy"], False, id="RFC 9309 §2.2.2 a path that is short"),
        pytest.param("/xx", ["-/***x"], False, id="RFC 9309 §2.2.3 asterisks in a row"),
        pytest.param("/x", ["-*"], False, id="RFC 9309 §2.2.3 asterisk alone"),
        pytest.param("/x.asp", ["-/*.asp$"], False, id="RFC 9309 §2.2.3 end of path"),
        pytest.param("/x.asp?y", ["-/*.asp$"], True, id="RFC 9309 §2.2.3 query after the end"),
        pytest.param("/ab", ["-/ab*b$"], True, id="RFC 9309 §2.2.3 no character counts twice"),
        pytest.param("/x", ["-/x$"], False, id="RFC 9309 §2.2.3 the whole path"),
        pytest.param("/xy", ["-/x$"], True, id="RFC 9309 §2.2.3 not the whole path"),
        pytest.param("/x", ["-/x", "+/x$"], True, id="RFC 9309 §2.2.3 the end counts as length"),
        pytest.param("/p$q", ["-/p$q"], False, id="RFC 9309 §2.2.3 a dollar inside is itself"),
        pytest.param("/x$", ["-/x%24"], False, id="RFC 9309 §2.2.3 an escaped dollar is itself"),
        pytest.param("/a*b", ["-/a%2Ab"], False, id="RFC 9309 §2.2.3 an escaped asterisk"),
        pytest.param("/axb", ["-/a%2Ab"], True, id="RFC 9309 §2.2.3 is no wildcard"),
        pytest.param("/caf%C3%A9", ["-/café"], False, id="RFC 9309 §2.2.2 letters as UTF-8"),
        pytest.param("/caf%C3%A9", ["-/caf%c3%a9"], False, id="RFC 9309 §2.2.2 escapes fold case"),
        pytest.param("/~me", ["-/%7Eme"], False, id="RFC 9309 §2.2.2 unreserved escapes"),
        pytest.param("/a=b", ["-/a%3Db"], False, id="RFC 9309 §2.2.2 harmless escapes"),
        pytest.param("/a/b", ["-/a%2Fb"], True, id="RFC 9309 §2.2.2 an escaped slash is no slash"),
        pytest.param("/a%2Fb", ["-/a%2fb"], False, id="RFC 9309 §2.2.2 and stays one"),
        pytest.param("/a%3Fb", ["-/a?b"], True, id="RFC 9309 §2.2.2 an escaped question mark"),
        pytest.param("/a//b", ["-/a/b"], True, id="RFC 9309 §2.2.2 slashes are counted"),
        pytest.param(
            "/secret", ["-secret"], True, id="RFC 9309 §2.2 a pattern begins with a slash"
        ),
        pytest.param("/aaaa", ["-/(a+)+$", "-/[a]", "-/a.aa"], True, id="no regular expressions"),
        pytest.param("/[a]", ["-/[a]"], False, id="brackets are themselves"),
    ],
)
def test_the_most_specific_rule_decides(path: str, lines: list[str], allowed: bool) -> None:
    assert asked(path, *lines) is allowed
    assert asked(path, *reversed(lines)) is allowed


def test_a_pattern_of_many_asterisks_is_tried_once_not_in_every_way() -> None:
    assert asked("/" + "a" * 5_000, "-/" + "*a" * 40 + "b") is True
    assert asked("/" + "a" * 5_000 + "b", "-/" + "*a" * 40 + "b") is False


@given(st.lists(st.tuples(st.booleans(), PATTERNS), min_size=1, max_size=6), PATHS)
def test_verdicts_are_those_of_protego(lines: list[tuple[bool, str]], path: str) -> None:
    url = urls.canonical("http://a.test" + path)
    text = "".join(f"{'Allow' if allow else 'Disallow'}: {pattern}\n" for allow, pattern in lines)
    other = Protego.parse("User-agent: *\n" + text)

    assert url is not None
    mine = Rules((allow, urls.encode(pattern)) for allow, pattern in lines)
    assert mine.allow(url.removeprefix("http://a.test")) is other.can_fetch(url, "me")


@given(st.lists(st.tuples(st.booleans(), st.text(max_size=20)), max_size=6), st.text(max_size=30))
def test_any_pattern_gives_a_verdict(lines: list[tuple[bool, str]], path: str) -> None:
    rules = Rules((allow, urls.encode(pattern)) for allow, pattern in lines)

    assert rules.allow("/" + urls.encode(path)) in {True, False}


@given(
    st.lists(st.tuples(st.booleans(), PATTERNS), min_size=1, max_size=6),
    st.lists(PATHS, min_size=1, max_size=5),
)
def test_urls_that_are_cleared_together_are_allowed_one_by_one(
    lines: list[tuple[bool, str]], paths: list[str]
) -> None:
    rules = Rules((allow, urls.encode(pattern)) for allow, pattern in lines)
    found = [urls.canonical("http://a.test" + path) or "" for path in paths]

    if rules.allow_all("\n".join(("", *found)), "http://a.test"):
        assert all(rules.allow(url.removeprefix("http://a.test")) for url in found)


def test_what_no_rule_forbids_is_cleared_together() -> None:
    rules = Rules([(False, "/private"), (False, "/*.php$"), (True, "/open")])

    assert rules.allow_all("\nhttp://a.test/open\nhttp://a.test/x/private", "http://a.test")
    assert not rules.allow_all("\nhttp://a.test/open\nhttp://a.test/private", "http://a.test")
    assert not rules.allow_all("\nhttp://a.test/x.php\nhttp://a.test/open", "http://a.test")
