"""The source over a service: each stream in turn, from its mark to one moment fixed at the start, as source records.

What the service could not give is set aside with its reason; what it says it deleted is told and kept. Secrets in what
it lists are taken out before anything is stored. Contents that were made of listings are kept with the run; others are
opened at the service when they are uploaded.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from noarkit.config import Config
from noarkit.errors import ItemChanged, ItemUnreadable, ServiceDenied, ServiceFault, ServiceRefused
from noarkit.events import Event, Listener
from noarkit.graph.entity import Content, SetAside, Skipped
from noarkit.records import ContentStream, SourceIdentity, SourceItem, SourceRecord
from noarkit.safe.digest import Readable
from noarkit.services.connections import open_service, read_connection
from noarkit.services.port import (
    Deletion,
    FetchFailure,
    FieldShapes,
    Item,
    Paper,
    Revisitable,
    Service,
    ServiceItem,
    Stream,
    Window,
)
from noarkit.services.registry import find_kind, is_connection_name
from noarkit.services.settings import Connection
from noarkit.services.source import document_store
from noarkit.services.watermarks import Hints, Watermark, Watermarks, parse_swept_at, parse_time

_UNREADABLE = ItemUnreadable.code
_NOT_LET_IN = 401
SWEEP_DAYS = 30.0


@dataclass(frozen=True, slots=True)
class Span:
    """What of a service is read: up to `until`, each stream from its mark; `hints` waited when it was begun."""

    until: datetime
    watermarks: Watermarks | None = None
    hints: Hints | None = None


@dataclass(slots=True)
class ConnectorSource:
    """A configured connection as a source. It can be sent to another process, which connects anew."""

    to: Connection
    span: Span
    folder: Path | None = None
    _service: Service | None = field(default=None, repr=False)
    _pid: int = 0

    @property
    def identity(self) -> SourceIdentity:
        """The connection, and the span that it is read over."""
        watermarks = self.span.watermarks
        since = (
            {} if watermarks is None else {name: mark.until.isoformat() for name, mark in watermarks.streams.items()}
        )
        settings: dict[str, object] = {"until": self.span.until.isoformat(), "since": since}
        if watermarks is not None and (
            swept := {name: mark.swept_at for name, mark in watermarks.streams.items() if mark.swept_at}
        ):
            settings["swept"] = {name: when.isoformat() for name, when in swept.items()}
        if watermarks is not None and (
            again := {name: mark.again for name, mark in watermarks.streams.items() if mark.again}
        ):
            settings["again"] = {name: list(keys) for name, keys in again.items()}
        if self.span.hints is not None and self.span.hints.ids:
            settings["hinted"] = list(self.span.hints.ids)
        return SourceIdentity(self.to.service, self.to.full_name, settings)

    @property
    def service(self) -> Service:
        """The service, connected in this process."""
        if self._service is None or self._pid != os.getpid():
            self._service, self._pid = open_service(self.to), os.getpid()
        return self._service

    def settle(self, folder: Path) -> None:
        """Says where the run lies: documents that are made of listings are kept there."""
        self.folder = folder

    def release(self) -> None:
        """Ends the connection; it is made anew where it is needed again."""
        if self._service is not None and self._pid == os.getpid():
            self._service.close()
        self._service = None

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """Every item of every stream. Raises a ServiceFault where the service cannot be read."""
        store = document_store.DocumentStore(self.folder) if self.folder is not None and self.folder.is_dir() else None
        try:
            for stream in self.service.streams():
                emit(Event("stream", {"stream": stream.name, "count": stream.count}))
                for item in self.service.items(stream, self._window(stream), emit):
                    if isinstance(item, Item):
                        yield _record(item, store)
                    elif isinstance(item, FetchFailure):
                        yield SetAside(
                            item.key,
                            _UNREADABLE,
                            {"key": item.key, "why": item.reason, "stream": item.stream, **item.data},
                        )
                    elif isinstance(item, Deletion):
                        yield Skipped(item.key, "deleted-there")
                    else:
                        yield Skipped(item.key, item.reason)
        finally:
            if store is not None:
                store.close()

    def listing(self, emit: Listener) -> Iterator[ServiceItem]:
        """All that the service holds now, whenever it changed, by its keys: fields may be missing. Raises a
        ServiceFault where the service cannot be read."""
        now = datetime.now(UTC)
        with closing(open_service(self.to)) as service:  # one of its own: what this span met stays as it is
            for stream in service.streams():
                emit(Event("stream", {"stream": stream.name, "count": stream.count}))
                yield from service.items(stream, Window(None, now, sweep=True, keys_only=True), emit)

    def current_records(self, names: Collection[str], emit: Listener) -> Iterator[SourceRecord]:
        """All that the service holds now in the streams of these names, as records. Raises a ServiceFault."""
        now = datetime.now(UTC)
        with closing(open_service(self.to)) as service:
            streams = service.streams()
            stream_names = set(names)
            for stream in reversed(streams):  # what things hang on is read first
                stream_names.update(stream.parents if stream.name in stream_names else ())
            for stream in streams:
                if stream.name not in stream_names:
                    continue
                emit(Event("stream", {"stream": stream.name, "count": stream.count}))
                for item in service.items(stream, Window(None, now, sweep=True), emit):
                    if isinstance(item, Item) and stream.name in names:
                        yield _record(item, None)

    def open(self, content: Content) -> AbstractContextManager[ContentStream]:
        """The bytes of a content: from the run where they were made of a listing, else from the service."""
        if content.locator.startswith(document_store.SCHEME):
            return document_store.open_document(self.folder or Path(), content)
        return self._fetched(content)

    def next_watermarks(self) -> Watermarks:
        """The marks that stand once all of this span is archived."""
        again = self.service.again() if isinstance(self.service, Revisitable) else {}
        streams = {
            stream.name: Watermark(self.span.until, tuple(again.get(stream.name, ())), self._swept(stream))
            for stream in self.service.streams()
        }
        shapes = self.service.shapes() if isinstance(self.service, FieldShapes) else {}
        return Watermarks(self.service.tenant, "", streams, shapes, self.span.hints)

    def default_recipe(self) -> str:
        """The recipe of this kind of service."""
        return find_kind(self.to.service).default_recipe()

    def proposal(self, emit: Listener) -> str:
        """The same: services of one kind hold the same streams."""
        return self.default_recipe()

    def __getstate__(self) -> dict[str, object]:
        to = replace(self.to, values=dict(self.to.values), environment=dict(self.to.environment))
        return {"to": to, "span": self.span, "folder": self.folder}

    def __setstate__(self, state: Mapping[str, object]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._service, self._pid = None, 0

    def _window(self, stream: Stream) -> Window:
        """What of a stream is read in this span."""
        hints = self.span.hints
        hinted = frozenset(hints.ids) if hints is not None else frozenset[str]()
        mark = self.span.watermarks.streams.get(stream.name) if self.span.watermarks is not None else None
        again = mark.again if mark is not None else ()
        return Window(self._since(stream), self.span.until, self._sweeps(stream), hinted, again=again)

    def _sweeps(self, stream: Stream) -> bool:
        """True if all that a stream's records hold is looked through again: every so many days."""
        mark = self.span.watermarks.streams.get(stream.name) if self.span.watermarks is not None else None
        if mark is None or mark.swept_at is None:
            return True
        return self.span.until - mark.swept_at >= timedelta(days=self.to.number("sweep_days", SWEEP_DAYS))

    def _swept(self, stream: Stream) -> datetime | None:
        """When a stream was last swept, this span counted."""
        mark = self.span.watermarks.streams.get(stream.name) if self.span.watermarks is not None else None
        return self.span.until if mark is None or self._sweeps(stream) else mark.swept_at

    def _since(self, stream: Stream) -> datetime | None:
        """From when a stream is read: no later than what its things hang on, so that nothing is missed that hung on
        records which could not be read before."""
        watermarks = self.span.watermarks
        if watermarks is None:
            return None
        read_names = {candidate.name for candidate in self.service.streams()}
        names = (stream.name, *(name for name in stream.parents if name in read_names))
        starts = [watermarks.since(name, self.service.look_back) for name in names]
        known_starts = [moment for moment in starts if moment is not None]
        return min(known_starts) if len(known_starts) == len(starts) else None

    @contextmanager
    def _fetched(self, content: Content) -> Iterator[ContentStream]:
        with ExitStack() as stack:
            try:
                bytes_of = stack.enter_context(self.service.open(content))
            except (ServiceRefused, ServiceDenied) as fault:
                if fault.data.get("status") == _NOT_LET_IN:
                    raise  # not this document alone
                raise ItemUnreadable(key=content.locator, why=_reason(fault)) from fault
            yield _ServiceStream(bytes_of, content)


