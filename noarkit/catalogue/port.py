"""The values of a catalogue, and what a kind of place must be able to do to have one.

A place is read once, as a stream of items, parents before their children; the store keeps them, and every look (tree,
card, journal, search) is answered from the store. Bytes of documents are opened in the place itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from noarkit.events import Listener
from noarkit.model.disclosure import Fields as Fields
from noarkit.model.disclosure import Json as Json
from noarkit.records import ContentStream
from noarkit.results import JsonObject, json_field

PlaceKind = Literal["run", "extract", "package", "database", "files", "archive"]

PACKAGE = "package"
"""The ref of a package itself among its items."""
IN_EXTRACT = "extract:"
"""What the locators of documents begin with that lie in the extract of a package."""


@dataclass(frozen=True, slots=True)
class PlaceIdentity:
    """A place: its kind, a name for people, where it lies, and a fingerprint that changes whenever what it holds may
    have changed (paths with sizes and times, a plan hash, a revision), so that an old catalogue is known as old."""

    kind: PlaceKind
    name: str
    where: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class CustodyStep(JsonObject):
    """One step in the life of a file: what was done (`"converted"`, `"accepted"`, `"read"`, `"hashed"`,
    `"identified"`, `"uploaded"`, `"linked"`, `"verified"`, `"extracted"`), when, the sha256 that was seen then, and by
    whom or what.

    Of a file that was made of another, `facts` say of which and how: `"source_sha256"`, `"tool"`, `"rule"`,
    `"from_format"`, `"to_format"`, `"findings"`, `"purpose"`; `"comment"` is what the place says of it in one text.
    """

    step: str
    at: str = ""
    sha256: str = ""
    agent: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change(JsonObject):
    """One entry of a change log: a field that somebody changed."""

    at: str
    actor: str
    field: str
    before: str
    after: str


def _is_there(locator: str | None) -> bool:
    return locator is not None


@dataclass(frozen=True, slots=True)
class Document(JsonObject):
    """One file of an item: a version of a document in one variant.

    `ref` is stable within its place. `locator` is what the place opens it by, None where there is no file. `media_type`
    is as the place states it; what is shown is decided by the bytes. `fields` are those of the document and of the
    version.
    """

    ref: str
    title: str = ""
    name: str = ""
    variant: str = ""
    version: int = 1
    media_type: str = ""
    puid: str = ""
    size_bytes: int | None = field(default=None, metadata=json_field("bytes"))
    sha256: str = ""
    locator: str | None = field(default=None, metadata=json_field("has_file", _is_there))
    fields: Fields = field(default_factory=dict)
    custody: tuple[CustodyStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a place holds: a fonds, a class, a case, a record, a table, a row, a folder, a file.

    `ref` is stable within its place and unique: a systemID, the key of a plan, a path. `parent` is the ref of what it
    lies in, which has come before. `type` is Noark's own name for it, or `"schema"`, `"table"`, `"row"`, `"folder"`,
    `"file"`. `day` is the date that people file it under (ISO). `screened` is True if it is screened itself: what lies
    below is screened with it. `fault` is the code of what is wrong with it, `state` what became of it in a run.
    """

    ref: str
    parent: str | None
    type: str
    title: str
    ident: str = ""
    day: str = ""
    status: str = ""
    klass: str = ""
    screened: bool = False
    fault: str = ""
    state: str = ""
    fields: Fields = field(default_factory=dict)
    links: tuple[tuple[str, str], ...] = ()
    """Names of links with the refs that they lead to, which need not have come yet."""
    documents: tuple[Document, ...] = ()
    history: tuple[Change, ...] = ()


class Place(Protocol):
    """A place that can be catalogued."""

    @property
    def identity(self) -> PlaceIdentity: ...

    def items(self, emit: Listener) -> Iterator[Item]:
        """Every item once, in constant memory, parents first, siblings in the order that people expect.

        Raises what reading the place raises: `SourceGone`, `PackageFault`, faults of the archive.
        """
        ...

    def open(self, locator: str) -> AbstractContextManager[ContentStream]:
        """Opens the bytes of a document. Raises `ItemVanished`, `ItemUnreadable`."""
        ...

    def close(self) -> None:
        """Ends what the place holds open. Closing twice is harmless."""
        ...
