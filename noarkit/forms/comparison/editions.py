"""Translates names and values of Noark 5 versions 3.1 and 4.0 to those of 5.0, so that extracts can be compared.

It applies only where one side is older than 5.0 and the other is not; otherwise a different name is a difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from noarkit.errors import NoarkitError
from noarkit.forms.noark5.rules.description import Description, read_description
from noarkit.forms.noark5.rules.identity import version_of
from noarkit.forms.noark5.spec import DESCRIPTION, WRITTEN_VERSION
from noarkit.model.xml_model import Version
from noarkit.safe.paths import has_file

_KINDS: Mapping[str, str] = {"basisregistrering": "registrering"}
_NAMES: Mapping[str, str] = {
    "sakspart": "part",
    "sakspartID": "partID",
    "sakspartNavn": "partNavn",
    "sakspartRolle": "partRolle",
    "presedensstatus": "presedensStatus",
}
_TEXTS: Mapping[tuple[str, str], str] = {("dokumentmedium", "Fysisk arkiv"): "Fysisk medium"}
_MOMENTS = frozenset({"mottattDato", "sendtDato"})
_MIDNIGHT = "T00:00:00"
_DAY = len("2019-12-31")


def version_at(root: Path) -> Version:
    """The version of the extract whose XML lies in a folder."""
    description: Description | None = None
    if has_file(root, f"{DESCRIPTION}.xml"):
        try:
            description = read_description(root / f"{DESCRIPTION}.xml")
        except (NoarkitError, OSError):
            description = None  # its schemas tell the version too
    return version_of(root, description)


class Names:
    """The names under which units and fields are compared; `renamed_count` counts the translations."""

    def __init__(self, versions: tuple[Version, Version]) -> None:
        self.across = len({version == WRITTEN_VERSION for version in versions}) > 1
        self.renamed_count = 0

    def kind(self, kind: str) -> str:
        """The name of a kind of unit."""
        return self._count_renamed(kind, _KINDS.get(kind, kind)) if self.across else kind

    def path(self, above: str, name: str) -> str:
        """The path of a field below another."""
        if self.across:
            name = self._count_renamed(name, "grad" if above == name == "gradering" else _NAMES.get(name, name))
        return f"{above}/{name}" if above else name

    def text(self, name: str, text: str) -> str:
        """The text of a field."""
        if not self.across:
            return text
        if name in _MOMENTS and len(text) == _DAY:
            return self._count_renamed(text, text + _MIDNIGHT)
        return self._count_renamed(text, _TEXTS.get((name, text), text))

    def own_id(self, kind: str, system_id: str) -> str:
        """The systemID of a unit; a dokumentobjekt had none before 5.0, and is found by its place."""
        if self.across and kind == "dokumentobjekt" and system_id:
            self.renamed_count += 1
            return ""
        return system_id

    def _count_renamed(self, before: str, after: str) -> str:
        self.renamed_count += before != after
        return after
