"""Walks through the source once more, and accounts for each record of the plan.

A source that is gone as a whole (a folder that is missing, empty or not mounted, a database that was dropped) is one
answer, whenever it is noticed: what can be proven without it is, and the verification is one in part. Where the plan's
checksums were asked for in its place (`result.source` is "plan"), each record counts as the plan has it.
"""

from __future__ import annotations

from noarkit.errors import SourceGone
from noarkit.events import Event, Listener
from noarkit.graph.entity import Skipped
from noarkit.loading.verification.ledger import AMISS, Ledger
from noarkit.loading.verification.outcome import RECORDS, VerifyResult
from noarkit.records import Groundwork, Growing, Source, innermost

_TELL_EVERY = 5000

# what became of each record that was planned: its root's own outcome, or the plan's
_RECORDS = """
SELECT r.key, r.state, r.root, w.key IS NOT NULL, p.state, p.key, p.family, s.seen
FROM graph.record r LEFT JOIN walked w ON w.key = r.key
LEFT JOIN plan p ON p.n = r.root LEFT JOIN standing s ON s.n = r.root
ORDER BY r.n
"""


def walk_source(ledger: Ledger, source: Source | None, result: VerifyResult, emit: Listener) -> None:
    """Keeps the key of every record that the source has now, and counts those that are new. None is a source that is
    gone."""
    if result.source == "plan":
        return
    try:
        if source is not None:
            _keep_keys(ledger, source, emit)
    except SourceGone as gone:
        ledger.db.execute("DELETE FROM walked")
        report_gone(result, gone)
        return
    planned_and_gone = "SELECT count(*), sum(w.key IS NULL) FROM graph.record r LEFT JOIN walked w ON w.key = r.key"
    planned_count, gone_count = ledger.db.execute(planned_and_gone).fetchone()
    if planned_count and planned_count == gone_count:
        report_gone(result)
    _count_new(ledger, source, result, emit)


def _count_new(ledger: Ledger, source: Source | None, result: VerifyResult, emit: Listener) -> None:
    """Counts the records that the plan does not have: those that the next plan reads, and others."""
    new_keys = (
        str(key)
        for (key,) in ledger.db.execute(
            "SELECT w.key FROM walked w LEFT JOIN graph.record r ON r.key = w.key WHERE r.n IS NULL AND w.is_record"
        )
    )
    teller = None if source is None else innermost(source)
    if not isinstance(teller, Growing):
        result.source_new = sum(1 for _ in new_keys)
        return
    ledger.db.execute("BEGIN")
    unplanned = ((key,) for key in teller.unknown_keys(new_keys))
    ledger.db.executemany("INSERT OR IGNORE INTO unplanned VALUES (?)", unplanned)
    count = ledger.count("SELECT count(*) FROM unplanned")
    next_keys = teller.next_keys(emit) if count else None
    if next_keys is not None:
        ledger.db.executemany("INSERT OR IGNORE INTO next_plan VALUES (?)", ((key,) for key in next_keys))
        result.source_late = ledger.count("SELECT count(*) FROM unplanned WHERE key NOT IN (SELECT key FROM next_plan)")
    ledger.db.execute("COMMIT")
    result.source_new = count - result.source_late


def report_gone(result: VerifyResult, fault: SourceGone | None = None) -> None:
    """Says once that nothing can be compared with the source any more."""
    if result.source == "read":
        result.source = "gone"
        result.notice("V104", "", str(fault.data.get("why") or "") if fault else "")


def _keep_keys(ledger: Ledger, source: Source, emit: Listener) -> None:
    db, planned_count = ledger.db, ledger.count("SELECT count(*) FROM graph.record")
    db.execute("BEGIN")
    try:
        for count, item in enumerate(source.records(emit), 1):
            if isinstance(item, Groundwork):
                continue
            key = getattr(item, "key", None) or getattr(item, "record_key", "")
            db.execute("INSERT OR IGNORE INTO walked VALUES (?, ?)", (key, not isinstance(item, Skipped)))
            if count % _TELL_EVERY == 0:
                emit(Event("walked", {"records": count, "of": max(planned_count, count)}))
    finally:
        db.execute("COMMIT")


def account_for_records(ledger: Ledger, result: VerifyResult, *, by_id: bool) -> None:
    """A record is accounted for where the source still has it and the archive has what was made of it.

    `by_id` says that the archive was asked for the objects themselves, not only for the keys.
    """
    for key, state, root, was_walked, became, root_key, family, judgement in ledger.db.execute(_RECORDS):
        is_there = bool(was_walked) or result.source == "plan"
        if not is_there and "#again" not in key:
            result.source_gone += 1
            if result.source == "read":  # of a source that is gone as a whole, one notice is enough
                result.notice("V101", key)
        reason = _reason_not_accounted(state, root, became, is_there)
        if reason:
            result.leave(RECORDS, reason)
        elif root is None:
            result.agree(RECORDS)
        elif (
            (by_id and judgement is None)
            or judgement == AMISS
            or (not by_id and not _is_archived(ledger, str(family), str(root_key)))
        ):
            if root_key in result.accepted_keys:
                result.leave(RECORDS, result.accepted_keys[root_key])
            else:
                result.row(RECORDS).differ += 1
        else:
            result.agree(RECORDS)


def _reason_not_accounted(state: str, root: int | None, became: str | None, is_there: bool) -> str:
    """Why a record is not compared; empty if it is."""
    if state != "mapped":
        return "earlier_run" if state == "already_there" else state
    if root is not None and became in ("open", "set_aside", "refused"):
        return became
    return "" if is_there else "source_gone"


def _is_archived(ledger: Ledger, family: str, key: str) -> bool:
    """False if a key should be in the archive and is not; families without keys are not asked for."""
    if family not in ("AbstraktMappe", "AbstraktRegistrering"):
        return True
    return ledger.db.execute("SELECT 1 FROM answered WHERE key = ? LIMIT 1", (key,)).fetchone() is not None
