"""Whether the local data of a run may go: only when the run is verified or delivered, and was not worked on since.

A run of which anything was taken out of the archive again, or is about to be, is not proven.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from noarkit.errors import RunNotProven
from noarkit.loading.delivery import Receipt, open_deliveries
from noarkit.loading.folder import RunFolder
from noarkit.loading.load_proof import moment_s, was_loaded_since
from noarkit.loading.state import read_state
from noarkit.results import JsonObject
from noarkit.safe.digest import sha256_of

_DEEP = ("fields", "bytes")
"""A certificate that only counted, or compared ids, proves too little for the last evidence to go."""


@dataclass(frozen=True, slots=True)
class Proof(JsonObject):
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
        return moment_s(self.at)


def prove(run: RunFolder) -> Proof:
    """The proof of a run. Raises `RunNotProven` where there is none, and what reading the run raises."""
    plan_sha256 = str(run.plan()["sha256"])
    state = read_state(run)
    if state.receipt is not None or (state.is_sealed and not state.begun):
        return _prove_delivered(run, plan_sha256, state.receipt)
    if not state.begun:
        raise RunNotProven(where=str(run.path), why="not-loaded")
    if state.retraction:  # whole, in part or only begun
        raise RunNotProven(where=str(run.path), why="retracted")
    if not state.is_loaded or not state.numbers.add_up:
        raise RunNotProven(where=str(run.path), why="records-open")
    if state.differences:
        raise RunNotProven(where=str(run.path), why="not-verified")
    path, facts = _newest_certificate(run, plan_sha256)
    proof = Proof(
        *("verified", str(facts["ended"]), plan_sha256, str(facts.get("archive") or ""), state.identity or ""),
        *(path.name, sha256_of(path), str(facts["verdict"]), str(facts.get("depth") or "")),
        numbers=state.numbers.as_data(),
    )
    if was_loaded_since(run, proof.at):
        raise RunNotProven(where=str(run.path), why="loaded-since")
    return proof


def _prove_delivered(run: RunFolder, plan_sha256: str, receipt: Receipt | None) -> Proof:
    """The proof of a run whose receipt closed the case, unless something that was sealed or read since is open."""
    if receipt is None:
        raise RunNotProven(where=str(run.path), why="not-delivered")
    sha256 = ""
    for place, (path, facts) in enumerate(run.certificates(plan_sha256, "delivered")):
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


def _newest_certificate(run: RunFolder, plan_sha256: str) -> tuple[Path, Mapping[str, object]]:
    """The newest certificate of this plan, where it says something good."""
    for path, facts in run.certificates(plan_sha256):
        if facts.get("good") is True and facts.get("depth") in _DEEP and facts.get("sample") in (None, 1, 1.0):
            return path, facts
        break
    raise RunNotProven(where=str(run.path), why="not-verified")
