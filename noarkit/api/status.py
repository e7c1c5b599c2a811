"""The status of a run: its numbers as they are now, asked while it works or afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal, cast

from noarkit.loading.findings import exit_code_of
from noarkit.loading.folder import AS_RUN, RunFolder
from noarkit.loading.journal import ArchiveFinding
from noarkit.loading.numbers import Numbers
from noarkit.loading.part import part_journals, part_of_journal, shard_counts
from noarkit.loading.state import Closed, read_state
from noarkit.results import HIDDEN, SPREAD, JsonObject, Result, count_of, json_field, json_value
from noarkit.settings import Place


@dataclass(frozen=True, slots=True)
class PartStatus(JsonObject):
    """A part of a run that is loaded by itself (`ingest(shard=…)`): its shards, and the process that works on it."""

    part: str
    done: int
    shards: int
    owner: str | None


StatusWord = Literal[
    "planned", "running", "open", "done", "sealed", "delivered", "retracting", "retracted", "retracted_in_part"
]


def _word_of(state: str) -> StatusWord:
    return cast("StatusWord", state)  # as states are told


@dataclass(frozen=True, slots=True)
class StatusResult(Result):
    """The status of a run. `state` is `"running"`, or the stage that it came to: `"planned"`, `"open"`,
    `"done"`, `"sealed"`, `"delivered"`, `"retracting"`, `"retracted"`, `"retracted_in_part"`.

    `owner` is the process that works on it, `chunks` counts chunks by state, `findings` are what is wrong in the
    archive, `losses` the shards that were handed on or set aside because workers were lost; `parts` are those that have
    a journal of their own, `retracted` what was taken out of the archive again, `exit_code` what all this comes to.
    """

    EVENT: ClassVar = "status"

    folder: RunFolder = field(metadata=AS_RUN)
    state: str = field(metadata=json_field(form=_word_of, closed=True))
    owner: str | None
    archive: str | None
    numbers: Numbers = field(metadata=SPREAD)
    chunks: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[ArchiveFinding, ...] = field(default=(), metadata=json_field(form=count_of))
    losses: Mapping[str, int] = field(default_factory=dict, metadata=json_field(optional=True))
    parts: tuple[PartStatus, ...] = field(default=(), metadata=json_field(optional=True))
    retracted: Mapping[str, int] = field(default_factory=dict, metadata=json_field(optional=True))
    exit_code: int = field(default=0, metadata=HIDDEN)
    closed: Closed = field(default="", metadata=json_field(optional=True))

    @property
    @json_value(optional=True)
    def found_wrong(self) -> int:
        """How many things are wrong in the archive."""
        return len(self.findings)


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
