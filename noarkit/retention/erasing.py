"""Removes the local data of one run that is proven, with a receipt; the same call again finishes what was begun.

The order is what makes it safe to be killed anywhere. The receipt is on the disk before anything goes. `plan.json` goes
first: from then on the folder is no run, and nobody can load it a second time by a journal that is missing. The lock is
held all the time, and goes last.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from noarkit.errors import RunNotProven, UsageFault
from noarkit.loading.folder import RunFolder
from noarkit.results import HIDDEN, SPREAD, Result, json_value
from noarkit.retention.inventory import LOCK, PLAN, is_ours, names_beside, take_inventory
from noarkit.retention.proof import Proof, prove
from noarkit.retention.receipt import Receipt, begin_receipt, receipts_of
from noarkit.safe.removal import OpenFolder
from noarkit.safe.side_files import refuse_foreign


@dataclass(frozen=True, slots=True)
class ErasureOrder:
    """What a removal was asked for: at what time, why, of a run that was proven at least `older_than_s` ago, and where
    catalogues of a run lie elsewhere. A dry run removes nothing."""

    now_s: float
    because: str = ""
    older_than_s: float = 0.0
    dry_run: bool = False
    elsewhere: Callable[[Path], Iterable[Path]] = lambda _: ()


@dataclass(frozen=True, slots=True)
class Erasure(Result):
    """A removal: its receipt, whether it was a dry run, and whether an earlier call had begun or even ended it."""

    EVENT: ClassVar = "erased"

    receipt: Receipt = field(metadata=SPREAD)
    dry_run: bool = False
    resumed: bool = False
    is_old: bool = field(default=False, metadata=HIDDEN)

    @property
    @json_value()
    def path(self) -> Path:
        """Where the receipt lies."""
        return self.receipt.path

    @property
    @json_value("complete")
    def is_complete(self) -> bool:
        """True where nothing of the run is left but what stays on purpose."""
        return not self.receipt.inventory.leftovers


def erase_run(path: Path, order: ErasureOrder) -> Erasure:
    """Removes the local data of a run and returns the receipt.

    Raises `RunNotProven` for a run that is not verified or delivered, or too young; `RunLocked` while somebody works on
    it; `UsageFault` for what is no run; `UnsafePath`, `JournalFault` for links and files of others in the way.
    """
    path = path.resolve()
    if not (path / PLAN).is_file():
        return _take_up(path, order)
    with _locked_run(path):
        proof = check_age(path, prove(RunFolder(path)), order)
        with OpenFolder(path) as folder, OpenFolder(path.parent) as above:
            inventory = take_inventory(folder, above, order.elsewhere(path))
            receipt = begin_receipt(path, proof, inventory, order.because, order.now_s)
            if order.dry_run:
                return Erasure(receipt, dry_run=True)
            receipt.write()
            return Erasure(_remove(receipt, folder, above, order))


def check_age(path: Path, proof: Proof, order: ErasureOrder) -> Proof:
    """The proof, of a run whose time is over. Raises `RunNotProven` for one that is younger than asked for."""
    if order.now_s - proof.at_s < order.older_than_s:
        raise RunNotProven(where=str(path), why="too-young")
    return proof


def _take_up(path: Path, order: ErasureOrder) -> Erasure:
    """Finishes a removal that was begun, or tells of the one that is done. Raises `UsageFault` where there is none."""
    receipts = receipts_of(path) if path.parent.is_dir() else []
    if not receipts:
        raise UsageFault(what="not-a-run" if os.path.lexists(path) else "nothing-there", where=str(path))
    receipt = receipts[-1]
    if receipt.state == "done":
        return Erasure(receipt, is_old=True)
    if order.dry_run:
        return Erasure(receipt, dry_run=True, resumed=True)
    with OpenFolder(path.parent) as above:
        if not path.is_dir():
            return Erasure(_end(receipt, above, order), resumed=True)
        with _locked_run(path), OpenFolder(path) as folder:
            if (path / PLAN).exists():  # somebody made a new run here before we had the lock
                raise UsageFault(what="exists", where=str(path))
            return Erasure(_remove(receipt, folder, above, order), resumed=True)


@contextmanager
def _locked_run(path: Path) -> Iterator[None]:
    lock = RunFolder(path).lock
    refuse_foreign(lock)
    with RunFolder(path).locked():
        yield


def _remove(receipt: Receipt, folder: OpenFolder, above: OpenFolder, order: ErasureOrder) -> Receipt:
    """Removes what is ours, plan first and lock last, then the folder, if nothing else lies in it."""
    folder.remove(PLAN)
    folder.sync()
    _remove_beside(receipt, above, order.elsewhere(folder.path))
    # by the names in the folder, not those of the receipt: a reader of the databases may have left files meanwhile
    for name in folder.names():
        if is_ours(name) and name != LOCK:
            folder.remove(name)
    folder.remove(LOCK)
    folder.sync()
    reasons = dict(receipt.inventory.kept)
    more = tuple((name, folder.kind(name)) for name in folder.names() if name not in reasons)
    inventory = replace(receipt.inventory, kept=(*receipt.inventory.kept, *more))
    receipt = replace(receipt, inventory=inventory)
    if not folder.names():
        with suppress(OSError):  # somebody laid something there in this moment; it stays
            folder.path.rmdir()
    return _end(receipt, above, order)


def _remove_beside(receipt: Receipt, above: OpenFolder, elsewhere: Iterable[Path]) -> None:
    ours = names_beside(receipt.run)
    paths = {str(path): path for path in elsewhere}
    for file in receipt.inventory.beside:
        if file.name in ours:
            above.remove(file.name)
        elif file.name in paths:
            with OpenFolder(paths[file.name].parent) as outside:
                outside.remove(paths[file.name].name)
                outside.sync()


def _end(receipt: Receipt, above: OpenFolder, order: ErasureOrder) -> Receipt:
    above.sync()
    ended_receipt = receipt.finish(order.now_s)
    ended_receipt.write()
    return ended_receipt
