"""What a source holds, counted: how much, in which formats, from which years, and what will be trouble.

Only counters are held, however large the source; what has more kinds than a counter may hold is counted as «other».
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import ClassVar, Protocol, cast, runtime_checkable

from noarkit.errors import SourceFault
from noarkit.events import Event, EventFields, Listener
from noarkit.graph.entity import Content, Note, SetAside, Skipped
from noarkit.model.formats import classify_format
from noarkit.recipes.personal import NUMBER_FOUND, holds_identity_number
from noarkit.records import ContentStream, Groundwork, Source, SourceItem, SourceRecord
from noarkit.results import HIDDEN, JsonObject, Result, json_field, json_value
from noarkit.safe.scratch import scratch

EVENTS: EventFields = {"source_scanned": {"read": "count", "records": "count", "bytes": "count"}}
FILES = "files"
OTHER = "other"
UNKNOWN = "unknown"

_MOST_KINDS = 1_000
_DAY_NS = 86_400 * 1_000_000_000


class RecordSummary(Protocol):
    """A record seen from outside: enough to count it."""

    @property
    def kind(self) -> str: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def modified_ns(self) -> int: ...
    @property
    def format(self) -> str: ...
    @property
    def notes(self) -> tuple[Note, ...]: ...


@runtime_checkable
class Summarized(Protocol):
    """A source that can be counted without making records. None if only records tell the whole."""

    def summaries(self, emit: Listener) -> Iterator[RecordSummary | SetAside | Skipped] | None: ...


@runtime_checkable
class Profiled(Protocol):
    """A source that can tell more of itself than counts: its tables, and what their columns look like."""

    def profile(self, emit: Listener) -> Mapping[str, object]:
        """Plain JSON values, to stand beside the counts."""
        ...


@dataclass(frozen=True, slots=True)
class ScanResult(Result):
    """The counts: set aside and noted by code, skipped by reason, years by a mail's date or a file's time, formats by
    what was found and by the names that a plan has for them. `copied` is told of files alone."""

    EVENT: ClassVar = "scan"

    where: str
    source_kind: str
    records: int = 0
    contents: int = 0
    bytes: int = 0
    largest_bytes: int = field(default=0, metadata=json_field(optional=True))
    kinds: Mapping[str, int] = field(default_factory=dict)
    formats: Mapping[str, int] = field(default_factory=dict, metadata=HIDDEN)
    format_bytes: Mapping[str, int] = field(default_factory=dict, metadata=HIDDEN)
    years: Mapping[str, int] = field(default_factory=dict)
    set_aside: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict, metadata=json_field("noted"))
    profile: Mapping[str, object] = field(default_factory=dict, metadata=HIDDEN)
    format_names: Mapping[str, int] = field(default_factory=dict)
    name_bytes: Mapping[str, int] = field(default_factory=dict, metadata=HIDDEN)
    copied: Copied | None = field(default=None, metadata=json_field("copies", omitted=True))

    @property
    @json_value()
    def read(self) -> int:
        """Every item the source yielded."""
        return self.records + sum(self.set_aside.values()) + sum(self.skipped.values())

    @property
    @json_value("formats", optional=True)
    def format_totals(self) -> Mapping[str, FormatTotals]:
        """By format, how many contents there are and their bytes; the most frequent first."""
        return {name: FormatTotals(count, self.format_bytes.get(name, 0)) for name, count in self.formats.items()}

    @property
    @json_value(omitted=True)
    def tables(self) -> Sequence[Mapping[str, object]] | None:
        """The tables of a database, with their columns; None for anything else."""
        return cast(
            "Sequence[Mapping[str, object]] | None", self.profile.get("tables")
        )  # as databases tell of themselves


def scan(
    source: Source, emit: Listener, *, on_left_out: Callable[[SetAside | Skipped], None] | None = None
) -> ScanResult:
    """Reads the whole source once and counts it; nothing is changed. Contents are not opened, but for files of the same
    size, which are compared.

    `on_left_out` is handed what was set aside or skipped, for those who want lists. Raises `SourceGone`.
    """
    summaries = source.summaries(emit) if isinstance(source, Summarized) else None
    counts = _Counts(copies=Copies() if summaries is None and source.identity.kind == FILES else None)
    if summaries is not None:
        counts.add_summaries(summaries, on_left_out)
    else:
        counts.add_records(source.records(emit), on_left_out)
    report = counts.report(source.identity.where, source.identity.kind)
    if counts.copies is not None:
        with closing(counts.copies) as copies:
            report = replace(report, copied=copies.compare(source.open))
    if isinstance(source, Profiled):
        report = replace(report, profile=source.profile(emit))
    emit(Event("source_scanned", {"read": report.read, "records": report.records, "bytes": report.bytes}))
    return report


@dataclass(slots=True)
class _Counts:
    number: int = 0
    contents: int = 0
    bytes: int = 0
    largest: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    format_bytes: Counter[str] = field(default_factory=Counter)
    years: Counter[str] = field(default_factory=Counter)
    set_aside: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    format_names: Counter[str] = field(default_factory=Counter)
    name_bytes: Counter[str] = field(default_factory=Counter)
    copies: Copies | None = None
    folder: str = ""

    def add_summaries(
        self,
        items: Iterator[RecordSummary | SetAside | Skipped],
        on_left_out: Callable[[SetAside | Skipped], None] | None,
    ) -> None:
        """Counts what is seen from outside; each is one content, but for folders."""
        kinds, years = self.kinds, self.years
        for item in items:
            if isinstance(item, (SetAside, Skipped)):
                self._add_left_out(item, on_left_out)
                continue
            kind = item.kind
            kinds[kind] += 1
            years[_year_of(item.modified_ns // _DAY_NS)] += 1
            if kind != "folder":
                self._add_content(item.format, item.size_bytes, _format_name(None, item.format, None))
            for note in item.notes:
                self.notes[note.code] += 1
        self.number += sum(kinds.values())

    def add_records(
        self, items: Iterator[SourceItem], on_left_out: Callable[[SetAside | Skipped], None] | None
    ) -> None:
        """Counts whole records."""
        for item in items:
            if isinstance(item, (SetAside, Skipped)):
                self._add_left_out(item, on_left_out)
                continue
            if isinstance(item, Groundwork):
                continue
            self.number += 1
            self.kinds[_name_or_other(self.kinds, item.kind)] += 1
            self.years[_year(item)] += 1
            for content in item.contents:
                ext = content.name.rpartition(".")
                extension = ext[2].lower() if ext[0] else ""
                name = _format_name(content.puid, extension, content.media_type)
                self._add_content(content.media_type or extension, content.size_bytes or 0, name)
            if self.copies is not None and item.kind == "file" and item.contents:
                self.copies.add(item.contents[0])
            for note in item.notes:
                self.notes[note.code] += 1
            if self._has_identity_number(item.fields):
                self.notes[NUMBER_FOUND] += 1

    def report(self, where: str, source_kind: str) -> ScanResult:
        """The counts, frozen."""
        formats = dict(self.formats.most_common())
        return ScanResult(
            where=where,
            source_kind=source_kind,
            records=self.number,
            contents=self.contents,
            bytes=self.bytes,
            largest_bytes=self.largest,
            kinds=dict(self.kinds.most_common()),
            formats=formats,
            format_bytes={name: self.format_bytes[name] for name in formats},
            years=dict(sorted(self.years.items())),
            set_aside=dict(sorted(self.set_aside.items())),
            skipped=dict(self.skipped.most_common()),
            notes=dict(sorted(self.notes.items())),
            format_names=dict(self.format_names.most_common()),
            name_bytes=dict(self.name_bytes),
        )

    def _has_identity_number(self, fields: Mapping[str, object]) -> bool:
        """True if the name of a file or the subject of a mail holds an identity number, or that of its folder,
        which is asked about once."""
        mail, folder = fields.get("mail"), str(fields.get("folder") or "")
        texts = [fields.get("name"), mail.get("subject") if isinstance(mail, Mapping) else None]
        if folder != self.folder:
            self.folder = folder
            texts.append(folder)
        return any(holds_identity_number(text) for text in texts)

    def _add_content(self, format_id: str, size_bytes: int, usual: str) -> None:
        usual = _name_or_other(self.format_names, usual)
        self.format_names[usual] += 1
        self.name_bytes[usual] += size_bytes
        name = format_id if format_id in self.formats else _name_or_other(self.formats, format_id or UNKNOWN)
        self.contents += 1
        self.bytes += size_bytes
        if size_bytes > self.largest:
            self.largest = size_bytes
        self.formats[name] += 1
        self.format_bytes[name] += size_bytes

    def _add_left_out(self, item: SetAside | Skipped, on_left_out: Callable[[SetAside | Skipped], None] | None) -> None:
        if isinstance(item, SetAside):
            self.set_aside[item.code] += 1
        else:
            self.skipped[_name_or_other(self.skipped, item.reason)] += 1
        if on_left_out is not None:
            on_left_out(item)


@lru_cache(maxsize=4096)
def _format_name(puid: str | None, extension: str, media_type: str | None) -> str:
    """The name that a plan has for a format."""
    return classify_format(puid, extension, media_type).name


def _name_or_other(counter: Counter[str], name: str) -> str:
    return name if name in counter or len(counter) < _MOST_KINDS else OTHER


def _year(record: SourceRecord) -> str:
    """The year of the date that the source tells of a record; else that of a mail, of its change, or of its content."""
    fields = record.fields
    if "date_from" in fields:
        return _year_in(fields["date"]) or UNKNOWN
    mail = fields.get("mail")
    year = _year_in(mail.get("date") if isinstance(mail, Mapping) else None) or _year_in(fields.get("modified"))
    modified_ns = record.contents[0].modified_ns if record.contents else None
    return year or (UNKNOWN if modified_ns is None else _year_of(modified_ns // _DAY_NS))


def _year_in(date: object) -> str:
    return date[:4] if isinstance(date, str) and date[:4].isdigit() else ""


@lru_cache(maxsize=4096)
def _year_of(days: int) -> str:
    try:
        return f"{datetime.fromtimestamp(days * 86_400, UTC).year:04}"
    except (OverflowError, ValueError, OSError):
        return UNKNOWN


HEAD_BYTES = 64 * 1024
MOST_BYTES = 16 * 1024 * 1024 * 1024
"""So much is read whole at most; what is left is told as not compared."""

_ALIKE = "SELECT size FROM file GROUP BY size HAVING count(*) > 1"
_SAME_HEAD = "SELECT size, head FROM file WHERE head IS NOT NULL GROUP BY size, head HAVING count(*) > 1"
_ROWS = (
    "SELECT f.rowid, f.locator, f.name, f.size, f.modified FROM candidate c JOIN file f ON f.rowid = c.file"
    " ORDER BY c.file"
)

OpenContent = Callable[[Content], AbstractContextManager[ContentStream]]


@dataclass(frozen=True, slots=True)
class FormatTotals(JsonObject):
    """Contents of one format."""

    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Copied(JsonObject):
    """How many contents there are more than once, how many files that is beside the first of each, and their bytes;
    `not_compared` are files that may be copies and were not read."""

    contents: int = 0
    files: int = 0
    bytes: int = 0
    not_compared: int = 0


class Copies:
    """Remembers files by their sizes. To be closed."""

    def __init__(self) -> None:
        self._db = scratch()
        self._db.execute(
            "CREATE TABLE file (size INTEGER, locator TEXT, name TEXT, modified INTEGER, head BLOB, own BLOB)"
        )
        self._db.execute("CREATE TABLE candidate (file INTEGER PRIMARY KEY)")
        self._db.execute("BEGIN")

    def add(self, content: Content) -> None:
        """One file; an empty one is no copy of anything."""
        if content.size_bytes:
            row = (content.size_bytes, content.locator, content.name, content.modified_ns)
            self._db.execute("INSERT INTO file (size, locator, name, modified) VALUES (?, ?, ?, ?)", row)

    def compare(self, opens: OpenContent, most_bytes: int = MOST_BYTES) -> Copied:
        """Compares what may be the same."""
        db = self._db
        db.execute("CREATE INDEX by_size ON file (size, head)")
        not_compared = self._hash_files(f"size IN ({_ALIKE})", "head", opens, HEAD_BYTES)
        db.execute("UPDATE file SET own = head WHERE size <= ?", (HEAD_BYTES,))
        not_compared += self._hash_files(
            f"size > {HEAD_BYTES} AND (size, head) IN ({_SAME_HEAD})", "own", opens, most_bytes
        )
        groups = "SELECT size, count(*) AS times FROM file WHERE own IS NOT NULL GROUP BY size, own HAVING times > 1"
        contents, files, size = db.execute(
            f"SELECT count(*), total(times - 1), total(size * (times - 1)) FROM ({groups})"  # noqa: S608  # our own words
        ).fetchone()
        return Copied(contents, int(files), int(size), not_compared)

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()

    def _hash_files(self, alike: str, column: str, opens: OpenContent, most_bytes: int) -> int:
        """Hashes files: their heads each, or whole ones as long as there are bytes left; says how many were not."""
        not_compared, budget = 0, most_bytes
        self._db.execute("DELETE FROM candidate")
        self._db.execute(f"INSERT INTO candidate SELECT rowid FROM file WHERE {alike}")  # noqa: S608  # our own words
        for row, locator, name, size, modified in self._db.execute(_ROWS):
            if column == "own" and size > budget:
                not_compared += 1
                continue
            try:
                with opens(Content(locator, name, size, modified)) as stream:
                    digest = _digest(stream, HEAD_BYTES if column == "head" else size)
            except SourceFault:
                not_compared += 1
                continue
            budget -= size if column == "own" else 0
            self._db.execute(f"UPDATE file SET {column} = ? WHERE rowid = ?", (digest, row))  # noqa: S608  # one of two
        return not_compared


def _digest(stream: ContentStream, most: int) -> bytes:
    hasher = hashlib.blake2b(digest_size=16)
    while most > 0 and (block := stream.read(min(most, 1024 * 1024))):
        hasher.update(block)
        most -= len(block)
    return hasher.digest()
