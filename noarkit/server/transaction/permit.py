"""Whether the caller may do what the transaction does, judged by where everything sits once it is done.

A new object asks for Create at the nearest object above it that existed before, a changed one for Update, one that got
another parent for Move and for Create there, one that goes for Delete. System-managed fields ask for
UpdateSystemManaged; finalised and journaled objects for a service permission more.
"""

from __future__ import annotations

from noarkit.server.rights import PRECEDENT_REGISTER, ROOT
from noarkit.server.transaction.plan import CLOSING
from noarkit.server.transaction.stage import Stage, Thing
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
    for thing in stage.things.values():
        if thing.old is not None and thing.touched:
            _check_changed(stage, thing)
    _check_pairs(stage)
    _check_deletes(stage)
    _check_journal(stage)


def may_edit_final(stage: Stage, thing: Thing, about: Thing) -> None:
    """Raises Refusal (403) where `thing` was finalised before and the caller may not edit such objects."""
    if thing.old is not None and thing.plan.is_final(thing.old) and EDIT_FINALIZED not in stage.caller.rights.service:
        raise Refusal(403, f'{about.where}: {thing.plan.name} {thing.id} is finalised; "{EDIT_FINALIZED}" is missing.')


def _check_new(stage: Stage) -> None:
    rights = stage.caller.rights
    creates = rights.writes_everything("Create")
    manages = rights.writes_everything("UpdateSystemManaged")
    edits_final = EDIT_FINALIZED in rights.service
    if creates and manages and edits_final:
        return
    seen: dict[tuple[str, Node], bool] = {}
    for thing in stage.new:
        node = _anchor(stage, thing)
        if not creates:
            _ask_below(stage, thing, "Create", node, seen)
        if thing.system and not manages:
            _ask_below(stage, thing, "UpdateSystemManaged", node, seen)
        above = stage.above(thing)
        if above is not None and not edits_final:
            may_edit_final(stage, above, thing)


def _check_changed(stage: Stage, thing: Thing) -> None:
    changed = thing.changed()
    if not changed:
        return
    rights = stage.caller.rights
    family = thing.plan.family
    upward = {column for column, _ in thing.plan.parents}
    moved = [column for column in changed if column in upward]
    if len(moved) < len(changed) and not rights.may_change(stage.db, "Update", family, thing.id):
        raise _missing(thing, "Update")
    if moved:
        _check_moved(stage, thing)
    may_edit_final(stage, thing, thing)
    if _is_journaled(thing) and not _ONWARDS.issuperset(changed):
        _ask_journaled(stage, thing)
    if thing.system and thing.system.intersection(changed):
        _ask_managed(stage, thing, bool(moved))


def _check_moved(stage: Stage, thing: Thing) -> None:
    rights = stage.caller.rights
    if not rights.may_change(stage.db, "Move", thing.plan.family, thing.id):
        raise _missing(thing, "Move")
    _ask_below(stage, thing, "Create", _anchor(stage, thing), {})
    for parent in (stage.above_before(thing), stage.above(thing)):
        if parent is not None:
            may_edit_final(stage, parent, thing)


def _ask_managed(stage: Stage, thing: Thing, moved: bool) -> None:
    if moved:
        _ask_below(stage, thing, "UpdateSystemManaged", _anchor(stage, thing), {})
    elif not stage.caller.rights.may_change(stage.db, "UpdateSystemManaged", thing.plan.family, thing.id):
        raise _missing(thing, "UpdateSystemManaged")


def _check_pairs(stage: Stage) -> None:
    rights = stage.caller.rights
    for owner, name, _ in stage.pair_owners.values():
        if owner.old is None:
            continue
        if not rights.may_change(stage.db, "Update", owner.plan.family, owner.id):
            raise Refusal(403, f'{owner.where}: ref {name}: the permission "Update" is missing.')
        may_edit_final(stage, owner, owner)


def _check_deletes(stage: Stage) -> None:
    rights = stage.caller.rights
    for thing, action in stage.deleting:
        if not rights.may_change(stage.db, "Delete", thing.plan.family, thing.id):
            raise Refusal(403, f'{action.where}: the permission "Delete" is missing.')
        may_edit_final(stage, thing, thing)
        if _is_journaled(thing):
            _ask_journaled(stage, thing)
        above = stage.above_before(thing)
        if above is not None:
            may_edit_final(stage, above, thing)


def _check_journal(stage: Stage) -> None:
    """Journaling is the caller's act where he says so; the archive's own default is not."""
    if JOURNAL in stage.caller.rights.service:
        return
    for thing in stage.saved.values():
        if thing.plan.name != "Journalpost" or thing.values.get("journalstatus") != _JOURNALED:
            continue
        if thing.journals if thing.old is None else "journalstatus" in thing.changed():
            raise Refusal(403, f'{thing.where}: field journalstatus: the service permission "{JOURNAL}" is missing.')


def _is_journaled(thing: Thing) -> bool:
    return thing.plan.name == "Journalpost" and thing.old is not None and thing.old.get("journalstatus") == _JOURNALED


def _ask_journaled(stage: Stage, thing: Thing) -> None:
    if EDIT_JOURNALED not in stage.caller.rights.service:
        raise Refusal(
            403, f'{thing.where}: the entry is journaled; the service permission "{EDIT_JOURNALED}" is missing.'
        )


def _anchor(stage: Stage, thing: Thing) -> Node:
    """The nearest node above that was there before: an object, the precedents' register, or the root of all."""
    member = thing
    above = stage.above(member)
    while above is not None and above.old is None:
        member, above = above, stage.above(above)
    if above is not None:
        return above.plan.family, above.id
    return (PRECEDENT_REGISTER, 0) if member.plan.name == "Presedens" else (ROOT, 0)


def _ask_below(stage: Stage, thing: Thing, permission: str, node: Node, seen: dict[tuple[str, Node], bool]) -> None:
    asked = (permission, node)
    if asked not in seen:
        rights = stage.caller.rights
        seen[asked] = rights.writes_everything(permission) or rights.may_below(stage.db, permission, *node)
    if not seen[asked]:
        raise _missing(thing, permission)


def _missing(thing: Thing, permission: str) -> Refusal:
    what = f"field {min(thing.system)}: " if thing.system and permission == "UpdateSystemManaged" else ""
    return Refusal(403, f'{thing.where}: {what}the permission "{permission}" is missing.')
