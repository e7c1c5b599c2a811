"""The large files of a package and who writes them: this process, or several children beside each other.

What is written is the same either way. Few records are not worth the children.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.extract.bundles import Bundles
from noarkit.extract.carried import Carried
from noarkit.extract.hands import Hand, Making, Team
from noarkit.extract.journal_files import Journalled, JournalPeriod, write_journals
from noarkit.extract.lost_table import write_table
from noarkit.extract.portions import Folders, Outlet, Records
from noarkit.extract.structure import Placed, StructureWalk
from noarkit.packages.noark5.content import Codes
from noarkit.packages.noark5.moments import Moments
from noarkit.packages.noark5.write import Tally, Writer

_OTHERS = 2


@dataclass(frozen=True, slots=True)
class Pen:
    """What writing needs: the store, and the words that are not in it. `begun` is when the extract was started,
    `originals` is True where the archive keeps elements of an original in its business-specific metadata."""

    store: Path
    codes: Codes
    zone: str
    begun: str
    carry: bool
    originals: bool = False

    def writer(self) -> Writer:
        """A writer of units."""
        return Writer(self.codes, Moments(self.zone), self.begun, Carried(self.codes).of if self.carry else None)


@dataclass(slots=True)
class Written:
    """What one process wrote of the structure; added up it is what all did."""

    tally: Tally = field(default_factory=Tally)
    met: Counter[tuple[str, str]] = field(default_factory=Counter)
    placed: Placed = field(default_factory=Placed)
    signs: int = 0

    def add(self, other: Written) -> None:
        """Adds what another process wrote."""
        self.tally.add(other.tally)
        self.met.update(other.met)
        self.placed.add(other.placed)
        self.signs += other.signs


@dataclass(frozen=True, slots=True)
class StructureMaking:
    """Makes what writes portions of a structure."""

    pen: Pen

    def __call__(self) -> _StructureWork:
        return _StructureWork(self.pen)


class _StructureWork:
    def __init__(self, pen: Pen) -> None:
        self._bundles = Bundles(pen.store)
        self._writer = pen.writer()
        self._tell: Callable[[object], None] = _nowhere
        self._walk = StructureWalk(self._bundles, self._writer, lambda block: self._tell(block))

    def act(self, order: object, tell: Callable[[object], None]) -> None:
        """Writes a portion; for any other order tells what was written."""
        self._tell = tell
        if isinstance(order, Folders | Records):
            self._walk.portion(order)
        else:
            tell(Written(self._writer.tally, self._writer.met(), self._walk.placed, self._bundles.cleaned.signs))

    def close(self) -> None:
        """Lets go of the store."""
        self._bundles.close()


def write_structure(bundles: Bundles, pen: Pen, outlet: Outlet, size: int) -> Written:
    """Writes arkivstruktur.xml; with the hands that the outlet has, portions of `size` records are theirs."""
    writer = pen.writer()
    if pen.originals:
        writer.originals = bundles.above()
    walk = StructureWalk(bundles, writer, outlet.write, outlet if outlet.hands else None, size)
    for hand in outlet.hands:
        hand.begin(StructureMaking(pen))
    walk.write()
    outlet.end()
    made = Written(writer.tally, writer.met(), walk.placed)
    for hand in outlet.hands:
        hand.order(None)
        told = hand.only(outlet.pause)
        assert isinstance(told, Written)  # noqa: S101  # as the work tells it
        made.add(told)
        hand.finish()
    made.signs += bundles.cleaned.signs
    return made


@dataclass(frozen=True, slots=True)
class JournalMaking:
    """Makes what writes both journals; it tells what it wrote, and how many signs were replaced."""

    pen: Pen
    package: Path
    agreed: JournalPeriod

    def __call__(self) -> JournalMaking:
        return self

    def act(self, order: object, tell: Callable[[object], None]) -> None:
        """Writes them."""
        tell(self.write(_nothing))

    def write(self, pause: Callable[[], None]) -> tuple[Journalled, int]:
        """Writes them here."""
        bundles = Bundles(self.pen.store)
        try:
            words = (self.pen.codes, Moments(self.pen.zone))
            return write_journals(bundles, self.package, words, self.agreed, pause), bundles.cleaned.signs
        finally:
            bundles.close()

    def close(self) -> None:
        """Holds nothing."""


@dataclass(frozen=True, slots=True)
class TableMaking:
    """Makes what writes the table of all that the form cannot say; it tells the counts."""

    store: Path
    table: Path

    def __call__(self) -> TableMaking:
        return self

    def act(self, order: object, tell: Callable[[object], None]) -> None:
        """Writes it."""
        tell(self.write())

    def write(self) -> dict[str, int]:
        """Writes it here."""
        bundles = Bundles(self.store)
        try:
            return write_table(bundles.db, self.table)
        finally:
            bundles.close()

    def close(self) -> None:
        """Holds nothing."""


class Beside:
    """The journals and the table: done by a child each while the structure is written, or here when it is."""

    def __init__(self, journals: JournalMaking, table: TableMaking) -> None:
        self._journals = journals
        self._table = table
        self._busy: Sequence[Hand] = ()

    def begin(self, hands: Sequence[Hand]) -> Sequence[Hand]:
        """Gives two hands their work, and back the others; all of them where they are too few."""
        if len(hands) <= _OTHERS:
            return hands
        self._busy, rest = hands[:_OTHERS], hands[_OTHERS:]
        makings: tuple[Making, Making] = (self._journals, self._table)
        for hand, making in zip(self._busy, makings, strict=True):
            hand.begin(making)
            hand.order(None)
        return rest

    def end(self, pause: Callable[[], None]) -> tuple[tuple[Journalled, int], dict[str, int]]:
        """What they wrote. Raises what they raised."""
        if not self._busy:
            return self._journals.write(pause), self._table.write()
        journals, table = self._busy
        written: tuple[Journalled, int] = journals.only(pause)  # type: ignore[assignment]  # as JournalMaking tells it
        lost: dict[str, int] = table.only(pause)  # type: ignore[assignment]  # as TableMaking tells it
        for hand in self._busy:
            hand.finish()
        return written, lost


def is_worth_it(bundles: Bundles, team: Team) -> bool:
    """True where there is so much to write that children save time."""
    found = bundles.db.execute("SELECT count(*) FROM (SELECT 1 FROM unit LIMIT ?)", (team.worth,)).fetchone()
    return bool(found[0] >= team.worth)


def _nothing() -> None:
    """Nobody asks a child for a pause: its parent ends it."""


def _nowhere(_: object) -> None:
    """Nothing is told before the first order."""
