"""Rules of expected differences between two sides: they are counted by rule and do not count as differences."""

from __future__ import annotations

from typing import Literal

from noarkit.forms.noark5.write import unmapped

By = Literal["id", "key"]
Rule = Literal["new-id", "generated-date", "file-path", "edition", "original"]

EARLIER_KEY = "key of an earlier extract"
"""What a unit's systemID was in the extract that it came from, where the archive gave it another."""

_NEW_IDS = (
    EARLIER_KEY,
    *(f"/{kind}/{unmapped.CONCERNS}" for kind in (*unmapped.IDENTIFIED, unmapped.EXTERNAL_ID)),
)
_PATHS = frozenset({"referanseDokumentfil"})
_GENERATED = frozenset(
    {
        "opprettetDato",
        "opprettetAv",
        "avsluttetDato",
        "avsluttetAv",
        "arkivertDato",
        "arkivertAv",
        "tilknyttetDato",
        "tilknyttetAv",
    }
)


def declared_rule(field: str, by: By) -> Rule | None:
    """The rule that declares a difference in a field; None if it is a true one.

    Units that are found by their ids keep their dates; those that are found by key were made anew.
    """
    name = field.rpartition("/")[2]
    if name in _PATHS:
        return "file-path"
    if by == "id":
        return None
    if name in ("systemID", "uuid") or name.startswith("referanse") or field.endswith(_NEW_IDS):
        return "new-id"
    return "generated-date" if name in _GENERATED else None
