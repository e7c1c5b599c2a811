"""Who may see the records of a service is asked when its recipe is made, and shown by plans until somebody decided."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.recipes import read_recipe
from noarkit.recipes.screening import undecided_kinds
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import Standing, standing

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Standing]:
    """A small CRM, asked from a folder of its own."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with standing("crm", tmp_path, StandinSpec(8)) as found:
        yield found


def told(held: Standing, capsys: Captured, *line: str) -> str:
    """What a command prints, which must end well."""
    environment = {**held.environment, "HOME": str(Path.cwd())}
    assert main([*line, "--config", str(held.config), "--progress", "none"], environment) == 0
    return " ".join(capsys.readouterr().out.split())


def test_a_new_recipe_asks_and_a_plan_shows_what_nobody_decided(held: Standing, capsys: Captured) -> None:
    said = told(held, capsys, "recipe", "new", "crm:standin", "-o", "recipe.toml")
    kinds = [kind for kind, _ in undecided_kinds(read_recipe(Path("recipe.toml").read_text("utf-8"), "recipe.toml"))]
    assert {"note", "email", "attachment"} <= set(kinds)
    assert "Nobody has decided who may see these" in said
    assert all(kind in said for kind in kinds)
    said = told(held, capsys, "plan", "crm:standin", "-o", "run", "--recipe", "recipe.toml")
    assert f"Access undecided {', '.join(kinds)}: nobody has decided who may see them." in said
    page = Path("run/plan.html").read_text("utf-8")
    assert "It has not been decided who may see some of the records" in page


def test_what_was_decided_is_counted_and_asked_no_more(held: Standing, capsys: Captured) -> None:
    told(held, capsys, "recipe", "new", "crm:standin", "-o", "recipe.toml")
    recipe = Path("recipe.toml")
    recipe.write_text(recipe.read_text("utf-8").replace('screening = "= none"', 'screening = "UO13"'), "utf-8")
    said = told(held, capsys, "plan", "crm:standin", "-o", "run", "--recipe", "recipe.toml")
    assert "Access undecided" not in said
    screening = json.loads(Path("run/plan-report.json").read_text("utf-8"))["screening"]
    assert screening["undecided"] == []
    assert 0 < screening["screened"] <= sum(one["count"] for one in screening["types"])
    assert sum(screening["units"].values()) == screening["screened"]
    assert f"{screening['units']['records']} record" in said
