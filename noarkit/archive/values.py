"""What goes over the archive port: actions, saved objects, queries, pages, contents. Frozen, plain, picklable.

Field values are the wire's own JSON values; a `datetime` (with zone) or `date` may stand in for its text.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

from noarkit.safe.digest import Readable

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
FieldValue = None | bool | int | float | str | datetime | date | Mapping[str, object]
Parameter = None | bool | int | float | str | datetime | date
Order = Literal["asc", "desc"]
Rendition = Literal["original", "lightpdf"]


# Actions are named tuples, since a load makes millions of them and they take a third of the time of frozen dataclasses.


class Save(NamedTuple):
    """Creates an object (`id` is temporary: any text that is no number) or updates one (`id` is the archive's own).

    With `version` the archive answers with a conflict where the object has moved on. A field given as None is cleared.
    """

    type: str
    id: str
    fields: Mapping[str, FieldValue] = MappingProxyType({})
    version: str | None = None


class Link(NamedTuple):
    """Links an object by `reference` to each of `targets`; ids may be temporary ones saved before it."""

    type: str
    id: str
    reference: str
    targets: tuple[str, ...]


class Unlink(NamedTuple):
    """Takes the links from an object by `reference` to `targets` away."""

    type: str
    id: str
    reference: str
    targets: tuple[str, ...]


class Delete(NamedTuple):
    """Deletes an object and all that is below it."""

    type: str
    id: str
    version: str | None = None


Action = Save | Link | Unlink | Delete


@dataclass(frozen=True, slots=True)
class SavedObject:
    """An object as the archive holds it. `links` are its links to one; fields that are not set are left out."""

    type: str
    id: str
    version: str
    fields: Mapping[str, object]
    links: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Query:
    """A question for objects; make it with `noarkit.archive.query`. `parameters` and `joins` bear their @ and #.

    An `optional` one need not be answered (see `noarkit.archive.optional`).
    """

    type: str
    where: str = ""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    joins: Mapping[str, str] = field(default_factory=dict)
    order: tuple[tuple[str, Order], ...] = ()
    limit: int = 500
    offset: int = 0
    public_use: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the objects a query means, and whether more follow."""

    objects: tuple[SavedObject, ...]
    has_more: bool


@dataclass(frozen=True, slots=True)
class Upload:
    """Bytes to upload: `open` yields them from the start, and again after a fault where `reopenable` says it can.

    `size_bytes` is a promise: a stream that keeps it not is a changed item and is never uploaded as a whole.
    """

    name: str
    open: Callable[[], AbstractContextManager[Readable]]
    size_bytes: int | None = None
    reopenable: bool = True
    media_type: str = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Uploaded:
    """An uploaded file: its id in the archive, and the size and sha256 of the bytes as they were sent."""

    id: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Downloaded:
    """What stands at `path` now; `name` and `media_type` as the archive told them."""

    path: Path
    sha256: str
    size_bytes: int
    name: str | None
    media_type: str | None


@dataclass(frozen=True, slots=True)
class Call:
    """Any further call. `changes` says whether it may leave something behind in the archive, and `rehearsed` what a dry
    run then answers in its place. An `optional` one need not be answered (see `noarkit.archive.optional`)."""

    name: str
    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: tuple[str, ...]
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, object] | None = None
    changes: bool = False
    rehearsed: Json = None
    optional: bool = False


def file_to_upload(path: Path, name: str | None = None) -> Upload:
    """A file as an upload; its size is taken when it is opened for sending, and must hold till its end."""
    return Upload(name or path.name, lambda: path.open("rb", buffering=0), None)


def bytes_to_upload(content: bytes, name: str) -> Upload:
    """Bytes at hand as an upload."""
    return Upload(name, lambda: io.BytesIO(content), len(content))


def stream_to_upload(stream: Readable, name: str, size_bytes: int | None = None) -> Upload:
    """A stream that can be read only once as an upload; it is left open."""
    return Upload(name, lambda: _SingleUse(stream), size_bytes, reopenable=False)


def wire_timestamp(moment: datetime) -> str:
    """The one form of a timestamp that every known reader takes: UTC, three fraction digits, Z."""
    if moment.tzinfo is None:
        raise ValueError("a timestamp without a zone means nothing to an archive")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


@dataclass(frozen=True, slots=True)
class _SingleUse:
    stream: Readable

    def __enter__(self) -> Readable:
        return self.stream

    def __exit__(self, *_: object) -> None:
        return None
