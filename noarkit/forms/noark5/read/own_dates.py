"""Dates of a thing by its own other dates, where an extract leaves them out and the archive would take today's."""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.forms.noark5.nodes import Node, text
from noarkit.forms.noark5.read import values
from noarkit.graph.entity import FieldValue

_YEARS: tuple[tuple[str, str, str], ...] = (
    ("saksaar", "sakssekvensnummer", "saksdato"),
    ("journalaar", "journalsekvensnummer", "registreringsDato"),
)
_DAYS: Mapping[str, str] = {
    "Saksmappe": "saksdato",
    "Journalpost": "registreringsDato",
    "Moetemappe": "moetedato",
    "Presedens": "presedensDato",
}
_APPROVED = (("presedensGodkjentDato", "opprettetDato"), ("presedensGodkjentAv", "opprettetAv"))


def fill_dates(kind: str, node: Node, fields: dict[str, FieldValue], filled_fields: list[str]) -> None:
    """A day that is not told is the day on which the thing was made; a precedent was approved as it was made. What
    was filled in is added to `filled_fields`. Raises `values.Unreadable`."""
    day = _DAYS.get(kind)
    created_at = text(node, "opprettetDato") if day is not None and fields.get(day) is None else None
    if day is not None and created_at is not None:
        fields[day] = values.day(created_at)
        filled_fields.append(f"{kind}.{day}")
    for name, own in _APPROVED if kind == "Presedens" else ():
        if fields.get(name) is None and fields.get(own) is not None:
            fields[name] = fields[own]
            filled_fields.append(f"{kind}.{name}")


def fill_years(fields: dict[str, FieldValue]) -> None:
    """A number without a year belongs to the year of the unit's own date."""
    for year, number, date in _YEARS:
        day = fields.get(date) or fields.get("opprettetDato")
        if number in fields and year not in fields and isinstance(day, str):
            fields[year] = int(day[:4])
