"""The save action: request fields become stored values of one object, new or known.

Only what one field can tell by itself is judged here (unknown, wrong kind, unknown code, never writable or changed);
rights and everything that depends on links wait for the end of the transaction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import orjson

from noarkit.model.identity_numbers import find_identity_numbers
from noarkit.server.rendering import find_screened
from noarkit.server.transaction.plan import FILE_NAME, METADATA, FieldPlan
from noarkit.server.transaction.request import Action
from noarkit.server.transaction.stage import Stage, StagedEntity
from noarkit.server.values import BadValue, Stored, format_timestamp, shorten, text, timestamp, truth, whole_number
from noarkit.server.wire import Refusal


def save(stage: Stage, action: Action) -> None:
    """Makes or changes one object. Raises Refusal 400, 404 or 409."""
    key = action.key
    # A temporary id saved twice is one object: the second save goes on with the first.
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
    # Against the version before this transaction: two actions on one object in one call both name the one that the
    # caller read. This is what the guards of a load rely on (invariant 3).
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
    if plan.save == "cw" and value is not None and not plan.code_list and not entity.nulled_columns:
        # by far the most: the uuid that a load gives each object
        try:
            entity.values[plan.column] = plan.convert(value)
        except BadValue as fault:
            raise _bad(action, plan.name, fault) from None
        entity.mark_system(plan.column)
        return
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
        entity.mark_system(plan.column)
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
    # Clients read an object and send all of it back; fields that they may not change pass as long as they are
    # unchanged.
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
        entity.mark_system(column)
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


def check_code(stage: Stage, plan: FieldPlan, code: Stored, location: str) -> None:
    """Raises Refusal (400) for a code that is not in the field's list."""
    key = (plan.code_list, str(code))
    # Remembered for the transaction: thousands of records bear the same few codes.
    is_known = stage.codes.get(key)
    if is_known is None:
        row = stage.db.execute("SELECT 1 FROM code_value WHERE list = ? AND code = ?", key).fetchone()
        is_known = stage.codes[key] = row is not None
    if not is_known:
        raise Refusal(400, f"{location}: field {plan.name}: {code!r:.80} is no code of the list {plan.code_list}.")


def check_identity_numbers(stage: Stage, name: str, value: object, location: str) -> None:
    """Looks at one open text that a caller wrote. Raises Refusal (400) where the settings refuse such numbers."""
    if not isinstance(value, str) or next(find_identity_numbers(value), None) is None:
        return
    sentence = f"{location}: field {name} holds a national identity number."
    if stage.settings.identity_numbers == "refuse":
        raise Refusal(400, sentence)
    stage.warnings.append(sentence)


def metadata_to_stored(stage: Stage, value: object, location: str) -> str | None:
    """The stored form of a request's business-specific metadata. Raises Refusal (400) for what the registry lacks."""
    location = f"{location}: field virksomhetsspesifikkeMetadata"
    groups = {}
    for group, fields in _members(value, location).items():
        entries = {
            name: entry for name, member in _members(fields, location).items() if (entry := _entry(member, location))
        }
        converted = {name: _field(stage, group, name, entry, location) for name, entry in entries.items()}
        if converted:
            groups[group] = converted
    return orjson.dumps(groups, option=orjson.OPT_SORT_KEYS).decode() if groups else None


def _members(value: object, location: str) -> Mapping[str, object]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Refusal(400, f"{location} takes an object of groups of fields.")
    return value


def _entry(member: object, location: str) -> list[object]:
    """The values of a field, empty if it is to be removed."""
    values = _members(member, location).get("values")
    if values is None:
        return []
    if not isinstance(values, list):
        raise Refusal(400, f"{location}: values is a list.")
    return values


def _field(stage: Stage, group: str, name: str, values: list[object], location: str) -> Mapping[str, object]:
    location = f"{location}, {shorten(group)}.{shorten(name)}"
    try:
        row = stage.db.execute(
            "SELECT kind, fixed_values FROM bsm_field WHERE group_id = ? AND field_id = ?", (text(group), text(name))
        ).fetchone()
        if row is None:
            raise BadValue("is not in the registry")
        kind, fixed_json = row
        converted = [_KINDS[kind](value) for value in values]
        choices = None if fixed_json is None else {_KINDS[kind](value) for value in orjson.loads(fixed_json)}
    except BadValue as fault:
        raise Refusal(400, f"{location} {fault}.") from None
    if choices is not None and not choices.issuperset(converted):
        raise Refusal(400, f"{location} takes only the values of its fixed set.")
    return {"type": kind, "values": converted}


def _double(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise BadValue("takes a number")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise BadValue("takes a number") from None
    if not math.isfinite(number):
        raise BadValue("takes a number")
    return number


_KINDS: Mapping[str, Callable[[object], object]] = {
    "string": text,
    "encrypted": text,
    "uri": text,
    "long": whole_number,
    "double": _double,
    "timestamp": lambda value: format_timestamp(timestamp(value)),
    "boolean": lambda value: bool(truth(value)),
}
