"""A DIAS package that keeps every rule, as a draft to be changed before it is written.

A package is made from texts of its own, and shares nothing with what writes real deliveries.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from samples.packages.good import PDF, unit_id

UUID = unit_id("dias")
OTHER = unit_id("another dias")
DAY = "2020-01-02T03:04:05+01:00"
PREMIS = "administrative_metadata/dias-premis.xml"
METS = "dias-mets.xml"
_AGENTS = (
    'ROLE="ARCHIVIST" TYPE="ORGANIZATION"',
    'ROLE="OTHER" OTHERROLE="SUBMITTER" TYPE="ORGANIZATION"',
    'ROLE="OTHER" OTHERROLE="PRODUCER" TYPE="ORGANIZATION"',
    'ROLE="IPOWNER" TYPE="ORGANIZATION"',
    'ROLE="CREATOR" TYPE="ORGANIZATION"',
    'ROLE="CREATOR" TYPE="OTHER" OTHERTYPE="SOFTWARE"',
    'ROLE="PRESERVATION" TYPE="ORGANIZATION"',
    'ROLE="ARCHIVIST" TYPE="OTHER" OTHERTYPE="SOFTWARE"',
)
_EAD = '<ead xmlns="http://ead3.archivists.org/schema/"/>\n'
_EAC = '<eac-cpf xmlns="urn:isbn:1-931666-33-4"/>\n'
_SCHEMA = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"/>\n'

Edit = Callable[[str], str]


def _same(text: str) -> str:
    return text


@dataclass(slots=True)
class DiasDraft:
    """A package as it is made: its files by path; `mets` and `seal` change what tells of them, once that is written."""

    type: str = "SIP"
    uuid: str = UUID
    files: dict[str, bytes] = field(default_factory=dict)
    mets: Edit = _same
    seal: Edit = _same
    late: dict[str, bytes | None] = field(default_factory=dict)
    """Files as they are in the tar in spite of what was listed; None leaves one out."""
    top: str = UUID
    beside: tuple[tarfile.TarInfo, ...] = ()
    packed: bool = False
    sealed: bool = True
    spelt: Callable[[str], str] = _same
    name: str = UUID
    description_name: str = UUID

    def whole(self) -> dict[str, bytes]:
        """Every file as it stands in the tar."""
        listed = dict(sorted(self.files.items()))
        text = self.mets(dias_mets(self.type, self.uuid, listed))
        found: dict[str, bytes | None] = {**listed, METS: text.encode(), **self.late}
        return {name: content for name, content in found.items() if content is not None}

    def write(self, folder: Path) -> Path:
        """Writes tar and description into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        whole = self.whole()
        packed = tarred(whole, self.top, self.beside, self.spelt)
        tar = gzip.compress(packed, mtime=0) if self.packed else packed
        (folder / f"{self.name}.tar").write_bytes(tar)
        if self.sealed:
            text = self.seal(description(self.type, self.uuid, f"{self.name}.tar", (tar, whole.get(METS, b""))))
            (folder / f"{self.description_name}.xml").write_text(text, "utf-8")
        return folder

    def unpack(self, folder: Path) -> Path:
        """Writes the files as they lie in the tar."""
        for name, content in self.whole().items():
            path = folder / self.uuid / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return folder / self.uuid


def good_dias(type_: str = "SIP", content: dict[str, bytes] | None = None) -> DiasDraft:
    """A package that keeps every rule; without content of its own it holds two documents."""
    files = {f"content/{name}": held for name, held in (content or {"a/letter.pdf": PDF, "b.txt": b"b"}).items()}
    files |= {
        "dias-mets.xsd": _SCHEMA.encode(),
        "log.xml": premis(UUID).encode(),
        PREMIS: premis(UUID).encode(),
        "administrative_metadata/dias-premis.xsd": _SCHEMA.encode(),
    }
    if type_ == "AIP":
        files |= {
            "descriptive_metadata/ead.xml": _EAD.encode(),
            "descriptive_metadata/ead.xsd": _SCHEMA.encode(),
            "descriptive_metadata/eac-cpf.xml": _EAC.encode(),
            "descriptive_metadata/eac-cpf.xsd": _SCHEMA.encode(),
            "administrative_metadata/repository_operations/report.txt": b"all is well",
            "content/systemhåndbok.pdf": PDF,
        }
        for name, copy in (("arkivuttrekk.xml", "arkivuttrekk.xml"), ("addml.xsd", "addml.xsd")):
            if f"content/{name}" in files:
                files[f"administrative_metadata/{copy}"] = files[f"content/{name}"]
    return DiasDraft(type_, files=files)


