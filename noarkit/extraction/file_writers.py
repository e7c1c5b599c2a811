"""Writes the large files of a package, in this process or in several workers.

What is written is the same either way. Few records are not worth the children.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.extraction.bundles import Bundles
from noarkit.extraction.carried_fields import CarriedFields
from noarkit.extraction.journal_files import JournalPeriod, WrittenJournals, write_journals
from noarkit.extraction.lost_table import write_table
from noarkit.extraction.partition import Folders, Outlet, Records
from noarkit.extraction.structure import Placement, StructureWalk
from noarkit.extraction.workers import PoolSize, Worker, WorkFactory
from noarkit.forms.noark5.moments import Moments
from noarkit.forms.noark5.write.content import Codes
from noarkit.forms.noark5.write.structure import Tally, Writer

_SIDE_WORKERS = 2


@dataclass(frozen=True, slots=True)
class WriterSettings:
    """What writing needs: the store, and the words that are not in it. `begun` is when the extract was started,
    `originals` is True where the archive keeps elements of an original in its business-specific metadata."""

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
    """True where there is so much to write that children save time."""
    row = bundles.db.execute("SELECT count(*) FROM (SELECT 1 FROM unit LIMIT ?)", (size.least_units,)).fetchone()
    return bool(row[0] >= size.least_units)


def _no_pause() -> None:
    """Nobody asks a child for a pause: its parent ends it."""


def _discard(_: object) -> None:
    """Nothing is told before the first order."""
