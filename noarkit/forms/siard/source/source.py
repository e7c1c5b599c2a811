"""A SIARD archive as a source of records: the same recipes as for the database it came from.

The archive is read once into an SQLite file of ours, and that is read as any database is: rows, relations
(`record.customer.name`), documents in columns. The file lies in the folder of a run, or in a temporary one that goes
with the process; it is as large as the archive unpacked, large values included.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from noarkit.errors import ItemChanged, ItemMalformed, ItemVanished, PackageFault, SourceAway, SourceGone, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.forms.siard.read.gaps import LOST, RULES, Gap, Why
from noarkit.forms.siard.source import KIND
from noarkit.forms.siard.sqlite.database import SqliteOrder, sqlite_of
from noarkit.graph.entity import Content, SetAside
from noarkit.records import DESPITE_DAMAGE, ContentStream, SourceIdentity, SourceItem
from noarkit.safe.atomic import temporary_name
from noarkit.safe.workplace import folder_for_owner
from noarkit.sources.database.address import read_address
from noarkit.sources.database.documents import read_settings
from noarkit.sources.database.source import DatabaseSource

_SHAPES = "shapes"
_MARK = "mark"
_COPY = "siard-"
_DIGEST: Why = "message-digest"
_CODES = {"lob-digest": ItemChanged.code, "table-broken": ItemMalformed.code}


def reopen(identity: SourceIdentity) -> SiardArchiveSource:
    """The archive that a plan was made from. Raises `SourceGone` where it is not there, or is another."""
    path = Path(identity.where)
    own_settings = {_SHAPES, _MARK, DESPITE_DAMAGE}
    settings = {name: value for name, value in identity.settings.items() if name not in own_settings}
    shapes = identity.settings.get(_SHAPES)
    source = SiardArchiveSource(path, settings, shapes if isinstance(shapes, Mapping) else None)
    source._despite = identity.settings.get(DESPITE_DAMAGE) is True
    if identity.settings.get(_MARK) not in (None, source.mark()):
        raise SourceGone(where=identity.where, why="archive-replaced")
    return source


class SiardArchiveSource:
    """The tables of an archive, on a recipe's terms. `shapes` are those of the tables when a plan was made."""

    def __init__(
        self, path: Path, settings: Mapping[str, object] | None = None, shapes: Mapping[str, object] | None = None
    ) -> None:
        self.path = path.absolute()
        self._settings = dict(settings or {})
        self._shapes = dict(shapes or {})
        self._despite = False
        self._home: Path | None = None
        self._database: DatabaseSource | None = None
        self._temporary: _Temporary | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.path, self._settings, self._shapes, self._home, self._despite)

    @property
    def identity(self) -> SourceIdentity:
        """Kind `siard`, the path, the terms, and what tells this archive from another."""
        settings = {**self._settings, _MARK: self.mark()}
        shapes = self._database.identity.settings.get(_SHAPES) if self._database is not None else self._shapes
        if shapes:
            settings[_SHAPES] = shapes
        if self._despite:
            settings[DESPITE_DAMAGE] = True
        return SourceIdentity(KIND, str(self.path), settings)

    def mark(self) -> str:
        """What changes where the archive is replaced: its size and time. Raises `SourceGone`."""
        try:
            status = self.path.stat()
        except OSError as error:
            raise SourceGone(where=str(self.path), why="ENOENT") from error
        return f"{status.st_size}:{status.st_mtime_ns}"

    def fitted(self, settings: Mapping[str, object]) -> SiardArchiveSource:
        """The same archive on the terms of a recipe's `[source]`. Raises `PlanFault` for what is none."""
        archive_settings = _archive_settings({name: value for name, value in settings.items() if name != "kind"})
        source = SiardArchiveSource(self.path, archive_settings, self._shapes)
        source._home = self._home
        source._despite = self._despite
        if self._database is not None:  # the copy is the same on any terms
            source._database = self._database.fitted(archive_settings)
            source._temporary = self._temporary
        return source

    def despite_damage(self) -> SiardArchiveSource:
        """The same archive, taken as it is where its message digest is wrong."""
        self._despite = True
        return self

    def settle(self, folder: Path) -> None:
        """The copy is made in this folder, of a run, and stays there for all who read it; one that was made before is
        moved there."""
        database, self._home = self._database, folder
        if database is not None and self._temporary is not None:
            target = self._place()
            if not target.exists():
                part = target.with_name(temporary_name())
                shutil.copyfile(_gaps_of(Path(database.address.file)), _gaps_of(target))
                shutil.move(database.address.file, part)
                part.replace(target)
            self._database = self._temporary = None

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """Every row of every table once, tables that others refer to first. What the archive says is there and is not,
        a document that is not the one that was archived, and an element of no column are set aside, one by one; so is a
        table whose XML cannot be read, while the others are.

        Raises `SourceGone`, `PackageFault` where the archive cannot be read or its message digest is another, and what
        `safe` refuses.
        """
        database = self._read(emit)  # from here, so that the copy is held as long as it is read
        yield from _set_aside(Path(database.address.file), despite=self._despite)
        yield from database.records(emit)

    @contextmanager
    def _open_content(self, content: Content) -> Iterator[ContentStream]:
        with self._read(ignore_event).open(content) as stream:
            yield stream

    def open(self, content: Content) -> AbstractContextManager[ContentStream]:
        """Opens a document by its locator. Raises `ItemVanished`, `ItemChanged`, `SourceGone`."""
        return self._open_content(content)

    def default_recipe(self) -> str:
        """The proposal: tables differ too much for one recipe to fit them all."""
        return self.proposal(ignore_event)

    def proposal(self, emit: Listener) -> str:
        """A recipe fitted to the tables; it serves the live database as well."""
        return self._read(emit).proposal(emit)

    def profile(self, emit: Listener) -> Mapping[str, object]:
        """What a scan tells of tables, keys, relations and columns."""
        return self._read(emit).profile(emit)

    def _read(self, emit: Listener) -> DatabaseSource:
        if self._database is None:
            address = read_address(f"sqlite:///{self._copy(emit)}")
            if address is None:  # an SQLite URL always is one
                raise SourceGone(where=str(self.path), why="ENOENT")
            self._database = DatabaseSource(address, read_settings(self._settings), self._shapes)
        return self._database

    def _copy(self, emit: Listener) -> Path:
        """The archive as SQLite: that of the run where it stands, else a new one."""
        before = self.mark()
        target = self._place()
        if not target.exists():
            try:
                with _gaps_of(target).open("w", encoding="utf-8", errors="surrogateescape", buffering=1) as gaps_file:
                    order = SqliteOrder(bare=True, gaps=lambda gap: _write_gap(gaps_file, gap))
                    sqlite_of(self.path, target, order, emit=emit)
            except UsageFault:
                if not target.exists():  # else another process was quicker, and made the same
                    raise
            if self.mark() != before:
                target.unlink()
                raise SourceAway(where=str(self.path), why="changed-while-read")
        return target

    def _place(self) -> Path:
        if self._home is None:
            self._temporary = _Temporary()
            folder = folder_for_owner(self._temporary, "siard")
        else:
            key = hashlib.blake2b(f"{self.path} {self.mark()}".encode("utf-8", "surrogateescape"), digest_size=8)
            folder = self._home / f"{_COPY}{key.hexdigest()}"
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder / f"{self.path.stem}.db"  # what a proposal calls the system is what the file is called


