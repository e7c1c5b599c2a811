"""Sets the screening code of new folders, records and documents: the caller's, else one inherited at creation.

The first of these wins: the caller's code or null, the direct parent's code, the primary class's, that of the secondary
class if exactly one is screened, the archive's default. It is a copy; later changes above do not come down.
"""

from __future__ import annotations

from noarkit.server.transaction.stage import Stage, StagedEntity
from noarkit.server.values import Stored

_CODE = "skjerming"


def inherit_screening(stage: Stage) -> None:
    """Settles the screening of every new object that can inherit it; parents before their children."""
    settled_ids: set[int] = set()
    for entity in stage.new:
        if entity.plan.inherits_screening and entity.id not in settled_ids:
            for member in _from_the_top(stage, entity, settled_ids):
                _settle(stage, member)


def _from_the_top(stage: Stage, entity: StagedEntity, settled_ids: set[int]) -> list[StagedEntity]:
    """The thing and those new ones above it that are not settled yet, topmost first."""
    chain: list[StagedEntity] = []
    member: StagedEntity | None = entity
    while member is not None and member.old is None and member.id not in settled_ids:
        settled_ids.add(member.id)
        chain.append(member)
        member = stage.parent_of(member)
    chain.reverse()
    return [member for member in chain if member.plan.inherits_screening]


def _settle(stage: Stage, entity: StagedEntity) -> None:
    if _CODE in entity.values or (entity.nulled_columns and _CODE in entity.nulled_columns):
        return
    code = _inherited(stage, entity)
    if code:
        entity.values[_CODE] = code


def _inherited(stage: Stage, entity: StagedEntity) -> Stored:
    above = stage.parent_of(entity)
    code = above.values.get(_CODE) if above is not None else None
    if code:
        return code
    primary = entity.values.get("refPrimaerKlasse")
    if primary is not None:
        code = _code_of_class(stage, int(primary))
        if code:
            return code
    class_codes = [
        code for code in (_code_of_class(stage, member) for member in entity.secondary_class_ids or ()) if code
    ]
    return class_codes[0] if len(class_codes) == 1 else stage.settings.default_screening


def _code_of_class(stage: Stage, class_id: int) -> Stored:
    class_entity = stage.look_up("Klasse", class_id)
    return class_entity.values.get(_CODE) if class_entity is not None else None
