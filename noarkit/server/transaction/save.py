"""The save action: request fields become stored values of one object, new or known.

Only what one field can tell by itself is judged here (unknown, wrong kind, unknown code, never writable or changed);
rights and everything that depends on links wait for the end of the transaction.
"""

from __future__ import annotations

from noarkit.server.rendering import screened
from noarkit.server.transaction.codes import check_code
from noarkit.server.transaction.identity import watch
from noarkit.server.transaction.metadata import metadata_to_stored
from noarkit.server.transaction.plan import FILE_NAME, METADATA, FieldPlan
from noarkit.server.transaction.request import Action
from noarkit.server.transaction.stage import Stage, Thing
from noarkit.server.values import BadValue, Stored, shown
from noarkit.server.wire import Refusal


def save(stage: Stage, action: Action) -> None:
    """Makes or changes one object. Raises Refusal 400, 404 or 409."""
    key = action.key
    if type(key) is int or key in stage.temporary:
        thing = stage.subject(action)
        thing.action = action.place
        check_version(stage, thing, action)
    else:
        thing = stage.make(str(key), action)
    stage.saved[action.spoken_id] = thing
    if thing.old is None:
        _fill_new(stage, thing, action)
    else:
        _change(stage, thing, action)


def check_version(stage: Stage, thing: Thing, action: Action) -> None:
    """Raises Refusal (409) where the caller knows another version of an object than the archive holds."""
    if action.version is None or thing.old is None or not stage.settings.honours_versions:
        return
    if action.version != thing.old["version"]:
        raise Refusal(
            409,
            f"{action.where}: {action.key} has version {thing.old['version']}, not {action.version}; read it again.",
        )


def _fill_new(stage: Stage, thing: Thing, action: Action) -> None:
    plans = thing.plan.fields
    values = thing.values
    watching = stage.settings.identity_numbers != "accept"
    for name, value in action.fields.items():
        plan = plans.get(name)
        if plan is None:
            raise unknown_field(action, name)
        if plan.plain and value is not None:
            try:
                values[plan.column] = plan.convert(value)
            except BadValue as bad:
                raise _bad(action, name, bad) from None
        else:
            _fill_special(stage, thing, action, plan, value)
        if watching and plan.open_text:
            watch(stage, name, value, action.where)


def _fill_special(stage: Stage, thing: Thing, action: Action, plan: FieldPlan, value: object) -> None:
    stored = _convert(stage, action, plan, value)
    if plan.save == "sm":
        if stored is not None:
            thing.claimed = {**(thing.claimed or {}), plan.column: stored}
        return
    if stored is None:
        thing.nulled = (thing.nulled or set()) | {plan.column}
        thing.values.pop(plan.column, None)
        return
    if thing.nulled:
        thing.nulled.discard(plan.column)
    if plan.code_list:
        check_code(stage, plan, stored, action.where)
    if plan.save == "cw":
        thing.system = (thing.system or set()) | {plan.column}
    elif plan.column == "journalstatus":
        thing.journals = True
    thing.values[plan.column] = stored


def _change(stage: Stage, thing: Thing, action: Action) -> None:
    for name, value in action.fields.items():
        plan = thing.plan.fields.get(name)
        if plan is None:
            raise unknown_field(action, name)
        change_field(stage, thing, action, plan, value)


def change_field(stage: Stage, thing: Thing, action: Action, plan: FieldPlan, value: object) -> None:
    """Sets one field of an object that the database holds; a value equal to the one it has always passes.

    Business-specific metadata of a screened object, which a query for public use withholds, is not taken away by an
    empty object: whoever reads so and saves sends just that. Null takes it away.
    """
    stored = _convert(stage, action, plan, value)
    column = plan.column
    if stored == thing.values.get(column):
        return
    old = thing.old or {}
    if (
        column == METADATA
        and stored is None
        and value is not None
        and screened(stage.db, thing.plan.family, [thing.id])
    ):
        return  # sent back by a client to whom it was never shown; null takes it away
    if plan.save == "sm" and not (column == FILE_NAME and stored and stage.settings.file_names_settable):
        raise Refusal(400, f"{action.where}: field {plan.name} is only ever filled in by the archive.")
    if plan.never_changed or (plan.set_once and old.get(column) is not None):
        raise Refusal(400, f"{action.where}: field {plan.name} cannot be changed once it is set.")
    if plan.must and (stored is None or stored == ""):
        raise Refusal(400, f"{action.where}: field {plan.name} must have a value.")
    if plan.code_list and stored is not None and stored != old.get(column):
        check_code(stage, plan, stored, action.where)
    if plan.save == "cw":
        thing.system = (thing.system or set()) | {column}
    if plan.open_text and stage.settings.identity_numbers != "accept":
        watch(stage, plan.name, stored, action.where)
    thing.put(column, stored)


def unknown_field(action: Action, name: str) -> Refusal:
    """What a save says of a field that its type does not have."""
    return Refusal(
        400, f"{action.where}: A field with name {shown(name)} was not found in {action.plan.name} or its hierarchy."
    )


def _convert(stage: Stage, action: Action, plan: FieldPlan, value: object) -> Stored:
    if value is None:
        return None
    if plan.column == METADATA:
        return metadata_to_stored(stage, value, action.where)
    try:
        return plan.convert(value)
    except BadValue as bad:
        raise _bad(action, plan.name, bad) from None


def _bad(action: Action, name: str, bad: BadValue) -> Refusal:
    return Refusal(400, f"{action.where}: field {name} {bad}.")