class _ServiceStream:
    """Bytes from a service. What is not as long as was said is not what was planned."""

    def __init__(self, source: Readable, content: Content) -> None:
        self._source = source
        self._content = content
        self._read = 0

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes. Raises `ItemUnreadable` where the service breaks off, `ItemChanged` for another size."""
        try:
            block = self._source.read(size)
        except ServiceFault as fault:
            raise ItemUnreadable(key=self._content.locator, why=_reason(fault)) from fault
        self._read += len(block)
        expected = self._content.size_bytes
        if expected is not None and (self._read > expected or (not block and size != 0 and self._read != expected)):
            raise ItemChanged(key=self._content.locator, why="size")
        return block

    def still_the_same(self) -> bool:
        """A service's document is named by its id, which another content never gets."""
        return True


def find_connection(
    where: str, config: Config, environment: Mapping[str, str], now: datetime, watermarks: Watermarks | None = None
) -> ConnectorSource | None:
    """The source behind `crm:main`; None if that names no connection. Raises `ConfigFault` for one unknown."""
    to = read_connection(where, config, environment)
    return None if to is None else ConnectorSource(to, Span(now, watermarks))


def reopen_connection(
    identity: SourceIdentity, config: Config, environment: Mapping[str, str], folder: Path
) -> ConnectorSource | None:
    """The source a plan was made from, over the same span; None if that was no connection."""
    to = read_connection(identity.where, config, environment)
    if to is None:
        return None
    settings = identity.settings
    swept, again, hinted = (_table(settings.get("swept")), _table(settings.get("again")), settings.get("hinted"))
    streams = {
        name: Watermark(parse_time(when), _texts(again.get(name)), parse_swept_at(swept.get(name)))
        for name, when in _table(settings.get("since")).items()
    }
    ids = _texts(hinted)
    span = Span(
        parse_time(settings["until"]),
        Watermarks("", "", streams) if streams else None,
        Hints(0, 0.0, {}, ids) if ids else None,
    )
    return ConnectorSource(to, span, folder)


