"""Writes what a transaction made: one statement a kind of row, then one for the log.

Nothing is judged here; it runs once everything else agreed, and the writer's transaction takes it back if anything
after it does not.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator

import orjson

from noarkit.server.rendering import render_values
from noarkit.server.transaction import log
from noarkit.server.transaction.stage import Stage, Thing
from noarkit.server.values import Stored
from noarkit.server.wire import Refusal


def write_stage(stage: Stage, actor: log.Actor) -> dict[int, bytes]:
    """Writes objects, pairs and the log; returns the JSON of each new object."""
    _refuse_taken_uuids(stage)
    _bump_parents(stage)
    changed = [thing for thing in stage.things.values() if thing.old is not None and thing.touched]
    told = {thing.id: orjson.dumps(render_values(thing.plan.name, thing.values)) for thing in stage.new}
    insert_new(stage.db, stage.new)
    update_changed(stage.db, changed)
    _write_pairs(stage)
    log.write_entries(stage.db, _entries(stage, actor, changed, told))
    return told


def insert_new(db: sqlite3.Connection, things: Iterable[Thing]) -> None:
    """Inserts new objects: one statement a type, naming only the columns that any of them has."""
    by_type: dict[str, list[Thing]] = defaultdict(list)
    for thing in things:
        by_type[thing.plan.name].append(thing)
    for members in by_type.values():
        columns = list(dict.fromkeys(column for thing in members for column in thing.values))
        names = ", ".join(f'"{column}"' for column in columns)
        marks = ", ".join("?" * len(columns))
        sql = f"INSERT INTO {members[0].plan.table} ({names}) VALUES ({marks})"  # noqa: S608  # names of the metamodel
        db.executemany(sql, [tuple(map(thing.values.get, columns)) for thing in members])


def update_changed(db: sqlite3.Connection, things: Iterable[Thing]) -> None:
    """Writes the changed columns of known objects, and their next version."""
    by_shape: dict[tuple[str, ...], list[tuple[Stored, ...]]] = defaultdict(list)
    for thing in things:
        columns = thing.changed()
        if columns:
            by_shape[thing.plan.table, *columns].append((*(thing.values[column] for column in columns), thing.id))
    for (table, *columns), rows in by_shape.items():
        assignments = ", ".join(f'"{column}" = ?' for column in columns)
        db.executemany(f"UPDATE {table} SET {assignments} WHERE id = ?", rows)  # noqa: S608  # names of the metamodel


def bump(thing: Thing) -> None:
    """Gives a known object its next version, once a transaction."""
    if thing.old is not None and not thing.bumped:
        thing.bumped = True
        thing.put("version", int(thing.old["version"] or 0) + 1)


def changes_of(stage: Stage, thing: Thing) -> Iterator[log.Change]:
    """The log's changes of a known object: fields, links, and its move."""
    old = thing.old or {}
    upward = {column for column, _ in thing.plan.parents}
    moved = False
    for column in thing.changed():
        field = thing.plan.fields.get(column)
        if column == "version":
            continue
        if field is not None or column == "type":
            kind = field.kind if field is not None else "string"
            yield log.updated(column, kind, old.get(column), thing.values[column])
        elif column in upward:
            moved = True
        else:
            yield from _relinked(stage, thing, column)
    if moved:
        before, after = stage.above_before(thing), stage.above(thing)
        yield log.Change(
            "MOVE",
            previous_parent=_reference(before),
            current_parent=_reference(after),
            parent_id=after.id if after is not None else None,
        )


def subject_of(thing: Thing) -> log.Subject:
    """The object as the log names it."""
    return log.Subject(thing.id, str(thing.values["uuid"]), thing.plan.name)


def _relinked(stage: Stage, thing: Thing, column: str) -> Iterator[log.Change]:
    family = thing.plan.links[column].other_family
    before, after = (thing.old or {}).get(column), thing.values[column]
    if before is not None:
        yield log.Change("UNLINK", field=column, removed=_reference(stage.look(family, int(before))))
    if after is not None:
        yield log.Change("LINK", field=column, new=_reference(stage.look(family, int(after))))


