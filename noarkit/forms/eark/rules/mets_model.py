"""The pieces of a METS document as plain values, and the protocol of the handler that receives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

Level = Literal["package", "representation", "nested"]
Attributes = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Document:
    """A METS document: its name in the package, the folder (`""` or `folder/`) its hrefs start from, and its level.

    `nested` is the METS of a package inside this one (a submission that was kept): it is read for its files alone.
    """

    name: str
    base: str
    level: Level


@dataclass(slots=True)
class Agent:
    """An agent of the header."""

    attributes: Attributes
    line: int
    names: list[str] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)

    def get(self, name: str) -> str:
        """An attribute, or nothing."""
        return self.attributes.get(name, "")


@dataclass(slots=True)
class Header:
    """The root element and the header."""

    root: Attributes
    line: int
    attributes: Attributes | None = None
    header_line: int = 0
    agents: list[Agent] = field(default_factory=list)
    ids: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Section:
    """A section of metadata. `kind` is the element: dmdSec, digiprovMD, rightsMD, techMD or sourceMD."""

    kind: str
    attributes: Attributes
    line: int
    references: list[tuple[Attributes, int]] = field(default_factory=list)


@dataclass(slots=True)
class Group:
    """A file group, and how many files stand in it or in groups inside it."""

    attributes: Attributes
    line: int
    files: int = 0

    @property
    def use(self) -> str:
        """What it is for."""
        return self.attributes.get("USE", "")


@dataclass(slots=True)
class Division:
    """A division right below the top one of a structural map, with its pointers; of many only the first are kept."""

    attributes: Attributes
    line: int
    files: list[str] = field(default_factory=list)
    pointers: list[Attributes] = field(default_factory=list)

    @property
    def label(self) -> str:
        """What it is called."""
        return self.attributes.get("LABEL", "")


@dataclass(slots=True)
class StructMap:
    """A structural map; `tops` are its top divisions."""

    attributes: Attributes
    line: int
    tops: list[tuple[Attributes, int]] = field(default_factory=list)
    divisions: int = 0


@dataclass(slots=True)
class FileElement:
    """A file of the file section, with its locators."""

    attributes: Attributes
    line: int
    locators: list[Attributes] = field(default_factory=list)


class MetsHandler(Protocol):
    """Receives the pieces of a METS document, each once it is complete."""

    def header(self, header: Header) -> None:
        """The root element and the header: before anything else is told, and once."""
        ...

    def section(self, section: Section) -> None:
        """A section of metadata."""
        ...

    def administrative(self, attributes: Attributes, line: int) -> None:
        """An amdSec begins."""
        ...

    def file_section(self, attributes: Attributes, line: int) -> None:
        """The file section begins."""
        ...

    def group(self, group: Group) -> None:
        """A file group ended."""
        ...

    def file(self, file: FileElement) -> None:
        """A file."""
        ...

    def division(self, struct_map: StructMap, division: Division) -> None:
        """A division right below the top one."""
        ...

    def structure(self, struct_map: StructMap) -> None:
        """A structural map ended."""
        ...
