"""Values of the port ↔ JSON of the wire. What comes in is checked just as far as we rely on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import orjson

from noarkit.archive.answers import CallContext, strange_answer
from noarkit.archive.values import (
    Action,
    Delete,
    FieldValue,
    Json,
    Link,
    Page,
    Query,
    Save,
    SavedObject,
    wire_timestamp,
)
from noarkit.errors import UsageFault

_METADATA = "virksomhetsspesifikkeMetadata"


def transaction_body(actions: Sequence[Action]) -> bytes:
    """The body of a transaction."""
    return json_body({"actions": [_action(action) for action in actions]})


def query_body(query: Query) -> bytes:
    """The body of a query. `publicUse` is always said: left out, it would withhold what is screened."""
    members: dict[str, object] = {
        "type": query.type,
        "limit": query.limit,
        "offset": query.offset,
        "publicUse": query.public_use,
        "query": query.where,
        "parameters": query.parameters,
        "joins": query.joins,
        "sortOrder": [{"field": name, "order": order} for name, order in query.order],
    }
    return json_body(members)


def json_body(members: Mapping[str, object]) -> bytes:
    """Any body. Raises `UsageFault` for a value that cannot be sent: a text that is no text, a time without zone."""
    try:
        return orjson.dumps(members, default=_value, option=orjson.OPT_PASSTHROUGH_DATETIME)
    except orjson.JSONEncodeError as error:
        raise UsageFault(what="unsendable", why=str(error)) from error


def saved_of(answer: Mapping[str, object], context: CallContext) -> dict[str, SavedObject]:
    """The saved objects in the answer to a transaction."""
    entries = answer.get("saved")
    if not isinstance(entries, dict):
        raise strange_answer(context, "no-saved")
    return {name: object_of(entry, context) for name, entry in entries.items()}


def page_of(answer: Mapping[str, object], context: CallContext) -> Page:
    """The page in the answer to a query."""
    results = answer.get("results")
    if not isinstance(results, list):
        raise strange_answer(context, "no-results")
    return Page(tuple([object_of(entry, context) for entry in results]), answer.get("hasMore") in (True, "true"))


def object_of(value: object, context: CallContext) -> SavedObject:
    """An object of the archive. Ids, versions and link targets come as text or number, and become text."""
    if not isinstance(value, dict):
        raise strange_answer(context, "object")
    try:
        archive_id, version, fields, links = value["id"], value["version"], value.get("fields"), value.get("links")
        return SavedObject(
            value["type"],
            archive_id if type(archive_id) is str else _text(archive_id),
            version if type(version) is str else _text(version),
            fields if isinstance(fields, dict) else {},
            {name: _text(target) for name, target in links.items() if target is not None} if links else {},
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise strange_answer(context, "object") from error


def file_id_of(answer: Mapping[str, object], context: CallContext) -> str:
    """The id in the answer to an upload."""
    try:
        return _text(answer["id"])
    except (KeyError, TypeError) as error:
        raise strange_answer(context, "no-id") from error


def as_json(value: object, context: CallContext) -> Json:
    """Parsed JSON as what it is."""
    if value is None or isinstance(value, bool | int | float | str | list | dict):
        return value
    raise strange_answer(context, "not-json")


def _action(action: Action) -> dict[str, object]:
    if isinstance(action, Save):
        kind, action_id, fields, version = action
        if _METADATA in fields:
            fields = _without_emptied_metadata(action)
        members: dict[str, object] = {"type": kind, "id": action_id, "action": "save", "fields": fields}
    elif isinstance(action, Link):
        kind, action_id, reference, targets = action
        return {"type": kind, "id": action_id, "action": "link", "ref": reference, "linkToId": targets}
    elif isinstance(action, Delete):
        kind, action_id, version = action
        members = {"type": kind, "id": action_id, "action": "delete"}
    else:
        kind, action_id, reference, targets = action
        return {"type": kind, "id": action_id, "action": "unlink", "ref": reference, "unlinkFromId": targets}
    if version is not None:
        members["version"] = version
    return members


def _without_emptied_metadata(action: Save) -> Mapping[str, FieldValue]:
    """The fields to save. An empty object of business-specific metadata would take away what is there, and whoever read
    for public use was never shown it: it is not sent. Null takes metadata away."""
    if action.id.isdigit() and action.fields.get(_METADATA) == {}:
        return {name: value for name, value in action.fields.items() if name != _METADATA}
    return action.fields


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise TypeError(value)


def _value(value: object) -> object:
    if isinstance(value, datetime):
        return wire_timestamp(value)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(value)
