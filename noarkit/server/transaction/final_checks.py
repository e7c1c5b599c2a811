"""Checks that need the written database: rules over existing children, moved objects, and the deletes themselves.

Each check is an existence test on an indexed column, so a class with a million folders is as quick as one with two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import orjson

from noarkit.server.schema import table_name
from noarkit.server.transaction import log
from noarkit.server.transaction.checks import refuse_both
from noarkit.server.transaction.plan import LinkPlan, TypePlan, children_of
from noarkit.server.transaction.stage import Stage, StagedEntity
from noarkit.server.transaction.trees import Node, Releases, in_transaction, remove, walk
from noarkit.server.values import Stored
from noarkit.server.wire import Refusal


def check_known_parents(stage: Stage) -> None:
    """Raises Refusal (400) where an object from before got children that its others exclude."""
    by_plan: dict[str, list[StagedEntity]] = defaultdict(list)
    for entity in stage.parents.values():
        if entity.old is not None and any(count > 0 for count in (entity.child_counts or {}).values()):
            by_plan[entity.plan.name].append(entity)
    for entities in by_plan.values():
        _check_exclusions(stage, entities[0].plan, entities)
    for entity in stage.entities.values():
        if entity.old is not None and entity.touched_columns and "type" in entity.touched_columns:
            _check_remaining(stage, entity, entity.location)


def check_moved_below(stage: Stage) -> None:
    """Raises Refusal (400) where a changed link leaves a primary class outside the series' primary system."""
    for entity in list(stage.entities.values()):
        if entity.old is None or not entity.touched_columns:
            continue
        changed = entity.changed_columns()
        if entity.plan.name == "Arkivdel" and "refPrimaerKlassifikasjonssystem" in changed:
            _refuse_strays(
                stage, entity, _STRAYS_IN_SERIES, (entity.id, entity.values["refPrimaerKlassifikasjonssystem"])
            )
        elif entity.plan.name == "Klasse" and "refKlassifikasjonssystem" in changed:
            _refuse_strays(stage, entity, _STRAYS_OF_CLASS, (entity.id, entity.values["refKlassifikasjonssystem"]))
        elif entity.plan.name == "Mappe" and {"refArkivdel", "refForelderMappe"}.intersection(changed):
            _check_moved_folder(stage, entity)


def delete_all(stage: Stage, actor: log.Actor, files: Releases) -> None:
    """Carries out the deletes. Raises Refusal (400) where they would take what this transaction makes, or must stay."""
    for entity, action in stage.deleting:
        above = stage.old_parent_of(entity)
        # Walked in the written state, so that what this transaction moved out of the tree is spared, and what it moved
        # in is met and refused.
        nodes = dict.fromkeys(walk(in_transaction(stage.db), (entity.plan.family, entity.id), children_of))
        for family, object_id in nodes:
            _mark_deleted(stage, (family, object_id), action.location)
        try:
            remove(stage.db, nodes, actor, files)
        except Refusal as refusal:
            raise Refusal(refusal.status, f"{action.location}: {refusal.description}") from None
        if above is not None and not above.is_deleted:
            _check_remaining(stage, above, action.location)


def refuse_links(stage: Stage, entity: StagedEntity, links: Iterable[LinkPlan]) -> None:
    """Raises Refusal (400) where an object has anything by one of these references."""
    for link in links:
        if link.kind != "column" and _ids_with(stage, link, [entity]):
            raise Refusal(400, f"{entity.location}: {entity.plan.name} {entity.id} still has {link.name}.")


def _check_exclusions(stage: Stage, plan: TypePlan, entities: Iterable[StagedEntity]) -> None:
    entity_list = list(entities)
    names = {name for pair in plan.not_both for name in pair}
    holders = {name: _ids_with(stage, plan.links[name], entity_list) for name in names}
    for entity in entity_list:
        refuse_both(entity, {name for name, ids in holders.items() if entity.id in ids})


