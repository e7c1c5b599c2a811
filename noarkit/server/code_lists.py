"""The code lists: their initial values, and the three calls that read and change them.

A list has the name of the fields that use it; the metamodel decides which lists exist.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping

from noarkit.model import CodeList, metamodel
from noarkit.server.calling import Call, Route
from noarkit.server.rights import LIST_REGISTER, value_node
from noarkit.server.schema import table_name
from noarkit.server.starter_codes import own_codes
from noarkit.server.wire import Answer, Refusal

EDIT_PERMISSION = "Edit list values"

Value = dict[str, str]


def statements() -> Iterator[str]:
    """The table of all values, and the values a new archive comes with."""
    yield (
        "CREATE TABLE code_value (list TEXT NOT NULL, code TEXT NOT NULL, name TEXT NOT NULL, description TEXT,"
        " authority TEXT, PRIMARY KEY (list, code), UNIQUE (list, name))"
    )
    for name, code_list in metamodel().code_lists.items():
        for code in code_list.codes:
            yield _insert(name, code.code, code.name)
    for name, codes in own_codes().items():
        for code_name in codes:
            yield _insert(name, *code_name)


def routes() -> list[Route]:
    """The three calls for code lists."""
    return [
        Route("GET", "code-lists", _read),
        Route("PUT", "code-lists/{list}/{code}", _put_value, has_body=True),
        Route("DELETE", "code-lists/{list}/{code}", _delete),
    ]


def _read(call: Call) -> Answer:
    model = metamodel()
    type_name, field_name = call.query.get("type"), call.query.get("field")
    if type_name is not None and not model.concrete(type_name):
        raise Refusal(400, f"there is no type {type_name}")
    type_names = model.types if type_name is None else model.concrete(type_name)
    with call.service.db.snapshot() as db:
        values = _all_values(db) if call.caller.rights.may_below(db, "Read", LIST_REGISTER, 0) else {}
    screening = call.service.settings.default_screening
    return Answer(body={"results": list(_entries(type_names, field_name, values, screening))})


def _entries(
    type_names: Mapping[str, object] | tuple[str, ...],
    field_name: str | None,
    values: Mapping[str, list[Value]],
    screening: str,
) -> Iterator[dict[str, object]]:
    """One entry for each field that uses a list, also where the list is empty."""
    for type_name in type_names:
        for field in metamodel().types[type_name].fields.values():
            if field.code_list is None or field_name not in (None, field.name):
                continue
            list_values = values.get(field.code_list, [])
            entry: dict[str, object] = {"type": type_name, "field": field.name, "values": list_values}
            default = screening if field.code_list == "skjerming" else field.default
            default_value = next((value for value in list_values if value["code"] == default), None)
            yield entry if default_value is None else {**entry, "defaultValue": default_value}


def _all_values(db: sqlite3.Connection) -> dict[str, list[Value]]:
    values_by_list: dict[str, list[Value]] = {}
    for name, *row in db.execute("SELECT list, code, name, description, authority FROM code_value ORDER BY rowid"):
        values_by_list.setdefault(name, []).append(_value_payload(*row))
    return values_by_list


def _put_value(call: Call) -> Answer:
    code_list, code = _read_address(call)
    body = call.body if isinstance(call.body, dict) else {}
    if body.get("code", code) != code:
        raise Refusal(400, "code must be that of the address")
    name = _text(body, "name")
    if name is None:
        raise Refusal(400, "name must be a text that is not empty")
    authority = _text(body, "authority")
    if authority is not None and not code_list.has_authority:
        raise Refusal(400, f"the values of {code_list.name} have no authority")
    description = _text(body, "description")
    with call.service.db.transaction() as db:
        _needs_free_name(db, code_list.name, code, name)
        db.execute(
            "INSERT INTO code_value (list, code, name, description, authority) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (list, code) DO UPDATE SET name = excluded.name, description = excluded.description,"
            " authority = excluded.authority",
            (code_list.name, code, name, description, authority),
        )
    return Answer(body=_value_payload(code, name, description, authority))


def _delete(call: Call) -> Answer:
    code_list, code = _read_address(call)
    with call.service.db.transaction() as db:
        if not _is_value(db, code_list.name, code):
            raise Refusal(404, f"{code_list.name} has no value {code}")
        for type_name, field_name in code_list.used_by:
            if _is_used(db, type_name, field_name, code):
                raise Refusal(409, f"{code} of {code_list.name} is in use as {field_name} of {type_name}")
        db.execute("DELETE FROM code_value WHERE list = ? AND code = ?", (code_list.name, code))
        db.execute("DELETE FROM permission WHERE kind = ? AND object = ?", (value_node(code_list.name), code))
    return Answer(204)


def _read_address(call: Call) -> tuple[CodeList, str]:
    """The list and the code of the address, once the caller may edit them."""
    if EDIT_PERMISSION not in call.caller.rights.service:
        raise Refusal(403, f"this needs the service permission {EDIT_PERMISSION}")
    code_list = metamodel().code_lists.get(call.path["list"])
    if code_list is None:
        raise Refusal(404, f"there is no code list {call.path['list']}")
    code = call.path["code"]
    if not code.strip() or not code.isprintable():
        raise Refusal(400, "code must be a text that is not empty, without control characters")
    return code_list, code


def _text(body: Mapping[str, object], name: str) -> str | None:
    """A text; None if the member is null or missing."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise Refusal(400, f"{name} must be a text that is not empty")
    return value


def _needs_free_name(db: sqlite3.Connection, list_name: str, code: str, name: str) -> None:
    sql = "SELECT code FROM code_value WHERE list = ? AND name = ? AND code <> ?"
    row = db.execute(sql, (list_name, name, code)).fetchone()
    if row is not None:
        raise Refusal(400, f"name {name} is already that of {row[0]} in {list_name}")


def _is_value(db: sqlite3.Connection, list_name: str, code: str) -> bool:
    return db.execute("SELECT 1 FROM code_value WHERE list = ? AND code = ?", (list_name, code)).fetchone() is not None


def _is_used(db: sqlite3.Connection, type_name: str, field_name: str, code: str) -> bool:
    table = table_name(metamodel().family(type_name))
    sql = f'SELECT 1 FROM {table} WHERE type = ? AND "{field_name}" = ? LIMIT 1'  # noqa: S608  # names of the metamodel
    return db.execute(sql, (type_name, code)).fetchone() is not None


def _value_payload(code: str, name: str, description: str | None, authority: str | None) -> Value:
    optional = {"description": description, "authority": authority}
    return {"code": code, "name": name} | {key: text for key, text in optional.items() if text is not None}


def _insert(list_name: str, code: str, name: str, authority: str | None = None) -> str:
    values = ", ".join("NULL" if value is None else _quoted(value) for value in (list_name, code, name, authority))
    return f"INSERT INTO code_value (list, code, name, authority) VALUES ({values})"  # noqa: S608  # quoted, our own data


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
