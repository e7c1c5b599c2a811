"""What an extract says of hidden parties: the form has no element for it, so it stands in metadata of their record.

    <korrespondansepart>…<korrespondansepartNavn>Ola</korrespondansepartNavn></korrespondansepart>
    <n:Korrespondansepart><n:gjelder>Ola</n:gjelder>…<n:skjermEInnsyn>true</n:skjermEInnsyn></n:Korrespondansepart>

The party is given the field, as it has it in the run and the archive; all of a name are, where several have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from noarkit.catalogue.port import Json
from noarkit.forms.noark5.write import unmapped
from noarkit.model.disclosure import HIDDEN, HIDES_PARTIES, OWN_NAMES, PARTIES, PARTY_TYPE, hides_parties, of_fields

_NAME = unmapped.NAMED[PARTY_TYPE][0]

Plain: TypeAlias = dict[str, Json]


def with_screening(fields: Plain) -> Plain:
    """The fields of a unit with what its metadata say of whether its parties are hidden."""
    if OWN_NAMES not in fields:
        return fields
    names = hidden_names(fields)
    if names:
        parties = [_hidden(party) if _name_of(party) in names else party for party in _entries(fields.get(PARTIES))]
        fields = {**fields, PARTIES: list(parties)}
    if any(hides_parties(entry) for kind, entry in _objects(fields) if kind != PARTY_TYPE):
        fields = {**fields, HIDES_PARTIES: "true"}
    return fields


def hidden_names(fields: Plain) -> frozenset[str]:
    """What the hidden parties of a unit are called."""
    parties = (entry for kind, entry in _objects(fields) if kind == PARTY_TYPE and of_fields(entry).is_screened)
    return frozenset(str(entry.get(unmapped.CONCERNS) or "").strip() for entry in parties)


def own_values(fields: Plain) -> Iterator[Plain]:
    """What the metadata of a unit say of itself, and not of what lies in it."""
    return (values for _, values in _objects(fields) if unmapped.CONCERNS not in values)


def _hidden(party: Json) -> Json:
    return {**party, HIDDEN: "true"} if isinstance(party, dict) else party


def _name_of(party: Json) -> str | None:
    return str(party.get(_NAME) or "").strip() if isinstance(party, dict) else None


def _objects(fields: Plain) -> Iterator[tuple[str, Plain]]:
    """The objects that stand in the metadata of a unit, each with its type."""
    for metadata in _entries(fields.get(OWN_NAMES)):
        for root in _entries(metadata.get(unmapped.MARK) if isinstance(metadata, dict) else None):
            for kind, values in root.items() if isinstance(root, dict) else ():
                yield from ((kind, value) for value in _entries(values) if isinstance(value, dict))


def _entries(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [] if value is None else [value]