def dias_mets(type_: str, uuid: str, files: dict[str, bytes]) -> str:
    """dias-mets.xml of these files."""
    lines = "".join(_file(number, name, content) for number, (name, content) in enumerate(files.items(), start=1))
    return (
        _head("http://arkivverket.no/standarder/METS", type_, uuid)
        + f"<metsDocumentID>{METS}</metsDocumentID>\n</metsHdr>\n{_section(lines)}"
    )


def description(type_: str, uuid: str, tar_name: str, sealed: tuple[bytes, bytes]) -> str:
    """The submission description of a tar with its dias-mets.xml."""
    lines = _file(0, tar_name, sealed[0]) + _file(1, f"{uuid}/{METS}", sealed[1])
    return _head("http://www.loc.gov/METS/", type_, uuid) + f"</metsHdr>\n{_section(lines)}"


def premis(uuid: str, more: str = "") -> str:
    """A PREMIS document of the package, and whatever else is told."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<premis xmlns="http://arkivverket.no/standarder/PREMIS"'
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" version="2.0">\n'
        f"{premis_object(uuid)}{more}</premis>\n"
    )


def premis_object(identifier: str, fixity: str = "", name: str = "") -> str:
    """An object; `fixity` stands before its format."""
    named = f"<originalName>{name}</originalName>" if name else ""
    return (
        '<object xsi:type="file"><objectIdentifier><objectIdentifierType>NO/RA</objectIdentifierType>'
        f"<objectIdentifierValue>{identifier}</objectIdentifierValue></objectIdentifier><objectCharacteristics>"
        f"<compositionLevel>0</compositionLevel>{fixity}<format><formatDesignation><formatName>tar</formatName>"
        f"</formatDesignation></format></objectCharacteristics>{named}</object>\n"
    )


def tarred(
    whole: dict[str, bytes],
    top: str = UUID,
    beside: tuple[tarfile.TarInfo, ...] = (),
    spelt: Callable[[str], str] = _same,
) -> bytes:
    """A tar of files in one folder, with further members as they are."""
    out = io.BytesIO()
    form = tarfile.PAX_FORMAT if spelt is _same else tarfile.GNU_FORMAT
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, content in whole.items():
            info = tarfile.TarInfo(spelt(f"{top}/{name}" if top else name))
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for info in beside:
            archive.addfile(info)
    return out.getvalue()


def _head(namespace: str, type_: str, uuid: str) -> str:
    agents = "".join(f"<agent {agent}><name>Vik kommune</name></agent>\n" for agent in _AGENTS)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<mets xmlns="{namespace}" xmlns:xlink="http://www.w3.org/1999/xlink"'
        f' OBJID="UUID:{uuid}" LABEL="Vik" TYPE="{type_}" PROFILE="http://xml.ra.se/METS/RA_METS_eARD.xml">\n'
        f'<metsHdr CREATEDATE="{DAY}" RECORDSTATUS="NEW">\n{agents}'
        '<altRecordID TYPE="SUBMISSIONAGREEMENT">2020/17</altRecordID>\n'
        '<altRecordID TYPE="STARTDATE">2017-01-01</altRecordID>\n<altRecordID TYPE="ENDDATE">2019-12-31</altRecordID>\n'
    )


def _section(lines: str) -> str:
    return (
        f'<fileSec>\n<fileGrp ID="fileGroup001" USE="FILES">\n{lines}</fileGrp>\n</fileSec>\n'
        "<structMap><div/></structMap>\n</mets>\n"
    )


def _file(number: int, name: str, content: bytes) -> str:
    return (
        f'<file ID="fileId_{number}" MIMETYPE="text/plain" SIZE="{len(content)}" CREATED="{DAY}"'
        f' CHECKSUM="{hashlib.sha256(content).hexdigest()}" CHECKSUMTYPE="SHA-256" USE="Datafile">'
        f'<FLocat LOCTYPE="URL" xlink:type="simple" xlink:href="file:{name}"/></file>\n'
    )