def _ids_with(stage: Stage, link: LinkPlan, entities: list[StagedEntity]) -> set[int]:
    """The ids of the entities that have at least one object by this reference."""
    if link.kind == "pairs":
        table, column = link.pair_table, "a" if link.mine_first else "b"
    else:
        table, column = table_name(link.other_family), link.column
    sql = f'SELECT value FROM json_each(?) AS asked WHERE EXISTS (SELECT 1 FROM {table} WHERE "{column}" = asked.value)'  # noqa: S608  # names of the metamodel
    ids_json = orjson.dumps([entity.id for entity in entities]).decode()
    return {row[0] for row in stage.db.execute(sql, (ids_json,))}


def _check_remaining(stage: Stage, above: StagedEntity, location: str) -> None:
    for name in above.plan.must_many:
        if not _ids_with(stage, above.plan.links[name], [above]):
            raise Refusal(400, f"{location}: {above.plan.name} {above.id} must keep at least one {name}.")


def _mark_deleted(stage: Stage, node: Node, location: str) -> None:
    """Marks an object as gone. Raises Refusal (400) where this transaction made it or moved it into the tree."""
    entity = stage.entities.get(node[1])
    if entity is None:
        return
    # A call that makes something below what it deletes contradicts itself; to guess which it means would lose data.
    if entity.old is None or any(column in entity.changed_columns() for column, _ in entity.plan.parents):
        raise Refusal(400, f"{location}: this would delete what {entity.location} makes or moves there.")
    entity.is_deleted = True


_STRAYS_IN_SERIES = (
    'SELECT m.id FROM o_abstraktmappe m JOIN o_klasse k ON k.id = m."refPrimaerKlasse"'
    ' WHERE m."refArkivdel" = ?1 AND k."refKlassifikasjonssystem" IS NOT ?2'
    ' UNION ALL SELECT r.id FROM o_abstraktregistrering r JOIN o_klasse k ON k.id = r."refPrimaerKlasse"'
    ' WHERE r."refArkivdel" = ?1 AND k."refKlassifikasjonssystem" IS NOT ?2 LIMIT 1'
)
_STRAYS_OF_CLASS = (
    'SELECT id FROM o_klasse WHERE "refForelderKlasse" = ?1 AND "refKlassifikasjonssystem" IS NOT ?2'
    ' UNION ALL SELECT m.id FROM o_abstraktmappe m JOIN o_arkivdel d ON d.id = m."refArkivdel"'
    ' WHERE m."refPrimaerKlasse" = ?1 AND d."refPrimaerKlassifikasjonssystem" IS NOT ?2'
    ' UNION ALL SELECT r.id FROM o_abstraktregistrering r JOIN o_arkivdel d ON d.id = r."refArkivdel"'
    ' WHERE r."refPrimaerKlasse" = ?1 AND d."refPrimaerKlassifikasjonssystem" IS NOT ?2 LIMIT 1'
)
_STRAYS_BELOW = (
    "WITH RECURSIVE folder (id) AS (VALUES (?1) UNION"
    ' SELECT m.id FROM o_abstraktmappe m JOIN folder ON m."refForelderMappe" = folder.id)'
    ' SELECT m.id FROM folder JOIN o_abstraktmappe m USING (id) JOIN o_klasse k ON k.id = m."refPrimaerKlasse"'
    ' WHERE k."refKlassifikasjonssystem" IS NOT ?2'
    ' UNION ALL SELECT r.id FROM folder JOIN o_abstraktregistrering r ON r."refMappe" = folder.id'
    ' JOIN o_klasse k ON k.id = r."refPrimaerKlasse" WHERE k."refKlassifikasjonssystem" IS NOT ?2 LIMIT 1'
)


def _check_moved_folder(stage: Stage, entity: StagedEntity) -> None:
    member: StagedEntity | None = entity
    while member is not None and member.plan.name != "Arkivdel":
        member = stage.parent_of(member)
    if member is not None:
        _refuse_strays(stage, entity, _STRAYS_BELOW, (entity.id, member.values.get("refPrimaerKlassifikasjonssystem")))


def _refuse_strays(stage: Stage, entity: StagedEntity, sql: str, values: tuple[Stored, ...]) -> None:
    row = stage.db.execute(sql, values).fetchone()
    if row is not None:
        raise Refusal(
            400,
            f"{entity.location}: the primary class of {row[0]} would be outside the series' primary classification"
            " system.",
        )
