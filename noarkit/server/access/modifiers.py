"""The calls for access modifiers: classification systems and code lists that restrict access to objects."""

from __future__ import annotations

import sqlite3

from noarkit.server.access.members import (
    is_security_administrator,
    parse_id,
    read_body,
    read_boolean,
    read_id,
    read_text,
)
from noarkit.server.calling import Call, Route
from noarkit.server.rights import CONTROLLING_LISTS, LIST_REGISTER
from noarkit.server.wire import Answer, Refusal

_SYSTEM = "Klassifikasjonssystem"
_MEMBERS = ("id", "determinesAccessControl")


def routes() -> list[Route]:
    """The four calls for access modifiers."""
    return [
        Route("POST", "access-modifier/klassifikasjons-system", _set_system, has_body=True),
        Route("GET", "access-modifier/klassifikasjons-system/{id}", _get_system),
        Route("POST", "access-modifier/code-list", _set_list, has_body=True),
        Route("GET", "access-modifier/code-list/{id}", _get_list),
    ]


def _set_system(call: Call) -> Answer:
    body = read_body(call, _MEMBERS)
    system, decides = read_id(body, "id"), read_boolean(body, "determinesAccessControl")
    with call.service.db.transaction() as db:
        _check_system(call, db, system)
        _set(db, "system", str(system), decides)
    return _finish_change(call, decides)


def _get_system(call: Call) -> Answer:
    system = parse_id(call.path["id"], _SYSTEM)
    with call.service.db.snapshot() as db:
        _check_system(call, db, system)
        return _modifier_answer(_is_set(db, "system", str(system)))


def _set_list(call: Call) -> Answer:
    body = read_body(call, _MEMBERS)
    name, decides = read_text(body, "id"), read_boolean(body, "determinesAccessControl")
    if name not in CONTROLLING_LISTS:
        raise Refusal(400, f"id must be one of {', '.join(CONTROLLING_LISTS)}")
    with call.service.db.transaction() as db:
        _check_list(call, db)
        _set(db, "list", name, decides)
    return _finish_change(call, decides)


def _get_list(call: Call) -> Answer:
    name = call.path["id"]
    if name not in CONTROLLING_LISTS:
        raise Refusal(404, f"{name} is not one of {', '.join(CONTROLLING_LISTS)}")
    with call.service.db.snapshot() as db:
        _check_list(call, db)
        return _modifier_answer(_is_set(db, "list", name))


def _check_system(call: Call, db: sqlite3.Connection, system: int) -> None:
    rights = call.caller.rights
    if not rights.may_read(db, _SYSTEM, system):
        raise Refusal(404, f"there is no {_SYSTEM} {system}")
    if not is_security_administrator(call) and not rights.may_change(db, "Grant", _SYSTEM, system):
        raise Refusal(403, f"this needs Security administrator, or Grant on {_SYSTEM} {system}")


def _check_list(call: Call, db: sqlite3.Connection) -> None:
    if not is_security_administrator(call) and not call.caller.rights.may_below(db, "Grant", LIST_REGISTER, 0):
        raise Refusal(403, "this needs Security administrator, or Grant on the code lists")


def _set(db: sqlite3.Connection, kind: str, name: str, decides: bool) -> None:
    if decides:
        db.execute("INSERT OR IGNORE INTO access_modifier (kind, object) VALUES (?, ?)", (kind, name))
    else:
        db.execute("DELETE FROM access_modifier WHERE kind = ? AND object = ?", (kind, name))


def _is_set(db: sqlite3.Connection, kind: str, name: str) -> bool:
    rows = db.execute("SELECT 1 FROM access_modifier WHERE kind = ? AND object = ?", (kind, name))
    return rows.fetchone() is not None


def _finish_change(call: Call, decides: bool) -> Answer:
    call.service.identity.rights_changed()
    return _modifier_answer(decides)


def _modifier_answer(decides: bool) -> Answer:
    return Answer(body={"determinesAccessControl": decides})
