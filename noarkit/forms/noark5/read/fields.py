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
_READ_KINDS: Mapping[str, str] = {
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
    """One element and its field. `placeholder` is a text without meaning, for elements that must be there."""

    field: str
    kind: str
    code_list: str = ""
    placeholder: str = ""


@dataclass(frozen=True, slots=True)
class TypeRows:
    """How elements of one type are read; `absent` are values for what the archive must have and an extract may lack."""

    rows: Mapping[str, Row]
    structural: frozenset[str]
    absent: Mapping[str, str]
    codes: Mapping[str, str]


@cache
def unknown_text() -> str:
    """The text that stands for a value that nobody knows."""
    return mapping().words.texts["unknown"]


@cache
def rows_of(type_name: str) -> TypeRows:
    """How a type is read, made once from the mapping."""
    type_map, fields = mapping().types[type_name], metamodel().types[type_name].fields
    rows: dict[str, Row] = {}
    structural = {*_elements_of_links(type_map), "virksomhetsspesifikkeMetadata"}
    for field_map in type_map.fields.values():
        if field_map.path is None or field_map.path == ".":
            continue
        first, *tail = field_map.path.split("/")
        if tail or fields[field_map.name].save == "sm" or field_map.rule not in _READ_KINDS:
            structural.add(first)
            continue
        row = _row(field_map, fields[field_map.name])
        rows.update({name: row for name in (first, field_map.older, _OTHER_SPELLINGS.get(first)) if name})
    structural.update(fill.path.split("/")[0] for fill in type_map.fills)
    lists = {name: field.code_list for name, field in fields.items() if field.code_list}
    return TypeRows(
        MappingProxyType(rows),
        frozenset(structural),
        MappingProxyType(_absent_texts(type_map, fields)),
        MappingProxyType(lists),
    )


def _row(field_map: FieldMap, field: Field) -> Row:
    placeholder = ""
    if field.need == "may" and not field.has_default:
        placeholder = unknown_text() if field_map.fallback == "unknown" else ""
    return Row(field_map.name, _READ_KINDS[field_map.rule or "text"], field.code_list or "", placeholder)


def _elements_of_links(type_map: TypeMap) -> set[str]:
    paths = [link.path for link in type_map.links.values() if link.placement in ("nest", "refer") and link.path]
    older = {"part": "sakspart"} if type_map.group in ("mappe", "saksmappe", "moetemappe") else {}
    return {path.split("/")[0] for path in paths} | set(older.values())


def _absent_texts(type_map: TypeMap, fields: Mapping[str, Field]) -> dict[str, str]:
    """Texts for fields that must be there; codes stand as codes where the mapping names one."""
    texts: dict[str, str] = {}
    for name, field in fields.items():
        if field.need != "must" or field.has_default or field.save == "sm" or field.kind != "string":
            continue
        absent_text = type_map.fields[name].absent if name in type_map.fields else None
        texts[name] = unknown_text() if absent_text in (None, "unknown") else f"={absent_text}"
    texts.pop("referanseDokumentfil", None)
    return texts
