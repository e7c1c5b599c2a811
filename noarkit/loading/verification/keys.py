"""Reads every external id of the run's system from the archive and compares them with the keys of the plan."""

from __future__ import annotations

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Query
from noarkit.events import Event, EventFields, Listener
from noarkit.loading.verification.ledger import Ledger
from noarkit.loading.verification.outcome import KEYS, SUMS, VerifyResult

EVENTS: EventFields = {"asked": {"keys": "count"}}
OWNERS = ("refRegistrering", "refMappe", "refDokument", "refDokumentversjon")
_TELL_EVERY = 5000
_SOURCE_FAULT = "F2"


def collect_keys(ledger: Ledger, archive: Archive, emit: Listener) -> None:
    """Keeps every external id of the system, with the object that bears it."""
    db = ledger.db
    db.execute("BEGIN")
    query = Query("EksternId", "eksterntSystem = @s", {"@s": ledger.system}, order=(("id", "asc"),))
    for count, external_id in enumerate(objects(archive, query), 1):
        owner = next((external_id.links[link] for link in OWNERS if link in external_id.links), "")
        db.execute(
            "INSERT INTO external_id VALUES (?, ?, ?)",
            (str(external_id.fields.get("eksternID")), external_id.id, owner),
        )
        if count % _TELL_EVERY == 0:
            emit(Event("asked", {"keys": count}))
    db.execute("COMMIT")
    db.execute("CREATE INDEX external_id_key ON external_id (key)")
    db.execute("CREATE INDEX external_id_owner ON external_id (owner)")


def compare_keys(ledger: Ledger, result: VerifyResult, *, by_id: bool) -> None:
    """Each key once, on the object that the journal knows. What was set aside or refused must not be there.

    A key of what the plan passed over as loaded by an earlier run must be there too.
    """
    rows = ledger.db.execute(
        "SELECT p.key, p.state, p.id, (SELECT count(*) FROM external_id a WHERE a.key = p.key),"
        " EXISTS (SELECT 1 FROM external_id a WHERE a.key = p.key AND a.owner != p.id),"
        " (SELECT l.code FROM run.left_out l WHERE l.bundle = p.bundle) FROM plan p"
        " WHERE p.family IN ('AbstraktMappe', 'AbstraktRegistrering')"
    )
    for key, state, archive_id, times, elsewhere, code in rows:
        if state not in ("done", "already_there"):
            _check_not_loaded(result, str(key), str(state), times, str(code or ""))
        elif times == 0:
            result.differ(KEYS, "V201", key)
        elif times > 1:
            result.differ(KEYS, "V202", key)
        elif by_id and elsewhere:
            result.differ(KEYS, "V203", key, archive_id)
        else:
            result.agree(KEYS)
        if times > 1 and by_id and elsewhere and state in ("done", "already_there"):
            result.differ(KEYS, "V203", key, archive_id)
            result.row(KEYS).differ -= 1  # one key, two things wrong with it
    # a source may name its records otherwise than their keys in the archive: then nothing can be said of them here
    not_loaded = ledger.db.execute(
        "SELECT r.key, EXISTS (SELECT 1 FROM external_id a WHERE a.key = r.key) FROM graph.record r"
        " WHERE r.state = 'already_there'"
    )
    for _, count in not_loaded:
        if count:
            result.agree(KEYS)
        else:
            result.leave(KEYS, "earlier_run")


def compare_outcomes(ledger: Ledger, result: VerifyResult) -> None:
    """What the journal counts as left out must lack something; where all of it stands, the journal contradicts
    itself."""
    rows = ledger.db.execute(
        "SELECT r.key, l.code FROM run.left_out l JOIN plan p ON p.bundle = l.bundle AND p.bundle != 0"
        " JOIN graph.record r ON r.n = p.record GROUP BY l.bundle"
        " HAVING min(p.state IN ('done', 'already_there')) ORDER BY r.n"
    ).fetchall()
    for key, code in rows:
        result.differ(SUMS, "V208", str(key), str(code))


def _check_not_loaded(result: VerifyResult, key: str, state: str, times: int, code: str) -> None:
    """Reports a record that the journal counts as left out but that is in the archive; counts any other as left out."""
    if times and state in ("refused", "set_aside") and not code.startswith(_SOURCE_FAULT):
        result.differ(KEYS, "V208", key, code)
        return
    if times and state == "set_aside":
        result.notice("V209", key, code)
    result.leave(KEYS, "open" if state == "unnamed" else state)