def _reference(thing: Thing | None) -> str | None:
    return None if thing is None else log.reference(thing.plan.name, thing.id, thing.values.get("uuid"))


def _bump_parents(stage: Stage) -> None:
    """Children and links give the next version to what they come to, stay at, or leave."""
    last = None
    for thing in stage.new:
        above = stage.above(thing)
        if above is not None and above is not last and above.old is not None:
            bump(above)
            last = above
    for thing in list(stage.things.values()):
        if thing.old is None or not thing.touched:
            continue
        changed = thing.changed()
        if changed and changed != ["version"]:
            bump(thing)
        if any(column in changed for column, _ in thing.plan.parents):
            for parent in (stage.above_before(thing), stage.above(thing)):
                if parent is not None:
                    bump(parent)
    for owner, _, _ in stage.pair_owners.values():
        bump(owner)
    for thing in stage.around.values():
        if thing.bumped:
            stage.things[thing.id] = thing


def _write_pairs(stage: Stage) -> None:
    by_table: dict[tuple[str, bool], list[tuple[int, int]]] = defaultdict(list)
    for (table, first, second), linked in stage.pairs.items():
        by_table[table, linked].append((first, second))
    for (table, linked), rows in by_table.items():
        add = f"INSERT OR IGNORE INTO {table} (a, b) VALUES (?, ?)"  # noqa: S608  # names of the metamodel
        take = f"DELETE FROM {table} WHERE a = ? AND b = ?"  # noqa: S608  # names of the metamodel
        stage.db.executemany(add if linked else take, rows)


def _entries(stage: Stage, actor: log.Actor, changed: list[Thing], told: dict[int, bytes]) -> Iterator[log.Entry]:
    born_with = _pairs_of_new(stage)
    for thing in stage.new:
        whole = told[thing.id].decode() if thing.id not in born_with else _with_pairs(thing, born_with[thing.id])
        above = stage.above(thing)
        yield log.created(actor, subject_of(thing), whole, above.id if above is not None else None)
    for thing in changed:
        for change in changes_of(stage, thing):
            yield log.entry(actor, subject_of(thing), change)
    for key, (owner, name, other) in stage.pair_owners.items():
        if owner.old is not None:
            named = _reference(other)
            linked = stage.pairs[key]
            change = (
                log.Change("LINK", field=name, new=named) if linked else log.Change("UNLINK", field=name, removed=named)
            )
            yield log.entry(actor, subject_of(owner), change)


def _pairs_of_new(stage: Stage) -> dict[int, dict[str, list[int]]]:
    found: dict[int, dict[str, list[int]]] = {}
    for key, (owner, name, other) in stage.pair_owners.items():
        if owner.old is None and stage.pairs[key]:
            found.setdefault(owner.id, {}).setdefault(name, []).append(other.id)
    return found


def _with_pairs(thing: Thing, pairs: dict[str, list[int]]) -> str:
    whole = render_values(thing.plan.name, thing.values)
    links = whole["links"]
    if isinstance(links, dict):
        links.update(pairs)
    return orjson.dumps(whole).decode()


def _refuse_taken_uuids(stage: Stage) -> None:
    """A uuid that the caller chose must be new in its family. Raises Refusal (400) where it is not."""
    chosen: dict[str, dict[str, Thing]] = defaultdict(dict)
    for thing in stage.saved.values():
        if thing.system and "uuid" in thing.system and (thing.old is None or "uuid" in thing.changed()):
            uuid = str(thing.values["uuid"])
            if uuid in chosen[thing.plan.table]:
                raise Refusal(400, f"{thing.where}: field uuid: {uuid} is used twice.")
            chosen[thing.plan.table][uuid] = thing
    for table, things in chosen.items():
        sql = f"SELECT uuid FROM {table} WHERE uuid IN (SELECT value FROM json_each(?)) LIMIT 1"  # noqa: S608  # names of the metamodel
        row = stage.db.execute(sql, (orjson.dumps(list(things)).decode(),)).fetchone()
        if row is not None:
            raise Refusal(400, f"{things[row[0]].where}: field uuid: {row[0]} belongs to another object.")
