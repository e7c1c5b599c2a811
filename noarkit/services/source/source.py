"""The source over a service: each stream in turn, from its mark to one moment fixed at the start, as source records.

What the service could not give is set aside with its reason; what it says it deleted is told and kept. Secrets in what
it lists are taken out before anything is stored. Contents that were made of listings are kept with the run; others are
opened at the service when they are uploaded.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from noarkit.config import Config
from noarkit.errors import (
    ItemChanged,
    ItemGone,
    ItemVanished,
    OtherTenant,
    ServiceDenied,
    ServiceFault,
    ServiceRefused,
    SourceFault,
)
from noarkit.events import Event, EventFields, Listener, ignore_event
from noarkit.graph.entity import Content, SetAside, Skipped
from noarkit.records import PROPOSED_MARKS, ContentStream, SourceIdentity, SourceItem, SourceRecord
from noarkit.safe.digest import Readable
from noarkit.services.connections import open_service, read_connection
from noarkit.services.known_keys import KnownKeys
from noarkit.services.port import (
    DELETED_THERE,
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
from noarkit.services.registry import find_kind
from noarkit.services.settings import Connection
from noarkit.services.source import document_store
from noarkit.services.source.accepted_losses import ACCEPTED_AS_GONE, accepted_losses
from noarkit.services.source.item_faults import content_fault, failure_code, reason_of
from noarkit.services.waiting import wait_event
from noarkit.services.watermarks import (
    Hints,
    Watermark,
    Watermarks,
    parse_swept_at,
    parse_time,
    read_watermarks,
)

EVENTS: EventFields = {
    "stream": {"connection": "text?", "stream": "text", "count": "count?"},
    "healed": {"connection": "text", "streams": "counts"},
}

_NOT_LET_IN = 401
SWEEP_DAYS = 30.0


@dataclass(frozen=True, slots=True)
class Span:
    """What of a service is read: up to `until`, each stream from its mark; `hints` waited when it was begun, and
    `known_file` holds the keys that the archive has."""

    until: datetime
    watermarks: Watermarks | None = None
    hints: Hints | None = None
    known_file: Path | None = None


@dataclass(slots=True)
class ConnectorSource:
    """A configured connection as a source. It can be sent to another process, which connects anew."""

    to: Connection
    span: Span
    folder: Path | None = None
    _service: Service | None = field(default=None, repr=False)
    _pid: int = 0
    successor: ConnectorSource | None = field(default=None, init=False, repr=False)
    """The same connection over the span of the next plan, where somebody asks for its keys."""
    _has_checked_tenant: bool = field(default=False, init=False, repr=False)
    _emit: Listener = field(default=ignore_event, init=False, repr=False)
    _healed: Counter[str] = field(default_factory=Counter, init=False, repr=False)

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
        if self.span.known_file is not None:
            settings["known"] = self.span.known_file.name
        return SourceIdentity(self.to.service, self.to.full_name, settings)

    @property
    def service(self) -> Service:
        """The service, connected in this process."""
        if self._service is None or self._pid != os.getpid():
            connection = self._told_to(lambda event: self._emit(event))
            self._service, self._pid = open_service(connection), os.getpid()
        return self._service

    def listen(self, emit: Listener) -> None:
        """Says who hears of waits for the service from now on, in this process."""
        self._emit = emit

    def settle(self, folder: Path) -> None:
        """Says where the run lies: documents that are made of listings are kept there."""
        self.folder = folder

    def release(self) -> None:
        """Ends the connection; it is made anew where it is needed again."""
        if self._service is not None and self._pid == os.getpid():
            self._service.close()
        self._service = None
        if self.successor is not None:
            self.successor.release()

    def check_tenant(self) -> None:
        """Raises `OtherTenant` where the connection leads to another organisation than the one that its watermarks, or
        its run, are of: what is marked as read of one says nothing of the other. Some services must be asked."""
        if self._has_checked_tenant:
            return
        watermarks = self.span.watermarks
        if watermarks is not None and watermarks.tenant not in ("", self.service.tenant):
            raise self._other_tenant(watermarks.tenant, self.to.full_name, connection=self.to.full_name)
        run_marks = None if self.folder is None else read_watermarks(self.folder / PROPOSED_MARKS)
        if run_marks is not None and run_marks.tenant not in ("", self.service.tenant):
            where = f"{self.to.full_name} ({self.folder})"
            raise self._other_tenant(run_marks.tenant, where)
        self._has_checked_tenant = True

    def _other_tenant(self, expected: str, where: str, **advice: str) -> OtherTenant:
        """The fault of another organisation; of the same one in other letters, which must not be advised to start over:
        keys begin with its name as it was written, so all of it would be archived twice."""
        found = self.service.tenant
        if found.casefold() == expected.casefold():
            advice = {"spelling": expected}
        return OtherTenant(where=where, expected=expected, found=found, **advice)

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """Every item of every stream. Raises a ServiceFault where the service cannot be read."""
        self.listen(emit)
        self.check_tenant()
        store = document_store.DocumentStore(self.folder) if self.folder is not None and self.folder.is_dir() else None
        known_keys, accepted_keys = (
            KnownKeys(self.span.known_file, self.span.until.timestamp()),
            frozenset(accepted_losses(self.to, self.span.until)),
        )
        self._healed.clear()
        try:
            for stream in self.service.streams():
                emit(Event("stream", {"stream": stream.name, "count": stream.count}))
                window = replace(self._window(stream), known_keys=known_keys)
                for item in self.service.items(stream, window, emit):
                    if isinstance(item, Item):
                        self._healed[stream.name] += self._is_healed(item, window)
                        gone_keys = self._gone_keys(item, accepted_keys)
                        yield from (Skipped(key, ACCEPTED_AS_GONE) for key in sorted(gone_keys))
                        contents = tuple(content for content in item.contents if content.locator not in gone_keys)
                        yield _record(replace(item, contents=contents) if gone_keys else item, store)
                    elif isinstance(item, FetchFailure):
                        yield self._set_aside(item, accepted_keys)
                    elif isinstance(item, Deletion):
                        yield Skipped(item.key, DELETED_THERE)
                    else:
                        yield Skipped(item.key, item.reason)
        finally:
            known_keys.close()
            if store is not None:
                store.close()

    def emit_healed(self, healed: Mapping[str, int], emit: Listener) -> None:
        """Tells by stream what was taken that the runs before had missed; says nothing where there is nothing."""
        if healed:
            emit(Event("healed", {"connection": self.to.full_name, "streams": dict(healed)}))

    def listing(self, emit: Listener) -> Iterator[ServiceItem]:
        """All that the service holds now, whenever it changed, by its keys: fields may be missing. Raises a
        ServiceFault where the service cannot be read."""
        now = datetime.now(UTC)
        with closing(open_service(self._told_to(emit))) as service:  # one of its own: what this span met stays as it is
            for stream in service.streams():
                emit(Event("stream", {"stream": stream.name, "count": stream.count}))
                yield from service.items(stream, Window(None, now, sweep=True, keys_only=True), emit)

    def next_keys(self, emit: Listener) -> Iterator[str] | None:
        """The keys of the records that the next plan reads; None if nobody said over which span. Raises a
        ServiceFault."""
        return None if self.successor is None else self.successor.span_keys(emit)

    def next_records(self, emit: Listener) -> Iterator[SourceRecord] | None:
        """The records that the next plan reads; None if nobody said over which span. Raises a ServiceFault."""
        if self.successor is None:
            return None
        return (item for item in self.successor.records(emit) if isinstance(item, SourceRecord))

    def unknown_keys(self, keys: Iterator[str]) -> Iterator[str]:
        """Those of the keys that no run has archived by now, as far as the span of the next plan knows."""
        with closing(KnownKeys(None if self.successor is None else self.successor.span.known_file)) as known_keys:
            yield from (key for key in keys if not known_keys.has(key))

    def span_keys(self, emit: Listener) -> Iterator[str]:
        """The keys of the records of this span."""
        with closing(KnownKeys(self.span.known_file, self.span.until.timestamp())) as known_keys:
            for stream in self.service.streams():
                emit(Event("stream", {"stream": stream.name, "count": stream.count}))
                window = replace(self._window(stream), known_keys=known_keys, keys_only=True)
                yield from (item.key for item in self.service.items(stream, window, emit) if isinstance(item, Item))

    def current_records(self, names: Collection[str], emit: Listener) -> Iterator[SourceRecord]:
        """All that the service holds now in the streams of these names, as records. Raises a ServiceFault."""
        now = datetime.now(UTC)
        with closing(open_service(self._told_to(emit))) as service:
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
        return Watermarks(self.service.tenant, "", streams, shapes, self.span.hints, healed=+self._healed)

    def default_recipe(self) -> str:
        """The recipe of this kind of service."""
        return find_kind(self.to.service).default_recipe()

    def proposal(self, emit: Listener, *, lang: str = "en") -> str:
        """The same: services of one kind hold the same streams."""
        return self.default_recipe()

    def __getstate__(self) -> dict[str, object]:
        to = replace(self.to, values=dict(self.to.values), environment=dict(self.to.environment))
        return {"to": to, "span": self.span, "folder": self.folder}

    def __setstate__(self, state: Mapping[str, object]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._service, self._pid, self._has_checked_tenant, self._emit = None, 0, False, ignore_event
        self._healed, self.successor = Counter(), None

    def _told_to(self, emit: Listener) -> Connection:
        """The connection, whose waits are told to a listener."""
        return replace(self.to, on_wait=lambda wait: emit(wait_event(wait)))

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

    def _set_aside(self, failure: FetchFailure, accepted_keys: Collection[str]) -> SetAside | Skipped:
        """An item that could not be fetched; where it is gone, and somebody accepted that, it is only listed."""
        code = failure_code(failure)
        if code == ItemGone.code and failure.key in accepted_keys:
            return Skipped(failure.key, ACCEPTED_AS_GONE)
        details = {"key": failure.key, "why": failure.reason, "stream": failure.stream, "service": self.to.full_name}
        return SetAside(failure.key, code, {**details, **failure.data})

    def _is_healed(self, item: Item, window: Window) -> bool:
        """True for an item that is older than what the runs before had read, and is neither known nor asked for."""
        if window.since is None or item.modified is None or item.modified >= window.since:
            return False
        place = find_kind(self.to.service).again_id(item.key)
        is_asked_for = place is not None and place[1] in window.again
        return window.known_keys.is_kept and not (is_asked_for or window.known_keys.has(item.key))

    def _gone_keys(self, item: Item, accepted_keys: Collection[str]) -> set[str]:
        """The contents of an item that were accepted as gone, and are gone still: one that is there again is taken."""
        gone_keys: set[str] = set()
        for content in item.contents:
            if content.locator in accepted_keys:
                try:
                    with self._fetched(content):
                        pass
                except ItemGone:
                    gone_keys.add(content.locator)
        return gone_keys

    @contextmanager
    def _fetched(self, content: Content) -> Iterator[ContentStream]:
        self.check_tenant()
        with ExitStack() as stack:
            try:
                bytes_of = stack.enter_context(self.service.open(content))
            except (ServiceRefused, ServiceDenied, ItemVanished) as fault:
                if fault.data.get("status") == _NOT_LET_IN:
                    raise  # not this document alone
                raise content_fault(fault, content.locator, self.to.full_name) from fault
            yield _ServiceStream(bytes_of, content)


class _ServiceStream:
    """Bytes from a service. What is not as long as was said is not what was planned."""

    def __init__(self, source: Readable, content: Content) -> None:
        self._source = source
        self._content = content
        self._read = 0

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes. Raises `SourceFault` where the service breaks off, `ItemChanged` for another size."""
        try:
            block = self._source.read(size)
        except ServiceFault as fault:
            raise SourceFault(key=self._content.locator, why=reason_of(fault)) from fault
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
        to.state_folder() / str(settings["known"]) if settings.get("known") else None,
    )
    return ConnectorSource(to, span, folder)


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
