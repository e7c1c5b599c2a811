"""Reads `noark5.txt` and `code-lists.toml` into frozen values, once.

Nothing here judges an object; `metamodel()` only says what the archive service knows. The tables are proven by tests,
so that reading them at run time is a plain parse.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

Kind = Literal["string", "timestamp", "date", "number", "boolean", "object"]
Need = Literal["must", "may", "cond"]
Save = Literal["x", "cw", "sm"]
RuleKind = Literal["exactly-one", "at-most-one", "not-both"]


@dataclass(frozen=True, slots=True)
class Field:
    """A plain field of a type; references are `Reference`."""

    name: str
    kind: Kind
    number: str | None
    need: Need
    default: str | None
    code_list: str | None
    save: Save
    viewed: bool
    queryable: bool
    sortable: bool
    alias: str | None
    newer: bool
    since: str | None
    values: tuple[str, ...]
    also: str | None

    @property
    def has_default(self) -> bool:
        """True if the archive fills the field in when the client does not."""
        return self.default is not None


@dataclass(frozen=True, slots=True)
class Reference:
    """A link from one type to others; `inverse` names the same link seen from the target."""

    name: str
    many: bool
    targets: tuple[str, ...]
    need: Need
    linkable: bool
    unlinkable: bool
    viewed: bool
    inverse: str
    newer: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule over several fields or links of one object."""

    kind: RuleKind
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObjectType:
    """A concrete type with all it holds."""

    name: str
    english: str
    abstract: str | None
    finalizable: bool
    has_business_metadata: bool
    owned: bool
    newer: bool
    since: str | None
    fields: Mapping[str, Field]
    references: Mapping[str, Reference]
    rules: tuple[Rule, ...]

    @property
    def family(self) -> str:
        """The abstract type where there is one, else the type itself; a family is stored and found together."""
        return self.abstract or self.name


@dataclass(frozen=True, slots=True)
class Code:
    """One value of a code list."""

    code: str
    name: str
    since: str | None = None


@dataclass(frozen=True, slots=True)
class CodeList:
    """A code list as the archive comes with it."""

    name: str
    number: str | None
    default: str | None
    steers_access: bool
    has_authority: bool
    codes: tuple[Code, ...]
    used_by: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Metamodel:
    """All types, abstract types and code lists."""

    types: Mapping[str, ObjectType]
    abstract: Mapping[str, tuple[str, ...]]
    code_lists: Mapping[str, CodeList]

    def concrete(self, name: str) -> tuple[str, ...]:
        """The concrete types behind a concrete or abstract name; empty if the name is unknown."""
        if name in self.types:
            return (name,)
        return self.abstract.get(name, ())

    def is_a(self, concrete: str, name: str) -> bool:
        """True if `concrete` is `name` or one of its kinds."""
        return concrete == name or concrete in self.abstract.get(name, ())

    def family(self, name: str) -> str:
        """The family of a concrete or abstract type."""
        return name if name in self.abstract else self.types[name].family


@cache
def metamodel() -> Metamodel:
    """The metamodel, read once from the tables beside this module."""
    here = files("noarkit.model")
    types, abstract = _read_types(here.joinpath("noark5.txt").read_text("utf-8"))
    lists = _read_code_lists(here.joinpath("code-lists.toml").read_text("utf-8"), types)
    return Metamodel(MappingProxyType(types), MappingProxyType(abstract), MappingProxyType(lists))


def _read_types(text: str) -> tuple[dict[str, ObjectType], dict[str, tuple[str, ...]]]:
    types: dict[str, ObjectType] = {}
    abstract: dict[str, tuple[str, ...]] = {}
    for block in _blocks(text):
        head = block[0]
        if head[0] == "abstract":
            abstract[head[1]] = tuple(head[2:])
        else:
            types[head[1]] = _read_type(block)
    return types, abstract


def _blocks(text: str) -> Iterator[list[list[str]]]:
    block: list[list[str]] = []
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        words = shlex.split(line) if line.startswith("type ") else line.split()
        if not line.startswith(" ") and block:
            yield block
            block = []
        block.append(words)
    if block:
        yield block


def _read_type(block: list[list[str]]) -> ObjectType:
    _, name, english, *flags = block[0]
    fields: dict[str, Field] = {}
    references: dict[str, Reference] = {}
    rules: list[Rule] = []
    for kind, *words in block[1:]:
        if kind == "field":
            fields[words[0]] = _read_field(words)
        elif kind == "link":
            references[words[0]] = _read_reference(words)
        else:
            rules.append(Rule(words[0], tuple(words[1:])))  # type: ignore[arg-type]  # the tests hold the table to these words
    return ObjectType(
        name=name,
        english=english,
        abstract=flags[flags.index("of") + 1] if "of" in flags else None,
        finalizable="finalizable" in flags,
        has_business_metadata="bsm" in flags,
        owned="owned" in flags,
        newer="newer" in flags,
        since=_option(flags, "since"),
        fields=MappingProxyType(fields),
        references=MappingProxyType(references),
        rules=tuple(rules),
    )


def _read_field(words: list[str]) -> Field:
    name, kind, number, need, default, code_list, save, look, alias, *more = words
    values = _option(more, "values")
    return Field(
        name=name,
        kind=kind,  # type: ignore[arg-type]  # the tests hold the table to these words
        number=_cell(number),
        need=need,  # type: ignore[arg-type]  # the tests hold the table to these words
        default=_cell(default),
        code_list=_cell(code_list),
        save=save,  # type: ignore[arg-type]  # the tests hold the table to these words
        viewed="v" in look,
        queryable="q" in look,
        sortable="s" in look,
        alias=_cell(alias),
        newer="newer" in more,
        since=_option(more, "since"),
        values=tuple(values.split(",")) if values else (),
        also=_option(more, "also"),
    )


def _read_reference(words: list[str]) -> Reference:
    name, many, targets, need, flags, inverse, *more = words
    return Reference(
        name=name,
        many=many == "many",
        targets=tuple(targets.split(",")),
        need=need,  # type: ignore[arg-type]  # the tests hold the table to these words
        linkable="L" in flags,
        unlinkable="U" in flags,
        viewed="V" in flags,
        inverse=inverse,
        newer="newer" in more,
    )


def _read_code_lists(text: str, types: Mapping[str, ObjectType]) -> dict[str, CodeList]:
    used_by: dict[str, list[tuple[str, str]]] = {}
    for object_type in types.values():
        for field in object_type.fields.values():
            if field.code_list:
                used_by.setdefault(field.code_list, []).append((object_type.name, field.name))
    return {
        name: CodeList(
            name=name,
            number=entry.get("number") or None,
            default=entry.get("default"),
            steers_access=bool(entry.get("steers_access", False)),
            has_authority=bool(entry.get("has_authority", False)),
            codes=tuple(Code(*code) for code in entry["codes"]),
            used_by=tuple(used_by.get(name, ())),
        )
        for name, entry in tomllib.loads(text).items()
    }


def _cell(word: str) -> str | None:
    return None if word == "-" else word


def _option(words: list[str], name: str) -> str | None:
    return next((word.split("=", 1)[1] for word in words if word.startswith(name + "=")), None)
