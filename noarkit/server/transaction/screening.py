"""Screening of new folders, records and documents: what the caller says, else inherited once, at creation.

The first of these wins: the caller's code or null, the direct parent's code, the primary class's, that of the secondary
class if exactly one is screened, the archive's default. It is a copy; later changes above do not come down.
"""

from __future__ import annotations

from noarkit.server.transaction.stage import Stage, Thing
from noarkit.server.values import Stored

_CODE = "skjerming"


def inherit_screening(stage: Stage) -> None:
    """Settles the screening of every new object that can inherit it; parents before their children."""
    settled: set[int] = set()
    for thing in stage.new:
        if thing.plan.inherits_screening and thing.id not in settled:
            for member in _from_the_top(stage, thing, settled):
                _settle(stage, member)


def _from_the_top(stage: Stage, thing: Thing, settled: set[int]) -> list[Thing]:
    """The thing and those new ones above it that are not settled yet, topmost first."""
    chain: list[Thing] = []
    member: Thing | None = thing
    while member is not None and member.old is None and member.id not in settled:
        settled.add(member.id)
        chain.append(member)
        member = stage.above(member)
    chain.reverse()
    return [member for member in chain if member.plan.inherits_screening]


def _settle(stage: Stage, thing: Thing) -> None:
    if _CODE in thing.values or (thing.nulled and _CODE in thing.nulled):
        return
    code = _inherited(stage, thing)
    if code:
        thing.values[_CODE] = code


def _inherited(stage: Stage, thing: Thing) -> Stored:
    above = stage.above(thing)
    code = above.values.get(_CODE) if above is not None else None
    if code:
        return code
    primary = thing.values.get("refPrimaerKlasse")
    if primary is not None:
        code = _code_of_class(stage, int(primary))
        if code:
            return code
    screened = [code for code in (_code_of_class(stage, member) for member in thing.secondary or ()) if code]
    return screened[0] if len(screened) == 1 else stage.settings.default_screening


def _code_of_class(stage: Stage, class_id: int) -> Stored:
    found = stage.look("Klasse", class_id)
    return found.values.get(_CODE) if found is not None else None
