"""What the public does not see of a screened unit, in the words of the catalogue (M502).

Only what is there can be withheld: a title whose public title says less or is not told, and names of parties.
"""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.forms.noark5.write.content import Content, EntityData

PARTY, SENDER, RECEIVER = "Skjerming navn part i sak", "Skjerming navn avsender", "Skjerming navn mottaker"
_FOLDER_TITLE = "Skjerming tittel mappe - utvalgte ord"
_RECORD_TITLE = "Skjerming tittel registrering - utvalgte ord"
_TITLES: Mapping[str, str] = {
    "Klasse": "Skjerming tittel klasse",
    "Mappe": _FOLDER_TITLE,
    "Saksmappe": _FOLDER_TITLE,
    "Moetemappe": _FOLDER_TITLE,
    "Dokument": "Skjerming tittel dokumentbeskrivelse",
}
_OF_SERIES = (_FOLDER_TITLE, PARTY, _RECORD_TITLE, SENDER, RECEIVER)
_SENDERS = frozenset({"EA", "IA"})


def withheld_parts(content: Content) -> tuple[str, ...]:
    """What is withheld of one screened unit; of a series all that may be in the units below. Empty where nothing that
    the form knows is: then its documents alone are."""
    entity = content["o"]
    if entity["t"] == "Arkivdel":
        return _OF_SERIES
    title = withheld_title(entity)
    of_parts = {name for part in content.get("p", ()) if (name := withheld_name(part)) is not None}
    names = tuple(kind for kind in (PARTY, SENDER, RECEIVER) if kind in of_parts)
    return names if title is None else (title, *names)


def withheld_title(entity: EntityData) -> str | None:
    """The title of a screened unit; None if its public title is the same, for then it is not withheld."""
    public = entity["f"].get("offentligTittel")
    return (
        None if public is not None and public == entity["f"].get("tittel") else _TITLES.get(entity["t"], _RECORD_TITLE)
    )


def withheld_name(part: EntityData) -> str | None:
    """The name of a party of a screened unit; None for other things that hang on one."""
    if part["t"] == "Sakspart":
        return PARTY
    if part["t"] == "Korrespondansepart":
        return SENDER if part["f"].get("korrespondanseparttype") in _SENDERS else RECEIVER
    return None
