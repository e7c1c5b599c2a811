"""Writes the large files of a package, in this process or in several workers.

What is written is the same either way. Few records are not worth the children.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from noarkit.extraction.bundles import Bundles
from noarkit.extraction.journal_files import JournalPeriod, WrittenJournals, write_journals
from noarkit.extraction.partition import Folders, Outlet, Records
from noarkit.extraction.structure import Placement, StructureWalk
from noarkit.extraction.workers import PoolSize, Worker, WorkFactory
from noarkit.forms.noark5.moments import Moments
from noarkit.forms.noark5.read.original import GROUP
from noarkit.forms.noark5.write import unmapped, vsm
from noarkit.forms.noark5.write.content import Codes, Content, EntityData
from noarkit.forms.noark5.write.structure import Tally, Writer
from noarkit.forms.noark5.write.unmapped import repeats_system_id
from noarkit.model.mapping import BUSINESS_METADATA, mapping
from noarkit.safe.csv_files import write_csv

_SIDE_WORKERS = 2


@dataclass(frozen=True, slots=True)
class WriterSettings:
    """What writing needs: the store, and the words that are not in it. `started_at` is when the extract was
    started, `originals` is True if the archive keeps elements of an original in its business-specific metadata."""

    store: Path
    codes: Codes
    zone: str
    started_at: str
    carry: bool
    originals: bool = False

    def writer(self) -> Writer:
        """A writer of units."""
        return Writer(
            self.codes, Moments(self.zone), self.started_at, CarriedFields(self.codes).of if self.carry else None
        )


@dataclass(slots=True)
class WrittenStructure:
    """What one process wrote of the structure; added up it is what all did."""

    tally: Tally = field(default_factory=Tally)
    unsupported_fields: Counter[tuple[str, str]] = field(default_factory=Counter)
    placement: Placement = field(default_factory=Placement)
    signs: int = 0

    def add(self, addition: WrittenStructure) -> None:
        """Adds what another process wrote."""
        self.tally.add(addition.tally)
        self.unsupported_fields.update(addition.unsupported_fields)
        self.placement.add(addition.placement)
        self.signs += addition.signs


@dataclass(frozen=True, slots=True)
class StructureWorkFactory:
    """Makes what writes portions of a structure."""

    settings: WriterSettings

    def __call__(self) -> _StructureWork:
        return _StructureWork(self.settings)


class _StructureWork:
    def __init__(self, settings: WriterSettings) -> None:
        self._bundles = Bundles(settings.store)
        self._writer = settings.writer()
        self._emit_piece: Callable[[object], None] = _discard
        self._walk = StructureWalk(self._bundles, self._writer, lambda block: self._emit_piece(block))

    def act(self, order: object, emit_piece: Callable[[object], None]) -> None:
        """Writes a portion; for any other order tells what was written."""
        self._emit_piece = emit_piece
        if isinstance(order, Folders | Records):
            self._walk.portion(order)
        else:
            emit_piece(
                WrittenStructure(
                    self._writer.tally, self._writer.field_counts(), self._walk.placement, self._bundles.cleaned.signs
                )
            )

    def close(self) -> None:
        """Lets go of the store."""
        self._bundles.close()


def write_structure(bundles: Bundles, settings: WriterSettings, outlet: Outlet, size: int) -> WrittenStructure:
    """Writes arkivstruktur.xml; with the hands that the outlet has, portions of `size` records are theirs."""
    writer = settings.writer()
    if settings.originals:
        writer.originals = bundles.originals_above()
    walk = StructureWalk(bundles, writer, outlet.write, outlet if outlet.workers else None, size)
    for worker in outlet.workers:
        worker.begin(StructureWorkFactory(settings))
    walk.write()
    outlet.end()
    structure = WrittenStructure(writer.tally, writer.field_counts(), walk.placement)
    for worker in outlet.workers:
        worker.order(None)
        addition = worker.only_piece(outlet.pause)
        assert isinstance(addition, WrittenStructure)  # noqa: S101  # as the work tells it
        structure.add(addition)
        worker.finish()
    structure.signs += bundles.cleaned.signs
    return structure


@dataclass(frozen=True, slots=True)
class JournalWork:
    """Makes what writes both journals; it tells what it wrote, and how many signs were replaced."""

    settings: WriterSettings
    package: Path
    period: JournalPeriod

    def __call__(self) -> JournalWork:
        return self

    def act(self, order: object, emit_piece: Callable[[object], None]) -> None:
        """Writes them."""
        emit_piece(self.write(_no_pause))

    def write(self, pause: Callable[[], None]) -> tuple[WrittenJournals, int]:
        """Writes them here."""
        bundles = Bundles(self.settings.store)
        try:
            words = (self.settings.codes, Moments(self.settings.zone))
            return write_journals(bundles, self.package, words, self.period, pause), bundles.cleaned.signs
        finally:
            bundles.close()

    def close(self) -> None:
        """Holds nothing."""


@dataclass(frozen=True, slots=True)
class TableWork:
    """Makes what writes the table of all that the form cannot say; it tells the counts."""

    store: Path
    table: Path

    def __call__(self) -> TableWork:
        return self

    def act(self, order: object, emit_piece: Callable[[object], None]) -> None:
        """Writes it."""
        emit_piece(self.write())

    def write(self) -> dict[str, int]:
        """Writes it here."""
        bundles = Bundles(self.store)
        try:
            return write_table(bundles.db, self.table)
        finally:
            bundles.close()

    def close(self) -> None:
        """Holds nothing."""


class SideWork:
    """Writes the journals and the table: in workers while the structure is written, or later in this process."""

    def __init__(self, journals: JournalWork, table: TableWork) -> None:
        self._journals = journals
        self._table = table
        self._busy: Sequence[Worker] = ()

    def begin(self, workers: Sequence[Worker]) -> Sequence[Worker]:
        """Gives two hands their work, and back the others; all of them where they are too few."""
        if len(workers) <= _SIDE_WORKERS:
            return workers
        self._busy, free_workers = workers[:_SIDE_WORKERS], workers[_SIDE_WORKERS:]
        factories: tuple[WorkFactory, WorkFactory] = (self._journals, self._table)
        for worker, factory in zip(self._busy, factories, strict=True):
            worker.begin(factory)
            worker.order(None)
        return free_workers

    def end(self, pause: Callable[[], None]) -> tuple[tuple[WrittenJournals, int], dict[str, int]]:
        """What they wrote. Raises what they raised."""
        if not self._busy:
            return self._journals.write(pause), self._table.write()
        journals, table = self._busy
        journals_result: tuple[WrittenJournals, int] = journals.only_piece(pause)  # type: ignore[assignment]  # as JournalMaking tells it
        lost_counts: dict[str, int] = table.only_piece(pause)  # type: ignore[assignment]  # as TableMaking tells it
        for worker in self._busy:
            worker.finish()
        return journals_result, lost_counts


def is_worth_it(bundles: Bundles, size: PoolSize) -> bool:
    """True if there is so much to write that children save time."""
    row = bundles.db.execute("SELECT count(*) FROM (SELECT 1 FROM unit LIMIT ?)", (size.least_units,)).fetchone()
    return bool(row[0] >= size.least_units)


def _no_pause() -> None:
    """Nobody asks a child for a pause: its parent ends it."""


def _discard(_: object) -> None:
    """Nothing is told before the first order."""


_OWNER = """CASE WHEN t.type <> 'EksternId' THEN ''
  WHEN t.family = 'D' THEN (SELECT uuid FROM document WHERE id = t.parent)
  WHEN t.family = 'V' THEN (SELECT uuid FROM version WHERE id = t.parent)
  ELSE (SELECT uuid FROM unit WHERE id = t.parent) END"""


def write_table(db: sqlite3.Connection, path: Path) -> dict[str, int]:
    """Every field of every object that has one and that the form cannot tell; counts by type and field."""
    counts: Counter[str] = Counter()

    def rows() -> Iterator[tuple[str, str, str, str]]:
        for entity, uuid, owner in _entities(db):
            if repeats_system_id(entity["t"], entity["f"], owner):
                continue
            for name, value in lost_fields(entity):
                counts[f"{entity['t']}.{name.partition('/')[0]}"] += 1
                yield entity["t"], uuid, name, value

    write_csv(path, ("type", "uuid", "field", "value"), rows(), mode=0o644, sync=False)
    return dict(counts)


def _entities(db: sqlite3.Connection) -> Iterator[tuple[EntityData, str, str]]:
    """Every thing with its uuid; of a key also the uuid of what it is the key of."""
    for table in ("unit", "document", "version", "part"):
        order = "uuid" if table in ("document", "version") else "type, uuid"
        owner = _OWNER if table == "part" else "''"
        # sorted by row number alone: the sorter would carry all data along
        sql = (
            f"SELECT t.data, t.uuid, {owner} FROM (SELECT rowid r FROM {table} ORDER BY {order}) s"  # noqa: S608  # our own names
            f" JOIN {table} t ON t.rowid = r"
        )
        for data, uuid, above in db.execute(sql):
            yield orjson.loads(data), uuid, above or ""


def lost_fields(entity: EntityData) -> list[tuple[str, str]]:
    """Every value of a thing that tells of the record and has no element, by its field; texts as they are."""
    kind, fields = entity["t"], entity["f"]
    values = unmapped.lost_fields(kind, fields)
    return [*values, *unmapped.lost_metadata(kind, fields)] if BUSINESS_METADATA in fields else values


class CarriedFields:
    """Writes values without an element of the form, of units and of their parts, as business-specific metadata."""

    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        types = mapping().types.items()
        lost_names = {name for kind, type_map in types for name in unmapped.lost_names(kind, tuple(type_map.fields))}
        self._coded = lost_names & set(codes.names)

    def of(self, content: Content) -> tuple[str, int]:
        """All of a unit that has business-specific metadata in the form, ready to stand in it, and how many values
        that are; nothing of another."""
        entity = content["o"]
        if not mapping().may_carry(entity["t"]):
            return "", 0
        own_texts: list[tuple[str, int]] = []
        self._add_object(own_texts, entity)
        part_texts: list[tuple[str, int]] = []
        self._add_parts(part_texts, content)
        for document in content.get("d", ()):
            concerns = _concerns(document["o"])
            self._add_object(part_texts, document["o"], concerns)
            self._add_parts(part_texts, document, concerns)
            for version in document.get("v", ()):
                self._add_object(part_texts, version["o"], _concerns(version["o"]))
        texts = own_texts + sorted(part_texts)
        return unmapped.root_xml([text for text, _ in texts]), sum([count for _, count in texts])

    def _add_parts(
        self, texts: list[tuple[str, int]], content: Content, concerns: tuple[tuple[str, str], ...] = ()
    ) -> None:
        owner = content["o"]["f"].get("uuid")
        for part in content.get("p", ()):
            kind, fields = part["t"], part["f"]
            if mapping().may_carry(kind) or unmapped.repeats_system_id(kind, fields, owner):
                continue  # the one tells it itself, the other is told already
            if not unmapped.lost_names(kind, tuple(fields)):
                continue  # as of most parties: nothing but their name and role would be told
            self._add_object(texts, part, self._role_and_name(part) if kind in unmapped.NAMED else concerns)

    def _add_object(
        self, texts: list[tuple[str, int]], entity: EntityData, concerns: tuple[tuple[str, str], ...] = ()
    ) -> None:
        """Adds the text of an object and how many values it tells, if there are any."""
        kind, fields = entity["t"], entity["f"]
        values = unmapped.lost_fields(kind, fields)
        if values and not self._coded.isdisjoint(fields):
            values = [(name, self._text(name, value)) for name, value in values]
        count = len(values)
        metadata = sum(1 for _ in unmapped.lost_metadata(kind, fields)) if BUSINESS_METADATA in fields else 0
        if metadata:
            values.append((BUSINESS_METADATA, "\n" + vsm.groups_xml(fields[BUSINESS_METADATA], left_out=GROUP)))
            values.sort()
        if values:
            texts.append((unmapped.object_xml(kind, (*concerns, *values)), count + metadata))

    def _role_and_name(self, entity: EntityData) -> tuple[tuple[str, str], ...]:
        name, role = unmapped.NAMED[entity["t"]]
        fields = entity["f"]
        return (
            (unmapped.CONCERNS, str(fields.get(name, ""))),
            (unmapped.ROLE, self._text(role, str(fields.get(role, "")))),
        )

    def _text(self, name: str, value: str) -> str:
        return self._codes.names_of(name).get(value, value)


def _concerns(entity: EntityData) -> tuple[tuple[str, str], ...]:
    return ((unmapped.CONCERNS, str(entity["f"].get("uuid", ""))),)
