"""The port that every service connector implements: streams of items in constant memory, and contents to open later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, Protocol, runtime_checkable

from noarkit.events import Listener
from noarkit.graph.entity import Content
from noarkit.safe.digest import Readable
from noarkit.services.known_keys import NOTHING_KNOWN, KnownKeys

DELETED_THERE = "deleted-there"
DELETION_KEY_END = ":deleted"


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a stream to read: changes from `since` (None: everything) to just before `until`.

    With `sweep` the service also looks for changes that are not reported: nothing that belongs to a known record is
    assumed unchanged. `hinted_ids` are ids named by webhook messages since the last run. With `keys_only` only keys are
    needed: what merely fills the fields of items need not be fetched. `again` holds keys that were not ready when first
    seen. `known_keys` are those that the archive holds: what it lacks is read whatever its time says, and what the
    service no longer lists is reported.
    """

    since: datetime | None
    until: datetime
    sweep: bool = False
    hinted_ids: frozenset[str] = frozenset()
    keys_only: bool = False
    again: tuple[str, ...] = ()
    known_keys: KnownKeys = NOTHING_KNOWN


@dataclass(frozen=True, slots=True)
class GeneratedDocument:
    """A document generated from listed data: a snapshot, a rebuilt email, a note. Its bytes are known now.

    `title` and `created` are for people; recipes see them as `record.papers[item.index]`. `identity` says which
    document of its item this is, and never changes; without one it is the name.
    """

    name: str
    media_type: str
    data: bytes
    title: str = ""
    created: str | None = None
    identity: str = ""


@dataclass(frozen=True, slots=True)
class Paper:
    """The title and date of a document, for people."""

    title: str
    created: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One object of a service. `key` is stable and built from the service's own ids; `modified` is by the service's
    clock.

    `fields` is what recipes see; `contents` are documents that `Service.open` opens by their locators, and that say by
    their `identity` which ones of the item they are, `generated`
    those whose bytes are known already. The first of all is the main one: generated ones come first, or last if
    `generated_first` is false. `papers` holds title and date of contents, by locator. `kind` is the recipe's name for
    it, if that is not the stream's name.
    """

    stream: str
    key: str
    fields: Mapping[str, object]
    modified: datetime | None = None
    generated: tuple[GeneratedDocument, ...] = ()
    contents: tuple[Content, ...] = ()
    kind: str = ""
    generated_first: bool = True
    papers: Mapping[str, Paper] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FetchFailure:
    """Something that could not be fetched, with the reason in one word: an archive must be able to say what it did not
    get."""

    stream: str
    key: str
    reason: str
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Deletion:
    """A deletion in the service. The archive keeps its record; the event is reported. `key` is that of the item, with
    `DELETION_KEY_END`."""

    stream: str
    key: str
    deleted_at: datetime | None


@dataclass(frozen=True, slots=True)
class Omission:
    """Something that is not archived, or not yet, with the reason in one word: it is counted and listed."""

    stream: str
    key: str
    reason: str


ServiceItem = Item | FetchFailure | Deletion | Omission


@dataclass(frozen=True, slots=True)
class Stream:
    """A kind of object that can be read. `parents` are streams that must be read before it."""

    name: str
    title: str
    parents: tuple[str, ...] = ()
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark about a service for people: the word of its sentence, and the values in it."""

    word: str
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Introduction:
    """Our account at the service, in words for people: account or organisation, and our rights."""

    tenant: str
    account: str = ""
    rights: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()


class Service(Protocol):
    """One connection to one service. Safe for threads; belongs to the process that made it."""

    look_back: timedelta
    """How far before a mark a stream is read again, for clocks that differ and changes that were under way."""

    @property
    def tenant(self) -> str:
        """The id of the organisation, which is part of every key. Raises a ServiceFault."""
        ...

    def introduce(self) -> Introduction:
        """Tests the connection. Raises `ServiceDenied`, `ConsentNeeded`, `ServiceAway`."""
        ...

    def streams(self) -> tuple[Stream, ...]:
        """Lists the streams, parents first."""
        ...

    def items(self, stream: Stream, window: Window, emit: Listener) -> Iterator[ServiceItem]:
        """Yields every item of a stream once, oldest change first if the service can. Raises a ServiceFault."""
        ...

    def open(self, content: Content) -> AbstractContextManager[Readable]:
        """Opens the bytes of a content. Raises a SourceFault if they cannot be read, a ServiceFault for the service."""
        ...

    def close(self) -> None:
        """Closes all connections."""
        ...


@dataclass(frozen=True, slots=True)
class WriteBackOutcome:
    """The result of writing one value into a record: written, already the same, or refused with the reason."""

    stream: str
    id: str
    state: Literal["written", "same", "refused"]
    reason: str = ""


@runtime_checkable
class Writable(Protocol):
    """A service whose records we may write values into."""

    def write_back(self, stream: str, field: str, values: Iterable[tuple[str, str]]) -> Iterator[WriteBackOutcome]:
        """Writes values by record id into a field; one that has its value already is skipped, since each change is a
        new version here. May be repeated. Raises a ServiceFault."""
        ...


@runtime_checkable
class FieldShapes(Protocol):
    """A service that reports the fields of its streams, so that changes between runs are stored and reported."""

    def shapes(self) -> Mapping[str, Mapping[str, str]]:
        """Returns the fields of every stream that was read in this process, and the type of each."""
        ...


@runtime_checkable
class Revisitable(Protocol):
    """A service with objects that are not ready when first seen, and are asked for again by the next run."""

    def again(self) -> Mapping[str, Sequence[str]]:
        """Returns by stream the keys to ask for again, of all that was read in this process."""
        ...
