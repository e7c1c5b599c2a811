"""The dates, years and numbers of a thing that an archive gives itself, unless the account may set them.

The right is called `UpdateSystemManaged`. An account without it sends the values in vain: the archive takes today's
date, this year and the next number."""

from __future__ import annotations

from functools import cache

from noarkit.model.metamodel import metamodel

YEARS = frozenset({"saksaar", "journalaar"})
NUMBERS = frozenset(
    {"mappeIdent", "sakssekvensnummer", "registreringsIdent", "journalsekvensnummer", "journalpostnummer"}
)
_DATES = ("timestamp", "date")
_PEOPLE = frozenset({"opprettetAv", "avsluttetAv", "presedensGodkjentAv"})


@cache
def managed_fields(kind: str) -> tuple[str, ...]:
    """The dates, years and numbers of a type that need the right.

    >>> managed_fields("Mappe")
    ('opprettetDato', 'avsluttetDato', 'mappeIdent')
    """
    fields = metamodel().types[kind].fields.values()
    return tuple(
        field.name
        for field in fields
        if field.save == "cw" and (field.kind in _DATES or field.name in YEARS or field.name in NUMBERS)
    )


@cache
def managed_with_people(kind: str) -> tuple[str, ...]:
    """The same, and who created and closed the thing."""
    return (*managed_fields(kind), *(name for name in metamodel().types[kind].fields if name in _PEOPLE))
