"""`--project`: a command is given what a project says of it, and what stands on its line goes first."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from noarkit.cli.main import find_command
from noarkit.cli.project_line import COMMANDS, with_project
from noarkit.copies.policy.read import SHIPPED
from noarkit.projects import lines
from noarkit.projects.project import PROJECT_FILE, USUAL_POLICY, project_text


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a run whose plan was not finished, and a package."""
    folder = tmp_path / "saker og ting"
    (folder / "run").mkdir(parents=True)
    (folder / "run" / "graph.db").touch()
    (folder / "package").mkdir()
    (folder / PROJECT_FILE).write_text(project_text("/srv/-saker", "no-raf-2022", "en"), "utf-8")
    return folder


def filled(name: str, *words: str) -> list[str]:
    command = find_command(name)
    return with_project(command, click.Context(command, info_name=name), words)


def values(name: str, words: list[str]) -> dict[str, object]:
    """What the command reads in a line; what it does not know is a fault."""
    command = find_command(name)
    told, left_over, _ = command.make_parser(click.Context(command, info_name=name)).parse_args(list(words))
    assert not left_over, f"{name} does not take {left_over}"
    return {key: value for key, value in told.items() if isinstance(value, str | tuple)}


def test_the_usual_policy_of_a_project_is_one_that_derive_knows() -> None:
    assert USUAL_POLICY in SHIPPED


def test_the_commands_that_take_it_are_those_that_a_project_says_something_of() -> None:
    assert COMMANDS == lines.COMMANDS


@pytest.mark.parametrize("name", sorted(COMMANDS - {"recipe"}))
def test_each_command_knows_every_word_that_it_is_given(name: str, project: Path) -> None:
    told = values(name, filled(name, "--project", str(project)))
    assert told.keys() - {"project"}, "a project says something of it"


@pytest.mark.parametrize(("action", "first"), [("check", "recipe.toml"), ("new", "/srv/-saker")])
def test_recipes_are_given_what_their_action_takes(action: str, first: str, project: Path) -> None:
    told = values("recipe", filled("recipe", action, "--project", str(project)))
    assert told["action"] == action
    assert str(told["place"]).endswith(first)


def test_what_stands_on_the_line_goes_first(project: Path) -> None:
    told = values("verify", filled("verify", "run-of-mine", "--project", str(project), "--depth", "objects"))
    assert (told["run"], told["depth"]) == ("run-of-mine", "objects")
    told = values("plan", filled("plan", "--recipe", "mine.toml", f"--project={project}"))
    assert (told["source"], told["recipe"]) == ("/srv/-saker", "mine.toml")


def test_what_is_searched_for_stands_behind_the_place(project: Path) -> None:
    told = values("search", filled("search", "tak", "og", "vegg", "--project", str(project)))
    assert told["place"] == f"embedded:{project / 'archive'}"
    assert told["words"] == ("tak", "og", "vegg")
    told = values("show", filled("show", "2014/7", "--project", str(project)))
    assert (told["place"], told["item"]) == (f"embedded:{project / 'archive'}", "2014/7")


def test_a_line_without_a_project_is_left_as_it_is(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert filled("verify", "run") == ["run"]
    monkeypatch.setenv("NOARKIT_PROJECT", str(project))
    assert values("verify", filled("verify"))["run"] == str(project / "run")


def test_places_beside_a_project_are_told_without_climbing_out_of_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.parent)
    text = (project / PROJECT_FILE).read_text("utf-8")
    for key, place in (("schemas", "../xsd"), ("recipe", "../ours.toml"), ("at", "embedded:../archive")):
        text = re.sub(rf'(?m)^{key} = "[^"]*"', f'{key} = "{place}"', text, count=1)
    (project / PROJECT_FILE).write_text(text, "utf-8")
    line = filled("extract", "--project", project.name) + filled("plan", "--project", project.name)
    assert {"xsd", "ours.toml", "embedded:archive"} <= {*line}
    assert not [word for word in line if ".." in word]
