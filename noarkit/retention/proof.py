"""Whether the local data of a run may go: only when the run is verified or delivered, and was not worked on since.

A run of which anything was taken out of the archive again, or is about to be, is not proven.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from noarkit.airgap.delivery import Receipt, delivery_state, open_deliveries
from noarkit.errors import RunNotProven
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import numbers
from noarkit.safe.digest import sha256_of

_DEEP = ("fields", "bytes")
"""A certificate that only counted, or compared ids, proves too little for the last evidence to go."""


@dataclass(frozen=True, slots=True)
class Proof:
    """By what a run is proven: a certificate of ours, or the receipt of the other side of an air gap."""

    kind: Literal["verified", "delivered"]
    at: str
    plan_sha256: str
    archive: str
    identity: str
    document: str
    """The certificate, or the id of the receipt."""
    sha256: str
    """Of the certificate, or of the page about the receipt."""
    verdict: str
    depth: str
    numbers: Mapping[str, int]

    @property
    def at_s(self) -> float:
        """When it was proven, in seconds since 1970."""
        at = datetime.fromisoformat(self.at)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()

    def as_data(self) -> dict[str, object]:
        """Plain values."""
        return asdict(self)


def prove(run: RunFolder) -> Proof:
    """The proof of a run. Raises `RunNotProven` where there is none, and what reading the run raises."""
    plan_sha256 = str(run.plan()["sha256"])
    beyond = None if run.journal.exists() else delivery_state(run)
    if beyond is not None:
        return _prove_delivered(run, plan_sha256, beyond[1])
    if not run.journal.exists():
        raise RunNotProven(where=str(run.path), why="not-loaded")
    with closing(run.open_journal()) as journal:
        # Whole, in part or only begun: the journal alone knows what went out of the archive, and what is about to.
        if journal.meta("retraction") is not None:
            raise RunNotProven(where=str(run.path), why="retracted")
        worked_s = journal.last_note_at("ingest_")
        identity = journal.meta("archive") or ""
        counts = numbers(run)
    if counts.open or counts.in_doubt or not counts.add_up:
        raise RunNotProven(where=str(run.path), why="records-open")
    path, facts = _newest_certificate(run, plan_sha256)
    proof = Proof(
        *("verified", str(facts["ended"]), plan_sha256, str(facts.get("archive") or ""), identity, path.name),
        *(sha256_of(path), str(facts["verdict"]), str(facts.get("depth") or ""), counts.as_data()),
    )
    # moments in a certificate are whole seconds
    if worked_s is not None and int(float(worked_s)) > proof.at_s:
        raise RunNotProven(where=str(run.path), why="loaded-since")
    return proof


def _prove_delivered(run: RunFolder, plan_sha256: str, receipt: Receipt | None) -> Proof:
    """The proof of a run whose receipt closed the case, unless something that was sealed or read since is open."""
    if receipt is None:
        raise RunNotProven(where=str(run.path), why="not-delivered")
    sha256 = ""
    for place, (path, facts) in enumerate(_certificates(run, plan_sha256, "delivered")):
        if not place and facts.get("good") is not True:
            raise RunNotProven(where=str(run.path), why="receipt-differs")
        if not sha256 and facts.get("good") is True and facts.get("receipt") == receipt.id:
            sha256 = sha256_of(path)
    with closing(open_deliveries(run)) as deliveries:
        if deliveries.is_under_way():
            raise RunNotProven(where=str(run.path), why="sealed-since")
    return Proof(
        *("delivered", receipt.at, plan_sha256, receipt.archive, receipt.identity, receipt.id, sha256, "delivered", ""),
        receipt.numbers.as_data(),
    )


def _certificates(run: RunFolder, plan_sha256: str, kind: str) -> Iterator[tuple[Path, Mapping[str, object]]]:
    """The certificates of this plan, the newest first; one that cannot be read proves nothing."""
    for path in sorted(run.path.glob(f"{kind}-*.json"), reverse=True):
        try:
            facts = json.loads(path.read_text("utf-8"))
            if facts["plan_sha256"] == plan_sha256 and facts["ended"]:
                yield path, facts
        except (OSError, ValueError, KeyError, TypeError):
            continue


def _newest_certificate(run: RunFolder, plan_sha256: str) -> tuple[Path, Mapping[str, object]]:
    """The newest certificate of this plan, where it says something good."""
    for path, facts in _certificates(run, plan_sha256, "verify"):
        if facts.get("good") is True and facts.get("depth") in _DEEP and facts.get("sample") in (None, 1, 1.0):
            return path, facts
        break
    raise RunNotProven(where=str(run.path), why="not-verified")
