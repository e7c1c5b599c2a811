"""Checks the caller's permissions for a transaction, by where each object is once the transaction is done.

A new object needs Create at its nearest existing ancestor, a changed one Update, one with another parent Move and also
Create there, a deleted one Delete. System-managed fields need UpdateSystemManaged; finalised and journaled objects need
a service permission more.
"""

from __future__ import annotations

from noarkit.server.rights import PRECEDENT_REGISTER, ROOT
from noarkit.server.transaction.plan import CLOSING
from noarkit.server.transaction.stage import Stage, StagedEntity
from noarkit.server.wire import Refusal

Node = tuple[str, int]

EDIT_FINALIZED = "Edit finalized"
EDIT_JOURNALED = "Edit journaled"
JOURNAL = "Journal"
_JOURNALED = "J"
# Taking a journaled entry further is no edit of it.
_ONWARDS = frozenset({"journalstatus", *CLOSING})


def check_permissions(stage: Stage) -> None:
    """Raises Refusal (403) for the first thing that the caller may not do."""
    _check_new(stage)
    for entity in stage.entities.values():
        if entity.old is not None and entity.touched_columns:
            _check_changed(stage, entity)
    _check_pairs(stage)
    _check_deletes(stage)
    _check_journal(stage)


def check_final_edit(stage: Stage, entity: StagedEntity, subject: StagedEntity) -> None:
    """Raises Refusal (403) where `entity` was finalised before and the caller may not edit such objects."""
    if (
        entity.old is not None
        and entity.plan.is_final(entity.old)
        and EDIT_FINALIZED not in stage.caller.rights.service
    ):
        raise Refusal(
            403, f'{subject.location}: {entity.plan.name} {entity.id} is finalised; "{EDIT_FINALIZED}" is missing.'
        )


def _check_new(stage: Stage) -> None:
    rights = stage.caller.rights
    creates = rights.writes_everything("Create")
    manages = rights.writes_everything("UpdateSystemManaged")
    edits_final = EDIT_FINALIZED in rights.service
    # An account that may do all of it everywhere, as most loads have, is not asked object by object.
    if creates and manages and edits_final:
        return
    answers: dict[tuple[str, Node], bool] = {}
    for entity in stage.new:
        # Rights are granted on objects that exist; a whole new case file is judged by where its top hangs. The answers
        # are remembered, since thousands of new objects hang below the same node.
        node = _anchor(stage, entity)
        if not creates:
            _ask_below(stage, entity, "Create", node, answers)
        if entity.system_columns and not manages:
            _ask_below(stage, entity, "UpdateSystemManaged", node, answers)
        above = stage.parent_of(entity)
        if above is not None and not edits_final:
            check_final_edit(stage, above, entity)


def _check_changed(stage: Stage, entity: StagedEntity) -> None:
    changed = entity.changed_columns()
    if not changed:
        return
    rights = stage.caller.rights
    family = entity.plan.family
    upward = {column for column, _ in entity.plan.parents}
    moved_columns = [column for column in changed if column in upward]
    if len(moved_columns) < len(changed) and not rights.may_change(stage.db, "Update", family, entity.id):
        raise _missing(entity, "Update")
    if moved_columns:
        _check_moved(stage, entity)
    check_final_edit(stage, entity, entity)
    # Judged by what the entry was before: a call cannot take the status back and edit it under that cover.
    if _is_journaled(entity) and not _ONWARDS.issuperset(changed):
        _ask_journaled(stage, entity)
    if entity.system_columns and entity.system_columns.intersection(changed):
        _ask_managed(stage, entity, bool(moved_columns))


def _check_moved(stage: Stage, entity: StagedEntity) -> None:
    rights = stage.caller.rights
    if not rights.may_change(stage.db, "Move", entity.plan.family, entity.id):
        raise _missing(entity, "Move")
    _ask_below(stage, entity, "Create", _anchor(stage, entity), {})
    for parent in (stage.old_parent_of(entity), stage.parent_of(entity)):
        if parent is not None:
            check_final_edit(stage, parent, entity)


def _ask_managed(stage: Stage, entity: StagedEntity, is_moved: bool) -> None:
    if is_moved:
        _ask_below(stage, entity, "UpdateSystemManaged", _anchor(stage, entity), {})
    elif not stage.caller.rights.may_change(stage.db, "UpdateSystemManaged", entity.plan.family, entity.id):
        raise _missing(entity, "UpdateSystemManaged")


def _check_pairs(stage: Stage) -> None:
    rights = stage.caller.rights
    for owner, name, _ in stage.pair_owners.values():
        if owner.old is None:
            continue
        if not rights.may_change(stage.db, "Update", owner.plan.family, owner.id):
            raise Refusal(403, f'{owner.location}: ref {name}: the permission "Update" is missing.')
        check_final_edit(stage, owner, owner)


def _check_deletes(stage: Stage) -> None:
    rights = stage.caller.rights
    for entity, action in stage.deleting:
        if not rights.may_change(stage.db, "Delete", entity.plan.family, entity.id):
            raise Refusal(403, f'{action.location}: the permission "Delete" is missing.')
        check_final_edit(stage, entity, entity)
        if _is_journaled(entity):
            _ask_journaled(stage, entity)
        above = stage.old_parent_of(entity)
        if above is not None:
            check_final_edit(stage, above, entity)


def _check_journal(stage: Stage) -> None:
    """Journaling is the caller's act where he says so; the archive's own default is not."""
    if JOURNAL in stage.caller.rights.service:
        return
    for entity in stage.saved_entities.values():
        if entity.plan.name != "Journalpost" or entity.values.get("journalstatus") != _JOURNALED:
            continue
        if entity.sets_journal_status if entity.old is None else "journalstatus" in entity.changed_columns():
            raise Refusal(
                403, f'{entity.location}: field journalstatus: the service permission "{JOURNAL}" is missing.'
            )


def _is_journaled(entity: StagedEntity) -> bool:
    return (
        entity.plan.name == "Journalpost" and entity.old is not None and entity.old.get("journalstatus") == _JOURNALED
    )


def _ask_journaled(stage: Stage, entity: StagedEntity) -> None:
    if EDIT_JOURNALED not in stage.caller.rights.service:
        raise Refusal(
            403, f'{entity.location}: the entry is journaled; the service permission "{EDIT_JOURNALED}" is missing.'
        )


def _anchor(stage: Stage, entity: StagedEntity) -> Node:
    """The nearest node above that was there before: an object, the precedents' register, or the root of all."""
    member = entity
    above = stage.parent_of(member)
    while above is not None and above.old is None:
        member, above = above, stage.parent_of(above)
    if above is not None:
        return above.plan.family, above.id
    return (PRECEDENT_REGISTER, 0) if member.plan.name == "Presedens" else (ROOT, 0)


def _ask_below(
    stage: Stage, entity: StagedEntity, permission: str, node: Node, decisions: dict[tuple[str, Node], bool]
) -> None:
    key = (permission, node)
    if key not in decisions:
        rights = stage.caller.rights
        decisions[key] = rights.writes_everything(permission) or rights.may_below(stage.db, permission, *node)
    if not decisions[key]:
        raise _missing(entity, permission)


def _missing(entity: StagedEntity, permission: str) -> Refusal:
    field_part = (
        f"field {min(entity.system_columns)}: " if entity.system_columns and permission == "UpdateSystemManaged" else ""
    )
    return Refusal(403, f'{entity.location}: {field_part}the permission "{permission}" is missing.')
