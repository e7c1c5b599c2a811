"""The change log: one row for each change of each object, written in the transaction that makes the change.

`revision_id` rises by one a row and is never given twice; whoever follows the table by it misses nothing. The five
value columns hold JSON objects:

    CREATE  new_value       the whole object as it was saved, its many-to-many links as lists of ids among its links
    UPDATE  new_value, old_value    {field: value}, null where unset; modified_field and modified_field_type name it
    LINK    new_value       {"type", "id", "systemId"} of what the reference modified_field leads to now
    UNLINK  removed_value   the same of what it led to; many-to-many links are logged at the side they belong to
    MOVE    previous_parent, current_parent     the same of the parents before and after
    DELETE  old_value       the whole object as it was

`parent_id` is the object directly above at that time (CREATE, MOVE, DELETE), so that the log of a tree can be followed
down even where the objects are gone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import orjson

from noarkit.server.rendering import render_values
from noarkit.server.values import Stored, to_wire

ENTRY_COLUMNS = (
    "object_id",
    "system_id",
    "type",
    "revision_type",
    "modified_ms",
    "modified_by",
    "modified_by_user_id",
    "modified_field",
    "modified_field_type",
    "new_value",
    "old_value",
    "removed_value",
    "previous_parent",
    "current_parent",
    "parent_id",
)
_INSERT = f"INSERT INTO change_log ({', '.join(ENTRY_COLUMNS)}) VALUES ({', '.join('?' * len(ENTRY_COLUMNS))})"  # noqa: S608  # our own names

# the columns of a new object's row alone: binding the empty ones took a tenth of the time
_INSERT_CREATED = (
    "INSERT INTO change_log (object_id, system_id, type, revision_type, modified_ms, modified_by, modified_by_user_id,"
    " new_value, parent_id) VALUES (?, ?, ?, 'CREATE', ?, ?, ?, ?, ?)"
)

Entry = tuple[int | str | None, ...]
Created = tuple[int, Stored, str, str, int | None]
"""A new object: its id, system id, type, JSON, and the id of its parent."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who makes a change, and when."""

    name: str
    account: str
    now_ms: int


@dataclass(frozen=True, slots=True)
class Subject:
    """The object that was changed."""

    object_id: int
    system_id: str
    type_name: str


@dataclass(frozen=True, slots=True)
class Change:
    """The content of a log row apart from actor and subject; the values are JSON texts."""

    kind: str
    field: str | None = None
    field_type: str | None = None
    new: str | None = None
    old: str | None = None
    removed_json: str | None = None
    previous_parent: str | None = None
    current_parent: str | None = None
    parent_id: int | None = None


def statements() -> Iterator[str]:
    """The table of the log and its indexes."""
    yield (
        "CREATE TABLE change_log (revision_id INTEGER PRIMARY KEY, object_id INTEGER NOT NULL,"
        " system_id TEXT NOT NULL, type TEXT NOT NULL, revision_type TEXT NOT NULL, modified_ms INTEGER NOT NULL,"
        " modified_by TEXT NOT NULL, modified_by_user_id TEXT NOT NULL, modified_field TEXT, modified_field_type TEXT,"
        " new_value TEXT, old_value TEXT, removed_value TEXT, previous_parent TEXT, current_parent TEXT,"
        " parent_id INTEGER)"
    )
    yield "CREATE INDEX change_log_object ON change_log (object_id)"
    yield "CREATE INDEX change_log_parent ON change_log (parent_id) WHERE parent_id IS NOT NULL"
    yield "CREATE INDEX change_log_gone ON change_log (system_id) WHERE revision_type = 'DELETE'"


def write_entries(db: sqlite3.Connection, entries: Iterable[Entry]) -> None:
    """Adds rows made by `entry`, in their order."""
    db.executemany(_INSERT, entries)


def write_created(db: sqlite3.Connection, actor: Actor, created: Iterable[Created]) -> None:
    """Adds the rows of new objects, in their order."""
    who = (actor.now_ms, actor.name, actor.account)
    db.executemany(_INSERT_CREATED, [(*entry[:3], *who, *entry[3:]) for entry in created])


def entry(actor: Actor, subject: Subject, change: Change) -> Entry:
    """The row of any change."""
    return (
        subject.object_id,
        subject.system_id,
        subject.type_name,
        change.kind,
        actor.now_ms,
        actor.name,
        actor.account,
        change.field,
        change.field_type,
        change.new,
        change.old,
        change.removed_json,
        change.previous_parent,
        change.current_parent,
        change.parent_id,
    )


def update_change(name: str, kind: str, old: Stored, new: Stored) -> Change:
    """The change of one field."""
    return Change("UPDATE", field=name, field_type=kind, new=_field(name, kind, new), old=_field(name, kind, old))


def delete_change(type_name: str, row: Mapping[str, Stored], parent_id: int | None) -> Change:
    """The change of an object that goes."""
    return Change("DELETE", old=orjson.dumps(render_values(type_name, row)).decode(), parent_id=parent_id)


def reference(type_name: str, object_id: int, system_id: Stored) -> str:
    """The JSON that stands for another object."""
    return orjson.dumps({"type": type_name, "id": str(object_id), "systemId": system_id}).decode()


def _field(name: str, kind: str, value: Stored) -> str:
    return orjson.dumps({name: to_wire(kind, value)}).decode()
