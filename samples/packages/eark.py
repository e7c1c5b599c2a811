"""Makes a small E-ARK package that keeps every rule, MUST, SHOULD and MAY, as files by name.

It is made from texts of its own, and shares nothing with what writes real packages.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

Files = dict[str, bytes]

OBJID = "uuid-3b9f6c1e-7a52-4d0a-9d0c-0b1f5c8e2a44"
MOMENT = "2024-05-06T07:08:09+02:00"
SOFTWARE = (
    '<agent ROLE="CREATOR" TYPE="OTHER" OTHERTYPE="SOFTWARE">\n<name>Maker</name>\n'
    '<note csip:NOTETYPE="SOFTWARE VERSION">1.0</note>\n</agent>\n'
)
AGENTS = SOFTWARE + "".join(
    f'<agent ROLE="{role}" TYPE="{kind}">\n<name>{name}</name>\n<note{note}>{text}</note>\n</agent>\n'
    for role, kind, name, note, text in (
        ("ARCHIVIST", "ORGANIZATION", "Storevik kommune", ' csip:NOTETYPE="IDENTIFICATIONCODE"', "NO-1"),
        ("CREATOR", "ORGANIZATION", "Lillevik IKS", ' csip:NOTETYPE="IDENTIFICATIONCODE"', "NO-2"),
        ("CREATOR", "INDIVIDUAL", "Kari Nordmann", "", "post@example.org"),
        ("PRESERVATION", "ORGANIZATION", "Depotet", ' csip:NOTETYPE="IDENTIFICATIONCODE"', "NO-3"),
    )
)
ALT_IDS = "".join(
    f'<altRecordID TYPE="{kind}">{kind[:3]}-1</altRecordID>\n'
    for kind in ("SUBMISSIONAGREEMENT", "PREVIOUSSUBMISSIONAGREEMENT", "REFERENCECODE", "PREVIOUSREFERENCECODE")
)
PROFILES = {
    ("SIP", "2.2.0"): "https://earksip.dilcis.eu/profile/E-ARK-SIP-v2-2-0.xml",
    ("SIP", "2.1.0"): "https://earksip.dilcis.eu/profile/E-ARK-SIP.xml",
    ("SIP", "2.0.4"): "https://earksip.dilcis.eu/profile/E-ARK-SIP.xml",
    ("AIP", "2.2.0"): "https://earkdip.dilcis.eu/profile/E-ARK-AIP-v2-2-0.xml",
    ("DIP", "2.2.0"): "https://earkdip.dilcis.eu/profile/E-ARK-DIP.xml",
    ("CSIP", "2.2.0"): "https://earkcsip.dilcis.eu/profile/E-ARK-CSIP.xml",
}
REP = "representations/rep1"
PREMIS_3 = "http://www.loc.gov/premis/v3"


@dataclass(slots=True)
class Draft:
    """A package that is being made. `top` is what its folder is called."""

    kind: str = "SIP"
    version: str = "2.2.0"
    files: Files = field(default_factory=dict)
    top: str = OBJID

    def edit(self, name: str, old: str, new: str, count: int = 1) -> None:
        """Changes a text; that it is there is sure."""
        text = self.files[name].decode()
        if old not in text:
            raise ValueError(f"{old} is not in {name}")
        self.files[name] = text.replace(old, new, count).encode()


def good(kind: str = "SIP", version: str = "2.2.0") -> Draft:
    """A package without a fault."""
    draft = Draft(kind, version, payload(version))
    seal(draft)
    return draft


def payload(version: str = "2.2.0") -> Files:
    """Everything but the METS documents."""
    files = {
        "metadata/descriptive/ead.xml": b"<ead/>\n",
        "metadata/other/rights.xml": b"<rights/>\n",
        "schemas/ead.xsd": b'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"/>\n',
        "documentation/readme.txt": b"Read me.\n",
        f"{REP}/data/a.txt": b"one\n",
        f"{REP}/data/sub/b.txt": b"two\n",
    }
    files[f"{REP}/metadata/preservation/premis.xml"] = premis(
        {"data/a.txt": files[f"{REP}/data/a.txt"], "data/sub/b.txt": files[f"{REP}/data/sub/b.txt"]}
    )
    files["metadata/preservation/premis.xml"] = premis({"documentation/readme.txt": files["documentation/readme.txt"]})
    return files


def premis(files: Mapping[str, bytes]) -> bytes:
    """PREMIS 3 about some files, with an event and its agent."""
    objects = "".join(_object(name, content) for name, content in files.items())
    return (
        f'<premis xmlns="{PREMIS_3}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" version="3.0">\n{objects}'
        "<event>\n<eventIdentifier>\n<eventIdentifierType>local</eventIdentifierType>\n"
        "<eventIdentifierValue>event-1</eventIdentifierValue>\n</eventIdentifier>\n"
        "<eventType>ingestion</eventType>\n"
        f"<eventDateTime>{MOMENT}</eventDateTime>\n<linkingAgentIdentifier>\n"
        "<linkingAgentIdentifierType>local</linkingAgentIdentifierType>\n"
        "<linkingAgentIdentifierValue>maker</linkingAgentIdentifierValue>\n</linkingAgentIdentifier>\n"
        "</event>\n"
        "<agent>\n<agentIdentifier>\n<agentIdentifierType>local</agentIdentifierType>\n"
        "<agentIdentifierValue>maker</agentIdentifierValue>\n</agentIdentifier>\n"
        "<agentName>Maker</agentName>\n<agentType>software</agentType>\n</agent>\n</premis>\n"
    ).encode()


def _object(name: str, content: bytes) -> str:
    return (
        '<object xsi:type="file">\n<objectIdentifier>\n<objectIdentifierType>filepath</objectIdentifierType>\n'
        f"<objectIdentifierValue>{name}</objectIdentifierValue>\n</objectIdentifier>\n<objectCharacteristics>\n"
        "<fixity>\n<messageDigestAlgorithm>SHA-256</messageDigestAlgorithm>\n"
        f"<messageDigest>{hashlib.sha256(content).hexdigest()}</messageDigest>\n</fixity>\n"
        f"<size>{len(content)}</size>\n<format>\n<formatDesignation><formatName>Plain text</formatName>"
        "</formatDesignation>\n<formatRegistry><formatRegistryName>PRONOM</formatRegistryName>"
        "<formatRegistryKey>x-fmt/111</formatRegistryKey></formatRegistry>\n</format>\n</objectCharacteristics>\n"
        f"<originalName>{name}</originalName>\n<relationship>\n<relationshipType>structural</relationshipType>\n"
        "<relationshipSubType>is included in</relationshipSubType>\n<relatedObjectIdentifier>\n"
        "<relatedObjectIdentifierType>local</relatedObjectIdentifierType>\n"
        "<relatedObjectIdentifierValue>whole</relatedObjectIdentifierValue>\n</relatedObjectIdentifier>\n"
        "</relationship>\n</object>\n"
    )


def seal(draft: Draft) -> None:
    """Writes the METS documents about the files as they are: that of the representation first."""
    draft.files[f"{REP}/METS.xml"] = representation_mets(draft).encode()
    draft.files["METS.xml"] = package_mets(draft).encode()


def said(content: bytes) -> str:
    """What METS says of the bytes of a file."""
    digest = hashlib.sha256(content).hexdigest()
    return f'SIZE="{len(content)}" CREATED="{MOMENT}" CHECKSUM="{digest}" CHECKSUMTYPE="SHA-256"'


def file(file_id: str, href: str, content: bytes, *, formats: bool) -> str:
    """A file of the file section."""
    told = (
        ' sip:FILEFORMATNAME="Plain text" sip:FILEFORMATVERSION="1" sip:FORMATREGISTRY="PRONOM"'
        ' sip:FORMATREGISTRYKEY="x-fmt/111"'
        if formats
        else ""
    )
    return (
        f'<file ID="{file_id}" MIMETYPE="text/plain" {said(content)} OWNERID="{href}" ADMID="adm-1" DMDID="dmd-1"'
        f"{told}>\n"
        f'<FLocat LOCTYPE="URL" xlink:type="simple" xlink:href="{href}"/>\n</file>\n'
    )


def reference(kind: str, section_id: str, mdtype: str, href: str, content: bytes) -> str:
    """A section of metadata with its reference."""
    created = f' CREATED="{MOMENT}"' if kind == "dmdSec" else ""
    version = ' MDTYPEVERSION="3.0"' if mdtype == "PREMIS" else ""
    other = ' OTHERMDTYPE="RIGHTS"' if mdtype == "OTHER" else ""
    return (
        f'<{kind} ID="{section_id}" STATUS="CURRENT"{created}>\n<mdRef LOCTYPE="URL" xlink:type="simple" '
        f'xlink:href="{href}" MDTYPE="{mdtype}"{version}{other} MIMETYPE="text/xml" {said(content)}/>\n</{kind}>\n'
    )


def root(draft: Draft, object_id: str, label: str) -> str:
    """The root element begins."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<mets xmlns="http://www.loc.gov/METS/" '
        'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:csip="https://DILCIS.eu/XML/METS/CSIPExtensionMETS" '
        f'xmlns:sip="https://DILCIS.eu/XML/METS/SIPExtensionMETS" OBJID="{object_id}" LABEL="{label}" '
        f'TYPE="Datasets" csip:CONTENTINFORMATIONTYPE="MIXED" PROFILE="{PROFILES[draft.kind, draft.version]}">\n'
    )


