"""Entities: the objects of a plan, before they have an id in the archive.

Keys are decided here and never change: every entity has one, unique in its plan and the same in every later plan of the
same source. Field values are plain JSON values in the wire format's own forms (timestamps `2024-01-02T03:04:05.678Z`,
dates `2024-01-02`, codes as codes).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar, dataclass_transform

_Value = TypeVar("_Value")
PARTIES = "parties"
FOLLOWED: Mapping[str, tuple[str, ...]] = {
    "Saksmappe": ("tittel", "saksansvarlig", "saksstatus", PARTIES),
    "Mappe": ("tittel", PARTIES),
}
"""What of a folder that is in the archive already is held against its source, and may be told to follow it."""
FieldValue = str | int | float | bool | None | Mapping[str, object]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def light_value(cls: type[_Value]) -> type[_Value]:
    """Makes a value that the type checker keeps from being changed, and not Python itself: making a frozen data class
    takes four times as long, and there are millions of these."""
    return dataclass(slots=True, unsafe_hash=True)(cls)


class CreationMode(StrEnum):
    """Whether an entity is created in the archive, found there, or created where it is not found."""

    CREATE = "create"
    FIND = "find"
    FIND_OR_CREATE = "find-or-create"


@light_value
class Content:
    """Bytes that a source can open again by `locator`, as they were when the plan was made.

    `identity` says which of its record's documents this is, by kind and by the source's own id (`receipt:8c2f`), and
    stays the same whatever stands before it; empty where the source has no such id. It becomes part of the document's
    key, and is kept nowhere else.
    """

    locator: str
    name: str
    size_bytes: int | None = None
    modified_ns: int | None = None
    sha256: str | None = None
    media_type: str | None = None
    puid: str | None = None
    identity: str = ""


@light_value
class Entity:
    """One object to be. `parent` is the key of what it hangs under, linked by `parent_link` (seen from this entity).

    `links` are further links (reference name, key of the other entity). `recipe_line` says which line of the recipe
    made it, for faults. A Dokumentversjon bears the `content` it is to hold.
    """

    key: str
    type: str
    fields: Mapping[str, FieldValue]
    parent: str | None = None
    parent_link: str | None = None
    links: tuple[tuple[str, str], ...] = ()
    content: Content | None = None
    target: CreationMode = CreationMode.CREATE
    recipe_line: int = 0


@light_value
class MappedRecord:
    """What one source record becomes. Entities come parents first; one already planned by an earlier record (a folder,
    a class) may come again with the same key and is then taken once. `root` is the key of the entity that stands for
    the record itself; where it is not given, the last folder or record among the entities. `is_there` says that an
    earlier run loaded it, so that only what is new of it will be."""

    record_key: str
    entities: tuple[Entity, ...]
    notes: tuple[Note, ...] = ()
    root: str | None = None
    is_there: bool = False


@dataclass(frozen=True, slots=True)
class SetAside:
    """A source record that cannot be taken now, with its fault code and what the fault's sentences need."""

    record_key: str
    code: str
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A source record that a rule leaves out, with the reason the rule states."""

    record_key: str
    reason: str


@dataclass(frozen=True, slots=True)
class AlreadyThere:
    """A source record that an earlier run archived and that has not changed since; `contents` are what it holds."""

    record_key: str
    contents: tuple[Content, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """Something about a record that a person should know although it is taken: a warning with a code."""

    code: str
    data: Mapping[str, object] = field(default_factory=dict)
