"""The mapping of the model, turned round for reading: which element is which field, and what is done where it lacks.

Elements that become entities, links or groups of fields are `structural`; every other without a row has no place in
the archive, and is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from noarkit.model import Field, metamodel
from noarkit.model.mapping import FieldMap, TypeMap, mapping

JOINED = "; "
_HOW: Mapping[str, str] = {
    "text": "text",
    "number": "number",
    "date": "day",
    "instant": "time",
    "day": "time",
    "uuid": "uuid",
    "code": "code",
    "list": "many",
    "lines": "lines",
}
# elements of a version before 5.0 whose name differs in its letters only
_OTHER_SPELLINGS: Mapping[str, str] = {"presedensStatus": "presedensstatus"}


@dataclass(frozen=True, slots=True)
class Row:
    """One element and its field. `empty` is the text that means nothing, where the writer had to say something."""

    field: str
    how: str
    code_list: str = ""
    empty: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """How elements of one type are read; `absent` are values for what the archive must have and an extract may lack."""

    rows: Mapping[str, Row]
    structural: frozenset[str]
    absent: Mapping[str, str]
    codes: Mapping[str, str]


@cache
def unknown() -> str:
    """The text that stands for a value that nobody knows."""
    return mapping().words.texts["unknown"]


@cache
def reading(type_name: str) -> Reading:
    """How a type is read, made once from the mapping."""
    told, fields = mapping().types[type_name], metamodel().types[type_name].fields
    rows: dict[str, Row] = {}
    structural = {*_elements_of_links(told), "virksomhetsspesifikkeMetadata"}
    for one in told.fields.values():
        if one.path is None or one.path == ".":
            continue
        first, *rest = one.path.split("/")
        if rest or fields[one.name].save == "sm" or one.rule not in _HOW:
            structural.add(first)
            continue
        row = _row(one, fields[one.name])
        rows.update({name: row for name in (first, one.older, _OTHER_SPELLINGS.get(first)) if name})
    structural.update(fill.path.split("/")[0] for fill in told.fills)
    lists = {name: field.code_list for name, field in fields.items() if field.code_list}
    return Reading(
        MappingProxyType(rows), frozenset(structural), MappingProxyType(_absent(told, fields)), MappingProxyType(lists)
    )


def _row(one: FieldMap, field: Field) -> Row:
    empty = ""
    if field.need == "may" and not field.has_default:
        empty = unknown() if one.fallback == "unknown" else ""
    return Row(one.name, _HOW[one.rule or "text"], field.code_list or "", empty)


def _elements_of_links(told: TypeMap) -> set[str]:
    paths = [link.path for link in told.links.values() if link.way in ("nest", "refer") and link.path]
    older = {"part": "sakspart"} if told.group in ("mappe", "saksmappe", "moetemappe") else {}
    return {path.split("/")[0] for path in paths} | set(older.values())


def _absent(told: TypeMap, fields: Mapping[str, Field]) -> dict[str, str]:
    """Texts for fields that must be there; codes stand as codes where the mapping names one."""
    found: dict[str, str] = {}
    for name, field in fields.items():
        if field.need != "must" or field.has_default or field.save == "sm" or field.kind != "string":
            continue
        said = told.fields[name].absent if name in told.fields else None
        found[name] = unknown() if said in (None, "unknown") else f"={said}"
    found.pop("referanseDokumentfil", None)
    return found