def header(draft: Draft, inner: str) -> str:
    """The header."""
    kind = "SIP" if draft.kind == "CSIP" else draft.kind
    return (
        f'<metsHdr CREATEDATE="{MOMENT}" LASTMODDATE="{MOMENT}" RECORDSTATUS="NEW" csip:OAISPACKAGETYPE="{kind}">\n'
        f"{inner}</metsHdr>\n"
    )


def package_mets(draft: Draft) -> str:
    """The METS document of the package."""
    files, formats = draft.files, draft.kind == "SIP"
    use = "Representations" if draft.version == "2.0.4" else "Representations/rep1"
    groups = "".join(
        f'<fileGrp ID="{group}" USE="{use_of}" ADMID="adm-1"{content}>\n'
        f"{file(file_id, name, files[name], formats=formats)}</fileGrp>\n"
        for group, use_of, content, file_id, name in (
            ("grp-doc", "Documentation", "", "file-doc", "documentation/readme.txt"),
            ("grp-xsd", "Schemas", "", "file-xsd", "schemas/ead.xsd"),
            ("grp-rep", use, ' csip:CONTENTINFORMATIONTYPE="MIXED"', "file-rep", f"{REP}/METS.xml"),
        )
    )
    itself = '<fptr FILEID="file-rep"/>\n' if draft.kind == "AIP" else ""
    return (
        root(draft, OBJID, "A small package")
        + header(draft, AGENTS + ALT_IDS)
        + reference("dmdSec", "dmd-1", "EAD", "metadata/descriptive/ead.xml", files["metadata/descriptive/ead.xml"])
        + '<amdSec ID="amd">\n'
        + reference("rightsMD", "adm-2", "OTHER", "metadata/other/rights.xml", files["metadata/other/rights.xml"])
        + reference(
            "digiprovMD",
            "adm-1",
            "PREMIS",
            "metadata/preservation/premis.xml",
            files["metadata/preservation/premis.xml"],
        )
        + f'</amdSec>\n<fileSec ID="files">\n{groups}</fileSec>\n'
        + f'<structMap ID="map" TYPE="PHYSICAL" LABEL="CSIP">\n<div ID="div" LABEL="{OBJID}">\n'
        + '<div ID="div-md" LABEL="Metadata" ADMID="adm-1 adm-2" DMDID="dmd-1"/>\n'
        + '<div ID="div-doc" LABEL="Documentation">\n<fptr FILEID="grp-doc"/>\n</div>\n'
        + '<div ID="div-xsd" LABEL="Schemas">\n<fptr FILEID="grp-xsd"/>\n</div>\n'
        + '<div ID="div-rep" LABEL="Representations/rep1">\n<mptr LOCTYPE="URL" xlink:type="simple" '
        + f'xlink:href="{REP}/METS.xml" xlink:title="grp-rep"/>\n{itself}</div>\n</div>\n</structMap>\n</mets>\n'
    )


