"""Readers that others write: a reader tells records and opens their documents, and all else a source does stands here.

A reader is found by the name that its package registers in the entry point group `noarkit.sources`: `mine:PLACE` calls
what is registered as `"mine"` with PLACE. Nothing is imported that a SOURCE, or a run made of one, does not name.
"""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import PurePath
from typing import Protocol, TypeVar, runtime_checkable

from noarkit.errors import (
    ItemChanged,
    ItemMalformed,
    ItemUnreadable,
    ItemVanished,
    NoarkitError,
    SourceGone,
    UsageFault,
)
from noarkit.events import Listener
from noarkit.graph.entity import Content, SetAside, Skipped
from noarkit.recipes import observe, propose, render
from noarkit.records import ContentStream, Source, SourceIdentity, SourceItem, SourceRecord
from noarkit.safe.digest import Readable
from noarkit.service_names import BUILT_IN
from noarkit.sources.item_stream import sample_records, with_progress

GROUP = "noarkit.sources"
OUR_NAMES = frozenset({*BUILT_IN, "addml", "bag", "database", "dias", "eark", "embedded", "files", "noark5", "siard"})

_NAME = re.compile(r"[a-z][a-z0-9-]{1,39}")
_TITLE = "= record.title | default(record.tittel) | default(record.name) | default(record.key)"
T = TypeVar("T")
Record = SourceRecord
"""What a reader yields."""


class Reader(Protocol):
    """The least that a reader of one's own does.

    It may also have `default_recipe() -> str`, for runs without a recipe, and `close()`, called when the work is done.
    What an entry point names is called with the place after `NAME:` and returns a reader: its class will do.
    """

    def records(self) -> Iterable[SourceRecord | SetAside | Skipped]:
        """Everything there is, once, in a stable order; best yielded one by one. An `OSError` means that the whole
        place cannot be read."""
        ...

    def open(self, locator: str) -> bytes | AbstractContextManager[Readable]:
        """A document by the locator its record gave it: bytes, or a file open for reading bytes.

        Any fault sets this one item aside. It is called later, in other processes, and more than once.
        """
        ...


@runtime_checkable
class HasDefaultRecipe(Protocol):
    """A reader that brings a recipe."""

    def default_recipe(self) -> str:
        """The recipe (TOML) of a first run with nothing configured."""
        ...


@runtime_checkable
class Closable(Protocol):
    """A reader that holds something open."""

    def close(self) -> None:
        """Lets it go; it may be read from again."""
        ...


def from_reader(reader: Reader, name: str, place: str = "") -> Source:
    """A source of a reader: `name` is its kind, for recipes too, and `place` tells one from another of that name.

    Raises `UsageFault` for a name that is taken, or is none (small letters, figures and hyphens).
    """
    if _NAME.fullmatch(name) is None or name in OUR_NAMES:
        raise UsageFault(what="reader-name", where=name, do="from_reader(reader, 'my-system')")
    return ReaderSource(reader, name, place)


def find_reader(where: str) -> Source | None:
    """The source that `mine:PLACE` means, where a package registered `"mine"`; None otherwise. Raises `UsageFault`."""
    name, colon, place = where.partition(":")
    entry = _entry_point(name) if colon else None
    return None if entry is None else _load_reader(entry, name, place)


def reopen_reader(identity: SourceIdentity) -> Source:
    """The source that a plan was made from. Raises `UsageFault` where nobody here knows its reader."""
    source = find_reader(identity.where)
    if source is None:
        raise UsageFault(what="no-such-reader", where=identity.where, do="noarkit.ingest(run, source=…)")
    return source


@dataclass(frozen=True, slots=True)
class ReaderSource:
    """A reader as a source."""

    reader: Reader
    name: str
    place: str

    @property
    def identity(self) -> SourceIdentity:
        """Its name is its kind."""
        return SourceIdentity(self.name, f"{self.name}:{self.place}")

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """What the reader yields, in plain values. Raises `SourceGone`, and `UsageFault` for what is no record."""
        try:
            for item in with_progress(self.reader.records(), emit):
                yield self._check_item(item)
        except OSError as error:
            raise SourceGone(
                where=self.identity.where, why=errno.errorcode.get(error.errno or 0, "unreadable")
            ) from error

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        """Opens a document. Whatever the reader raises becomes a fault of this item alone."""
        key = content.locator
        answer = _call_reader(key, partial(self.reader.open, key))
        document = io.BytesIO(answer) if isinstance(answer, bytes) else answer
        stream = _call_reader(key, lambda: document.__enter__())
        try:
            yield _CheckedStream(stream, content)
        finally:
            document.__exit__(None, None, None)

    def default_recipe(self) -> str:
        """The reader's own, or: each record with its documents, titled by what looks like a title."""
        if isinstance(self.reader, HasDefaultRecipe):
            return self.reader.default_recipe()
        return render(_basic_recipe(self.name, self._system()))

    def proposal(self, emit: Listener, *, lang: str = "en") -> str:
        """A recipe fitted to the first records, ten thousands of them."""
        return propose(
            observe(sample_records(self.records(emit))),
            source_kind=self.name,
            external_system=self._system(),
            lang=lang,
        )

    def release(self) -> None:
        """Lets the reader close what it holds."""
        if isinstance(self.reader, Closable):
            self.reader.close()

    def _system(self) -> str:
        return self.identity.where.removesuffix(":")

    def _check_item(self, item: object) -> SourceItem:
        if isinstance(item, SetAside | Skipped):
            return item
        if not isinstance(item, SourceRecord):
            raise self._usage_fault(type(item).__name__)
        if not (isinstance(item.key, str) and item.key and isinstance(item.kind, str) and item.kind):
            raise self._usage_fault("key", item.key)
        if not all(isinstance(content, Content) for content in item.contents):
            raise self._usage_fault("contents", item.key)
        try:
            fields = {str(name): _plain(value) for name, value in item.fields.items()}
        except TypeError as error:
            raise self._usage_fault(str(error), item.key) from error
        return replace(item, fields=fields, contents=tuple(item.contents))

    def _usage_fault(self, detail: str, key: object = "") -> UsageFault:
        where = f"{self.identity.where} {key} ({detail})".replace("  ", " ")
        return UsageFault(what="reader-yields", where=where, do="noarkit.Record(kind, key, fields, contents)")


