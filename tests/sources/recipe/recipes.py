"""Short ways to a record and a mapper, for tests of recipes."""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.graph.entity import Content, Entity, MappedRecord, SetAside, Skipped
from noarkit.recipes import RecipeProblem, check, compile_recipe, read_recipe
from noarkit.records import SourceRecord

HEAD = '[target]\nexternal_system = "test"\n'


def record(key: str = "k", *contents: str, kind: str = "thing", **fields: object) -> SourceRecord:
    """A source record whose contents have these names."""
    return holding(fields, key, *contents, kind=kind)


def holding(fields: Mapping[str, object], key: str = "k", *contents: str, kind: str = "thing") -> SourceRecord:
    """A source record with any names of fields."""
    held = tuple(Content(f"{key}/{name}", name, 3, media_type="text/plain") for name in contents)
    return SourceRecord(kind, key, fields, held)


def outcome(recipe: str, *records: SourceRecord) -> MappedRecord | SetAside | Skipped:
    """What the last of `records` becomes, after the others."""
    mapper = compile_recipe(read_recipe(recipe, "test.toml"))
    return [mapper.map(one) for one in records][-1]


def mapped(recipe: str, *records: SourceRecord) -> dict[str, Entity]:
    """The entities of the last of `records`, by key."""
    found = outcome(recipe, *records)
    assert isinstance(found, MappedRecord), found
    return {entity.key: entity for entity in found.entities}


def set_aside(recipe: str, *records: SourceRecord) -> SetAside:
    """Why the last of `records` is set aside."""
    found = outcome(recipe, *records)
    assert isinstance(found, SetAside), found
    return found


def fields_of(value: str, **fields: object) -> Mapping[str, object]:
    """The fields of a record whose `beskrivelse` is the value `value` (as TOML)."""
    recipe = f'{HEAD}[[map]]\nfields = {{ tittel = "t", beskrivelse = {value} }}\n'
    return mapped(recipe, holding(fields))["k"].fields


def problems(recipe: str, *samples: SourceRecord) -> list[tuple[int, str]]:
    """The line and key of every problem of a recipe, warnings too."""
    return [(found.line, found.key) for found in told(recipe, *samples)]


def told(recipe: str, *samples: SourceRecord) -> list[RecipeProblem]:
    """Every problem of a recipe."""
    return check(read_recipe(recipe, "test.toml"), samples)