def representation_mets(draft: Draft) -> str:
    """The METS document of the representation."""
    files, formats = draft.files, draft.kind == "SIP"
    name = "metadata/preservation/premis.xml"
    inner = "".join(
        file(file_id, href, files[f"{REP}/{href}"], formats=formats)
        for file_id, href in (("file-a", "data/a.txt"), ("file-b", "data/sub/b.txt"))
    )
    return (
        root(draft, "rep1", "A representation")
        + header(draft, SOFTWARE)
        + '<amdSec ID="amd">\n'
        + reference("digiprovMD", "adm-1", "PREMIS", name, files[f"{REP}/{name}"])
        + '</amdSec>\n<fileSec ID="files">\n<fileGrp ID="grp-data" USE="Data" ADMID="adm-1">\n'
        + f"{inner}</fileGrp>\n</fileSec>\n"
        + '<structMap ID="map" TYPE="PHYSICAL" LABEL="CSIP">\n<div ID="div" LABEL="rep1">\n'
        + '<div ID="div-md" LABEL="Metadata" ADMID="adm-1"/>\n'
        + '<div ID="div-data" LABEL="Data">\n<fptr FILEID="grp-data"/>\n</div>\n</div>\n</structMap>\n</mets>\n'
    )


def write_folder(draft: Draft, above: Path) -> Path:
    """The package as a folder below `above`."""
    for name, content in draft.files.items():
        path = above / draft.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return above / draft.top


def write_zip(draft: Draft, path: Path) -> Path:
    """The package as a zip."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in draft.files.items():
            archive.writestr(f"{draft.top}/{name}" if draft.top else name, content)
    return path


def write_tar(draft: Draft, path: Path) -> Path:
    """The package as a tar, compressed where its name asks for that."""
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as archive:
        for name, content in draft.files.items():
            info = tarfile.TarInfo(f"{draft.top}/{name}" if draft.top else name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path
