"""What `noarkit help TYPE --example` prints plans as it stands, and each example of a field is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

import noarkit
from noarkit.model import metamodel
from noarkit.recipes import check, read_recipe
from noarkit.recipes.examples import constant_example, field_example, recipe_example
from tests.sources.recipe.recipes import HEAD, told

TYPES = [name for name in metamodel().types if name not in ("Presedens",)]
OF_PERSONS = ("Foedselsnummer", "DNummer")
"""No number of a person stands in an example; what is made of it, only a source that has one shows."""


@pytest.mark.parametrize("name", TYPES)
def test_an_example_plans_as_it_stands(name: str, tmp_path: Path) -> None:
    text = recipe_example(name)
    assert text is not None
    (tmp_path / "src" / "sak").mkdir(parents=True)
    (tmp_path / "src" / "sak" / "brev.txt").write_text("brev")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(text)
    assert check(read_recipe(text)) == []
    plan = noarkit.plan(tmp_path / "src", recipe=recipe, run=tmp_path / "run")
    assert "set_aside" not in plan.records
    assert (plan.entities.get(name, 0) > 0) == (name not in OF_PERSONS)


def test_a_type_that_no_recipe_makes_has_no_example() -> None:
    assert recipe_example("Presedens") is None


@pytest.mark.parametrize("name", ["Mappe", "Saksmappe", "Moetemappe", "Basisregistrering", "Journalpost", "Arkivnotat"])
def test_each_field_takes_its_example(name: str) -> None:
    head = (
        f'{HEAD}model = 3\n[defaults.{name}]\ntittel = "x"\nadministrativEnhet = "x"\nmoetenummer = "1"\nutvalg = "x"\n'
    )
    wrong = {"unknown-field", "field-not-writable", "constant-wrong-kind", "expression-syntax", "unknown-code"}
    for field in metamodel().types[name].fields.values():
        if field.save != "sm" and field.kind != "object":
            constant = f"{field.name} = {constant_example(field)}"
            for line in (field_example(field, field.name), constant):
                found = told(f'{head}[[map]]\ntype = "{name}"\n[map.fields]\n{line}\n')
                by_line = {problem.key for problem in found if problem.data.get("field") in line.split(" ")[:1]}
                assert not by_line & wrong - ({"unknown-code"} if line == constant else set()), line
