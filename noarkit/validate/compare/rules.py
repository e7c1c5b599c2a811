"""Differences that are declared: they are counted by rule, and are no difference."""

from __future__ import annotations

from typing import Literal

By = Literal["id", "key"]
Rule = Literal["new-id", "generated-date", "file-path", "edition"]

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


def declared(field: str, by: By) -> Rule | None:
    """The rule that declares a difference in a field; None where it is a true one.

    Units that are found by their ids keep their dates; those that are found by key were made anew.
    """
    name = field.rpartition("/")[2]
    if name in _PATHS:
        return "file-path"
    if by == "id":
        return None
    if name in ("systemID", "uuid") or name.startswith("referanse"):
        return "new-id"
    return "generated-date" if name in _GENERATED else None
