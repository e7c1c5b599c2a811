"""The save action: request fields become stored values of one object, new or known.

Only what one field can tell by itself is judged here (unknown, wrong kind, unknown code, never writable or changed);
rights and everything that depends on links wait for the end of the transaction.
"""

from __future__ import annotations

from noarkit.server.rendering import find_screened
from noarkit.server.transaction.codes import check_code
from noarkit.server.transaction.identity import check_identity_numbers
from noarkit.server.transaction.metadata import metadata_to_stored
from noarkit.server.transaction.plan import FILE_NAME, METADATA, FieldPlan
from noarkit.server.transaction.request import Action
from noarkit.server.transaction.stage import Stage, StagedEntity
from noarkit.server.values import BadValue, Stored, shorten
from noarkit.server.wire import Refusal


def save(stage: Stage, action: Action) -> None:
    """Makes or changes one object. Raises Refusal 400, 404 or 409."""
    key = action.key
    if type(key) is int or key in stage.temporary:
        entity = stage.subject(action)
        entity.action = action.place
        check_version(stage, entity, action)
    else:
        entity = stage.make(str(key), action)
    stage.saved_entities[action.requested_id] = entity
    if entity.old is None:
        _fill_new(stage, entity, action)
    else:
        _change(stage, entity, action)


def check_version(stage: Stage, entity: StagedEntity, action: Action) -> None:
    """Raises Refusal (409) where the caller knows another version of an object than the archive holds."""
    if action.version is None or entity.old is None or not stage.settings.honours_versions:
        return
    if action.version != entity.old["version"]:
        raise Refusal(
            409,
            f"{action.location}: {action.key} has version {entity.old['version']}, not {action.version};"
            " read it again.",
        )


def _fill_new(stage: Stage, entity: StagedEntity, action: Action) -> None:
    plans = entity.plan.fields
    values = entity.values
    watching = stage.settings.identity_numbers != "accept"
    for name, value in action.fields.items():
        plan = plans.get(name)
        if plan is None:
            raise unknown_field(action, name)
        if plan.plain and value is not None:
            try:
                values[plan.column] = plan.convert(value)
            except BadValue as fault:
                raise _bad(action, name, fault) from None
        else:
            _fill_special(stage, entity, action, plan, value)
        if watching and plan.open_text:
            check_identity_numbers(stage, name, value, action.location)


def _fill_special(stage: Stage, entity: StagedEntity, action: Action, plan: FieldPlan, value: object) -> None:
    stored_value = _convert(stage, action, plan, value)
    if plan.save == "sm":
        if stored_value is not None:
            entity.claimed_values = {**(entity.claimed_values or {}), plan.column: stored_value}
        return
    if stored_value is None:
        entity.nulled_columns = (entity.nulled_columns or set()) | {plan.column}
        entity.values.pop(plan.column, None)
        return
    if entity.nulled_columns:
        entity.nulled_columns.discard(plan.column)
    if plan.code_list:
        check_code(stage, plan, stored_value, action.location)
    if plan.save == "cw":
        entity.system_columns = (entity.system_columns or set()) | {plan.column}
    elif plan.column == "journalstatus":
        entity.sets_journal_status = True
    entity.values[plan.column] = stored_value


def _change(stage: Stage, entity: StagedEntity, action: Action) -> None:
    for name, value in action.fields.items():
        plan = entity.plan.fields.get(name)
        if plan is None:
            raise unknown_field(action, name)
        change_field(stage, entity, action, plan, value)


def change_field(stage: Stage, entity: StagedEntity, action: Action, plan: FieldPlan, value: object) -> None:
    """Sets one field of an object that the database holds; a value equal to the one it has always passes.

    Business-specific metadata of a screened object, which a query for public use withholds, is not taken away by an
    empty object: whoever reads so and saves sends just that. Null takes it away.
    """
    stored_value = _convert(stage, action, plan, value)
    column = plan.column
    if stored_value == entity.values.get(column):
        return
    old = entity.old or {}
    if (
        column == METADATA
        and stored_value is None
        and value is not None
        and find_screened(stage.db, entity.plan.family, [entity.id])
    ):
        return  # sent back by a client to whom it was never shown; null takes it away
    if plan.save == "sm" and not (column == FILE_NAME and stored_value and stage.settings.file_names_settable):
        raise Refusal(400, f"{action.location}: field {plan.name} is only ever filled in by the archive.")
    if plan.never_changed or (plan.set_once and old.get(column) is not None):
        raise Refusal(400, f"{action.location}: field {plan.name} cannot be changed once it is set.")
    if plan.must and (stored_value is None or stored_value == ""):
        raise Refusal(400, f"{action.location}: field {plan.name} must have a value.")
    if plan.code_list and stored_value is not None and stored_value != old.get(column):
        check_code(stage, plan, stored_value, action.location)
    if plan.save == "cw":
        entity.system_columns = (entity.system_columns or set()) | {column}
    if plan.open_text and stage.settings.identity_numbers != "accept":
        check_identity_numbers(stage, plan.name, stored_value, action.location)
    entity.set_value(column, stored_value)


def unknown_field(action: Action, name: str) -> Refusal:
    """What a save says of a field that its type does not have."""
    return Refusal(
        400,
        f"{action.location}: A field with name {shorten(name)} was not found in {action.plan.name} or its hierarchy.",
    )


def _convert(stage: Stage, action: Action, plan: FieldPlan, value: object) -> Stored:
    if value is None:
        return None
    if plan.column == METADATA:
        return metadata_to_stored(stage, value, action.location)
    try:
        return plan.convert(value)
    except BadValue as fault:
        raise _bad(action, plan.name, fault) from None


def _bad(action: Action, name: str, fault: BadValue) -> Refusal:
    return Refusal(400, f"{action.location}: field {name} {fault}.")
