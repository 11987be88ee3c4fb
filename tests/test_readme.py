"""README tells the truth: its settings table is the code's, its commands are those of CI."""

import re
from pathlib import Path

from flows import settings
from flows.settings import index

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def section(heading: str) -> str:
    return README.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def commands(text: str) -> list[str]:
    blocks = re.findall(r"```bash\n(.*?)```", text, flags=re.DOTALL)
    return [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]


def row(name: str, knob: settings.Knob) -> str:
    default = knob.default.replace(f"/{settings.package_version()} ", "/<version> ")
    shown = default if default == "\N{EN DASH}" else f"`{default}`"
    return f"| `{name}` | {shown} | {knob.meaning} |"


def test_the_settings_table_is_what_the_code_says() -> None:
    table = [line for line in section("Settings").splitlines() if line.startswith("| `")]

    assert table == [row(name, knob) for name, knob in settings.names().items()]


def test_exactly_the_settings_that_no_code_reads_are_called_without_effect() -> None:
    modules = [*ROOT.glob("flows/**/*.py"), *ROOT.glob("connectors/**/*.py")]
    used = "\n".join(
        path.read_text(encoding="utf-8") for path in modules if path.parent.name != "settings"
    )
    unread = {
        n for n, k in settings.names().items() if not re.search(rf"settings\.{k.field}\b", used)
    }
    named = re.search(r"have no effect yet\*\*: ([^.]*)\.", section("Limits"))

    assert set(re.findall(r"INGEST_\w+", named[1] if named else "")) == unread - WITHIN_SETTINGS


WITHIN_SETTINGS = {"INGEST_SITEMAPS", "INGEST_MAX_PAGES"}
"""Settings that others are made of, or that a method of the settings reads."""


def test_ci_runs_the_commands_of_the_first_screen_and_of_the_tests() -> None:
    told = [part for line in commands(README)[:1] for part in line.split(" && ")[2:]]
    told += [part for line in commands(section("Tests")) for part in line.split(" && ")]
    run = re.sub(r"\bstep | --quiet", "", CI)

    assert len(told) == 9
    for command in told:
        assert re.search(rf"(?:^|&& ){re.escape(command)}(?:$| &&|\))", run, re.MULTILINE), command


def test_every_file_that_is_linked_exists() -> None:
    pages = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "CHANGELOG.md",
        *ROOT.glob("docs/**/*.md"),
    ]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)[)#]", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links {target}"


def test_every_module_that_is_named_exists() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]:
        named = re.findall(
            r"`((?:flows|connectors|tests|docs|notebooks)/[\w./-]+)`", page.read_text()
        )
        for path in named:
            assert (ROOT / path).exists(), f"{page.name} names {path}"


def test_the_settings_of_the_index_are_what_the_code_says() -> None:
    text = (ROOT / "docs" / "indexing.md").read_text(encoding="utf-8")
    table = [line for line in text.splitlines() if line.startswith("| `INDEX_") and "` |" in line]
    knobs = settings.names(index.IndexSettings, index.PREFIX)

    assert [line for line in table if line.count("|") == 4] == [
        row(name, knob) for name, knob in knobs.items()
    ]
