"""Deletes, closes and opens whole trees of objects, in bounded steps.

For work that may outlive its call. Each of `delete_tree`, `close_tree` and `open_tree` is an iterator: every step is
one transaction of the writer over at most `batch` objects and yields how many it changed. Nothing needs to be
remembered between steps: a process that was killed starts the same call again and goes on with what is left.

Children come before their parents, so that a half finished tree is still consistent.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Protocol

import orjson

from noarkit.server.database import Database
from noarkit.server.schema import schema, table_name
from noarkit.server.transaction import log
from noarkit.server.transaction.plan import (
    CLOSING,
    FILE,
    Leniency,
    TypePlan,
    children_of,
    pairs_of,
    plans,
    users_of,
)
from noarkit.server.transaction.stage import StagedEntity
from noarkit.server.values import Stored
from noarkit.server.wire import Refusal

Node = tuple[str, int]
Fetch = Callable[[str, tuple[int, ...]], list[tuple[int]]]

BATCH = 500
_PAGE = 200
# Closing and opening concern these alone; what is below them follows its owner.
_CLOSABLE = (
    "Arkiv",
    "Arkivdel",
    "AbstraktMappe",
    "AbstraktRegistrering",
    "Dokument",
    "Klassifikasjonssystem",
    "Klasse",
)


class Releases(Protocol):
    """Where the files of deleted versions go."""

    def release(self, db: sqlite3.Connection, file_ids: Collection[str]) -> None:
        """Lets go of files that no version refers to any more."""
        ...


def delete_tree(
    database: Database,
    root: Node,
    actor: log.Actor,
    files: Releases,
    *,
    keep_precedents: bool = True,
    batch: int = BATCH,
) -> Generator[int, None, None]:
    """Deletes `root` = (family, id) and all below it, bottom-up.

    `keep_precedents` spares every case file and entry that a precedent is linked to, with all below and above it.
    Raises Refusal (400) where something outside the tree needs what is inside.
    """
    spared = _is_precedent(database) if keep_precedents else None
    # The tree is read outside the writer's transaction and deleted in steps, so that other writers get their turn.
    nodes = walk(_reads(database), root, children_of, spared)
    while step := list(islice(nodes, batch)):
        with database.transaction() as db:
            removed_count = remove(db, step, actor, files)
        yield removed_count


def close_tree(database: Database, root: Node, actor: log.Actor, *, batch: int = BATCH) -> Generator[int, None, None]:
    """Finalises everything below `root` = (family, id) that is open, then `root` itself."""
    yield from _change_tree(database, root, actor, _close, batch)


def open_tree(database: Database, root: Node, actor: log.Actor, *, batch: int = BATCH) -> Generator[int, None, None]:
    """Opens everything below `root` = (family, id) that is finalised, and `root` itself."""
    yield from _change_tree(database, root, actor, _open, batch)


def walk(
    fetch: Fetch,
    root: Node,
    children: Callable[[str], tuple[tuple[str, str], ...]],
    spared: Callable[[Node], bool] | None = None,
) -> Iterator[Node]:
    """The objects of a tree, children before parents; neither `spared` ones nor what is below or above them."""
    path: list[tuple[Node, Iterator[Node]]] = [(root, _below(fetch, root, children))]
    kept_depth = 0
    if spared is not None and spared(root):
        return
    while path:
        node, remaining = path[-1]
        child = next(remaining, None)
        if child is None:
            path.pop()
            # Something below is spared, so this node stays, and its parent too: the mark moves up with the path.
            if len(path) < kept_depth:
                kept_depth = len(path)
            else:
                yield node
        elif spared is not None and spared(child):
            kept_depth = len(path)
        else:
            path.append((child, _below(fetch, child, children)))


def remove(db: sqlite3.Connection, nodes: Iterable[Node], actor: log.Actor, files: Releases) -> int:
    """Deletes these objects, whose children are gone or among them, inside the writer's transaction; says how many.

    Raises Refusal (400) where another object still needs one of them.
    """
    by_family: dict[str, list[int]] = defaultdict(list)
    for family, object_id in dict.fromkeys(nodes):
        by_family[family].append(object_id)
    entries: list[log.Entry] = []
    released: set[str] = set()
    for family, ids in by_family.items():
        rows = _load(db, family, ids)
        released.update(str(entity.values[FILE]) for entity in rows if entity.values.get(FILE))
        entries.extend(_delete_entry(actor, entity) for entity in rows)
        ids_json = orjson.dumps(ids).decode()
        for table, column in pairs_of(family):
            db.execute(f"DELETE FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))", (ids_json,))  # noqa: S608  # names of the metamodel
        db.execute(f"DELETE FROM {table_name(family)} WHERE id IN (SELECT value FROM json_each(?))", (ids_json,))  # noqa: S608  # names of the metamodel
    for family, ids in by_family.items():
        entries.extend(_unlink_users(db, family, ids, actor))
    log.write_entries(db, entries)
    if released:
        files.release(db, released)
    return len(entries)


def in_transaction(db: sqlite3.Connection) -> Fetch:
    """Reads what the transaction sees."""
    return lambda sql, values: db.execute(sql, values).fetchall()


def _reads(database: Database) -> Fetch:
    def fetch(sql: str, values: tuple[int, ...]) -> list[tuple[int]]:
        with database.snapshot() as db:
            return db.execute(sql, values).fetchall()

    return fetch


def _below(fetch: Fetch, node: Node, children: Callable[[str], tuple[tuple[str, str], ...]]) -> Iterator[Node]:
    family, object_id = node
    for child_family, column in children(family):
        last = 0
        while page := fetch(_page_sql(child_family, column), (object_id, last)):
            for (child_id,) in page:
                yield child_family, child_id
            if len(page) < _PAGE:
                break
            # By id and not by OFFSET: rows that the consumer deletes between two pages must not shift the next.
            last = page[-1][0]


@cache
def _page_sql(family: str, column: str) -> str:
    return f'SELECT id FROM {table_name(family)} WHERE "{column}" = ? AND id > ? ORDER BY id LIMIT {_PAGE}'  # noqa: S608  # names of the metamodel


@cache
def _closable_children(family: str) -> tuple[tuple[str, str], ...]:
    return tuple((child, column) for child, column in children_of(family) if child in _CLOSABLE)


def _is_precedent(database: Database) -> Callable[[Node], bool]:
    pairs = {
        family: pair for pair, _ in pairs_of("Presedens") for family in _CLOSABLE if (pair, "a") in pairs_of(family)
    }

    def spared(node: Node) -> bool:
        pair = pairs.get(node[0])
        if pair is None:
            return False
        with database.snapshot() as db:
            return db.execute(f"SELECT 1 FROM {pair} WHERE a = ? LIMIT 1", (node[1],)).fetchone() is not None  # noqa: S608  # names of the metamodel

    return spared


def _change_tree(
    database: Database, root: Node, actor: log.Actor, change: Callable[[StagedEntity, log.Actor], None], batch: int
) -> Generator[int, None, None]:
    nodes = walk(_reads(database), root, _closable_children)
    while step := list(islice(nodes, batch)):
        with database.transaction() as db:
            changed = _change_step(db, step, actor, change)
        yield changed


def _change_step(
    db: sqlite3.Connection, step: Sequence[Node], actor: log.Actor, change: Callable[[StagedEntity, log.Actor], None]
) -> int:
    by_family: dict[str, list[int]] = defaultdict(list)
    for family, object_id in dict.fromkeys(step):
        by_family[family].append(object_id)
    entities = [entity for family, ids in by_family.items() for entity in _load(db, family, ids)]
    for entity in entities:
        change(entity, actor)
    return save_changed(db, [entity for entity in entities if entity.changed_columns()], actor)


def save_changed(db: sqlite3.Connection, entities: Sequence[StagedEntity], actor: log.Actor) -> int:
    """Writes objects of which only fields changed, with their next versions and log rows; says how many."""
    entries: list[log.Entry] = []
    for entity in entities:
        subject = log.Subject(entity.id, str(entity.values["uuid"]), entity.plan.name)
        old = entity.old or {}
        for column in entity.changed_columns():
            change = log.update_change(column, entity.plan.fields[column].kind, old.get(column), entity.values[column])
            entries.append(log.entry(actor, subject, change))
        entity.set_value("version", int(old["version"] or 0) + 1)
    for entity in entities:
        columns = entity.changed_columns()
        assignments = ", ".join(f'"{column}" = ?' for column in columns)
        values: list[Stored] = [entity.values[column] for column in columns]
        db.execute(f"UPDATE {entity.plan.table} SET {assignments} WHERE id = ?", (*values, entity.id))  # noqa: S608  # names of the metamodel
    log.write_entries(db, entries)
    return len(entities)


def _close(entity: StagedEntity, actor: log.Actor) -> None:
    if not entity.plan.closes or entity.plan.is_final(entity.values):
        return
    if entity.plan.status is not None:
        entity.set_value(entity.plan.status[0], entity.plan.status[1])
    closing_values: tuple[Stored, ...] = (actor.now_ms, actor.name, actor.account)
    for column, value in zip(CLOSING, closing_values, strict=True):
        if entity.values.get(column) is None:
            entity.set_value(column, value)


def _open(entity: StagedEntity, actor: log.Actor) -> None:
    if not entity.plan.closes or not entity.plan.is_final(entity.values):
        return
    if entity.plan.status is not None:
        entity.set_value(entity.plan.status[0], entity.plan.status[2])
    for column in CLOSING:
        entity.set_value(column, None)


def _load(db: sqlite3.Connection, family: str, ids: Sequence[int]) -> list[StagedEntity]:
    plans_by_type = plans(Leniency())
    columns = list(schema().tables[family].columns)
    names = ", ".join(f'"{name}"' for name in columns)
    sql = f"SELECT {names} FROM {table_name(family)} WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"  # noqa: S608  # names of the metamodel
    rows = db.execute(sql, (orjson.dumps(list(ids)).decode(),))
    return [StagedEntity(row[0], plans_by_type[row[1]], -1, dict(zip(columns, row, strict=True))) for row in rows]


def _delete_entry(actor: log.Actor, entity: StagedEntity) -> log.Entry:
    parent_id = _parent_id(entity.plan, entity.values)
    subject = log.Subject(entity.id, str(entity.values["uuid"]), entity.plan.name)
    return log.entry(actor, subject, log.delete_change(entity.plan.name, entity.values, parent_id))


def _parent_id(plan: TypePlan, values: dict[str, Stored]) -> int | None:
    parent_id = next((values[column] for column, _ in plan.parents if values.get(column) is not None), None)
    return None if parent_id is None else int(parent_id)


def _unlink_users(db: sqlite3.Connection, family: str, ids: Sequence[int], actor: log.Actor) -> Iterator[log.Entry]:
    """Handles references into the tree from outside: an overlapping series is unlinked, anything else refuses."""
    for owner, column in users_of(family):
        sql = f'SELECT id FROM {table_name(owner)} WHERE "{column}" IN (SELECT value FROM json_each(?))'  # noqa: S608  # names of the metamodel
        user_ids = [row[0] for row in db.execute(sql, (orjson.dumps(list(ids)).decode(),))]
        if user_ids and column != "refArkivdelForloeper":
            raise Refusal(400, f"{owner} {user_ids[0]} still leads by {column} to what would be deleted.")
        for entity in _load(db, owner, user_ids):
            subject = log.Subject(entity.id, str(entity.values["uuid"]), entity.plan.name)
            removed_json = log.reference(family, int(entity.values[column] or 0), None)
            yield log.entry(actor, subject, log.Change("UNLINK", field=column, removed_json=removed_json))
            db.execute(
                f'UPDATE {entity.plan.table} SET "{column}" = NULL, version = version + 1 WHERE id = ?',  # noqa: S608  # names of the metamodel
                (entity.id,),
            )
