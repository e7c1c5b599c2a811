"""The custody chain of files: which steps there is evidence for, of when, with which checksum, and by whom.

A step that nobody has evidence for is not shown. A run proves its steps by its plan, its journal and its certificates.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from noarkit.catalogue.conversion_steps import steps_of_details
from noarkit.catalogue.port import CustodyStep
from noarkit.loading.folder import RunFolder
from noarkit.safe.clocks import iso_seconds

Position = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class FileEvidence:
    """What plan and journal say of one file: the plan's checksum and format, the state of its version in the journal,
    the checksum of the bytes that were sent, and when; `details` tells how it was made, where it is a copy."""

    planned_sha256: str = ""
    is_identified: bool = False
    state: str = ""
    sent_sha256: str = ""
    archive_sha256: str = ""
    sent_at: float | None = None
    details: str = ""


class RunCustody:
    """The steps of the files of one run."""

    def __init__(self, folder: RunFolder, db: sqlite3.Connection) -> None:
        plan = folder.plan()
        frozen = plan.get("frozen_at")
        self._planned_at = iso_seconds(frozen) if isinstance(frozen, int | float) else ""
        self._begun = list(_ingests(db))
        self._verified = next(_whole_certificates(folder, str(plan["sha256"])), None)

    def steps(self, file: FileEvidence) -> tuple[CustodyStep, ...]:
        """The steps that one file has gone through, in order."""
        steps = [*steps_of_details(file.details), CustodyStep("read", self._planned_at)]
        if file.planned_sha256:
            steps.append(CustodyStep("hashed", self._planned_at, file.planned_sha256))
        if file.is_identified:
            steps.append(CustodyStep("identified", self._planned_at))
        if file.state == "done" and file.sent_sha256:
            at, agent = "" if file.sent_at is None else iso_seconds(file.sent_at), self._agent(file.sent_at)
            steps.append(CustodyStep("uploaded", at, file.sent_sha256, agent))
            steps.append(CustodyStep("linked", at, file.archive_sha256 or file.sent_sha256, agent))
        if self._verified is not None and self._was_there(file, self._verified):
            verified = self._verified
            steps.append(CustodyStep("verified", iso_seconds(verified.ended), file.sent_sha256, verified.account))
        return tuple(steps)

    def _agent(self, at: float | None) -> str:
        if at is None or not self._begun:
            return self._begun[0][1] if len(self._begun) == 1 else ""
        return self._begun[max(0, bisect_right(self._begun, at, key=lambda begun: begun[0]) - 1)][1]

    def _was_there(self, file: FileEvidence, certificate: _Certificate) -> bool:
        """True if the file was in the archive when the certificate's comparison began."""
        if file.state not in ("done", "already_there") or (file.archive_sha256 not in ("", file.sent_sha256)):
            return False
        known_at = file.sent_at if file.sent_at is not None else max((at for at, _ in self._begun), default=0.0)
        return known_at <= certificate.began


@dataclass(frozen=True, slots=True)
class _Certificate:
    began: float
    ended: float
    account: str


class SendingTimes:
    """When the chunks of a run were sent, and which are in doubt. Positions must be asked for in ascending order."""

    def __init__(self, db: sqlite3.Connection) -> None:
        ahead = db.execute("SELECT value FROM run.meta WHERE name = 'archive_ahead_s'").fetchone()
        self._rows = _chunks(db, float(ahead[0]) if ahead and ahead[0] else None)
        self._row = next(self._rows, None)

    def at(self, position: Position) -> tuple[float | None, str]:
        """When the chunk that holds this position was sent (None: not known), and the state of the chunk."""
        while self._row is not None and self._row[1] < position:
            self._row = next(self._rows, None)
        if self._row is None or self._row[0] > position:
            return None, ""
        return self._row[2], self._row[3]


def _chunks(db: sqlite3.Connection, ahead_s: float | None) -> Iterator[tuple[Position, Position, float | None, str]]:
    rows = db.execute(
        "SELECT key, state, sent_at, first_unit, first_bundle, first_n, last_unit, last_bundle, last_n FROM run.chunk"
        " WHERE first_unit IS NOT NULL ORDER BY first_unit, first_bundle, first_n"
    )
    for key, state, sent_at, *ends in rows:
        # a chunk that was opened again holds what was sent before: for that its time is not the right one
        is_known = sent_at is not None and ahead_s is not None and not str(key).endswith("~")
        when = float(sent_at) + (ahead_s or 0.0) if is_known else None
        yield (ends[0], ends[1], ends[2]), (ends[3], ends[4], ends[5]), when, str(state)


def _ingests(db: sqlite3.Connection) -> Iterator[tuple[float, str]]:
    """When each load of the run began, and who loaded."""
    for at, data in db.execute("SELECT at, data FROM run.event WHERE name = 'ingest_began' ORDER BY at"):
        facts = json.loads(data)
        agent = "@".join(str(facts[name]) for name in ("user", "machine") if facts.get(name))
        yield float(at), agent or str(facts.get("account") or "")


def _whole_certificates(folder: RunFolder, plan_sha256: str) -> Iterator[_Certificate]:
    """The certificates of this plan, the newest first, that compared every file byte for byte and found all alike."""
    for _, facts in folder.certificates(plan_sha256):
        with suppress(ValueError, KeyError, TypeError):  # one that cannot be understood proves nothing
            files = {row["name"]: row for row in cast("list[dict[str, object]]", facts["rows"])}["files"]
            is_whole = files.get("all") == files.get("compared") == files.get("agree") and not files.get("differ")
            if facts["depth"] == "bytes" and is_whole:
                began, ended = (datetime.fromisoformat(str(facts[name])).timestamp() for name in ("began", "ended"))
                yield _Certificate(began + 1, ended, str(facts.get("account") or ""))  # told in whole seconds
