"""Looks for national identity numbers where nobody expects them: in titles, names, notes and other open texts.

Fields made to hold such a number, and those that hold other numbers and addresses, are left alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.model import Field
from noarkit.model.identity_numbers import has_identity_number

HOLDS_NUMBER = "F221"
NUMBER_FOUND = "W223"
_NOT_OPEN = frozenset(
    {
        "uuid",
        "foedselsnummer",
        "dnummer",
        "organisasjonsnummer",
        "telefonnummer",
        "postnummer",
        "eksternID",
        "eksterntSystem",
        "format",
    }
)


def is_open_field(field: Field) -> bool:
    """True for texts that people write freely."""
    return (
        field.kind == "string"
        and field.code_list is None
        and not field.values
        and field.name not in _NOT_OPEN
        and not field.name.endswith("Ident")
    )


def holds_identity_number(value: object) -> bool:
    """True if a text, or any text inside lists and mappings, holds a number with valid check digits."""
    if isinstance(value, str):
        return has_identity_number(value)
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            if has_identity_number(part):
                return True
        elif isinstance(part, Mapping):
            waiting.extend(part.values())
        elif isinstance(part, list | tuple):
            waiting.extend(part)
    return False
