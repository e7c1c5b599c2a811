"""What the public does not see of a screened unit, in the words of the catalogue (M502)."""

from __future__ import annotations

from collections.abc import Mapping

_FOLDER = ("Skjerming tittel mappe - utvalgte ord", "Skjerming navn part i sak")
_RECORD = ("Skjerming tittel registrering - utvalgte ord", "Skjerming navn avsender", "Skjerming navn mottaker")
_OF = {
    "Arkivdel": (*_FOLDER, *_RECORD),
    "Klasse": ("Skjerming tittel klasse",),
    "Mappe": _FOLDER,
    "Saksmappe": _FOLDER,
    "Moetemappe": _FOLDER,
    "Dokument": ("Skjerming tittel dokumentbeskrivelse",),
}


def screened_parts(type_name: str) -> tuple[str, ...]:
    """What is withheld of a screened unit of a type."""
    return _OF.get(type_name, _RECORD)


def withheld(type_name: str, fields: Mapping[str, object]) -> tuple[str, ...]:
    """What is withheld of one unit: no title where the public one is the same, for then it is not withheld."""
    parts, public = screened_parts(type_name), fields.get("offentligTittel")
    if public is None or public != fields.get("tittel"):
        return parts
    return tuple(one for one in parts if "tittel" not in one) or parts
