"""Removes the local data of the runs in a folder that no rule keeps, and writes into its log what was removed.

A run that is not verified or delivered is never removed, nor one that somebody works on, nor one that only a link in
the folder leads to. A removal that was begun and not ended is ended first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Literal

import orjson

from noarkit.errors import DiskFull, NoarkitError, Paused, RunLocked, RunNotProven
from noarkit.loading.folder import RunFolder, runs_in
from noarkit.results import HIDDEN, Result, json_field, json_value
from noarkit.retention.erasing import Erasure, ErasureOrder, erase_run
from noarkit.retention.policy import KeepPolicy
from noarkit.retention.proof import Proof, prove
from noarkit.retention.receipt import runs_with_receipts
from noarkit.safe import atomic
from noarkit.safe.clocks import iso_seconds
from noarkit.safe.folder_handles import is_link
from noarkit.safe.owners import own_name

LOG = "noarkit-forgotten.jsonl"
_NOT_REMOVABLE = "not-removable"
Outcome = Literal["kept", "removed", "would-remove"]


def _moment_of(proof: Proof | None) -> str | None:
    return None if proof is None else proof.at


@dataclass(frozen=True, slots=True)
class ForgottenRun(Result):
    """What became of one run: kept by these rules, or for this reason, or removed."""

    EVENT: ClassVar = "run_forgotten"

    path: Path
    outcome: Outcome
    reasons: tuple[str, ...] = ()
    proof: Proof | None = field(default=None, metadata=json_field("proven", _moment_of))
    erasure: Erasure | None = field(default=None, metadata=HIDDEN)
    fault: NoarkitError | None = field(default=None, metadata=HIDDEN)

    @property
    @json_value()
    def run(self) -> str:
        """The name of the run."""
        return self.path.name

    @property
    @json_value("bytes")
    def size_bytes(self) -> int:
        """The bytes of all files that go."""
        return 0 if self.erasure is None else self.erasure.receipt.inventory.size_bytes

    @property
    @json_value("files")
    def file_count(self) -> int:
        """How many files go."""
        inventory = None if self.erasure is None else self.erasure.receipt.inventory
        return 0 if inventory is None else len(inventory.files) + len(inventory.beside)

    @property
    @json_value("receipt")
    def receipt_path(self) -> Path | None:
        """Where the receipt lies; None where nothing was removed."""
        return None if self.erasure is None or self.erasure.dry_run else self.erasure.path

    @property
    @json_value("complete")
    def is_complete(self) -> bool:
        """True where nothing is left of what should go."""
        return _NOT_REMOVABLE not in self.reasons if self.erasure is None else self.erasure.is_complete


def forget_runs(folder: Path, policy: KeepPolicy, order: ErasureOrder) -> Iterator[ForgottenRun]:
    """Removes what no rule keeps, and yields what became of each run, the oldest plan first.

    Raises `DiskFull`, and `JournalFault` for a log that is not ours; what is wrong with one run keeps that run alone.
    """
    if not order.dry_run:
        yield from _finish_begun(folder, order)
    runs = [(path, *_proof_of(path)) for path in runs_in(folder) if not _is_linked(path, folder)]
    proofs = [(path, proof) for path, proof, _ in runs if proof is not None]
    rules = policy.reasons([proof.at_s for _, proof in proofs], order.now_s)
    kept_by = {path: names for (path, _), names in zip(proofs, rules, strict=True)}
    for path, proof, fault in runs:
        if proof is None:
            reason = str(fault.data.get("why")) if isinstance(fault, RunNotProven) else "unreadable"
            yield ForgottenRun(path, "kept", (reason,), fault=fault)
        elif kept_by[path]:
            yield ForgottenRun(path, "kept", kept_by[path], proof)
        else:
            yield _forget(folder, path, proof, order)


def _is_linked(path: Path, folder: Path) -> bool:
    """True for what a link in the folder leads to: a run elsewhere, or one of these under a second name."""
    below_folder = [place for place in (path, *path.parents) if place != folder and place.is_relative_to(folder)]
    with suppress(FileNotFoundError):
        return any(is_link(place.lstat()) for place in below_folder)
    return False


def _proof_of(path: Path) -> tuple[Proof | None, NoarkitError | None]:
    try:
        return prove(RunFolder(path)), None
    except (Paused, DiskFull):
        raise
    except NoarkitError as fault:
        return None, fault
    except (OSError, sqlite3.Error, ValueError) as error:
        return None, RunNotProven(where=str(path), why="unreadable", detail=type(error).__name__)


def _forget(folder: Path, path: Path, proof: Proof, order: ErasureOrder) -> ForgottenRun:
    if not order.dry_run:
        _log(folder, path, "begun", proof.to_dict(), order)
    run = _erase_or_keep(path, proof, order)
    if not order.dry_run:
        _log_outcome(folder, run, order)
    return run


def _finish_begun(folder: Path, order: ErasureOrder) -> Iterator[ForgottenRun]:
    """Ends the removals that somebody was killed in."""
    for above in (folder, folder / "runs"):
        if not above.is_dir() or _is_linked(above, folder):
            continue
        for path in runs_with_receipts(above):
            if _is_linked(path, folder) or (path / "plan.json").exists():
                continue
            run = _erase_or_keep(path, None, replace(order, older_than_s=0.0))
            if run.erasure is None or not run.erasure.is_old:
                _log_outcome(folder, run, order)
                yield run


def _erase_or_keep(path: Path, proof: Proof | None, order: ErasureOrder) -> ForgottenRun:
    """Removes a run, or keeps it with its reason whatever is wrong with it. Raises `Paused`, `DiskFull`."""
    try:
        erasure = erase_run(path, order)
    except (Paused, DiskFull):
        raise
    except RunLocked as fault:
        return ForgottenRun(path, "kept", ("in-use",), proof, fault=fault)
    except RunNotProven as fault:
        return ForgottenRun(path, "kept", (str(fault.data.get("why")),), proof, fault=fault)
    except NoarkitError as fault:
        return ForgottenRun(path, "kept", (_NOT_REMOVABLE,), proof, fault=fault)
    except (OSError, sqlite3.Error, ValueError) as error:
        unreadable = RunNotProven(where=str(path), why="unreadable", detail=type(error).__name__)
        return ForgottenRun(path, "kept", (_NOT_REMOVABLE,), proof, fault=unreadable)
    return ForgottenRun(path, "would-remove" if order.dry_run else "removed", (), proof, erasure)


def _log_outcome(folder: Path, run: ForgottenRun, order: ErasureOrder) -> None:
    if run.erasure is not None:
        _log_removal(folder, run.path, run.erasure, order)
    else:
        code = {} if run.fault is None else {"code": run.fault.code}
        _log(folder, run.path, "kept", {"why": run.reasons[0], **code}, order)


def _log_removal(folder: Path, path: Path, erasure: Erasure, order: ErasureOrder) -> None:
    facts = {
        "receipt": str(erasure.receipt.path),
        "plan_sha256": erasure.receipt.plan_sha256,
        "files": len(erasure.receipt.inventory.files) + len(erasure.receipt.inventory.beside),
        "bytes": erasure.receipt.inventory.size_bytes,
        "complete": erasure.is_complete,
    }
    _log(folder, path, "removed", facts, order)


def _log(folder: Path, path: Path, state: str, facts: dict[str, object], order: ErasureOrder) -> None:
    at = iso_seconds(order.now_s)
    line = {"at": at, "by": own_name(), "run": str(path), "state": state, "why": order.because, **facts}
    atomic.append_line(folder / LOG, orjson.dumps(line))
