"""The body of a transaction as actions whose shape is known to be right; their meaning is judged later.

A permanent id is a string of digits (a JSON number is taken too) and becomes an int; a temporary id is any other string
and stays one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from noarkit.server.transaction.plan import LinkPlan, TypePlan
from noarkit.server.values import INTEGER_MAX, shorten
from noarkit.server.wire import Refusal

Key = int | str

_VERBS = ("save", "link", "unlink", "delete")
_OTHER_KEYS_MEMBER = {"link": "linkToId", "unlink": "unlinkFromId"}
_NO_FIELDS: Mapping[str, object] = {}
# No archive has given out ids this long; such an id is simply not there.
_UNKNOWN_ID = INTEGER_MAX


class Action(NamedTuple):
    """One action; a NamedTuple, because a call may hold thousands and these are the quickest to make."""

    place: int
    verb: str
    plan: TypePlan
    key: Key
    requested_id: str
    version: int | None
    fields: Mapping[str, object]
    link: LinkPlan | None
    other_keys: tuple[Key, ...]

    @property
    def location(self) -> str:
        """The beginning of a sentence about this action."""
        return f"actions[{self.place}] ({self.verb} {self.plan.name})"


def read_actions(body: object, plans: Mapping[str, TypePlan], max_actions: int) -> list[Action]:
    """The actions of a request body. Raises Refusal (400) for the first that is malformed, 413 for too many."""
    if not isinstance(body, dict) or not isinstance(body.get("actions"), list):
        raise Refusal(400, "The body needs a member actions, a list.")
    if len(body["actions"]) > max_actions:
        raise Refusal(413, f"A transaction takes at most {max_actions} actions.")
    return [_read(index, entry, plans) for index, entry in enumerate(body["actions"])]


def _read(index: int, entry: object, plans: Mapping[str, TypePlan]) -> Action:
    if not isinstance(entry, dict):
        raise Refusal(400, f"actions[{index}]: an action is an object.")
    verb = entry.get("action")
    if not isinstance(verb, str) or verb not in _VERBS:
        raise Refusal(400, f"actions[{index}]: action is one of {', '.join(_VERBS)}.")
    type_name = entry.get("type")
    plan = plans.get(type_name) if isinstance(type_name, str) else None
    if plan is None:
        raise Refusal(400, f"actions[{index}] ({verb}): {_bad_type(type_name)}.")
    id_value = entry.get("id")
    key = read_key(id_value)
    if key is None:
        raise _malformed(index, verb, plan, "id is a non-empty string")
    if verb == "save":
        fields = entry.get("fields")
        if fields is None:
            fields = {}
        elif type(fields) is not dict:
            raise _malformed(index, verb, plan, "fields is an object")
        version = read_version(entry.get("version"), f"actions[{index}] (save {plan.name})")
        return Action(index, verb, plan, key, str(id_value), version, fields, None, ())
    if verb == "delete":
        version = read_version(entry.get("version"), f"actions[{index}] (delete {plan.name})")
        return Action(index, verb, plan, key, str(id_value), version, {}, None, ())
    return _read_link(index, verb, plan, key, entry)


def _read_link(index: int, verb: str, plan: TypePlan, key: Key, entry: Mapping[str, object]) -> Action:
    reference = entry.get("ref")
    link = plan.links.get(reference) if isinstance(reference, str) else None
    if link is None:
        raise _malformed(index, verb, plan, f"ref {_quoted(reference)} is no reference of {plan.name}")
    if not (link.linkable if verb == "link" else link.unlinkable):
        raise _malformed(index, verb, plan, f"ref {link.name} may not be {verb}ed")
    member = _OTHER_KEYS_MEMBER[verb]
    ids = entry.get(member)
    if type(ids) is not list:
        ids = [ids]
    elif not ids:
        raise _malformed(index, verb, plan, f"{member} names nothing")
    other_keys = [key for key in map(read_key, ids) if key is not None]
    if len(other_keys) < len(ids):
        raise _malformed(index, verb, plan, f"{member} is an id or a list of ids")
    if len(other_keys) > 1 and not link.many:
        raise _malformed(index, verb, plan, f"{member} may name only one, for ref {link.name} leads to one")
    return Action(index, verb, plan, key, str(key), None, _NO_FIELDS, link, tuple(other_keys))


def read_key(value: object) -> Key | None:
    """A permanent id as an int, a temporary id as it stands, None for what is no id."""
    if type(value) is str:
        if value.isdigit() and value.isascii():
            # An id of more digits would overflow SQLite's integers; it cannot exist, so it is answered like any unknown
            # one.
            return int(value) if len(value) < 19 else _UNKNOWN_ID
        return value if value and (value.isascii() or _is_whole(value)) else None
    if type(value) is int and value >= 0:
        return min(value, _UNKNOWN_ID)
    return None


def read_version(value: object, location: str) -> int | None:
    """A version as sent, by string or number; None if it is left out."""
    if value is None:
        return None
    if type(value) is str and value.isdigit() and value.isascii() and len(value) < 19:
        return int(value)
    if type(value) is int and 0 <= value < _UNKNOWN_ID:
        return value
    raise Refusal(400, f"{location}: version is a number as a string.")


def _is_whole(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _bad_type(type_name: object) -> str:
    if not isinstance(type_name, str):
        return "type is missing"
    return f"there is no type {_quoted(type_name)} that can be saved, linked or deleted"


def _malformed(index: int, verb: str, plan: TypePlan, reason: str) -> Refusal:
    return Refusal(400, f"actions[{index}] ({verb} {plan.name}): {reason}.")


def _quoted(value: object) -> str:
    return shorten(value) if isinstance(value, str) else "(none)"
