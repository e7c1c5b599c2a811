"""The status of a run: its numbers as they are now, asked while it works or afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.airgap.delivery import delivery_state
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import ArchiveFinding
from noarkit.loading.numbers import Numbers, numbers
from noarkit.results import Result
from noarkit.settings import Place


@dataclass(frozen=True, slots=True)
class StatusResult(Result):
    """The status of a run. `state` is `planned`, `running`, `open`, `done`, or what is known of a run that left in a
    bundle; `owner` is the process that works on it, `chunks` counts chunks by state, `findings` are what is wrong in
    the archive."""

    folder: RunFolder
    state: str
    owner: str | None
    archive: str | None
    numbers: Numbers
    chunks: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[ArchiveFinding, ...] = ()

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
        }


def status(run: Place) -> StatusResult:
    """Reads how far a run is. Safe to call while another process works on it.

    Raises `JournalFault` where `run` is no run.
    """
    folder = RunFolder(Path(run))
    folder.plan()
    totals, owner = numbers(folder), folder.owner()
    if folder.journal.exists():
        with closing(folder.open_journal()) as journal:
            archive, chunks, findings = journal.meta("where"), journal.chunk_counts(), tuple(journal.findings())
        state = "running" if owner else "open" if totals.open or totals.in_doubt else "done"
        return StatusResult(folder, state, owner, archive, totals, chunks, findings)
    if owner:
        return StatusResult(folder, "running", owner, None, totals)
    delivered = delivery_state(folder)
    if delivered is None:
        return StatusResult(folder, "planned", None, None, totals)
    state, receipt = delivered  # what became of it is known by its receipt alone
    if receipt is None:
        return StatusResult(folder, state, None, None, totals)
    return StatusResult(folder, state, None, receipt.archive, receipt.numbers)
