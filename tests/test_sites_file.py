"""What a `sites.toml` says of a site holds for that site alone, in a whole run."""

from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.flowing import ingested, newest
from tests.loopback import Site, page, urlset

GAP_S = 0.25

SETTINGS = f"""
[[site]]
url = "{{own}}"
rate = {1 / GAP_S}
max_pages = 3
deny = ["/tag/"]
allow = ["/$", "/p[0-9]$", "/tag/"]
sitemaps = ["{{own}}/lists/own.xml"]
headers = {{{{ "X-Key" = "harbour", "Accept-Language" = "de" }}}}

[[site]]
url = "{{other}}"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out: Path = tmp_path_factory.mktemp("sites")
    listed = ("p1", "p2", "p3", "p4", "tag/a", "about")
    pages = {f"/{name}": page(name) for name in listed}
    with ExitStack() as stack:
        own, other = (
            stack.enter_context(
                Site(
                    lambda at: {
                        **pages,
                        "/": page("Home", *pages),
                        "/lists/own.xml": urlset(*(f"{at}/{name}" for name in listed)),
                    }
                )
            )
            for _ in range(2)
        )
        file = out / "sites.toml"
        file.write_text(SETTINGS.format(own=own.origin, other=other.origin))
        ingested([], out / "data", INGEST_SITES=str(file), INGEST_LINKS="1")
    rows = newest(out / "data", "urls")
    return {"own": own, "other": other, "rows": {row["url"]: row for row in rows}}


def outcomes(run: dict[str, Any], site: str) -> dict[str, str]:
    origin = run[site].origin
    return {
        url.removeprefix(origin): row["outcome"]
        for url, row in run["rows"].items()
        if row["site"] == origin
    }


def test_a_rate_is_kept_at_the_server(run: dict[str, Any]) -> None:
    gaps = [after[0] - before[0] for before, after in pairwise(run["own"].sent)]

    assert len(gaps) > 3
    assert min(gaps) >= 0.8 * GAP_S  # 0.95, and what a busy machine takes from it


def test_patterns_and_a_budget_decide_what_is_fetched(run: dict[str, Any]) -> None:
    own = outcomes(run, "own")

    assert own["/tag/a"] == own["/about"] == "policy_denied"
    assert sorted(own.values()).count("ok") == 3
    assert sorted(own.values()).count("budget") == 2


def test_a_sitemap_is_read_as_given(run: dict[str, Any]) -> None:
    row = run["rows"][run["own"].origin + "/p1"]

    assert row["method"] == "given"
    assert row["sitemap"] == run["own"].origin + "/lists/own.xml"


def test_headers_go_with_each_request(run: dict[str, Any]) -> None:
    assert run["own"].sent
    for _, headers in run["own"].sent:
        assert (headers["X-Key"], headers["Accept-Language"]) == ("harbour", "de")


def test_another_site_has_none_of_it(run: dict[str, Any]) -> None:
    assert set(outcomes(run, "other").values()) == {"ok"}
    assert len(outcomes(run, "other")) == 7
    assert not any("X-Key" in headers for _, headers in run["other"].sent)
