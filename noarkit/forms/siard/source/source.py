"""A SIARD archive as a source of records: the same recipes as for the database it came from.

The archive is read once into an SQLite file of ours, and that is read as any database is: rows, relations
(`= record.customer.name`), documents in columns. The file lies in the folder of a run, or in a temporary one that goes
with the process; it is as large as the archive unpacked, large values included.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from noarkit.errors import ItemChanged, ItemMalformed, ItemVanished, PackageFault, SourceGone
from noarkit.events import Listener, ignore_event
from noarkit.forms.siard.read.gaps import LOST, RULES, Gap, Why
from noarkit.forms.siard.source import KIND
from noarkit.forms.siard.sqlite.database import SqliteOrder, sqlite_of
from noarkit.graph.entity import Content, SetAside
from noarkit.records import ContentStream, SourceIdentity, SourceItem
from noarkit.sources.database.documents import read_settings
from noarkit.sources.database.table_copy import TableCopy, reopen_copy

_DIGEST: Why = "message-digest"
_CODES = {"lob-digest": ItemChanged.code, "table-broken": ItemMalformed.code}


def reopen(identity: SourceIdentity) -> SiardArchiveSource:
    """The archive that a plan was made from. Raises `SourceGone` where it is not there, or is another."""
    path = Path(identity.where)
    return SiardArchiveSource(path, reopen_copy(SiardTables(path.absolute()), identity))


@dataclass(frozen=True, slots=True)
class SiardTables:
    """The archive where it lies, and how its tables are copied."""

    path: Path
    kind: str = KIND

    @property
    def name(self) -> str:
        """What the copy is called."""
        return self.path.stem

    def mark(self) -> str:
        """What changes where the archive is replaced: its size and time. Raises `SourceGone`."""
        try:
            status = self.path.stat()
        except OSError as error:
            raise SourceGone(where=str(self.path), why="ENOENT") from error
        return f"{status.st_size}:{status.st_mtime_ns}"

    def read_terms(self, settings: Mapping[str, object]) -> dict[str, object]:
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

    def copy_terms(self, settings: Mapping[str, object]) -> Mapping[str, object]:
        """The same terms."""
        return settings

    def write_copy(self, target: Path, emit: Listener) -> None:
        """The archive as SQLite, and its gaps beside it."""
        with self.losses_of(target).open("w", encoding="utf-8", errors="surrogateescape", buffering=1) as gaps_file:
            order = SqliteOrder(bare=True, gaps=lambda gap: _write_gap(gaps_file, gap))
            sqlite_of(self.path, target, order, emit=emit)

    def losses_of(self, copy: Path) -> Path:
        """What the archive lacks, beside the copy that was made of it."""
        return copy.with_name(f"{copy.name}.gaps")


class SiardArchiveSource:
    """The tables of an archive, on a recipe's terms."""

    def __init__(self, path: Path, tables: TableCopy | None = None) -> None:
        self.path = path.absolute()
        self._archive = SiardTables(self.path)
        self._tables = tables or TableCopy(self._archive)

    def __reduce__(self) -> tuple[object, ...]:
        return SiardArchiveSource, (self.path, self._tables)

    @property
    def identity(self) -> SourceIdentity:
        """Kind `"siard"`, the path, the terms, and what tells this archive from another."""
        return self._tables.identity

    def fitted(self, settings: Mapping[str, object]) -> SiardArchiveSource:
        """The same archive on the terms of a recipe's `[source]`. Raises `PlanFault` for what is none."""
        return SiardArchiveSource(self.path, self._tables.fitted(settings))

    def despite_damage(self) -> SiardArchiveSource:
        """The same archive, taken as it is where its message digest is wrong."""
        self._tables.despite = True
        return self

    def settle(self, folder: Path) -> None:
        """The copy is made in this folder, of a run, or moved there."""
        self._tables.settle(folder)

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """Every row of every table once, tables that others refer to first. What the archive says is there and is not,
        a document that is not the one that was archived, and an element of no column are set aside, one by one; so is a
        table whose XML cannot be read, while the others are.

        Raises `SourceGone`, `PackageFault` where the archive cannot be read or its message digest is another, and what
        `safe` refuses.
        """
        database = self._tables.read(emit)  # from here, so that the copy is held as long as it is read
        gaps = self._archive.losses_of(Path(database.address.file))
        yield from _set_aside(gaps, despite=self._tables.despite)
        yield from database.records(emit)

    def open(self, content: Content) -> AbstractContextManager[ContentStream]:
        """Opens a document by its locator. Raises `ItemVanished`, `ItemChanged`, `SourceGone`."""
        return self._tables.open(content)

    def default_recipe(self) -> str:
        """The proposal: tables differ too much for one recipe to fit them all."""
        return self.proposal(ignore_event)

    def proposal(self, emit: Listener, *, lang: str = "en") -> str:
        """A recipe fitted to the tables; it serves the live database as well."""
        return self._tables.read(emit).proposal(emit, lang=lang)

    def profile(self, emit: Listener) -> Mapping[str, object]:
        """What a scan tells of tables, keys, relations and columns."""
        return self._tables.read(emit).profile(emit)


def _write_gap(gaps_file: TextIO, gap: Gap) -> None:
    if gap.why in LOST or gap.why == _DIGEST:
        gaps_file.write(json.dumps([gap.key, gap.name, gap.why], ensure_ascii=True) + "\n")


def _set_aside(gaps: Path, *, despite: bool) -> Iterator[SetAside]:
    if gaps.exists():  # copies of earlier versions have none
        with gaps.open(encoding="utf-8") as gaps_file:
            for line in gaps_file:
                key, name, why = json.loads(line)
                if why == _DIGEST:
                    if not despite:
                        raise PackageFault(
                            where=key, why="damaged-source", despite="--despite-damage", detail=RULES[_DIGEST]
                        )
                    continue
                code = _CODES.get(why, ItemVanished.code)
                yield SetAside(key, code, {"key": key, "what": name, "why": why})
