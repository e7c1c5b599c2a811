"""What README, help and manual page say is what the code does."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from noarkit.cli.help import fault_kinds
from noarkit.cli.main import COMMANDS, PROGRAM, main, program
from noarkit.cli.options import Command, global_options
from noarkit.config import SETTINGS
from noarkit.errors import GRAVITY, NotApproved
from noarkit.forms.noark5.spec import identify, schema_files
from noarkit.manual.chapters import CHAPTERS, PARTS, chapter_source
from noarkit.words.texts import LANGUAGES, explain, texts
from tests.manual_walk import follow

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
ENVIRONMENT = {"HOME": "/nonexistent"}


def all_commands() -> dict[str, Command]:
    """Every command there is."""
    made = program()
    ctx = click.Context(made)
    found = {name: made.get_command(ctx, name) for name in COMMANDS}
    return {name: command for name, command in found.items() if isinstance(command, Command)}


def all_options() -> set[str]:
    """Every option there is, as it is written."""
    params = [*global_options(), *(each for command in all_commands().values() for each in command.params)]
    return {name for each in params if isinstance(each, click.Option) for name in each.opts} | {"--help", "-h"}


def options_in(text: str) -> set[str]:
    """Options that a text speaks of."""
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))


def options_of_scripts() -> set[str]:
    """Those of what developers run."""
    texts = [(ROOT / place).read_text("utf-8") for place in ("scripts/wheelhousing/__main__.py", "tests/conftest.py")]
    return options_in("\n".join(texts))


def fenced(text: str) -> list[str]:
    """The fenced blocks of a text."""
    return re.findall(r"^```[^\n]*\n(.*?)^```$", text, re.S | re.M)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command prints; it must go well."""
    code = main(arguments, ENVIRONMENT)
    out, err = capsys.readouterr()
    assert code == 0, err
    return out


def test_every_command_is_a_command_of_ours() -> None:
    assert set(all_commands()) == set(COMMANDS)


def test_the_readme_speaks_of_no_option_or_fault_that_is_not_there() -> None:
    assert options_in(README) - all_options() - options_of_scripts() == set()
    assert set(re.findall(r"\bF\d{3}\b", README)) <= set(fault_kinds())
    assert set(re.findall(r"\bnoarkit ([a-z]+)", "\n".join(fenced(README)))) <= set(COMMANDS)


def test_the_readme_is_short_and_links_to_every_chapter_in_the_order_of_the_manual() -> None:
    assert len(README.splitlines()) <= 150
    before, _, listed = README.partition("## The manual")
    parts = re.split(r"^\*\*[^*]+\*\*$", listed, flags=re.M)[1:]
    linked = [tuple(re.findall(r"\]\(noarkit/manual/en/([a-z-]+)\.md\)", part)) for part in parts]
    assert linked == list(PARTS.values())
    assert set(re.findall(r"\]\(noarkit/manual/en/([a-z-]+)\.md\)", before)) <= set(CHAPTERS)
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_first_ingest_of_the_readme_runs_as_it_stands(tmp_path: Path) -> None:
    (commands,) = (block for block in fenced(README) if "noarkit ingest" in block)
    follow(commands, tmp_path)
    assert (tmp_path / "my-run" / "plan.html").is_file() and (tmp_path / "my-run" / "report.html").is_file()
    assert list((tmp_path / "delivery").glob("arkivstruktur.xml"))


def test_the_readme_and_the_package_agree_on_scripts_and_licence() -> None:
    for name in re.findall(r"scripts/[a-z-]+", README):
        assert (ROOT / name).is_file(), name
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["license"] in README
    assert "Apache License" in (ROOT / "LICENSE").read_text("utf-8")
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.parametrize(("page", "most_lines"), [("CHANGELOG.md", 100), ("BENCHMARKS.md", 200)])
def test_a_page_that_is_read_at_a_sitting_stays_one(page: str, most_lines: int) -> None:
    assert len((ROOT / page).read_text("utf-8").splitlines()) <= most_lines


