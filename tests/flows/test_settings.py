"""Settings come from the environment alone, and a bad one is named in one line."""

from pathlib import Path

import pytest

from flows.settings import Settings, manual, names


def read(**env: str) -> Settings:
    return Settings.from_env({f"INGEST_{name}": value for name, value in env.items()})


def test_nothing_set_means_the_defaults() -> None:
    assert read() == Settings()


def test_an_empty_variable_counts_as_unset() -> None:
    assert read(RATE="  ") == Settings()


def test_values_are_read_by_type() -> None:
    settings = read(RATE="0.5", LINKS="0", RETRY_WAITS_S="1, 2.5", MAX_PAGES="7", OUT="here")

    assert settings.rate == 0.5
    assert settings.links is False
    assert settings.retry_waits_s == (1.0, 2.5)
    assert settings.max_pages == 7
    assert settings.out == Path("here")


def test_sites_are_split_at_white_space_and_commas_once_for_each_origin() -> None:
    sites = read(SITES="https://a.test/docs, https://b.test\nhttps://A.test:443/other").sites

    assert [site.origin for site in sites] == ["https://a.test", "https://b.test"]
    assert sites[0].start_url == "https://a.test/docs"
    assert sites[0].starts == ("https://a.test/other",)


def test_a_bare_host_means_https() -> None:
    assert read(SITES="docs.example.org").sites[0].start_url == "https://docs.example.org/"


def test_a_text_file_names_one_site_a_line(tmp_path: Path) -> None:
    file = tmp_path / "sites.txt"
    file.write_text("# ours\nhttps://a.test\n\nhttps://b.test  # the blog\n")

    assert [s.origin for s in read(SITES=str(file)).sites] == ["https://a.test", "https://b.test"]


def test_a_toml_file_may_set_what_is_a_sites_own(tmp_path: Path) -> None:
    file = tmp_path / "sites.toml"
    file.write_text(
        '[[site]]\nurl = "https://a.test/"\nrate = 0.25\nmax_pages = 10\ndeny = ["/tag/"]\n'
        'sitemaps = ["https://a.test/map.xml"]\nheaders = { "X-Key" = "v" }\n'
    )

    site = read(SITES=str(file)).sites[0]

    assert (site.rate, site.max_pages, site.deny) == (0.25, 10, ("/tag/",))
    assert site.sitemaps == ("https://a.test/map.xml",)
    assert site.headers == (("X-Key", "v"),)


def test_given_sitemaps_go_to_the_site_of_their_origin() -> None:
    sites = read(
        SITES="https://a.test https://b.test",
        SITEMAPS="https://a.test/a.xml https://cdn.test/x.xml",
    ).sites

    assert sites[0].sitemaps == ("https://a.test/a.xml", "https://cdn.test/x.xml")
    assert sites[1].sitemaps == ("https://cdn.test/x.xml",)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RATE", "fast"),
        ("RATE", "-1"),
        ("RATE", "nan"),
        ("LINKS", "yes"),
        ("MAX_PAGES", "1.5"),
        ("SITES", "ftp://a.test"),
        ("SITES", "https://user:pw@a.test"),
        ("SITES", "none-such.toml"),
        ("SITES", ","),
        ("SITEMAPS", "sitemap.xml"),
        ("ALLOW_NETWORKS", "127.0.0.1/8"),
        ("RETRY_WAITS_S", "5;20"),
        ("RETRY_WAITS_S", "-1"),
        ("CONCURRENCY", "0"),
        ("CHUNK_TOKENS", "8"),
        ("CHUNK_OVERLAP", "300"),
        ("ENCODING", "none_such"),
        ("LOG", "xml"),
        ("AI_SIGNALS", "perhaps"),
        ("USER_AGENT", "0/5"),
        ("USER_AGENT", "böt/1"),
    ],
)
def test_a_bad_value_is_refused_in_one_line_that_names_it(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"INGEST_{name}") as refused:
        read(**{name: value})

    assert "\n" not in str(refused.value)


def test_a_misspelt_variable_is_refused() -> None:
    with pytest.raises(ValueError, match="INGEST_RATES is not a setting"):
        read(RATES="1")


@pytest.mark.parametrize(
    "text",
    [
        "[site",
        "[site]\nurl = 'https://a.test'",
        "[[site]]\nurl = 'https://a.test'\nspeed = 1",
        "[[site]]\nurl = 'https://a.test'\ndeny = ['(']",
        "[[site]]\nurl = 'https://a.test'\nrate = -1",
        "[[site]]\nrate = 1",
        "[[site]]\nurl = 'https://a.test'\n[[site]]\nurl = 'https://a.test/b'\nrate = 1",
    ],
)
def test_a_bad_file_of_sites_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "sites.toml"
    file.write_text(text)

    with pytest.raises(ValueError, match=r"sites\.toml") as refused:
        read(SITES=str(file))

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "setting",
    [
        "rate = 'x'",
        "max_pages = []",
        "deny = '/tag/'",
        "allow = ['(']",
        "sitemaps = ['map.xml']",
        "headers = ['X-Key: v']",
        'headers = { "X-Key" = "a\\nb" }',
        'headers = { "X Key" = "v" }',
    ],
)
def test_a_bad_setting_of_a_site_is_told_with_its_site_and_key(
    tmp_path: Path, setting: str
) -> None:
    file = tmp_path / "sites.toml"
    file.write_text(f"[[site]]\nurl = 'https://a.test'\n{setting}\n")

    with pytest.raises(ValueError, match=r"https://a\.test: ") as refused:
        read(SITES=str(file))

    assert f"https://a.test: {setting.split(maxsplit=1)[0]}: " in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_product_token_is_the_first_word_of_the_user_agent() -> None:
    named = read(USER_AGENT="docsbot/2.1 (+https://a.test)")

    assert named.product_token == "docsbot"  # noqa: S105  # no password


def test_what_decides_the_stored_form_changes_the_settings_hash() -> None:
    assert read(CHUNK_TOKENS="256").content_hash != read().content_hash
    assert read(RATE="1").content_hash == read().content_hash


def test_the_manual_names_every_setting_with_its_meaning() -> None:
    text = " ".join(manual("run", "About.").split())

    for name, knob in names().items():
        assert f"{name} [{knob.default}]" in text
        assert knob.meaning in text


def test_a_webhook_is_an_address_and_is_never_shown() -> None:
    told = Settings.from_env({"INGEST_ALERT_WEBHOOK": "https://hooks.test/key-4711"})

    assert told.alert_webhook.reveal() == "https://hooks.test/key-4711"
    assert "4711" not in repr(told)
    with pytest.raises(ValueError, match="INGEST_ALERT_WEBHOOK") as refused:
        Settings.from_env({"INGEST_ALERT_WEBHOOK": "key-4711"})
    assert "4711" not in str(refused.value)


@pytest.mark.parametrize("word", ["foo", "foo/bar"])
def test_a_site_without_scheme_and_dot_is_refused_in_one_line(word: str) -> None:
    with pytest.raises(ValueError, match=rf"INGEST_SITES: .*write https://{word}$"):
        Settings.from_env({"INGEST_SITES": word})


@pytest.mark.parametrize("word", ["http://foo", "localhost:8000", "a.test", "[::1]:80"])
def test_other_hosts_are_taken_as_they_are_written(word: str) -> None:
    (site,) = Settings.from_env({"INGEST_SITES": word}).sites

    assert word in site.origin + ":80"
