"""What a service looks like to everything above it: streams of items in constant memory, and contents to open later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, Protocol, runtime_checkable

from noarkit.events import Listener
from noarkit.graph.entity import Content
from noarkit.safe.digest import Readable


@dataclass(frozen=True, slots=True)
class Window:
    """What of a stream is wanted: changes from `since` (None: everything) to just before `until`.

    With `sweep` the service also looks where changes are not told of: nothing that hangs on a record it knows is taken
    to be as it was. `hinted` are ids that messages of the service named since the last run. With `keys_only` nobody
    asks for more than keys: what only fills the fields of items need not be fetched. `again` names things that were
    met before and were not ready then.
    """

    since: datetime | None
    until: datetime
    sweep: bool = False
    hinted_ids: frozenset[str] = frozenset()
    keys_only: bool = False
    again: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GeneratedDocument:
    """A document made of what was listed: a snapshot, a letter put together again, a note. Its bytes are known now.

    `title` and `created` are what a person knows it by; recipes see them as `record.papers[item.index]`.
    """

    name: str
    media_type: str
    data: bytes
    title: str = ""
    created: str | None = None


@dataclass(frozen=True, slots=True)
class Paper:
    """What a person knows a document by: its title, and when it was made there."""

    title: str
    created: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One thing a service holds. `key` is stable and made of the service's own ids alone; `modified` is its own clock.

    `fields` is what recipes see; `contents` are documents that `Service.open` opens again by their locators, `made`
    those whose bytes are known already. The first of all is the main one: made ones stand first, or last where
    `made_first` is false. `papers` tells by locator of contents what a made document tells of itself. `kind` is what
    recipes know it as, where that is not the stream's name.
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
    """What could not be had, and why, in one word: an archive must be able to say what it did not get."""

    stream: str
    key: str
    reason: str
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Deletion:
    """What the service says it has deleted. The archive keeps it; the event is told."""

    stream: str
    key: str
    deleted_at: datetime | None


@dataclass(frozen=True, slots=True)
class Omission:
    """What was met and is not to be archived, or not yet, and why, in one word: it is counted and listed."""

    stream: str
    key: str
    reason: str


ServiceItem = Item | FetchFailure | Deletion | Omission


@dataclass(frozen=True, slots=True)
class Stream:
    """A kind of thing that can be read. `parents` are streams that must be read before it."""

    name: str
    title: str
    parents: tuple[str, ...] = ()
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """What a person should know of a service: the word that its sentence stands under, and what is told in it."""

    word: str
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Introduction:
    """Who we are to the service, in words for a person: account or organisation, and what we may do."""

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
        """The id of the organisation there, which is part of every key. Raises a ServiceFault."""
        ...

    def introduce(self) -> Introduction:
        """Tries the connection. Raises `ServiceDenied`, `ConsentNeeded`, `ServiceAway`."""
        ...

    def streams(self) -> tuple[Stream, ...]:
        """What can be read, parents first."""
        ...

    def items(self, stream: Stream, window: Window, emit: Listener) -> Iterator[ServiceItem]:
        """Every item of a stream once, oldest change first where the service can. Raises a ServiceFault."""
        ...

    def open(self, content: Content) -> AbstractContextManager[Readable]:
        """The bytes of a content. Raises a SourceFault where they cannot be had, a ServiceFault for the service."""
        ...

    def close(self) -> None:
        """Ends all connections."""
        ...


@dataclass(frozen=True, slots=True)
class WriteBackResult:
    """What became of one value that was to be written into a record: written, the same already, or refused and why."""

    stream: str
    id: str
    state: Literal["written", "same", "refused"]
    reason: str = ""


@runtime_checkable
class Writable(Protocol):
    """A service whose records take a value from us, where that was asked for."""

    def write_back(self, stream: str, field: str, values: Iterable[tuple[str, str]]) -> Iterator[WriteBackResult]:
        """Writes values by record id into a field; one that has its value already is left alone, for each change
        there is another version here. May be repeated. Raises a ServiceFault."""
        ...


@runtime_checkable
class FieldShapes(Protocol):
    """A service that tells which fields its streams have: a change of them between runs is kept and told."""

    def shapes(self) -> Mapping[str, Mapping[str, str]]:
        """The fields of every stream that was read in this process, and the type of each."""
        ...


@runtime_checkable
class Revisitable(Protocol):
    """A service of which some things are not ready when they are met, and are asked for anew by the next run."""

    def again(self) -> Mapping[str, Sequence[str]]:
        """By stream, what is to be asked for anew, of all that was read in this process."""
        ...
