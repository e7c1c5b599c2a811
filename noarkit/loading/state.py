"""How a run is: its stage, its numbers, and what is wrong with it in the archive.

Read once from plan, journal and receipts. Every command, page and summary asks here; nobody else decides whether a run
is done, was delivered or was taken back, or what its open findings come to.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Literal, cast

from noarkit.errors import RunRetracted, UsageFault, gravest
from noarkit.loading.delivery import Receipt, delivery_state
from noarkit.loading.findings import OF_FILES, exit_code_of, is_difference
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import ArchiveFinding, Journal
from noarkit.loading.numbers import Numbers, numbers
from noarkit.loading.part import part_journals
from noarkit.loading.retraction.record import GONE, Retraction, retraction_counts, retraction_of

Closed = Literal["", "yes", "no"]
Stage = Literal[
    "planned", "open", "done", "closed", "sealed", "delivered", "retracting", "retracted", "retracted_in_part"
]
ITEMS_EXIT = 3


@dataclass(frozen=True, slots=True)
class RunState:
    """The state of a run, or of a part of it.

    `archive` is the archive's name for people, `identity` what it is known by; `closed` is "no" where closing went to
    its end and some of it was refused. `findings` are what is wrong in the archive and neither mended nor accepted.
    `receipt` is what the other side of an air gap sent back; then the numbers are its own. A part is loaded when its
    own shards are, though records of other parts are open. `loses_values` is one that was not begun because the account
    may not set the dates and numbers of the plan.
    """

    closes: bool
    begun: bool
    numbers: Numbers
    archive: str | None = None
    identity: str | None = None
    closed: Closed = ""
    retraction: Retraction = ""
    retracted: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[ArchiveFinding, ...] = ()
    chunks: Mapping[str, int] = field(default_factory=dict)
    losses: Mapping[str, int] = field(default_factory=dict)
    has_parts: bool = False
    is_part: bool = False
    has_open_shards: bool = False
    is_sealed: bool = False
    loses_values: bool = False
    receipt: Receipt | None = None

    @property
    def stage(self) -> Stage:
        """How far the run came. A receipt stands above all else: what was delivered stays delivered."""
        if self.receipt is not None:
            return "delivered"
        if self.retraction:
            return self.retraction
        if not self.begun:
            return "open" if self.has_parts else "sealed" if self.is_sealed else "planned"
        if not self.is_loaded:
            return "open"
        return "closed" if self.closed else "done"

    @property
    def word(self) -> str:
        """The stage as `"state"` says it in --json and in the last block: what was closed is done."""
        stage = self.stage
        return "done" if stage == "closed" else stage

    @property
    def is_loaded(self) -> bool:
        """True if the run was loaded to its end: every record has an outcome, and no chunk is open or in doubt."""
        is_open = self.has_open_shards or self.numbers.in_doubt > 0 or (self.numbers.open > 0 and not self.is_part)
        return self.begun and not is_open

    @property
    def has_sent(self) -> bool:
        """True if any chunk may have reached the archive."""
        return any(count for state, count in self.chunks.items() if state != "planned")

    @property
    def is_damaged(self) -> bool:
        """True if a document has other bytes in the archive: nothing can be changed in what is closed, so that this
        keeps the run open."""
        return any(finding.kind in OF_FILES for finding in self.findings)

    def after_load(self, exit_code: int) -> str:
        """The state that a load left the run in: paused where the same command goes on."""
        if self.is_loaded:
            return "done"
        return "paused" if exit_code else "open"

    def after_closing(self, exit_code: int, *, may_close: bool) -> str:
        """The state after mending and closing too, as the summary of `ingest` says it."""
        is_paused = self.is_damaged or (may_close and self.closes and not self.closed)
        return "paused" if self.is_loaded and is_paused else self.after_load(exit_code)

    @property
    def is_finished(self) -> bool:
        """True if nothing remains to be loaded, closed or mended by the run itself."""
        if not self.is_loaded:
            return False
        return not self.closes or self.closed == "yes" or (self.closed == "no" and not self.not_closed)

    @property
    def not_closed(self) -> frozenset[str]:
        """The keys of objects that could not be closed and were not accepted so."""
        return frozenset(finding.key for finding in self.findings if not is_difference(finding))

    @property
    def differences(self) -> tuple[ArchiveFinding, ...]:
        """Findings of what is not in the archive as it was loaded: the run is not all right, however complete."""
        return tuple(finding for finding in self.findings if is_difference(finding))

    @property
    def left_out(self) -> int:
        """How many records were set aside or refused."""
        return self.numbers.set_aside + self.numbers.refused

    @property
    def exit_code(self) -> int:
        """What a command that asks how the run is ends with: 7 where the archive differs, 3 where something is left."""
        items = ITEMS_EXIT if self.stage in ("done", "closed", "delivered") and self.left_out else 0
        return gravest(items, exit_code_of(self.findings))


def read_state(folder: RunFolder) -> RunState:
    """The state of a run as it is now; safe to call while another process works on it. Raises `JournalFault`."""
    folder.plan()
    delivered = delivery_state(folder) if folder.part is None else None
    receipt = None if delivered is None else delivered[1]
    counts = numbers(folder) if receipt is None else receipt.numbers
    has_parts = folder.part is None and bool(part_journals(folder.path))
    closes = plan_closes(folder)
    if not folder.journal.exists():
        return RunState(
            closes,
            False,
            counts,
            archive=None if receipt is None else receipt.archive,
            identity=None if receipt is None else receipt.identity,
            has_parts=has_parts,
            is_sealed=delivered is not None,
            receipt=receipt,
        )
    with closing(folder.open_journal()) as journal:
        return RunState(
            closes,
            True,
            counts,
            archive=journal.meta("where") if receipt is None else receipt.archive,
            identity=journal.meta("archive") if receipt is None else receipt.identity,
            closed=closed_of(journal),
            retraction=retraction_of(journal),
            retracted=retraction_counts(journal),
            findings=tuple(journal.findings()),
            chunks=journal.chunk_counts(),
            losses=journal.losses(),
            has_parts=has_parts,
            is_part=folder.part is not None,
            has_open_shards=bool(journal.open_shards()),
            is_sealed=delivered is not None,
            loses_values=journal.meta("loses_values") == "yes",
            receipt=receipt,
        )


def closed_of(journal: Journal) -> Closed:
    """Whether closing went to its end, and all of it was taken."""
    closed = journal.meta("closed")
    return cast(Closed, closed) if closed in ("yes", "no") else ""


def plan_closes(folder: RunFolder) -> bool:
    """True if the recipe asks for closing after the last chunk."""
    with closing(folder.graph_store()) as graph:
        return graph.meta("close") == "yes"


def refuse_retracted(journal: Journal, where: str) -> None:
    """Raises `RunRetracted` for a run of which anything went out of the archive, or may be going now."""
    if retraction_of(journal):
        raise RunRetracted(where=where, count=retraction_counts(journal).get(GONE, 0))


def refuse_delivered(folder: RunFolder) -> None:
    """Raises `UsageFault` for a run that a receipt closed: it is archived beyond an air gap, and is not loaded here."""
    delivered = delivery_state(folder)
    if delivered is not None and delivered[1] is not None:
        raise UsageFault(what="delivered", where=str(folder.path), do=f"noarkit status {shlex.quote(str(folder.path))}")
