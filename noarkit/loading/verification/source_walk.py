"""Reads the source again and accounts for every record of the plan."""

from __future__ import annotations

from noarkit.events import Event, Listener
from noarkit.loading.verification.ledger import AMISS, Ledger
from noarkit.loading.verification.outcome import RECORDS, VerifyResult
from noarkit.records import Groundwork, Source

_TELL_EVERY = 5000

# what became of each record that was planned: its root's own outcome, or the plan's
_RECORDS = """
SELECT r.key, r.state, r.root, w.key IS NOT NULL, p.state, p.key, p.family, s.seen
FROM graph.record r LEFT JOIN walked w ON w.key = r.key
LEFT JOIN plan p ON p.n = r.root LEFT JOIN standing s ON s.n = r.root
ORDER BY r.n
"""


def walk_source(ledger: Ledger, source: Source, result: VerifyResult, emit: Listener) -> None:
    """Keeps the key of every record that the source has now, and counts those that are new."""
    db = ledger.db
    db.execute("BEGIN")
    for count, item in enumerate(source.records(emit), 1):
        if isinstance(item, Groundwork):
            continue
        key = getattr(item, "key", None) or getattr(item, "record_key", "")
        db.execute("INSERT OR IGNORE INTO walked VALUES (?)", (key,))
        if count % _TELL_EVERY == 0:
            emit(Event("walked", {"records": count}))
    db.execute("COMMIT")
    result.source_new = ledger.count(
        "SELECT count(*) FROM walked w LEFT JOIN graph.record r ON r.key = w.key WHERE r.n IS NULL"
    )


def account_for_records(ledger: Ledger, result: VerifyResult, *, by_id: bool) -> None:
    """A record is accounted for where the source still has it and the archive has what was made of it.

    `by_id` says that the archive was asked for the objects themselves, not only for the keys.
    """
    for key, state, root, was_walked, became, root_key, family, judgement in ledger.db.execute(_RECORDS):
        if not was_walked and "#again" not in key:
            result.source_gone += 1
            result.notice("V101", key)
        reason = _reason_not_accounted(state, root, became, bool(was_walked))
        if reason:
            result.leave(RECORDS, reason)
        elif root is None:
            result.agree(RECORDS)
        elif (
            (by_id and judgement is None)
            or judgement == AMISS
            or (not by_id and not _is_archived(ledger, str(family), str(root_key)))
        ):
            result.row(RECORDS).differ += 1
        else:
            result.agree(RECORDS)


def _reason_not_accounted(state: str, root: int | None, became: str | None, was_walked: bool) -> str:
    """Why a record is not compared; empty where it is."""
    if state != "mapped":
        return "earlier_run" if state == "already_there" else state
    if root is not None and became in ("open", "set_aside", "refused"):
        return became
    return "" if was_walked else "source_gone"


def _is_archived(ledger: Ledger, family: str, key: str) -> bool:
    """False where a key should be in the archive and is not; families without keys are not asked for."""
    if family not in ("AbstraktMappe", "AbstraktRegistrering"):
        return True
    return ledger.db.execute("SELECT 1 FROM answered WHERE key = ? LIMIT 1", (key,)).fetchone() is not None
