"""Walks through the source once more, and accounts for each record of the plan.

A source that is gone as a whole (a folder that is missing, empty or not mounted, a database that was dropped) is one
answer, whenever it is noticed: what can be proven without it is, and the verification is one in part. Where the plan's
checksums were asked for in its place (`result.source` is "plan"), each record counts as the plan has it.
"""

from __future__ import annotations

from collections.abc import Iterator

from noarkit.errors import SourceGone
from noarkit.events import Event, EventFields, Listener
from noarkit.graph.entity import Skipped
from noarkit.loading.verification.ledger import AMISS, Ledger
from noarkit.loading.verification.outcome import RECORDS, VerifyResult
from noarkit.loading.verification.rules import recipe_rules
from noarkit.records import Groundwork, Growing, Source, SourceRecord, innermost

EVENTS: EventFields = {"walked": {"records": "count", "of": "count?"}}
_TELL_EVERY = 5000

# what became of each record that was planned: its root's own outcome, or the plan's
_RECORDS = """
SELECT r.key, r.state, r.root, w.key IS NOT NULL, p.state, p.key, p.family, s.seen
FROM graph.record r LEFT JOIN source_key w ON w.key = r.key
LEFT JOIN plan p ON p.n = r.root LEFT JOIN planned_object s ON s.n = r.root
ORDER BY r.n
"""


# what the service left out when the plan was made may be ready by now
_NEXT = """
SELECT n.key FROM next_key n LEFT JOIN graph.record r ON r.key = n.key
WHERE (r.n IS NULL OR r.state = 'skipped') AND NOT EXISTS (SELECT 1 FROM external_id a WHERE a.key = n.key)
"""
_LATE = """
SELECT w.key FROM source_key w LEFT JOIN graph.record r ON r.key = w.key
WHERE w.is_record AND r.n IS NULL AND NOT EXISTS (SELECT 1 FROM next_key n WHERE n.key = w.key)
AND NOT EXISTS (SELECT 1 FROM external_id a WHERE a.key = w.key)
"""


def walk_source(ledger: Ledger, source: Source | None, result: VerifyResult, emit: Listener) -> bool:
    """Keeps the key of every record that the source has now. Returns whether there was one to read: None is a source
    that is gone."""
    if result.source == "plan":
        return False
    try:
        if source is not None:
            _keep_keys(ledger, source, emit)
    except SourceGone as gone:
        ledger.db.execute("DELETE FROM source_key")
        report_gone(result, gone)
        return False
    planned_and_gone = "SELECT count(*), sum(w.key IS NULL) FROM graph.record r LEFT JOIN source_key w ON w.key = r.key"
    planned_count, gone_count = ledger.db.execute(planned_and_gone).fetchone()
    if planned_count and planned_count == gone_count:
        report_gone(result)
    return source is not None


def count_new(ledger: Ledger, source: Source, result: VerifyResult, emit: Listener) -> None:
    """Counts the records that neither the plan nor the archive has: those that the next plan takes, and others that
    the source shows. To be asked once the archive has told its keys."""
    db, teller = ledger.db, innermost(source)
    next_keys = _next_keys(ledger, teller, emit) if isinstance(teller, Growing) else None
    if not isinstance(teller, Growing) or next_keys is None:
        result.source_new = ledger.count(
            "SELECT count(*) FROM source_key w WHERE w.is_record AND w.key NOT IN (SELECT key FROM graph.record)"
        )
        return
    db.execute("BEGIN")
    db.executemany("INSERT OR IGNORE INTO next_key VALUES (?)", ((key,) for key in next_keys))
    db.execute("COMMIT")
    result.source_new = _count(teller.unknown_keys(str(key) for (key,) in db.execute(_NEXT)))
    result.source_late = _count(teller.unknown_keys(str(key) for (key,) in db.execute(_LATE)))


def _next_keys(ledger: Ledger, teller: Growing, emit: Listener) -> Iterator[str] | None:
    """The keys of what the next plan takes; where rules of the recipe leave records out, these are read whole."""
    leaves_out = recipe_rules(ledger)
    if leaves_out is None:
        return teller.next_keys(emit)
    records = teller.next_records(emit)
    return None if records is None else (record.key for record in records if not leaves_out(record))


def _count(keys: Iterator[str]) -> int:
    return sum(1 for _ in keys)


def report_gone(result: VerifyResult, fault: SourceGone | None = None) -> None:
    """Says once that nothing can be compared with the source any more."""
    if result.source == "read":
        result.source = "gone"
        result.notice("V104", "", str(fault.data.get("why") or "") if fault else "")


def _keep_keys(ledger: Ledger, source: Source, emit: Listener) -> None:
    db, planned_count = ledger.db, ledger.count("SELECT count(*) FROM graph.record")
    leaves_out = recipe_rules(ledger)
    emit(Event("walked", {"records": 0, "of": planned_count}))
    db.execute("BEGIN")
    try:
        count = 0
        items = (item for item in source.records(emit) if not isinstance(item, Groundwork))
        for count, item in enumerate(items, 1):
            key = getattr(item, "key", None) or getattr(item, "record_key", "")
            is_out = isinstance(item, Skipped) or (
                leaves_out is not None and isinstance(item, SourceRecord) and leaves_out(item)
            )
            db.execute("INSERT OR IGNORE INTO source_key VALUES (?, ?)", (key, not is_out))
            if count % _TELL_EVERY == 0:
                emit(Event("walked", {"records": count, "of": planned_count if count <= planned_count else None}))
        emit(Event("walked", {"records": count, "of": planned_count if count <= planned_count else None}))
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
    return ledger.db.execute("SELECT 1 FROM external_id WHERE key = ? LIMIT 1", (key,)).fetchone() is not None
