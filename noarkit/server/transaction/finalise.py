"""Finalising: a status, or a date where a type has no status, closes an object; who and when is then filled in.

It does not cascade. Opening again by the status takes who and when away.
"""

from __future__ import annotations

from noarkit.server.transaction.plan import CLOSED_BY, CLOSED_BY_ID, CLOSED_DATE, CLOSING
from noarkit.server.transaction.stage import Stage, StagedEntity
from noarkit.server.wire import Refusal


def finalise(stage: Stage) -> None:
    """Completes every object that was finalised or opened here. Raises Refusal (400) for a date without its status."""
    for entity in stage.saved_entities.values():
        if entity.plan.closes:
            _complete(stage, entity)


def _complete(stage: Stage, entity: StagedEntity) -> None:
    now_final = entity.plan.is_final(entity.values)
    was_final = entity.old is not None and entity.plan.is_final(entity.old)
    if entity.plan.name == "Saksmappe" and not now_final:
        _refuse_early_date(entity)
    if now_final and not was_final:
        close(stage.caller.name, stage.caller.account, stage.now_ms, entity)
    elif was_final and not now_final:
        for name in CLOSING:
            entity.set_value(name, None)


def close(name: str, account: str, now_ms: int, entity: StagedEntity) -> None:
    """Says when and by whom, where it is not said already."""
    for column, value in ((CLOSED_DATE, now_ms), (CLOSED_BY, name), (CLOSED_BY_ID, account)):
        if entity.values.get(column) is None:
            entity.set_value(column, value)


def _refuse_early_date(entity: StagedEntity) -> None:
    date = entity.values.get(CLOSED_DATE)
    if date is not None and date != (entity.old or {}).get(CLOSED_DATE):
        raise Refusal(400, f"{entity.location}: field {CLOSED_DATE} cannot be set while saksstatus is not A.")
