"""Keeps the dates, years and numbers of a source in business-specific metadata, for an account that may not set them.

A thing keeps its own, and those of what hangs on it and has no such metadata (a version, a remark, an answer), each
with a digest of what it says otherwise, by which it is known again. Read out of the archive, they replace what it gave
itself.

    {"saksaar": 2014, ...}  ->  {"noarkit-original": {"noarkit-values": {"values": ['{"own":{"saksaar":2014}}']}}, ...}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from noarkit.forms.noark5.read.original import GROUP, describing_fields, kept_texts, state_of
from noarkit.graph.entity import FieldValue
from noarkit.model.mapping import BUSINESS_METADATA
from noarkit.model.system_values import managed_with_people

VALUES = "noarkit-values"
NAMES: Mapping[str, str] = {f"{GROUP}/{VALUES}": "Datoer, år og numre fra kilden"}

_NUMBERED: Mapping[str, tuple[str, str, str]] = {
    "Saksmappe": ("saksaar", "sakssekvensnummer", "mappeIdent"),
    "Journalpost": ("journalaar", "journalsekvensnummer", "registreringsIdent"),
}

Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class CarriedBelow:
    """The values of something that hangs on what keeps them; `names` and `state` say which."""

    kind: str
    names: tuple[str, ...]
    state: str
    values: Fields

    def is_of(self, kind: str, fields: Fields) -> bool:
        """True for the thing that they are of."""
        return kind == self.kind and state_of(self.names, fields) == self.state


def values_to_carry(kind: str, fields: Fields) -> dict[str, object]:
    """What of the fields of a thing is lost without the right; the number that the archive makes of a year and a
    sequence number too.

    >>> values_to_carry("Saksmappe", {"tittel": "Vei", "saksaar": 2014, "sakssekvensnummer": 7})
    {'mappeIdent': '2014/7', 'saksaar': 2014, 'sakssekvensnummer': 7}
    """
    year, number, ident = _NUMBERED.get(kind, ("", "", ""))
    if fields.get(year) is not None and fields.get(number) is not None and not fields.get(ident):
        fields = {**fields, ident: f"{fields[year]}/{fields[number]}"}
    return {name: fields[name] for name in managed_with_people(kind) if fields.get(name) is not None}


def with_carried(
    fields: Mapping[str, FieldValue], own: Fields, below: Sequence[tuple[str, Fields]]
) -> dict[str, FieldValue]:
    """The fields of a thing with its own values in its business-specific metadata, and those of what hangs on it: the
    type and the fields of each."""
    stored = fields.get(BUSINESS_METADATA)
    metadata = dict(stored) if isinstance(stored, Mapping) else {}
    group = metadata.get(GROUP)
    parts = {"own": dict(own), "below": [_entry(kind, child) for kind, child in below]}
    text = orjson.dumps({name: values for name, values in parts.items() if values}).decode()
    metadata[GROUP] = {**(group if isinstance(group, Mapping) else {}), VALUES: {"values": [text]}}
    return {**fields, BUSINESS_METADATA: metadata}


def _entry(kind: str, fields: Fields) -> list[object]:
    names = tuple(name for name in describing_fields(fields) if name not in managed_with_people(kind))
    return [kind, list(names), state_of(names, fields), values_to_carry(kind, fields)]


def restore_own(kind: str, fields: Fields) -> dict[str, object]:
    """The fields of a thing as the source had them: its own values in place of those that the archive gave."""
    own = _stored_values(fields).get("own")
    return dict(fields) if not isinstance(own, Mapping) else with_values(kind, fields, own)


def with_values(kind: str, fields: Fields, values: Fields) -> dict[str, object]:
    """Fields with the source's values; only those that may be carried for the type."""
    allowed = managed_with_people(kind)
    return {**fields, **{name: value for name, value in values.items() if name in allowed}}


def carried_below(fields: Fields) -> tuple[CarriedBelow, ...]:
    """What a thing keeps for what hangs on it."""
    entries = _stored_values(fields).get("below")
    entries_below = []
    for entry in entries if isinstance(entries, list) else ():
        match entry:
            case [str(kind), list(names), str(state), dict(values)]:
                entries_below.append(CarriedBelow(kind, tuple(str(name) for name in names), state, values))
    return tuple(entries_below)


def _stored_values(fields: Fields) -> Mapping[str, object]:
    """What is kept; nothing where the text is none of ours."""
    texts = kept_texts(fields, VALUES)
    try:
        parts = orjson.loads(texts[0]) if texts else {}
    except orjson.JSONDecodeError:
        return {}
    return parts if isinstance(parts, dict) else {}
