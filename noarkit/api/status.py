"""The status of a run: its numbers as they are now, asked while it works or afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

from noarkit.airgap.delivery import delivery_state
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import ArchiveFinding
from noarkit.loading.numbers import Numbers, numbers
from noarkit.loading.part import part_journals, part_of_journal, shard_counts
from noarkit.loading.retraction.record import retraction_counts
from noarkit.results import Result
from noarkit.settings import Place


@dataclass(frozen=True, slots=True)
class PartStatus:
    """A part of a run that is loaded by itself (`ingest(shard=…)`): its shards, and the process that works on it."""

    part: str
    done: int
    shards: int
    owner: str | None


@dataclass(frozen=True, slots=True)
class StatusResult(Result):
    """The status of a run. `state` is `planned`, `running`, `open`, `done`, `retracting`, `retracted`,
    `retracted_in_part`, or what is known of a run that left in a
    bundle; `owner` is the process that works on it, `chunks` counts chunks by state, `findings` are what is wrong in
    the archive, `losses` the shards that were handed on or set aside because workers were lost;
    `parts` are those that have a journal of their own, `retracted` what was taken out of the archive again."""

    folder: RunFolder
    state: str
    owner: str | None
    archive: str | None
    numbers: Numbers
    chunks: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[ArchiveFinding, ...] = ()
    losses: Mapping[str, int] = field(default_factory=dict)
    parts: tuple[PartStatus, ...] = ()
    retracted: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """The status, as `noarkit status --json` has it, with its chunks and the number of findings."""
        return {
            "run": self.folder.name,
            "state": self.state,
            "owner": self.owner,
            "archive": self.archive,
            **self.numbers.as_data(),
            "chunks": dict(self.chunks),
            "findings": len(self.findings),
            "losses": dict(self.losses),
            "parts": [asdict(part) for part in self.parts],
            "retracted": dict(self.retracted),
        }


def status(run: Place) -> StatusResult:
    """Reads how far a run is. Safe to call while another process works on it.

    Raises `JournalFault` where `run` is no run.
    """
    folder = RunFolder(Path(run))
    folder.plan()
    totals, owner, parts = numbers(folder), folder.owner(), _parts(folder)
    if folder.journal.exists():
        with closing(folder.open_journal()) as journal:
            archive, chunks, findings = journal.meta("where"), journal.chunk_counts(), tuple(journal.findings())
            losses, retraction = journal.losses(), journal.meta("retraction")
            retracted = retraction_counts(journal)
        state = "running" if owner else retraction or ("open" if totals.open or totals.in_doubt else "done")
        return StatusResult(folder, state, owner, archive, totals, chunks, findings, losses, parts, retracted)
    if owner:
        return StatusResult(folder, "running", owner, None, totals, parts=parts)
    delivered = delivery_state(folder)
    if delivered is None:
        state = "open" if parts else "planned"
        return StatusResult(folder, state, None, None, totals, parts=parts)
    state, receipt = delivered  # what became of it is known by its receipt alone
    if receipt is None:
        return StatusResult(folder, state, None, None, totals)
    return StatusResult(folder, state, None, receipt.archive, receipt.numbers)


def _parts(folder: RunFolder) -> tuple[PartStatus, ...]:
    statuses = []
    for path in part_journals(folder.path):
        part = part_of_journal(path)
        statuses.append(PartStatus(str(part), *shard_counts(path), RunFolder(folder.path, part).owner()))
    return tuple(statuses)
