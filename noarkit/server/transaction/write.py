"""Writes the objects, pairs and log entries of a transaction, with one statement per kind of row.

Nothing is checked here; it runs after all other checks, and the writer's transaction rolls it back if one fails later.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator

import orjson

from noarkit.server.rendering import render_values
from noarkit.server.transaction import log
from noarkit.server.transaction.stage import Stage, StagedEntity
from noarkit.server.values import Stored
from noarkit.server.wire import Refusal


def write_stage(stage: Stage, actor: log.Actor) -> dict[int, bytes]:
    """Writes objects, pairs and the log; returns the JSON of each new object."""
    _refuse_taken_uuids(stage)
    # Before `changed` is collected: a parent whose version is raised becomes a changed object.
    _bump_parents(stage)
    changed = [entity for entity in stage.entities.values() if entity.old is not None and entity.touched_columns]
    json_by_id = {entity.id: orjson.dumps(render_values(entity.plan.name, entity.values)) for entity in stage.new}
    insert_new(stage.db, stage.new)
    update_changed(stage.db, changed)
    _write_pairs(stage)
    log.write_created(stage.db, actor, _created(stage, json_by_id))
    log.write_entries(stage.db, _entries(stage, actor, changed))
    return json_by_id


def insert_new(db: sqlite3.Connection, entities: Iterable[StagedEntity]) -> None:
    """Inserts new objects: one statement a type, naming only the columns that any of them has."""
    by_type: dict[str, list[StagedEntity]] = defaultdict(list)
    for entity in entities:
        by_type[entity.plan.name].append(entity)
    for members in by_type.values():
        # Most objects of a type have the same columns in the same order: their rows are their values as they stand.
        shapes = dict.fromkeys(tuple(entity.values) for entity in members)
        columns = list(dict.fromkeys(column for shape in shapes for column in shape))
        names = ", ".join(f'"{column}"' for column in columns)
        placeholders = ", ".join("?" * len(columns))
        sql = f"INSERT INTO {members[0].plan.table} ({names}) VALUES ({placeholders})"  # noqa: S608  # names of the metamodel
        if len(shapes) == 1:
            db.executemany(sql, [tuple(entity.values.values()) for entity in members])
        else:
            db.executemany(sql, [tuple(map(entity.values.get, columns)) for entity in members])


def update_changed(db: sqlite3.Connection, entities: Iterable[StagedEntity]) -> None:
    """Writes the changed columns of known objects, and their next version."""
    by_shape: dict[tuple[str, ...], list[tuple[Stored, ...]]] = defaultdict(list)
    for entity in entities:
        columns = entity.changed_columns()
        if columns:
            by_shape[entity.plan.table, *columns].append((*(entity.values[column] for column in columns), entity.id))
    for (table, *columns), rows in by_shape.items():
        assignments = ", ".join(f'"{column}" = ?' for column in columns)
        db.executemany(f"UPDATE {table} SET {assignments} WHERE id = ?", rows)  # noqa: S608  # names of the metamodel


def bump(entity: StagedEntity) -> None:
    """Gives a known object its next version, once a transaction."""
    if entity.old is not None and not entity.is_version_bumped:
        entity.is_version_bumped = True
        entity.set_value("version", int(entity.old["version"] or 0) + 1)


def changes_of(stage: Stage, entity: StagedEntity) -> Iterator[log.Change]:
    """The log's changes of a known object: fields, links, and its move."""
    old = entity.old or {}
    upward = {column for column, _ in entity.plan.parents}
    is_moved = False
    for column in entity.changed_columns():
        field = entity.plan.fields.get(column)
        if column == "version":
            continue
        if field is not None or column == "type":
            kind = field.kind if field is not None else "string"
            yield log.update_change(column, kind, old.get(column), entity.values[column])
        elif column in upward:
            is_moved = True
        else:
            yield from _link_changes(stage, entity, column)
    if is_moved:
        before, after = stage.old_parent_of(entity), stage.parent_of(entity)
        yield log.Change(
            "MOVE",
            previous_parent=_reference(before),
            current_parent=_reference(after),
            parent_id=after.id if after is not None else None,
        )


def subject_of(entity: StagedEntity) -> log.Subject:
    """The object as the log names it."""
    return log.Subject(entity.id, str(entity.values["uuid"]), entity.plan.name)


def _link_changes(stage: Stage, entity: StagedEntity, column: str) -> Iterator[log.Change]:
    family = entity.plan.links[column].other_family
    before, after = (entity.old or {}).get(column), entity.values[column]
    if before is not None:
        yield log.Change("UNLINK", field=column, removed_json=_reference(stage.look_up(family, int(before))))
    if after is not None:
        yield log.Change("LINK", field=column, new=_reference(stage.look_up(family, int(after))))