def changes_since(identity: SourceIdentity) -> str | None:
    """From when on a run asked a service for changes: empty if it read all of it, None for no connection."""
    if not is_connection_name(identity.where):
        return None
    since = _table(identity.settings.get("since"))
    return min(map(str, since.values()), default="")


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _record(item: Item, store: document_store.DocumentStore | None) -> SourceRecord:
    contents = []
    for document in item.generated:
        content = document_store.content_of(item.key, document)
        if store is not None:
            store.add(content, document.data)
        contents.append(content)
    modified = item.modified.astimezone(UTC).isoformat(timespec="milliseconds") if item.modified else None
    when = modified.replace("+00:00", "Z") if modified else None
    generated_papers = [Paper(document.title or document.name, document.created or when) for document in item.generated]
    listed_papers = [item.papers.get(entry.locator) or Paper(entry.name, when) for entry in item.contents]
    documents = (*contents, *item.contents) if item.generated_first else (*item.contents, *contents)
    papers = (*generated_papers, *listed_papers) if item.generated_first else (*listed_papers, *generated_papers)
    fields = {
        **item.fields,
        "modified": when,
        "papers": [{"title": entry.title, "created": entry.created} for entry in papers],
    }
    return SourceRecord(item.kind or item.stream, item.key, fields, documents)


def _reason(fault: ServiceFault) -> str:
    reason = fault.data.get("why")
    return str(reason) if reason else fault.code
