"""ADDML as a table: every element of arkivuttrekk.xml in versions 8.2 and 8.3, read once from `addml.txt`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import get_args

from noarkit.forms.noark5.spec import AddmlVersion

VERSIONS: tuple[AddmlVersion, ...] = get_args(AddmlVersion)
CARDINALITY: Mapping[str, tuple[int, int | None]] = {"1": (1, 1), "?": (0, 1), "*": (0, None), "+": (1, None)}


@dataclass(frozen=True, slots=True)
class Part:
    """An element within another; `most` is None without limit, neighbours with `either` exclude each other."""

    name: str
    least: int
    most: int | None
    either: bool


@dataclass(frozen=True, slots=True)
class Unique:
    """No two elements under `selector` share `field`."""

    name: str
    selector: str
    field: str


@dataclass(frozen=True, slots=True)
class AddmlElement:
    """One element: the kind of its text, or its parts and attributes (name → must it stand)."""

    name: str
    kind: str | None
    parts: tuple[Part, ...]
    attributes: Mapping[str, bool]
    unique: tuple[Unique, ...]


@cache
def addml(version: AddmlVersion) -> Mapping[str, AddmlElement]:
    """All elements of one version by name; the first is the root."""
    column = VERSIONS.index(version)
    text = files("noarkit.forms.noark5").joinpath("addml.txt").read_text("utf-8")
    elements: dict[str, AddmlElement] = {}
    for head, rows in _blocks(text):
        _, name, *more = head
        if "8.3" in more and version != "8.3":
            continue
        kind = next((word for word in more if word != "8.3"), None)
        elements[name] = AddmlElement(
            name,
            kind,
            parts=tuple(_parts(rows, column)),
            attributes=MappingProxyType({row[1]: row[2 + column] == "1" for row in rows if row[0] == "@"}),
            unique=tuple(Unique(*row[1:]) for row in rows if row[0] == "!") if version == "8.3" else (),
        )
    return MappingProxyType(elements)


def _parts(rows: list[list[str]], column: int) -> Iterator[Part]:
    for row in rows:
        if row[0] in ("@", "!"):
            continue
        either = row[0] == "|"
        name, *cells = row[1:] if either else row
        if cells[column] != "-":
            least, most = CARDINALITY[cells[column]]
            yield Part(name, least, most, either)


def _blocks(text: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    head: list[str] = []
    rows: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("element "):
            if head:
                yield head, rows
            head, rows = line.split(), []
        elif line.startswith("  "):
            rows.append(line.split())
    yield head, rows
