"""Values of the administrative calls: code lists, business metadata, logs, full text, access control."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from noarkit.archive.values import Json, SavedObject
from noarkit.results import JsonObject, json_field

BusinessKind = Literal["string", "long", "double", "timestamp", "encrypted", "uri", "boolean"]
Doctype = Literal["Tekst", "Korrespondansepart", "Registrering", "Mappe", "Arkivdel"]


@dataclass(frozen=True, slots=True)
class ListedCode(JsonObject):
    """A value of a code list; `authority` is the legal ground of a screening code."""

    code: str
    name: str = field(metadata=json_field("title"))
    description: str | None = None
    authority: str | None = None


@dataclass(frozen=True, slots=True)
class ListedCodes:
    """The code list of one field of one type."""

    type: str
    field: str
    default: str | None
    values: tuple[ListedCode, ...]


@dataclass(frozen=True, slots=True)
class BusinessField:
    """A field of business-specific metadata; `values` where only those may be used."""

    id: str
    name: str
    kind: BusinessKind = "string"
    description: str | None = None
    values: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class BusinessGroup:
    """A group of business-specific metadata."""

    id: str
    name: str
    description: str | None = None
    fields: tuple[BusinessField, ...] = ()


@dataclass(frozen=True, slots=True)
class FullTextQuery:
    """A search in texts. Values of one filter are alternatives; different filters all hold."""

    doctype: Doctype
    text: str
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    expand: tuple[str, ...] = ()
    offset: int = 0
    limit: int = 10
    public_use: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """One find: ids by `Type.id`, marked texts by `Type.field`, and the objects asked to be expanded."""

    ids: Mapping[str, tuple[str, ...]]
    highlights: Mapping[str, tuple[str, ...]]
    expanded: Mapping[str, tuple[SavedObject, ...]]


@dataclass(frozen=True, slots=True)
class Hits:
    """Some finds of a full-text search, how many there are in all, and counts by facet and value."""

    total: int
    hits: tuple[Hit, ...]
    facets: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class LogEntries:
    """Entries of a log as the archive tells them. `total` where it counts them, else only whether more follow."""

    entries: tuple[Mapping[str, Json], ...]
    has_more: bool
    total: int | None = None


@dataclass(frozen=True, slots=True)
class ChangesOf:
    """Whose changes are asked for, and how many."""

    id: str
    type: str | None = None
    include_children: bool = True
    nest_children: bool = True
    offset: int = 0
    limit: int = 100


@dataclass(frozen=True, slots=True)
class AccessGroup(JsonObject):
    """Whom it admits (`claims`) and what they may everywhere. A group that is yet to be made has no id."""

    name: str = field(metadata=json_field("group"))
    claims: tuple[str, ...]
    description: str | None = None
    global_permissions: tuple[str, ...] = ()
    service_permissions: tuple[str, ...] = ()
    id: int | None = None


@dataclass(frozen=True, slots=True)
class OnObject:
    """A permission's place: an object and what is below it."""

    type: str
    id: str


@dataclass(frozen=True, slots=True)
class OnCodeList:
    """A permission's place: a code list (`all`: every list) or one of its values."""

    list_type: str
    code: str | None = None


@dataclass(frozen=True, slots=True)
class OnRegistry:
    """A permission's place: the registry of business metadata, or that of precedents."""

    registry: Literal["bsm-registry", "precedent-registry"]


Place = OnObject | OnCodeList | OnRegistry


@dataclass(frozen=True, slots=True)
class Permission:
    """The rights that a group has at a place."""

    group_id: int
    place: Place
    explicit: tuple[str, ...]
