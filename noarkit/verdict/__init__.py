"""Whether a delivery is ready for deposit: facts in, a verdict with its reasons out. It reads nothing.

reasons          what can keep a delivery back: whose task each is, and whether it can be agreed upon
verdict          the verdict, its reasons, and what a person accepted of them
decide           the one function that decides

    decide(facts).state        # "ready", "ready-with-remarks" or "not-ready"

Every command, page, exit code and line of JSON that says whether a package is ready asks `decide`, and shows what it
says.
"""

from __future__ import annotations

from noarkit.verdict.decide import (
    EMPTY,
    PERIOD_DERIVED,
    Breach,
    Facts,
    Load,
    LoadProof,
    decide,
    names_nobody,
)
from noarkit.verdict.reasons import REASONS, Deposit, Grade, Origin, Owner, ReasonKind
from noarkit.verdict.verdict import NOT_READY_EXIT, Acceptance, Reason, Verdict, VerdictState

__all__ = [
    "EMPTY",
    "NOT_READY_EXIT",
    "PERIOD_DERIVED",
    "REASONS",
    "Acceptance",
    "Breach",
    "Deposit",
    "Facts",
    "Grade",
    "Load",
    "LoadProof",
    "Origin",
    "Owner",
    "Reason",
    "ReasonKind",
    "Verdict",
    "VerdictState",
    "decide",
    "names_nobody",
]