def _reference(entity: StagedEntity | None) -> str | None:
    return None if entity is None else log.reference(entity.plan.name, entity.id, entity.values.get("uuid"))


def _bump_parents(stage: Stage) -> None:
    """Gives the next version to changed objects, to the old and new parents of children, and to owners of pairs."""
    last = None
    for entity in stage.new:
        above = entity.above
        # New children of one parent mostly stand together; the comparison saves asking for each.
        if above is not None and above is not last and above.old is not None:
            bump(above)
            last = above
    for entity in list(stage.entities.values()):
        if entity.old is None or not entity.touched_columns:
            continue
        changed = entity.changed_columns()
        if changed and changed != ["version"]:
            bump(entity)
        if any(column in changed for column, _ in entity.plan.parents):
            for parent in (stage.old_parent_of(entity), stage.parent_of(entity)):
                if parent is not None:
                    bump(parent)
    for owner, _, _ in stage.pair_owners.values():
        bump(owner)
    # A parent that was only looked up is written too, now that it has a new version.
    for entity in stage.nearby.values():
        if entity.is_version_bumped:
            stage.entities[entity.id] = entity


def _write_pairs(stage: Stage) -> None:
    by_table: dict[tuple[str, bool], list[tuple[int, int]]] = defaultdict(list)
    for (table, first, second), is_linked in stage.pairs.items():
        by_table[table, is_linked].append((first, second))
    for (table, is_linked), rows in by_table.items():
        add = f"INSERT OR IGNORE INTO {table} (a, b) VALUES (?, ?)"  # noqa: S608  # names of the metamodel
        take = f"DELETE FROM {table} WHERE a = ? AND b = ?"  # noqa: S608  # names of the metamodel
        stage.db.executemany(add if is_linked else take, rows)


def _created(stage: Stage, json_by_id: dict[int, bytes]) -> Iterator[log.Created]:
    pairs_by_id = _pairs_of_new(stage)
    for entity in stage.new:
        key, above = entity.id, entity.above
        object_json = json_by_id[key].decode() if key not in pairs_by_id else _with_pairs(entity, pairs_by_id[key])
        yield key, entity.values["uuid"], entity.plan.name, object_json, None if above is None else above.id


def _entries(stage: Stage, actor: log.Actor, changed_entities: list[StagedEntity]) -> Iterator[log.Entry]:
    for entity in changed_entities:
        for change in changes_of(stage, entity):
            yield log.entry(actor, subject_of(entity), change)
    for key, (owner, name, linked_entity) in stage.pair_owners.items():
        if owner.old is not None:
            target_json = _reference(linked_entity)
            is_linked = stage.pairs[key]
            change = (
                log.Change("LINK", field=name, new=target_json)
                if is_linked
                else log.Change("UNLINK", field=name, removed_json=target_json)
            )
            yield log.entry(actor, subject_of(owner), change)


def _pairs_of_new(stage: Stage) -> dict[int, dict[str, list[int]]]:
    pairs_by_id: dict[int, dict[str, list[int]]] = {}
    for key, (owner, name, linked_entity) in stage.pair_owners.items():
        if owner.old is None and stage.pairs[key]:
            pairs_by_id.setdefault(owner.id, {}).setdefault(name, []).append(linked_entity.id)
    return pairs_by_id


def _with_pairs(entity: StagedEntity, pairs: dict[str, list[int]]) -> str:
    object_data = render_values(entity.plan.name, entity.values)
    links = object_data["links"]
    if isinstance(links, dict):
        links.update(pairs)
    return orjson.dumps(object_data).decode()


def _refuse_taken_uuids(stage: Stage) -> None:
    """A uuid that the caller chose must be new in its family. Raises Refusal (400) where it is not."""
    entities_by_uuid: dict[str, dict[str, StagedEntity]] = defaultdict(dict)
    for entity in stage.saved_entities.values():
        if (
            entity.system_columns
            and "uuid" in entity.system_columns
            and (entity.old is None or "uuid" in entity.changed_columns())
        ):
            uuid = str(entity.values["uuid"])
            if uuid in entities_by_uuid[entity.plan.table]:
                raise Refusal(400, f"{entity.location}: field uuid: {uuid} is used twice.")
            entities_by_uuid[entity.plan.table][uuid] = entity
    for table, entities in entities_by_uuid.items():
        sql = f"SELECT uuid FROM {table} WHERE uuid IN (SELECT value FROM json_each(?)) LIMIT 1"  # noqa: S608  # names of the metamodel
        row = stage.db.execute(sql, (orjson.dumps(list(entities)).decode(),)).fetchone()
        if row is not None:
            raise Refusal(400, f"{entities[row[0]].location}: field uuid: {row[0]} belongs to another object.")
