"""The status of a run: its numbers as they are now, asked while it works or afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from noarkit.loading.findings import exit_code_of
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import ArchiveFinding
from noarkit.loading.numbers import Numbers
from noarkit.loading.part import part_journals, part_of_journal, shard_counts
from noarkit.loading.state import Closed, read_state
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
    """The status of a run. `state` is `"running"`, or the stage that it came to: `"planned"`, `"open"`,
    `"done"`, `"sealed"`, `"delivered"`, `"retracting"`, `"retracted"`, `"retracted_in_part"`.

    `owner` is the process that works on it, `chunks` counts chunks by state, `findings` are what is wrong in the
    archive, `losses` the shards that were handed on or set aside because workers were lost; `parts` are those that have
    a journal of their own, `retracted` what was taken out of the archive again, `exit_code` what all this comes to.
    """

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
    exit_code: int = 0
    closed: Closed = ""

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
            "closed": self.closed,
            "found_wrong": len(self.findings),
        }


def status(run: Place) -> StatusResult:
    """Reads how far a run is. Safe to call while another process works on it.

    Raises `JournalFault` where `run` is no run.
    """
    folder = RunFolder(Path(run))
    state, owner = read_state(folder), folder.owner()
    return StatusResult(
        folder,
        "running" if owner else state.word,
        owner,
        state.archive,
        state.numbers,
        state.chunks,
        state.findings,
        state.losses,
        _parts(folder),
        state.retracted,
        exit_code=exit_code_of(state.findings) if owner else state.exit_code,
        closed=state.closed,
    )


def _parts(folder: RunFolder) -> tuple[PartStatus, ...]:
    statuses = []
    for path in part_journals(folder.path):
        part = part_of_journal(path)
        statuses.append(PartStatus(str(part), *shard_counts(path), RunFolder(folder.path, part).owner()))
    return tuple(statuses)