def _gaps_of(copy: Path) -> Path:
    """What the archive lacks, beside the copy that was made of it."""
    return copy.with_name(f"{copy.name}.gaps")


def _write_gap(gaps_file: TextIO, gap: Gap) -> None:
    if gap.why in LOST or gap.why == _DIGEST:
        gaps_file.write(json.dumps([gap.key, gap.name, gap.why], ensure_ascii=True) + "\n")


def _set_aside(copy: Path, *, despite: bool) -> Iterator[SetAside]:
    place = _gaps_of(copy)
    if place.exists():  # copies of earlier versions have none
        with place.open(encoding="utf-8") as gaps_file:
            for line in gaps_file:
                key, name, why = json.loads(line)
                if why == _DIGEST:
                    if not despite:
                        raise PackageFault(where=key, why="damaged-source", detail=RULES[_DIGEST])
                    continue
                code = _CODES.get(why, ItemVanished.code)
                yield SetAside(key, code, {"key": key, "what": name, "why": why})


class _Temporary:
    """What holds a folder of ours: it goes with the last who holds this."""


def _archive_settings(settings: Mapping[str, object]) -> dict[str, object]:
    """The terms as they are for an archive: what was a large object of the server is bytes like any others."""
    table_settings = read_settings(settings)
    if table_settings.documents is not None:
        documents = {
            table: tuple(
                replace(column, form="bytes") if column.form == "large-object" else column for column in columns
            )
            for table, columns in table_settings.documents.items()
        }
        table_settings = replace(table_settings, documents=documents)
    return table_settings.settings()


def _rebuild(
    path: Path, settings: Mapping[str, object], shapes: Mapping[str, object], home: Path | None, despite: bool = False
) -> SiardArchiveSource:
    source = SiardArchiveSource(path, settings, shapes)
    source._home = home
    source._despite = despite
    return source
