"""How the documents of a walk stand, counted by format, state and reason. The numbers add up to what was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from noarkit.copies.store import CopyStore

STATES = ("made", "kept", "held", "failed", "left", "open")


@dataclass(frozen=True, slots=True)
class FormatRow:
    """Documents of one format with one outcome. `state` is one of `STATES`; `puid` is empty where it is unknown."""

    puid: str
    state: str
    reason: str
    documents: int
    bytes: int

    def to_dict(self) -> dict[str, object]:
        """The row as plain values."""
        return asdict(self)


def format_rows(store: CopyStore, walk: int) -> list[FormatRow]:
    """Every format with its outcomes; what is planned or under way is `open`."""
    rows: dict[tuple[str, str, str], list[int]] = {}
    for puid, state, reason, documents, size in store.numbers(walk):
        known_state = state if state in STATES else "open"
        counts = rows.setdefault((puid, known_state, reason if known_state != "open" else ""), [0, 0])
        counts[0] += documents
        counts[1] += size
    return [FormatRow(*key, *counts) for key, counts in sorted(rows.items())]


def state_counts(rows: Sequence[FormatRow]) -> dict[str, int]:
    """How many documents are in each state."""
    return {state: sum(row.documents for row in rows if row.state == state) for state in STATES}
