"""The registry of business-specific metadata, and the values that objects have of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.strict_archive.values import RefusedRequest, bad, parameter

KINDS = ("string", "long", "double", "timestamp", "encrypted")
_ID = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?\Z", re.ASCII)


@dataclass(slots=True)
class Field:
    """A registered field."""

    id: str
    name: str
    kind: str
    description: str | None = None
    values: tuple[object, ...] | None = None

    def as_answer(self) -> dict[str, object]:
        """The field as answers have it."""
        answer: dict[str, object] = {"fieldId": self.id, "fieldName": self.name, "fieldType": self.kind}
        answer |= {} if self.description is None else {"fieldDescription": self.description}
        return answer | ({} if self.values is None else {"fieldValues": list(self.values)})


@dataclass(slots=True)
class Group:
    """A registered group."""

    id: str
    name: str
    description: str | None = None
    fields: dict[str, Field] = field(default_factory=dict)

    def as_answer(self) -> dict[str, object]:
        """The group as answers have it."""
        answer: dict[str, object] = {"groupId": self.id, "groupName": self.name}
        answer |= {} if self.description is None else {"groupDescription": self.description}
        return answer | {"fields": [each.as_answer() for each in self.fields.values()]}


class Registry:
    """What is registered."""

    def __init__(self) -> None:
        self.groups: dict[str, Group] = {}

    def put_group(self, id: str, body: Mapping[str, object]) -> Group:
        """Creates a group, or gives it another name."""
        _check_id(id)
        group = self.groups.setdefault(id, Group(id, ""))
        group.name, group.description = _text(body, "groupName"), _text_or_none(body, "groupDescription")
        return group

    def put_field(self, group_id: str, id: str, body: Mapping[str, object]) -> Field:
        """Creates a field, or gives it another name; its type cannot change."""
        _check_id(id)
        group = self.groups.get(group_id)
        if group is None:
            raise RefusedRequest(404, f"There is no group {group_id}.")
        kind = body["fieldType"]
        known = group.fields.get(id)
        if kind not in KINDS or (known is not None and known.kind != kind):
            raise bad(f"The type of the field {id} cannot be {kind}.")
        values = body.get("fieldValues")
        if values is not None and not isinstance(values, list):
            raise bad("The values of a field are a list.")
        name, description = _text(body, "fieldName"), _text_or_none(body, "fieldDescription")
        group.fields[id] = Field(id, name, str(kind), description, None if values is None else tuple(values))
        return group.fields[id]

    def taken(self, value: object) -> dict[str, object]:
        """The values that a request gives an object: all that it has from then on."""
        if value is not None and not isinstance(value, dict):
            raise bad("Business-specific metadata is an object of groups.")
        result: dict[str, dict[str, object]] = {}
        for group_id, field_id, values in _entries(value or {}):
            group = self.groups.get(group_id)
            known = group.fields.get(field_id) if group is not None else None
            if known is None:
                raise bad(f"The field {group_id}.{field_id} of business-specific metadata is not registered.")
            for each in values:
                if known.values is not None and each not in known.values:
                    raise bad(
                        f"The field {group_id}.{field_id} of business-specific metadata takes only its own values."
                    )
                _check_value(known, each)
            if values:
                result.setdefault(group_id, {})[field_id] = {"type": known.kind, "values": values}
        return dict(result)


def _entries(value: Mapping[str, object]) -> Iterator[tuple[str, str, list[object]]]:
    for group_id, fields in value.items():
        if not isinstance(fields, dict):
            raise bad("A group of business-specific metadata is an object of fields.")
        for field_id, entry in fields.items():
            values = entry.get("values") if isinstance(entry, dict) else None
            if not isinstance(values, list):
                raise bad("A field of business-specific metadata has the member values, which is a list.")
            yield group_id, field_id, values


def _check_value(known: Field, value: object) -> None:
    if known.kind in ("string", "encrypted") and not isinstance(value, str):
        raise bad(f"A value of the field {known.id} of business-specific metadata is no text.")
    if known.kind == "timestamp":
        parameter(value, "timestamp")
    if known.kind in ("long", "double") and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise bad(f"A value of the field {known.id} of business-specific metadata is no number.")


def _check_id(id: str) -> None:
    if not _ID.match(id):
        raise bad(f"The id {id} has other signs than small letters, digits and dashes.")


def _text(body: Mapping[str, object], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise bad(f"The member {name} is a text.")
    return value


def _text_or_none(body: Mapping[str, object], name: str) -> str | None:
    return None if body.get(name) is None else _text(body, name)