def test_each_entry_of_the_changelog_names_what_there_is() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8").partition("### Moved names")[0]
    entries = re.findall(r"^- .*?(?=\n\n|\n- |\Z)", changelog, re.MULTILINE | re.DOTALL)
    assert len(entries) > 20
    for entry in entries:
        assert re.search(r"`[^`]+`|\bF\d{3}\b", entry), f"neither a command nor a code: {entry}"
    for name in re.findall(r"`noarkit ([a-z-]+)", changelog):
        assert name in COMMANDS, name
    assert set(re.findall(r"\bF\d{3}\b", changelog)) <= set(fault_kinds())
    commands = all_commands().values()
    options = {name for command in commands for option in command.params for name in option.opts}
    options |= {name for option in global_options() for name in option.opts}
    assert set(re.findall(r"(?<=[` ])--[a-z-]+", changelog)) <= options


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_a_recipe_for_contributors_names_is_there(lang: str) -> None:
    text = (ROOT / "noarkit" / "manual" / lang / "contributing.md").read_text("utf-8")
    places = set(re.findall(r"\b(?:noarkit|tests|scripts|schemas|samples)/[\w./-]*\w", text))
    assert len(places) > 20
    assert {place for place in places - {"tests/ROOM", "tests/ROM"} if not (ROOT / place).exists()} == set()


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", COMMANDS)
def test_help_begins_with_examples_and_ends_with_exit_codes(
    name: str, lang: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = texts(lang)
    shown = run(capsys, name, "--help", "--lang", lang)
    assert shown == run(capsys, "help", name, "--lang", lang)
    parts = [told.say(f"help.{part}") + ":" for part in ("examples", "exits")]
    places = [shown.index(part) for part in parts]
    assert places == sorted(places)
    assert told.text("commands", name, "short").split()[0] in shown[: places[0]]
    codes = [int(code) for code in re.findall(r"^  (\d+) ", shown[places[1] :], re.MULTILINE)]
    assert tuple(codes) == all_commands()[name].exits
    assert set(codes) <= set(GRAVITY)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_option_is_explained_and_shows_its_variable(lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(all_commands()) > 25
    for name, command in all_commands().items():
        shown = " ".join(run(capsys, name, "--help", "--lang", lang).split())
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.opts[0] in shown
                assert "NOARKIT_" + option.opts[-1].strip("-").replace("-", "_").upper() in shown


@pytest.mark.parametrize("lang", LANGUAGES)
def test_examples_are_commands_and_options_that_exist(lang: str) -> None:
    told = texts(lang)
    every = [told.text("program", "examples")] + [told.text("commands", name, "examples") for name in COMMANDS]
    assert all(text.strip() for text in every)
    for text in every:
        for line in text.strip().splitlines():
            called = re.match(rf"{PROGRAM} (\S+)", line)
            assert called and called.group(1) in COMMANDS, line
            assert options_in(line) <= all_options(), line


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_lists_in_chapters_are_those_of_the_code(lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = texts(lang)
    commands = " ".join(run(capsys, "help", "commands", "--lang", lang).split())
    places = [commands.index(f" {name} {told.text('commands', name, 'short')}") for name in COMMANDS]
    assert places == sorted(places)
    for option in global_options():
        assert ", ".join(option.opts) in commands
    settings = run(capsys, "help", "settings", "--lang", lang)
    for setting in SETTINGS:
        assert re.search(rf"^  {re.escape(setting.key)} +{setting.variable}$", settings, re.MULTILINE), setting.key
    codes = re.findall(r"^  (F\d{3})  ", run(capsys, "help", "faults", "--lang", lang), re.MULTILINE)
    assert codes == list(fault_kinds())
    exits = re.findall(r"^ +(\d+)  ", run(capsys, "help", "exit-codes", "--lang", lang), re.MULTILINE)
    assert [int(code) for code in exits] == list(GRAVITY)
    assert all(told.text("exits", str(code)) in run(capsys, "help", "exit-codes", "--lang", lang) for code in GRAVITY)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_fault_is_explained_offline(lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(fault_kinds()) > 70
    for code, kind in fault_kinds().items():
        shown = run(capsys, "help", code.lower(), "--lang", lang)
        assert all(line in shown for line in explain(code, lang) or [""])
        assert str(kind().exit_code) in shown.splitlines()[0]


def test_words_of_commands_options_and_exits_are_those_of_the_code() -> None:
    names = {option.name for command in all_commands().values() for option in command.params}
    for lang in LANGUAGES:
        told = texts(lang).tables
        assert set(told["commands"]) == set(COMMANDS)
        assert set(told["exits"]) == {str(code) for code in GRAVITY}
        for command, options in told["options"].items():
            assert isinstance(options, dict)
            known = names if command == "all" else {each.name for each in all_commands()[command].params}
            assert set(options) <= known, command


def test_the_manual_page_tells_every_command_option_and_topic(capsys: pytest.CaptureFixture[str]) -> None:
    page = run(capsys, "man").replace("\\-", "-")
    assert page.startswith(".TH NOARKIT 1")
    assert all(f".SS {PROGRAM} {name}" in page for name in COMMANDS)
    assert all(f".SH {name.upper()}\n" in page for name in CHAPTERS)
    assert options_in("\n".join(all_options())) - {"--help"} <= options_in(page)
    assert not re.search(r"^'", page, re.MULTILINE)


def settings_in(text: str) -> Iterator[str]:
    """Every setting of a commented config, taken out of its comment."""
    table_name = ""
    for line in text.splitlines():
        bare = line.removeprefix("# ")
        if re.match(r"\[[a-z.]+\]$", bare):
            table_name = bare.strip("[]") + "."
        elif found := re.match(r"([a-z_]+) = ", bare):
            yield table_name + found.group(1)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_config_that_init_writes_names_every_setting_and_no_other(lang: str) -> None:
    text = (ROOT / "noarkit" / "words" / "templates" / f"noarkit.{lang}.toml").read_text("utf-8")
    found = {re.sub(r"^profiles\.test\.", "", name) for name in settings_in(text)}
    assert found - {"profile"} == {setting.key for setting in SETTINGS}


def test_both_languages_write_the_same_package_description() -> None:
    made = [
        tomllib.loads((ROOT / "noarkit" / "words" / "templates" / f"package.{lang}.toml").read_text("utf-8"))
        for lang in LANGUAGES
    ]
    assert made[0] == made[1]
    assert {"agreement", "creator", "submitter", "contacts", "period", "system"} <= set(made[0])


def test_json_lines_follow_their_schema(capsys: pytest.CaptureFixture[str]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "schemas" / "events.json").read_text("utf-8"))
    judge = jsonschema.Draft202012Validator(schema)
    for arguments in (["version"], ["config", "show"], ["doctor"], ["help"], ["vers"], ["serve", "--port", "x"]):
        main([*arguments, "--json"], ENVIRONMENT)
        out, err = capsys.readouterr()
        lines = [json.loads(line) for line in out.splitlines()]
        assert err == ""
        assert lines[-1]["event"] == "summary"
        for line in lines:
            judge.validate(line)


@pytest.mark.parametrize("lang", ["en", "nb"])
def test_the_manual_states_the_official_schemas_as_they_are_known(lang: str) -> None:
    text = chapter_source("extracting", lang)
    stated = dict(re.findall(r"^\| `(\w+\.xsd)` \| `([0-9a-f]{64})` \|$", text, re.MULTILINE))
    assert set(stated) == set(schema_files("5.0"))
    for name, sha256 in stated.items():
        schema = identify(sha256)
        assert schema is not None
        assert (schema.file, schema.line_ends) == (name, "lf")
        assert schema.edition in ("2023", None)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_deposit_that_waits_for_a_person_is_told_wherever_exit_codes_are_listed(lang: str) -> None:
    code = str(NotApproved.exit_code)
    waits = re.compile(rf"(?<!\d){code}\b[^.]*\bdeposit\b|\bdeposit`?\b[^.]*[^\d]{code}\b")
    assert waits.search(f"{code} {texts(lang).text('exits', code)}")
    assert waits.search(chapter_source("exit-codes", lang))
    told = " ".join(chapter_source("folder-to-deposit", lang).split())
    assert {"en": f"stops with exit code {code}", "nb": f"stopper med avslutningskode {code}"}[lang] in told
    assert waits.search(README.partition("## When something goes wrong")[2])
