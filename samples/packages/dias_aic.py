"""An AIC of two AIPs, a good one and one broken way for each rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from samples.packages.dias import OTHER, PREMIS, UUID, DiasDraft, Edit, dias_mets, good_dias, premis, premis_object
from samples.packages.dias_bad import edited
from samples.packages.good import unit_id

AIC = unit_id("aic")


@dataclass(frozen=True, slots=True)
class BadAic:
    """A broken AIC: another text of its document, or another tar."""

    code: str
    what: str
    edit: Edit = str
    spoil: Callable[[Path], object] | None = None
    names: str = AIC

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.code}-{self.what}"

    def write(self, folder: Path) -> Path:
        """Writes it, and says where its document is."""
        path = write_aic(folder, self.edit, self.names)
        if self.spoil is not None:
            self.spoil(folder / UUID / f"{UUID}.tar")
        return path


def aip(uuid: str, aic: str = AIC) -> DiasDraft:
    """An AIP that says which AIC it is included in."""
    related = (
        "<relationship><relationshipType>structural</relationshipType>"
        "<relationshipSubType>is included in</relationshipSubType><relatedObjectIdentification>"
        "<relatedObjectIdentifierType>NO/RA</relatedObjectIdentifierType>"
        f"<relatedObjectIdentifierValue>{aic}</relatedObjectIdentifierValue>"
        "</relatedObjectIdentification></relationship></object>"
    )
    draft = good_dias("AIP")
    draft.uuid = draft.top = draft.name = draft.description_name = uuid
    whole = premis(uuid).replace(premis_object(uuid), premis_object(uuid).replace("</object>", related))
    draft.files |= {PREMIS: whole.encode(), "log.xml": premis(uuid).encode()}
    return draft


def write_aic(folder: Path, edit: Edit = str, names: str = AIC) -> Path:
    """Writes two AIPs, each in a folder of its own, and the AIC above them."""
    tars = {}
    for uuid in (UUID, OTHER):
        aip(uuid, names).write(folder / uuid)
        tars[f"{uuid}/{uuid}.tar"] = (folder / uuid / f"{uuid}.tar").read_bytes()
    text = dias_mets("AIC", AIC, tars)
    path = folder / f"{AIC}.xml"
    path.write_text(edit(text), "utf-8")
    return path


BAD_AIC = (
    BadAic("D801", "malformed", edited(("</mets>", ""))),
    BadAic("D801", "no-document-id", edited(("<metsDocumentID>.*</metsDocumentID>\n", ""))),
    BadAic("D802", "missing", spoil=Path.unlink),
    BadAic("D802", "leads-out", edited((f"file:{UUID}/", "file:../aic/"))),
    BadAic("D803", "size", edited(('SIZE="[0-9]+"', 'SIZE="7"'))),
    BadAic("D803", "checksum", edited(('CHECKSUM="[0-9a-f]+"', f'CHECKSUM="{"0" * 64}"'))),
    BadAic("D804", "of-another", names=OTHER),
)