class _CheckedStream:
    """A document of a reader while it is read: whether it was all there, and stood still."""

    def __init__(self, stream: Readable, content: Content) -> None:
        self._stream = stream
        self._content = content
        self._read_bytes = 0
        self._before = _file_state(stream)
        if content.modified_ns is not None and self._before is not None and self._before[1] != content.modified_ns:
            raise ItemChanged(key=content.locator, why="time", planned=content.modified_ns, found=self._before[1])

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes; empty at the end."""
        block = _call_reader(self._content.locator, partial(self._stream.read, size))
        if not isinstance(block, bytes):
            raise ItemMalformed(key=self._content.locator, why="reader-text")
        self._read_bytes += len(block)
        return block

    def still_the_same(self) -> bool:
        """True if as many bytes came as were planned, and a file is as it was when it was opened."""
        expected_bytes = self._content.size_bytes
        return expected_bytes in (None, self._read_bytes) and self._before == _file_state(self._stream)


def _entry_point(name: str) -> EntryPoint | None:
    """What packages registered under a name. Raises `UsageFault` where several did."""
    if _NAME.fullmatch(name) is None or name in OUR_NAMES:
        return None
    entries = {entry.value: entry for entry in entry_points(group=GROUP, name=name)}
    if len(entries) > 1:
        raise UsageFault(what="reader-twice", where=f"{name}: {', '.join(sorted(entries))}", do="pip uninstall")
    return next(iter(entries.values()), None)


def _load_reader(entry: EntryPoint, name: str, place: str) -> Source:
    try:
        make: Callable[[str], Reader] = entry.load()
    except Exception as error:  # whatever somebody else's module does when it is imported
        where = f"{name} ({entry.value}): {type(error).__name__}"
        raise UsageFault(what="reader-broken", where=where, do=f"python -c 'import {entry.module}'") from error
    full_place = os.path.abspath(place) if os.path.lexists(place) else place  # noqa: PTH100  # links stay as they are named
    try:
        return ReaderSource(make(full_place), name, full_place)
    except OSError as error:
        raise SourceGone(
            where=f"{name}:{full_place}", why=errno.errorcode.get(error.errno or 0, "unreadable")
        ) from error


def _call_reader(key: str, call: Callable[[], T]) -> T:
    """What the reader answers; whatever it raises is told as a fault of one item."""
    try:
        return call()
    except NoarkitError:
        raise
    except FileNotFoundError as error:
        raise ItemVanished(key=key) from error
    except OSError as error:
        raise ItemUnreadable(key=key, why=error.strerror or type(error).__name__) from error
    except Exception as error:  # somebody else's code, at work on this item
        raise ItemMalformed(key=key, why=type(error).__name__) from error


def _file_state(stream: Readable) -> tuple[int, int] | None:
    """Size and time of the file that a stream reads, None for any other stream."""
    try:
        status = os.fstat(stream.fileno())  # type: ignore[attr-defined]  # not every stream has one
    except (AttributeError, OSError, ValueError):
        return None
    return status.st_size, status.st_mtime_ns


def _plain(value: object) -> object:
    """A value as recipes take it. Raises `TypeError` for what has no plain form."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, Decimal | PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes | bytearray):
        return [_plain(item) for item in (sorted(value, key=str) if isinstance(value, set | frozenset) else value)]
    raise TypeError(type(value).__name__)


def _basic_recipe(name: str, system: str) -> dict[str, object]:
    return {
        "source": {"kind": name},
        "target": {
            "external_system": system,
            "model": 1,
            "close": True,
            "arkivskaper": {"fields": {"arkivskaperIdent": "ukjent", "arkivskaperNavn": "Ukjent"}},
            "arkiv": {"fields": {"tittel": name}},
            "arkivdel": {"fields": {"tittel": system}},
        },
        "personal_data": {"identity_numbers": "report"},
        "map": [{"type": "Basisregistrering", "fields": {"tittel": _TITLE}}],
    }
