"""What an ADDML description says of flat files: how they are cut into records and fields, and how records relate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FieldType:
    """What the text of a field is: its kind (`"string"`, `"integer"`, …), how that is written, and what stands for
    none."""

    kind: str = "string"
    pattern: str = ""
    nulls: frozenset[str] = frozenset()
    pad: str = ""
    align: str = ""
    packing: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """A field. `start` (from 0) and `length` hold in files of fixed positions."""

    name: str
    type: FieldType
    start: int | None = None
    length: int | None = None


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Fields that refer to those of another record type; without `references` to its primary key."""

    columns: tuple[str, ...]
    file_definition: str
    record_type: str = ""
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordType:
    """One type of record in a file. `mark` is what its identifying field holds, where a file has several types."""

    name: str
    fields: tuple[Field, ...]
    mark: str | None = None
    length: int | None = None
    header_lines: int = 0
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    is_trimmed: bool = False
    is_incomplete: bool = False
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """How a file is cut: at a `delimiter`, or at positions where that is empty; `encoding` empty for an unknown set."""

    charset: str
    encoding: str
    separator: str
    delimiter: str = ""
    quote: str = ""
    translation: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileDefinition:
    """What several files may have in common: a layout, and record types told apart by the field `identifier`."""

    name: str
    layout: Layout | None
    record_types: tuple[RecordType, ...]
    identifier: str = ""


@dataclass(frozen=True, slots=True)
class FlatFile:
    """One file: where it lies below the description, and what it should be."""

    name: str
    path: str
    definition: str
    algorithm: str = ""
    checksum: str = ""
    record_count: int | None = None


@dataclass(frozen=True, slots=True)
class Description:
    """All flat files of a delivery, and what defines them by name."""

    files: tuple[FlatFile, ...]
    definitions: Mapping[str, FileDefinition]
