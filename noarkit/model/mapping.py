"""Reads `noark5-mapping.txt`: what becomes of every field and reference of the archive service in an extract.

`mapping()` gives it as frozen values, read once. The rules that it names are pure functions in `rules.py`, or the
writer's own where they need more than one object. What is not in the form says why.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal, get_args

from noarkit.model.metamodel import metamodel
from noarkit.model.xml_model import Version, xml_model

Placement = Literal["nest", "parent", "refer", "inverse", "not-in-form"]
BUSINESS_METADATA = "virksomhetsspesifikkeMetadata"


@dataclass(frozen=True, slots=True)
class FieldMap:
    """Where a field stands: `path` within the group and `rule`, or neither and a `reason` why it is not in the form.

    `fallback` names the rule for a mandatory element whose field is not set, `absent` the rule, or the code, for a
    field that the archive must have and whose element is missing; `older` is the element's name in 3.1 and 4.0.
    """

    type: str
    name: str
    path: str | None
    rule: str | None
    reason: str | None
    fallback: str | None = None
    absent: str | None = None
    older: str | None = None

    def steps(self, version: Version) -> tuple[str, ...]:
        """The element names from the group down to the value; empty if it is the text of the element itself."""
        if self.path is None or self.path == ".":
            return ()
        return (self.older,) if self.older and version != "5.0" else tuple(self.path.split("/"))


@dataclass(frozen=True, slots=True)
class LinkMap:
    """How a reference is told; `reason` = why it is not in the form, or (beside a way) where nesting cannot tell it."""

    type: str
    name: str
    placement: Placement
    path: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Fill:
    """A mandatory element that no field of its own feeds, and the rule that fills it."""

    path: str
    rule: str


@dataclass(frozen=True, slots=True)
class ToldElement:
    """An element without a field of its own, which a field with another element carries in words of ours."""

    path: str
    rule: str
    field: str


@dataclass(frozen=True, slots=True)
class LostElement:
    """An element for which the archive has no field, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class TypeMap:
    """All about one type; `group` is None if the form has no place for its objects at all."""

    type: str
    group: str | None
    older_group: str | None
    fields: Mapping[str, FieldMap]
    links: Mapping[str, LinkMap]
    fills: tuple[Fill, ...]
    lost_elements: tuple[LostElement, ...]
    told_elements: tuple[ToldElement, ...] = ()

    def group_in(self, version: Version) -> str | None:
        """The name of the group in that version; None if the version has none."""
        group = self.older_group if self.older_group and version != "5.0" else self.group
        structure = xml_model(version).structure.groups
        exists = group in structure or any(
            group == element.name for candidate in structure.values() for element in candidate.own
        )
        return group if exists else None


@dataclass(frozen=True, slots=True)
class Source:
    """What an element of a journal or of the change log is taken from: `"Type.field"`, `"entry.member"` or
    `"package"`."""

    path: str
    rule: str
    origin: str
    fallback: str | None


@dataclass(frozen=True, slots=True)
class Synonym:
    """A code whose name in the archive differs from the word of the catalogue."""

    code_list: str
    code: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Words:
    """The vocabulary of the table: reasons and rules with their sentences, fixed texts, synonyms of codes."""

    reasons: Mapping[str, str]
    rules: Mapping[str, str]
    texts: Mapping[str, str]
    synonyms: tuple[Synonym, ...]


