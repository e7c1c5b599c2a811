"""The link and unlink actions, from either side of a reference.

A link of a new object to a new object is two entries in memory. Whether classes, folders and owners then hold what they
must is judged at the end of the transaction.
"""

from __future__ import annotations

from noarkit.server.schema import table_name
from noarkit.server.transaction.plan import LinkPlan
from noarkit.server.transaction.request import Action
from noarkit.server.transaction.stage import Pair, Stage, StagedEntity
from noarkit.server.wire import Refusal


def link(stage: Stage, action: Action) -> None:
    """Links one object to others by one reference. Raises Refusal 400 or 404."""
    plan = _link_plan(action)
    source = stage.subject(action)
    for key in action.other_keys:
        target = stage.target(action, key, plan.targets)
        if target is source:
            raise Refusal(400, f"{action.location}: ref {plan.name}: an object cannot be linked to itself.")
        if plan.kind == "column":
            _attach(stage, action, source, plan.column, target)
        elif plan.kind == "inverse":
            _attach(stage, action, target, plan.column, source)
        else:
            _pair(stage, action, plan, source, target)


def unlink(stage: Stage, action: Action) -> None:
    """Takes links away. Raises Refusal 400 where one is not there, 404 where an object is not."""
    plan = _link_plan(action)
    source = stage.subject(action)
    for key in action.other_keys:
        target = stage.target(action, key, plan.targets)
        if plan.kind == "column":
            _detach(stage, action, source, plan.column, target)
        elif plan.kind == "inverse":
            _detach(stage, action, target, plan.column, source)
        else:
            _unpair(stage, action, plan, source, target)


def _attach(stage: Stage, action: Action, child: StagedEntity, column: str, parent: StagedEntity) -> None:
    current_id = child.values.get(column)
    if current_id is not None:
        if current_id == parent.id:
            return
        raise Refusal(400, f"{action.location}: {column} already leads to {current_id}; unlink it first.")
    plan = child.plan.links[column]
    if not plan.many and column in _ONE_TO_ONE:
        _check_single(stage, action, column, parent)
    child.set_value(column, parent.id)
    if plan.inverse in parent.plan.tracked:
        _count(stage, parent, plan.inverse, 1)


def _detach(stage: Stage, action: Action, child: StagedEntity, column: str, parent: StagedEntity) -> None:
    if child.values.get(column) != parent.id:
        raise _not_linked(action)
    child.set_value(column, None)
    _count(stage, parent, child.plan.links[column].inverse, -1)


def _count(stage: Stage, parent: StagedEntity, reference: str, step: int) -> None:
    if reference in parent.plan.tracked:
        if parent.child_counts is None:
            parent.child_counts = {}
            stage.parents[parent.id] = parent
        parent.child_counts[reference] = parent.child_counts.get(reference, 0) + step


# To-one on both sides: the column of one side is all there is, so the other side is looked up.
_ONE_TO_ONE = frozenset({"refArkivdelForloeper"})


def _check_single(stage: Stage, action: Action, column: str, target: StagedEntity) -> None:
    # In memory first, for this transaction may have moved it; then the rows of objects that it does not touch.
    is_taken = any(entity.values.get(column) == target.id for entity in stage.entities.values())
    if not is_taken and target.old is not None:
        sql = f'SELECT id FROM {table_name(target.plan.family)} WHERE "{column}" = ?'  # noqa: S608  # names of the metamodel
        is_taken = any(row[0] not in stage.entities for row in stage.db.execute(sql, (target.id,)))
    if is_taken:
        raise Refusal(
            400, f"{action.location}: {column} of another object already leads to {target.id}; unlink it first."
        )


def _pair(stage: Stage, action: Action, plan: LinkPlan, source: StagedEntity, target: StagedEntity) -> None:
    key = _pair_key(plan, source, target)
    if _is_paired(stage, key, source, target):
        return
    _set_pair(stage, key, plan, source, target, is_linked=True)
    if source.old is None and plan.name == "refSekundaerKlasse":
        source.secondary_class_ids = [*(source.secondary_class_ids or ()), target.id]
    elif target.old is None and plan.inverse == "refSekundaerKlasse":
        target.secondary_class_ids = [*(target.secondary_class_ids or ()), source.id]


def _unpair(stage: Stage, action: Action, plan: LinkPlan, source: StagedEntity, target: StagedEntity) -> None:
    key = _pair_key(plan, source, target)
    if not _is_paired(stage, key, source, target):
        raise _not_linked(action)
    _set_pair(stage, key, plan, source, target, is_linked=False)
    for owner, class_id in ((source, target.id), (target, source.id)):
        if owner.secondary_class_ids and class_id in owner.secondary_class_ids:
            owner.secondary_class_ids.remove(class_id)


def _is_paired(stage: Stage, key: Pair, source: StagedEntity, target: StagedEntity) -> bool:
    is_linked = stage.pairs.get(key)
    if is_linked is not None:
        return is_linked
    if source.old is None or target.old is None:
        return False
    table, first, second = key
    sql = f"SELECT 1 FROM {table} WHERE a = ? AND b = ?"  # noqa: S608  # names of the metamodel
    return stage.db.execute(sql, (first, second)).fetchone() is not None


def _pair_key(plan: LinkPlan, source: StagedEntity, target: StagedEntity) -> Pair:
    if plan.mine_first:
        return plan.pair_table, source.id, target.id
    return plan.pair_table, target.id, source.id


def _set_pair(
    stage: Stage, key: Pair, plan: LinkPlan, source: StagedEntity, target: StagedEntity, *, is_linked: bool
) -> None:
    """Adds or removes a pair; a pair that is changed twice is as in the database again, and no change.

    Remembers which of the two objects the change belongs to, and the name of the reference from that side.
    """
    # Linked and unlinked again, or the other way round: nothing remains to be written or logged.
    if key in stage.pairs:
        del stage.pairs[key], stage.pair_owners[key]
    else:
        stage.pairs[key] = is_linked
        stage.pair_owners[key] = (source, plan.name, target) if plan.owns else (target, plan.inverse, source)
    step = 1 if is_linked else -1
    _count(stage, source, plan.name, step)
    _count(stage, target, plan.inverse, step)


def _link_plan(action: Action) -> LinkPlan:
    if action.link is None:
        raise Refusal(400, f"{action.location}: ref is missing.")
    return action.link


def _not_linked(action: Action) -> Refusal:
    return Refusal(400, f"{action.location}: ref {_link_plan(action).name}: these two are not linked.")
