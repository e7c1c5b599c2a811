"""How the documents of a walk stand, counted by format, state and reason. The numbers add up to what was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from noarkit.copies.conversion import KEEP
from noarkit.copies.reasons import Reason
from noarkit.copies.store import CopyStore
from noarkit.model.conversions import Purpose
from noarkit.results import JsonObject

_WITH_REASON = frozenset({"kept", "held", "failed", "left"})
PLANS = ("convert", "keep")
STATES = ("made", "kept", "held", "failed", "left", "open")
NOT_TAKEN = frozenset({"held", "failed", "left", "open"})
"""The states of documents that have no accepted format. A signed document is kept, and has none either."""


@dataclass(frozen=True, slots=True)
class FormatRow(JsonObject):
    """Documents of one format with one outcome. `state` is one of `STATES`; `puid` is empty where it is unknown."""

    puid: str
    state: str
    reason: str
    documents: int
    bytes: int
    plan: str = ""
    """What is planned for a document that is open: `keep` (after a check), or `convert`; empty where nothing is."""


def format_rows(store: CopyStore, walk: int, purpose: Purpose = "archive") -> list[FormatRow]:
    """Every format with its outcomes for a purpose; what is planned or under way is `open`."""
    rows: dict[tuple[str, str, str, str], list[int]] = {}
    for puid, state, reason, converter, documents, size in store.numbers(walk, purpose):
        is_open = state not in STATES
        plan = ("keep" if converter == KEEP else "convert") if is_open and converter else ""
        why = reason if state in _WITH_REASON else ""  # one that a person accepted keeps the reason it waited for
        counts = rows.setdefault((puid, "open" if is_open else state, why, plan), [0, 0])
        counts[0] += documents
        counts[1] += size
    return [FormatRow(*key[:3], counts[0], counts[1], key[3]) for key, counts in sorted(rows.items())]


def plan_counts(rows: Sequence[FormatRow]) -> dict[str, int]:
    """Of the documents that are open, how many are planned to be converted, and to be kept after a check."""
    return {plan: sum(row.documents for row in rows if row.plan == plan) for plan in PLANS}


def signed_count(rows: Sequence[FormatRow]) -> int:
    """How many documents are kept for their signature, in a format that is not accepted. They are among the kept."""
    return sum(row.documents for row in rows if (row.state, row.reason) == ("kept", Reason.SIGNED))


def not_taken_count(rows: Sequence[FormatRow]) -> int:
    """How many documents no depot takes as they are: without a copy that is used, and not kept for their format.

    A plan with these copies counts the same as held and without, and an extract lists them.
    """
    return sum(row.documents for row in rows if row.state in NOT_TAKEN) + signed_count(rows)


def access_counts(rows: Sequence[FormatRow]) -> dict[str, int]:
    """How the documents stand that there should be access copies of: the states in which there are any."""
    return {state: count for state, count in state_counts(rows).items() if count}


def state_counts(rows: Sequence[FormatRow]) -> dict[str, int]:
    """How many documents are in each state."""
    return {state: sum(row.documents for row in rows if row.state == state) for state in STATES}