@dataclass(frozen=True, slots=True)
class XmlMapping:
    """The whole table."""

    types: Mapping[str, TypeMap]
    documents: Mapping[str, tuple[Source, ...]]
    words: Words

    def type_of(self, group: str, version: Version = "5.0") -> str | None:
        """The type that a group (or the kind named by xsi:type) stands for; None if there is none."""
        for type_map in self.types.values():
            if type_map.group and type_map.group_in(version) == group:
                return type_map.type
        return "Basisregistrering" if group == "registrering" else None

    def not_in_form(self) -> Iterator[FieldMap | LinkMap]:
        """Every field and reference that the form cannot tell, in the order of the table."""
        for type_map in self.types.values():
            yield from (field for field in type_map.fields.values() if field.path is None)
            yield from (link for link in type_map.links.values() if link.placement == "not-in-form")

    def may_carry(self, type_name: str) -> bool:
        """True if objects of the type have business-specific metadata in the form, so that it may carry more."""
        field_map = self.types[type_name].fields.get(BUSINESS_METADATA)
        return field_map is not None and field_map.path is not None


@cache
def mapping() -> XmlMapping:
    """The mapping, read once from the table beside this module."""
    text = files("noarkit.model").joinpath("noark5-mapping.txt").read_text("utf-8")
    types: dict[str, TypeMap] = {}
    documents: dict[str, tuple[Source, ...]] = {}
    words = _read_words(text)
    for head, rows in _blocks(text):
        if head[0] == "type":
            types[head[1]] = _read_type(head, rows)
        else:
            documents[head[1]] = tuple(Source(row[1], row[2], row[3], _option(row, "else")) for row in rows)
    order = [name for name in metamodel().types if name in types]
    return XmlMapping(MappingProxyType({name: types[name] for name in order}), MappingProxyType(documents), words)


def _blocks(text: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    head: list[str] = []
    rows: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith(("type ", "journal ")):
            if head:
                yield head, rows
            head, rows = line.split(), []
        elif line.startswith("  "):
            rows.append(line.split())
    if head:
        yield head, rows


def _read_words(text: str) -> Words:
    tables: dict[str, dict[str, str]] = {"reason": {}, "rule": {}, "text": {}}
    synonyms: list[Synonym] = []
    for line in text.splitlines():
        kind = line.split(maxsplit=1)[0] if line[:1].isalpha() else ""
        if kind in tables:
            _, word, sentence = line.split(maxsplit=2)
            tables[kind][word] = sentence
        elif kind == "synonym":
            _, code_list, code, name, synonym = shlex.split(line)
            synonyms.append(Synonym(code_list, code, name, synonym))
    reasons, rules, texts = (MappingProxyType(tables[kind]) for kind in ("reason", "rule", "text"))
    return Words(reasons, rules, texts, tuple(synonyms))


def _read_type(head: list[str], rows: list[list[str]]) -> TypeMap:
    name = head[1]
    return TypeMap(
        type=name,
        group=None if head[2] == "-" else head[2],
        older_group=_option(head, "older"),
        fields=MappingProxyType({row[1]: _read_field(name, row) for row in rows if row[0] == "field"}),
        links=MappingProxyType({row[1]: _read_link(name, row) for row in rows if row[0] == "link"}),
        fills=tuple(Fill(row[1], row[2]) for row in rows if row[0] == "fill"),
        lost_elements=tuple(LostElement(row[1], row[2]) for row in rows if row[0] == "lost"),
        told_elements=tuple(ToldElement(*row[1:4]) for row in rows if row[0] == "told"),
    )


def _read_field(type_name: str, row: list[str]) -> FieldMap:
    _, name, path, word, *_more = row
    if path == "-":
        return FieldMap(type_name, name, None, None, word)
    options = (_option(row, "else"), _option(row, "absent"), _option(row, "older"))
    return FieldMap(type_name, name, path, word, None, *options)


def _read_link(type_name: str, row: list[str]) -> LinkMap:
    _, name, word, *more = row
    if word == "-":
        return LinkMap(type_name, name, "not-in-form", None, more[0])
    path = more[0] if more else None
    placement = next(item for item in get_args(Placement) if item == word)
    return LinkMap(type_name, name, placement, path, _option(row, "else"))


def _option(words: list[str], name: str) -> str | None:
    return next((word.split("=", 1)[1] for word in words if word.startswith(name + "=")), None)
