"""The retraction in run.db: what is about to go, what went, and what stayed.

An object that went has no row among the entities any more: its record is open again, as before it was loaded. Its row
here says what went, under which id, and when.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

import orjson

from noarkit.loading.journal import Journal

Retraction = Literal["", "retracting", "retracted", "retracted_in_part"]
RETRACTING: Final = "retracting"
RETRACTED: Final = "retracted"
IN_PART: Final = "retracted_in_part"
INTENT, GONE, ABSENT, KEPT = "intent", "gone", "absent", "kept"


@dataclass(frozen=True, slots=True)
class RetractedObject:
    """An object that the run made, and what the retraction came to: `gone`, `absent` (another had removed it), `kept`
    with a reason and a detail."""

    n: int
    key: str
    type: str
    id: str
    state: str
    reason: str = ""
    detail: str = ""


class RetractionRecord:
    """The retraction in an open journal. Every change is durable when the method returns.

    An intent bears the `account` that saw the object just before. What another account is not shown says nothing of it.
    """

    def __init__(self, journal: Journal, account: str) -> None:
        self._journal = journal
        self._account = account

    def begin(self, at: float) -> None:
        """From now on the run is loaded no more."""
        if self._journal.meta("retraction") != RETRACTING:
            self._journal.remember(retraction=RETRACTING, retracted_at=str(at))

    def intend(self, objects: Iterable[RetractedObject], at: float) -> None:
        """These are about to be deleted."""
        with self._journal.change() as db:
            db.executemany(_ROW, [_row(replace(entry, detail=self._account), INTENT, at) for entry in objects])

    def settle(self, objects: Iterable[RetractedObject], at: float) -> None:
        """These are not in the archive any more; what the journal knew of them is known here alone."""
        with self._journal.change() as db:
            for entry in objects:
                db.execute(_ROW, _row(entry, entry.state, at))
                db.execute("DELETE FROM entity WHERE n = ?", (entry.n,))
                db.execute("DELETE FROM closed_entity WHERE n = ?", (entry.n,))
                db.execute(
                    "UPDATE finding SET state = 'retracted'"
                    " WHERE state IN ('open', 'asked') AND (entity = ? OR key = ?)",
                    (entry.n, f"{entry.type} {entry.id}"),
                )

    def end(self, kept_objects: Iterable[RetractedObject], at: float) -> None:
        """Says what stayed, in place of what an earlier call said. Where nothing ever went, the run is as it was."""
        with self._journal.change() as db:
            db.execute("DELETE FROM retraction WHERE state IN ('kept', 'intent')")
            if db.execute("SELECT 1 FROM retraction LIMIT 1").fetchone() is None:
                db.execute("DELETE FROM meta WHERE name IN ('retraction', 'retracted_at')")
                return
            db.executemany(_ROW, (_row(entry, KEPT, at) for entry in kept_objects))
            is_whole = db.execute("SELECT 1 FROM retraction WHERE state = 'kept' LIMIT 1").fetchone() is None
            facts = {"retraction": RETRACTED if is_whole else IN_PART, "retracted_at": str(at)}
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", facts.items())

    def withdraw(self) -> None:
        """The archive said no to what was about to be deleted: where nothing ever went, the run is as it was."""
        with self._journal.change() as db:
            if db.execute(_WENT).fetchone() is None:
                db.execute("DELETE FROM retraction")
                db.execute("DELETE FROM meta WHERE name IN ('retraction', 'retracted_at')")

    def intended(self, numbers: Iterable[int]) -> frozenset[int]:
        """Which of these were about to be deleted by an earlier call of this account, or by this one."""
        wanted_numbers = orjson.dumps(list(numbers)).decode()
        statement = (
            "SELECT n FROM retraction WHERE state = 'intent' AND detail = ? AND n IN (SELECT value FROM json_each(?))"
        )
        return frozenset(n for (n,) in self._journal.rows(statement, (self._account, wanted_numbers)))

    def has_intents(self) -> bool:
        """True if an earlier call ended between an intent and its outcome."""
        return bool(self._journal.rows("SELECT 1 FROM retraction WHERE state = 'intent' LIMIT 1", ()))


def retraction_of(journal: Journal) -> Retraction:
    """What a retraction came to. It counts from the first object that was deleted, or may be being deleted now; before
    that the run is as it was."""
    remembered = journal.meta("retraction")
    if remembered in (RETRACTED, IN_PART):
        return RETRACTED if remembered == RETRACTED else IN_PART
    counts = retraction_counts(journal) if remembered else {}
    return RETRACTING if any(counts.get(state) for state in (INTENT, GONE, ABSENT)) else ""


def retraction_counts(journal: Journal) -> Mapping[str, int]:
    """How many objects went, were absent, or stayed."""
    return dict(journal.rows("SELECT state, count(*) FROM retraction GROUP BY state", ()))


def retracted_objects(journal: Journal) -> Iterator[RetractedObject]:
    """Every object of a retraction, in the order of the plan; without its key, which the plan knows."""
    for row in journal.rows("SELECT n, type, id, state, reason, detail FROM retraction ORDER BY n", ()):
        n, kind, archive_id, state, reason, detail = row
        yield RetractedObject(n, "", kind, archive_id, state, reason, detail)


_WENT = "SELECT 1 FROM retraction WHERE state IN ('gone', 'absent') LIMIT 1"
_ROW = "INSERT OR REPLACE INTO retraction VALUES (?, ?, ?, ?, ?, ?, ?)"


def _row(entry: RetractedObject, state: str, at: float) -> tuple[object, ...]:
    return (entry.n, entry.type, entry.id, state, entry.reason, entry.detail, at)
