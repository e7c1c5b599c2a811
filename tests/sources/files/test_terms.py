"""What a recipe's [source] says of files: links, hidden names, PRONOM identifiers and the rest of the policy."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.errors import PlanFault
from noarkit.events import ignore_event
from noarkit.forms.finders import open_source, reopen
from noarkit.recipes import read_recipe
from noarkit.records import Source, SourceRecord, fitted
from noarkit.sources.files.default import default_recipe
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree


def keys(source: Source) -> list[str]:
    """The keys of what is taken."""
    return [item.key for item in source.records(ignore_event) if isinstance(item, SourceRecord)]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Files, one hidden, one behind a link."""
    folder = tmp_path / "kilde"
    folder.mkdir()
    for name in ("a.txt", ".skjult", "Thumbs.db"):
        (folder / name).write_text(name)
    (tmp_path / "annet.txt").write_text("annet")
    (folder / "lenke.txt").symlink_to(tmp_path / "annet.txt")
    return folder


def test_a_recipe_says_which_links_and_hidden_names_are_taken(tree: Path) -> None:
    source = open_source(str(tree))
    assert keys(source) == [".skjult", "Thumbs.db", "a.txt"]
    shaped = fitted(source, {"kind": "files", "links": "follow", "hidden": "skip", "system": "skip", "settle_s": 0})
    assert isinstance(shaped, FileTree)
    assert keys(shaped) == ["a.txt", "lenke.txt"]
    assert keys(reopen(shaped.identity)) == ["a.txt", "lenke.txt"], "a plan remembers what it was asked"


def test_a_recipe_may_say_all_that_a_policy_is() -> None:
    # a register has a section of its own
    options = [one for one in dataclasses.fields(FilePolicy) if one.name != "register"]
    lines = [f"{one.name} = {json.dumps(one.default)}" for one in options]
    told = (
        default_recipe("files", "x", "y")
        .replace("case_level = 1\n", "")
        .replace('kind = "files"', "\n".join(['kind = "files"', *lines]), 1)
    )
    source = read_recipe(told).data["source"]
    assert isinstance(source, dict)
    assert set(source) == {"kind", *(one.name for one in options)}


def test_a_proposal_leaves_out_what_a_desktop_system_left_behind_and_says_how_much(tree: Path) -> None:
    source = FileTree(tree)
    text = source.proposal(ignore_event)
    assert 'system = "skip"' in text.splitlines()
    assert "# 1 file that a desktop system left behind" in text
    assert keys(fitted(source, read_recipe(text).data["source"])) == [".skjult", "a.txt"]
    assert 'system = "skip"' not in source.default_recipe(), "a plan without a recipe takes every file"
    (tree / "Thumbs.db").unlink()
    assert 'system = "skip"' not in source.proposal(ignore_event)


@pytest.mark.parametrize(
    ("terms", "why", "name"),
    [
        ({"link": "follow"}, "unknown-key", "link"),
        ({"links": "some"}, "no-such-choice", "skip, follow"),
        ({"links": True}, "no-such-choice", "skip, follow"),
        ({"puids": "yes"}, "wrong-kind", "puids"),
        ({"settle_s": True}, "wrong-kind", "settle_s"),
        ({"mail_limit_bytes": 1.5}, "wrong-kind", "mail_limit_bytes"),
        ({"lead": 1}, "wrong-kind", "lead"),
    ],
)
def test_what_no_policy_is_is_told(tree: Path, terms: dict[str, object], why: str, name: str) -> None:
    with pytest.raises(PlanFault) as told:
        fitted(open_source(str(tree)), terms)
    assert (told.value.data["why"], told.value.data["name"]) == (why, name)


def test_a_plan_by_such_a_recipe_takes_them(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    recipe = tmp_path / "r.toml"
    assert main(["recipe", "new", str(tree), "-o", str(recipe)], environment) == 0
    text = recipe.read_text("utf-8")
    for value, code in (('"follow"', 0), ('"some"', 4)):
        recipe.write_text(text.replace('kind = "files"', f'kind = "files"\nlinks = {value}', 1), "utf-8")
        assert main(["plan", str(tree), "--recipe", str(recipe), "-o", f"run{code}"], environment) == code
    assert "must be one of these: skip, follow" in capsys.readouterr().err
    planned = json.loads((tmp_path / "run0" / "plan-report.json").read_text("utf-8"))
    assert planned["load"]["files"] == 3, "the one behind the link too, and nothing that a desktop system left behind"
