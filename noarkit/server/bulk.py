"""Bulk close, open and delete: queued at once, done later in order, and resumed after a restart.

Unknown types, absent objects, missing rights and stale versions are refused at once. Everything else waits in the table
`bulk_job` until a worker does it, for the account that asked and with the rights that the account has by then. The
outcome of a job stays in its row, and goes to the service's log.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from typing import Literal

from noarkit.model import metamodel
from noarkit.server.calling import Call, Route
from noarkit.server.schema import table_name
from noarkit.server.service import Service
from noarkit.server.transaction import trees
from noarkit.server.transaction.log import Actor
from noarkit.server.wire import Answer, Refusal, Rights

LOGGER = logging.getLogger("noarkit.server")

Kind = Literal["close", "open", "delete"]

_FINISHABLE: Mapping[str, str] = {
    "Arkiv": "Arkiv",
    "Arkivdel": "Arkivdel",
    "AbstraktMappe": "AbstraktMappe",
    "AbstraktRegistrering": "AbstraktRegistrering",
    "DokumentBeskrivelse": "Dokument",
    "Dokument": "Dokument",
    "Klassifikasjonssystem": "Klassifikasjonssystem",
    "Klasse": "Klasse",
}
_DELETABLE: Mapping[str, str] = {
    name: name
    for name in (
        "Arkiv",
        "Arkivdel",
        "AbstraktMappe",
        "Mappe",
        "Saksmappe",
        "Moetemappe",
        "AbstraktRegistrering",
        "Journalpost",
        "Basisregistrering",
        "Arkivnotat",
        "Moeteregistrering",
    )
}
_PERMISSION: Mapping[Kind, str] = {"close": "Update", "open": "Update", "delete": "Delete"}
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class BulkRequest:
    """A bulk request. `version` is the newest version that the caller knows, None if the request names none."""

    kind: Kind
    type: str
    object_id: int
    version: int | None
    with_precedents: bool


@dataclass(frozen=True, slots=True)
class Job:
    """A bulk request in the queue."""

    number: int
    account: str
    attempts: int
    request: BulkRequest


def statements() -> Iterator[str]:
    """The table of the queue; finished jobs stay in it for the record."""
    yield (
        "CREATE TABLE bulk_job (number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, type TEXT NOT NULL,"
        " object_id INTEGER NOT NULL, account TEXT NOT NULL, version INTEGER, with_precedents INTEGER NOT NULL,"
        " attempts INTEGER NOT NULL, asked_ms INTEGER NOT NULL, ended_ms INTEGER, outcome TEXT)"
    )
    yield "CREATE INDEX bulk_job_waiting ON bulk_job (number) WHERE outcome IS NULL"


def routes() -> list[Route]:
    """The calls of this area."""
    return [
        Route("POST", "bulk/close", lambda call: _accept(call, "close"), has_body=True),
        Route("POST", "bulk/open", lambda call: _accept(call, "open"), has_body=True),
        Route("POST", "bulk/delete", lambda call: _accept(call, "delete"), has_body=True),
    ]


def run_next(service: Service) -> bool:
    """Runs the oldest waiting job; False if there is none, or where it must be tried again later."""
    job = _next_job(service)
    if job is None:
        return False
    outcome = "done"
    try:
        if not _run_job(service, job):
            return False
    except Refusal as refusal:
        if refusal.status == 503:
            return False
        outcome = f"{refusal.status}: {refusal.description}"
    except sqlite3.Error as fault:
        if job.attempts + 1 < _ATTEMPTS:
            _count_attempt(service, job)
            return True
        outcome = type(fault).__name__
    except Exception as fault:  # noqa: BLE001  # a job that cannot be done must not stop those behind it
        outcome = type(fault).__name__
    _record_outcome(service, job, outcome)
    LOGGER.info("bulk %s %d: %s", job.request.kind, job.number, outcome.partition(":")[0])
    return True


def _accept(call: Call, kind: Kind) -> Answer:
    request = _read_request(call.body, kind)
    service = call.service
    with service.db.transaction() as db:
        _check(call, db, request)
        db.execute(
            "INSERT INTO bulk_job (kind, type, object_id, version, with_precedents, account, attempts, asked_ms)"
            " VALUES (?, ?, ?, ?, ?, ?, 0, ?)",
            (*astuple(request), call.caller.account, service.now_ms()),
        )
    service.wake_bulk()
    return Answer(202)


def _read_request(body: object, kind: Kind) -> BulkRequest:
    members = body if isinstance(body, dict) else {}
    allowed_types = _DELETABLE if kind == "delete" else _FINISHABLE
    type_name, version = members.get("type"), members.get("version")
    if not isinstance(type_name, str) or type_name not in allowed_types:
        raise Refusal(400, f"type must be one of {', '.join(allowed_types)}")
    if kind != "delete":
        return BulkRequest(
            kind, allowed_types[type_name], _number(members.get("id"), "id"), None, with_precedents=False
        )
    with_precedents = members.get("deleteObjectsLinkedToPrecedents", False)
    if with_precedents not in (True, False, "true", "false", None):
        raise Refusal(400, "deleteObjectsLinkedToPrecedents must be true or false")
    newest = None if version is None else _number(version, "version")
    return BulkRequest(
        kind, allowed_types[type_name], _number(members.get("id"), "id"), newest, with_precedents in (True, "true")
    )


def _number(value: object, member: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63:
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    raise Refusal(400, f"{member} must be a number in digits")


def _check(call: Call, db: sqlite3.Connection, request: BulkRequest) -> None:
    model, rights = metamodel(), call.caller.rights
    family = model.family(request.type)
    table = table_name(family)
    row = db.execute(f"SELECT type, version FROM {table} WHERE id = ?", (request.object_id,)).fetchone()  # noqa: S608  # a name of the model
    if row is None or not model.is_a(row[0], request.type) or not rights.may_read(db, family, request.object_id):
        raise Refusal(404, f"there is no {request.type} {request.object_id}")
    _check_rights(db, rights, request)
    if request.version is not None and call.service.settings.honours_versions and request.version < row[1]:
        raise Refusal(409, f"version: {request.type} {request.object_id} has version {row[1]}")


def _check_rights(db: sqlite3.Connection, rights: Rights, request: BulkRequest) -> None:
    permission = _PERMISSION[request.kind]
    if not rights.may_change(db, permission, metamodel().family(request.type), request.object_id):
        raise Refusal(403, f"the permission {permission} is missing for {request.type} {request.object_id}")
    if request.kind == "open" and "Edit finalized" not in rights.service:
        raise Refusal(403, 'the service permission "Edit finalized" is missing')


def _next_job(service: Service) -> Job | None:
    with service.db.snapshot() as db:
        row = db.execute(
            "SELECT number, account, attempts, kind, type, object_id, version, with_precedents FROM bulk_job"
            " WHERE outcome IS NULL ORDER BY number LIMIT 1"
        ).fetchone()
    if row is None:
        return None
    number, account, attempts, kind, type_name, object_id, version, with_precedents = row
    return Job(number, account, attempts, BulkRequest(kind, type_name, object_id, version, bool(with_precedents)))


def _run_job(service: Service, job: Job) -> bool:
    """Runs a job step by step; False if the service stops before its end, so that the job starts again later."""
    caller = service.identity.background_caller(job.account)
    if caller is None:
        raise Refusal(403, f"the account {job.account} is gone")
    with service.db.snapshot() as db:
        table = table_name(metamodel().family(job.request.type))
        sql = f"SELECT 1 FROM {table} WHERE id = ?"  # noqa: S608  # a name of the model
        if db.execute(sql, (job.request.object_id,)).fetchone() is not None:
            _check_rights(db, caller.rights, job.request)
    for _ in _steps(service, job.request, Actor(caller.name, caller.account, service.now_ms())):
        if service.is_stopping:
            return False
    return True


def _steps(service: Service, request: BulkRequest, actor: Actor) -> Iterator[int]:
    root = (metamodel().family(request.type), request.object_id)
    if request.kind == "close":
        return trees.close_tree(service.db, root, actor)
    if request.kind == "open":
        return trees.open_tree(service.db, root, actor)
    keep = not request.with_precedents
    return trees.delete_tree(service.db, root, actor, service.files, keep_precedents=keep)


def _count_attempt(service: Service, job: Job) -> None:
    with service.db.transaction() as db:
        db.execute("UPDATE bulk_job SET attempts = attempts + 1 WHERE number = ?", (job.number,))


def _record_outcome(service: Service, job: Job, outcome: str) -> None:
    with service.db.transaction() as db:
        values = (service.now_ms(), outcome, job.number)
        db.execute("UPDATE bulk_job SET ended_ms = ?, outcome = ? WHERE number = ?", values)
