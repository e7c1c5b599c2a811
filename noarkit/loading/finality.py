"""The fields that finalise (close) an object of each type, and which of their values a source may have given.

A run that closes what it made holds these fields back until everything stands, because nothing may be added to what is
finalised; `close` then writes the source's own dates and names where the account may, else today's.
"""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.graph.entity import FieldValue

# the status that finalises a type; those without one are finalised by their date
STATUS: Mapping[str, tuple[str, str]] = {
    "Dokument": ("dokumentstatus", "F"),
    "Journalpost": ("journalstatus", "A"),
    "Saksmappe": ("saksstatus", "A"),
    "Arkivdel": ("arkivdelstatus", "P"),
    "Arkiv": ("arkivstatus", "A"),
}
BY_DATE = frozenset(
    {"Basisregistrering", "Moeteregistrering", "Arkivnotat", "Mappe", "Moetemappe", "Klasse", "Klassifikasjonssystem"}
)
# an object with such a status is done with, though not finalised: it keeps it
_LEFT_AS_IT_IS: Mapping[str, frozenset[str]] = {
    "Journalpost": frozenset({"U"}),
    "Saksmappe": frozenset({"U"}),
    "Arkivdel": frozenset({"U"}),
}
DATE, AUTHOR, AUTHOR_ID = "avsluttetDato", "avsluttetAv", "avsluttetAvBrukerIdent"
_CLOSING_FIELDS = (DATE, AUTHOR, AUTHOR_ID)
_CLOSING = frozenset(_CLOSING_FIELDS)
_CLOSING_AND_STATUS = {kind: frozenset((*_CLOSING_FIELDS, name)) for kind, (name, _) in STATUS.items()}


def withheld_fields(kind: str, fields: Mapping[str, FieldValue]) -> frozenset[str]:
    """The names of the fields that would finalise an object, and of those that are written with them."""
    if kind in BY_DATE:
        return _CLOSING
    if kind not in STATUS:
        return frozenset()
    name, final = STATUS[kind]
    return _CLOSING_AND_STATUS[kind] if fields.get(name) == final else _CLOSING


def finalising_fields(
    kind: str, fields: Mapping[str, FieldValue], moment: str, *, may_write_author: bool
) -> dict[str, FieldValue] | None:
    """The fields to save to finalise an object that was planned with `fields`; None if it is not to be finalised.

    With `may_write_author` the source's own date and name are kept; `moment` is used where a date is needed.
    """
    kept_fields = {name: fields[name] for name in _CLOSING_FIELDS if may_write_author and fields.get(name) is not None}
    if kind in BY_DATE:
        return {DATE: moment, **kept_fields}
    if kind not in STATUS:
        return None
    name, final = STATUS[kind]
    if fields.get(name) in _LEFT_AS_IT_IS.get(kind, ()):
        return None
    return {name: final, **kept_fields}
