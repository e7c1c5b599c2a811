"""The published types, fields, references and code lists, read from the reference tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Field:
    """A published field of a type."""

    name: str
    kind: str
    save: str
    is_required: bool
    default: object
    has_default: bool
    code_list: str | None
    can_query: bool
    can_sort: bool
    allowed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """A published reference of a type."""

    name: str
    targets: tuple[str, ...]
    is_many: bool
    is_required: bool
    is_shown: bool
    can_link: bool
    can_unlink: bool
    inverse: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObjectType:
    """A published type."""

    name: str
    abstract: str | None
    fields: Mapping[str, Field]
    references: Mapping[str, Reference]
    constraints: tuple[Mapping[str, Any], ...]  # Any: as the table has them
    takes_business_metadata: bool
    is_owned: bool


@dataclass(frozen=True, slots=True)
class CodeList:
    """A list of codes, and the fields that take its codes."""

    name: str
    places: tuple[tuple[str, str], ...]
    default: str | None
    values: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tables:
    """All that is published of the data."""

    types: Mapping[str, ObjectType]
    abstract: Mapping[str, tuple[str, ...]]

    def concrete(self, name: str) -> tuple[str, ...]:
        """The types that a name stands for; none where it is unknown."""
        if name in self.types:
            return (name,)
        return self.abstract.get(name, ())

    def inverse(self, source: str, reference: Reference, target: str) -> str:
        """The name of the reference on the other side; one that no query can name where none is published."""
        for entry in reference.inverse:
            owner, _, name = entry.partition(".")
            if target in self.concrete(owner) and name in self.types[target].references:
                return name
        return f"~{source}.{reference.name}"


@cache
def read_tables(folder: Path) -> Tables:
    """Reads the types."""
    table = json.loads((folder / "archive-object-types.json").read_bytes())
    types = {name: _type(entry) for name, entry in table["types"].items()}
    return Tables(types, {name: tuple(members) for name, members in table["abstract_types"].items()})


def read_code_lists(folder: Path) -> dict[str, CodeList]:
    """Reads the code lists as a new service has them; each call makes new ones, since they can be changed."""
    table = json.loads((folder / "archive-code-lists.json").read_bytes())
    lists = {}
    for entry in table["code_lists"]:
        places = tuple((place["type"], place["field"]) for place in entry["applies_to"])
        values = {value["code"]: {"code": value["code"], "name": value["name"]} for value in entry["values"]}
        lists[entry["listId"]] = CodeList(entry["listId"], places, entry["default_code"], values)
    return lists


def _type(entry: Mapping[str, Any]) -> ObjectType:  # Any: as the table has it
    fields = {row["name"]: _field(row) for row in entry["fields"] if row["kind"] != "ref"}
    references = {row["name"]: _reference(row) for row in entry["fields"] if row["kind"] == "ref"}
    return ObjectType(
        entry["name"],
        entry["abstract"],
        fields,
        references,
        tuple(entry["constraints"]),
        bool(entry["supports_bsm"]),
        bool(entry["owned"]),
    )


def _field(row: Mapping[str, Any]) -> Field:  # Any: as the table has it
    return Field(
        row["name"],
        row["type"],
        row["save"],
        row["not_null"] is True,
        row.get("default"),
        bool(row["has_default"]),
        row["code_list"],
        bool(row["query"]),
        bool(row["sort"]),
        tuple(row.get("allowed_values", ())),
    )


def _reference(row: Mapping[str, Any]) -> Reference:  # Any: as the table has it
    ref = row["ref"]
    return Reference(
        row["name"],
        tuple(ref["targets"]),
        ref["cardinality"] == "to-many",
        row["not_null"] is True,
        bool(row["view"]),
        bool(row["link"]),
        bool(row["unlink"]),
        tuple(ref["inverse"]),
    )
