"""What the public does not see of a screened unit, in the words of the catalogue (M502)."""

from __future__ import annotations

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
