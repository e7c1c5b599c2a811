"""What can only be judged, or done, once everything is written: rules over children from before, and deletes.

Each look is an existence test on an indexed column, so a class with a million folders is as quick as one with two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import orjson

from noarkit.server.schema import table_name
from noarkit.server.transaction import log
from noarkit.server.transaction.checks import refuse_both
from noarkit.server.transaction.plan import LinkPlan, TypePlan, children_of
from noarkit.server.transaction.stage import Stage, Thing
from noarkit.server.transaction.trees import Node, Releases, in_transaction, remove, walk
from noarkit.server.values import Stored
from noarkit.server.wire import Refusal


def check_known_parents(stage: Stage) -> None:
    """Raises Refusal (400) where an object from before got children that its others exclude."""
    by_plan: dict[str, list[Thing]] = defaultdict(list)
    for thing in stage.parents.values():
        if thing.old is not None and any(count > 0 for count in (thing.kids or {}).values()):
            by_plan[thing.plan.name].append(thing)
    for things in by_plan.values():
        _check_exclusions(stage, things[0].plan, things)
    for thing in stage.things.values():
        if thing.old is not None and thing.touched and "type" in thing.touched:
            _check_left(stage, thing, thing.where)


def check_moved_below(stage: Stage) -> None:
    """Raises Refusal (400) where a changed link leaves a primary class outside the series' primary system."""
    for thing in list(stage.things.values()):
        if thing.old is None or not thing.touched:
            continue
        changed = thing.changed()
        if thing.plan.name == "Arkivdel" and "refPrimaerKlassifikasjonssystem" in changed:
            _refuse_strays(stage, thing, _STRAYS_IN_SERIES, (thing.id, thing.values["refPrimaerKlassifikasjonssystem"]))
        elif thing.plan.name == "Klasse" and "refKlassifikasjonssystem" in changed:
            _refuse_strays(stage, thing, _STRAYS_OF_CLASS, (thing.id, thing.values["refKlassifikasjonssystem"]))
        elif thing.plan.name == "Mappe" and {"refArkivdel", "refForelderMappe"}.intersection(changed):
            _check_moved_folder(stage, thing)


def delete_all(stage: Stage, actor: log.Actor, files: Releases) -> None:
    """Carries out the deletes. Raises Refusal (400) where they would take what this transaction makes, or must stay."""
    for thing, action in stage.deleting:
        above = stage.above_before(thing)
        nodes = dict.fromkeys(walk(in_transaction(stage.db), (thing.plan.family, thing.id), children_of))
        for family, object_id in nodes:
            _take_leave(stage, (family, object_id), action.where)
        try:
            remove(stage.db, nodes, actor, files)
        except Refusal as refusal:
            raise Refusal(refusal.status, f"{action.where}: {refusal.description}") from None
        if above is not None and not above.gone:
            _check_left(stage, above, action.where)


def refuse_held(stage: Stage, thing: Thing, links: Iterable[LinkPlan]) -> None:
    """Raises Refusal (400) where an object has anything by one of these references."""
    for link in links:
        if link.kind != "column" and _holding(stage, link, [thing]):
            raise Refusal(400, f"{thing.where}: {thing.plan.name} {thing.id} still has {link.name}.")


def _check_exclusions(stage: Stage, plan: TypePlan, things: Iterable[Thing]) -> None:
    listed = list(things)
    names = {name for pair in plan.not_both for name in pair}
    holders = {name: _holding(stage, plan.links[name], listed) for name in names}
    for thing in listed:
        refuse_both(thing, {name for name, ids in holders.items() if thing.id in ids})


def _holding(stage: Stage, link: LinkPlan, things: list[Thing]) -> set[int]:
    """The ids of those things that have anything by this reference."""
    if link.kind == "pairs":
        table, column = link.pair_table, "a" if link.mine_first else "b"
    else:
        table, column = table_name(link.other_family), link.column
    sql = f'SELECT value FROM json_each(?) AS asked WHERE EXISTS (SELECT 1 FROM {table} WHERE "{column}" = asked.value)'  # noqa: S608  # names of the metamodel
    listed = orjson.dumps([thing.id for thing in things]).decode()
    return {row[0] for row in stage.db.execute(sql, (listed,))}


def _check_left(stage: Stage, above: Thing, where: str) -> None:
    for name in above.plan.must_many:
        if not _holding(stage, above.plan.links[name], [above]):
            raise Refusal(400, f"{where}: {above.plan.name} {above.id} must keep at least one {name}.")


def _take_leave(stage: Stage, node: Node, where: str) -> None:
    """Marks an object as gone. Raises Refusal (400) where this transaction made it or moved it into the tree."""
    thing = stage.things.get(node[1])
    if thing is None:
        return
    if thing.old is None or any(column in thing.changed() for column, _ in thing.plan.parents):
        raise Refusal(400, f"{where}: this would delete what {thing.where} makes or moves there.")
    thing.gone = True


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


def _check_moved_folder(stage: Stage, thing: Thing) -> None:
    member: Thing | None = thing
    while member is not None and member.plan.name != "Arkivdel":
        member = stage.above(member)
    if member is not None:
        _refuse_strays(stage, thing, _STRAYS_BELOW, (thing.id, member.values.get("refPrimaerKlassifikasjonssystem")))


def _refuse_strays(stage: Stage, thing: Thing, sql: str, values: tuple[Stored, ...]) -> None:
    row = stage.db.execute(sql, values).fetchone()
    if row is not None:
        raise Refusal(
            400,
            f"{thing.where}: the primary class of {row[0]} would be outside the series' primary classification system.",
        )
