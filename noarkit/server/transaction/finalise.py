"""Finalising: a status, or a date where a type has no status, closes an object; who and when is then filled in.

It does not cascade. Opening again by the status takes who and when away.
"""

from __future__ import annotations

from noarkit.server.transaction.plan import CLOSED_BY, CLOSED_BY_ID, CLOSED_DATE, CLOSING
from noarkit.server.transaction.stage import Stage, Thing
from noarkit.server.wire import Refusal


def finalise(stage: Stage) -> None:
    """Completes every object that was finalised or opened here. Raises Refusal (400) for a date without its status."""
    for thing in stage.saved.values():
        if thing.plan.closes:
            _complete(stage, thing)


def _complete(stage: Stage, thing: Thing) -> None:
    now_final = thing.plan.is_final(thing.values)
    was_final = thing.old is not None and thing.plan.is_final(thing.old)
    if thing.plan.name == "Saksmappe" and not now_final:
        _refuse_early_date(thing)
    if now_final and not was_final:
        close(stage.caller.name, stage.caller.account, stage.now_ms, thing)
    elif was_final and not now_final:
        for name in CLOSING:
            thing.put(name, None)


def close(name: str, account: str, now_ms: int, thing: Thing) -> None:
    """Says when and by whom, where it is not said already."""
    for column, stored in ((CLOSED_DATE, now_ms), (CLOSED_BY, name), (CLOSED_BY_ID, account)):
        if thing.values.get(column) is None:
            thing.put(column, stored)


def _refuse_early_date(thing: Thing) -> None:
    date = thing.values.get(CLOSED_DATE)
    if date is not None and date != (thing.old or {}).get(CLOSED_DATE):
        raise Refusal(400, f"{thing.where}: field {CLOSED_DATE} cannot be set while saksstatus is not A.")
