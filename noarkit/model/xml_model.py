"""Reads `noark5-xml.txt`: which elements the XML files of an extract hold, in which order, how often and of which kind.

`xml_model("5.0")` gives one version as frozen values, read once. Nothing here writes or judges a document; the tests
hold the table to the published schemas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal, get_args

Version = Literal["3.1", "4.0", "5.0"]
VERSIONS: tuple[Version, ...] = get_args(Version)
ValueKind = Literal[
    "string", "text", "code", "uuid", "labelled-uuid", "date", "dateTime", "moment", "integer", "size", "any", "group"
]
NAMESPACE = "http://www.arkivverket.no/standarder/noark5/"
_CARDINALITY: Mapping[str, tuple[int, int | None]] = {"1": (1, 1), "?": (0, 1), "*": (0, None), "+": (1, None)}


@dataclass(frozen=True, slots=True)
class Element:
    """One element within a group: how often it may stand there and what it holds.

    `most` is None if there is no limit; `group` names the group it holds, or is None for a value; elements of one
    group with the same `choice` exclude each other; `since_2023` = the first edition of 5.0 refuses it.
    """

    name: str
    kind: ValueKind
    least: int
    most: int | None
    group: str | None = None
    number: str | None = None
    codes: tuple[str, ...] = ()
    choice: int | None = None
    since_2023: bool = False

    @property
    def many(self) -> bool:
        """True if the element may stand more than once."""
        return self.most is None

    @property
    def mandatory(self) -> bool:
        """True if the group is not valid without the element, or without another of the same choice."""
        return self.least > 0


@dataclass(frozen=True, slots=True)
class Group:
    """A group of elements; `elements` is all of them in the order of the document, `own` those it does not inherit."""

    name: str
    extends: str | None
    own: tuple[Element, ...]
    elements: tuple[Element, ...]

    def element(self, name: str) -> Element | None:
        """The element of that name, or None."""
        return next((element for element in self.elements if element.name == name), None)


@dataclass(frozen=True, slots=True)
class Document:
    """One XML file of an extract: its name without suffix, its namespace, its root group and all groups by name."""

    name: str
    namespace: str
    root: str
    groups: Mapping[str, Group]

    def kinds(self, name: str) -> tuple[str, ...]:
        """The groups that an element of group `name` may say it is by xsi:type: itself and all that extend it."""
        return (
            name,
            *(kind for group in self.groups.values() if group.extends == name for kind in self.kinds(group.name)),
        )


@dataclass(frozen=True, slots=True)
class Value:
    """What the leaf of one name holds, wherever it stands."""

    name: str
    number: str
    kind: ValueKind
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class XmlModel:
    """All documents and values of one version."""

    version: Version
    documents: Mapping[str, Document]
    values: Mapping[str, Value]

    @property
    def structure(self) -> Document:
        """The document that holds the archive itself."""
        return self.documents["arkivstruktur"]


@cache
def xml_model(version: Version) -> XmlModel:
    """The XML of one version, read once from the table beside this module; ValueError for an unknown version."""
    column = VERSIONS.index(version)
    lines = _lines(files("noarkit.model").joinpath("noark5-xml.txt").read_text("utf-8"))
    values: dict[str, Value] = {}
    tables: dict[str, dict[str, _RawGroup]] = {}
    for block in _blocks(lines):
        word = block[0].split(maxsplit=1)[0]
        if word == "value":
            value = _read_value(block, column)
            if value:
                values[value.name] = value
        elif word == "document":
            tables[block[0].split()[1]] = {}
        else:
            group = _read_group(block, column, values)
            if group.own:
                tables[next(reversed(tables))][group.name] = group
    documents = {name: _document(name, groups) for name, groups in tables.items()}
    return XmlModel(version, MappingProxyType(documents), MappingProxyType(values))


@dataclass(frozen=True, slots=True)
class _RawGroup:
    name: str
    extends: str | None
    own: tuple[Element, ...]


def _lines(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line.strip() and not line.startswith("#"))


def _blocks(lines: Iterator[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in lines:
        if not line.startswith(" ") and block:
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _read_value(block: list[str], column: int) -> Value | None:
    _, name, number, *kinds = block[0].split()
    if kinds[column] == "-":
        return None
    codes: list[str] = []
    for line in block[1:]:
        since, text = line.split("=", 1)
        if kinds[column] == "code" and (not since.strip() or VERSIONS.index(_version(since)) <= column):
            codes.append(text.strip())
    return Value(name, number, _kind(kinds[column]), tuple(codes))


def _read_group(block: list[str], column: int, values: Mapping[str, Value]) -> _RawGroup:
    _, name, *extends = block[0].split()
    own: list[Element] = []
    choice = 0
    before = ""
    for line in block[1:]:
        sign, words = ("|", line.split()[1:]) if line.split()[0] == "|" else ("", line.split())
        choice += sign == "|" and before != "|"
        before = sign
        if words[1 + column] != "-":
            own.append(_read_element(words, column, choice if sign else None, values))
    return _RawGroup(name, _base(extends, column), _without_lone_choices(own))


def _read_element(words: list[str], column: int, choice: int | None, values: Mapping[str, Value]) -> Element:
    name, flags = words[0], words[1 + len(VERSIONS) :]
    least, most = _CARDINALITY[words[1 + column]]
    if "group" in flags:
        return Element(name, "group", least, most, group=name, choice=choice, since_2023="2023" in flags)
    value = values[name]
    return Element(
        name,
        value.kind,
        least,
        most,
        None,
        value.number,
        value.codes,
        choice,
        since_2023="2023" in flags and column == 2,
    )


def _base(words: list[str], column: int) -> str | None:
    if len(words) < 2:
        return None
    by_version = dict(word.split("=", 1) for word in words[1:] if "=" in word)
    return by_version[VERSIONS[column]] if by_version else words[1]


def _without_lone_choices(own: list[Element]) -> tuple[Element, ...]:
    count = [element.choice for element in own]
    return tuple(replace(item, choice=None) if item.choice and count.count(item.choice) == 1 else item for item in own)


def _document(name: str, raw: Mapping[str, _RawGroup]) -> Document:
    groups = {group.name: Group(group.name, group.extends, group.own, _all(group, raw)) for group in raw.values()}
    return Document(name, NAMESPACE + name, next(iter(groups)), MappingProxyType(groups))


def _all(group: _RawGroup, raw: Mapping[str, _RawGroup]) -> tuple[Element, ...]:
    return (_all(raw[group.extends], raw) if group.extends else ()) + group.own


def _version(word: str) -> Version:
    return next(version for version in VERSIONS if version == word.strip())


def _kind(word: str) -> ValueKind:
    return next(kind for kind in get_args(ValueKind) if kind == word)
