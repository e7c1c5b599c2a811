"""METS of a package and of its representations, written row by row: a million files cost no memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from noarkit.forms.eark import spec
from noarkit.forms.eark.rules.media import has_template_name
from noarkit.forms.eark.schemas import CSIP_XSD, METS_XSD, SIP_XSD, XLINK_XSD
from noarkit.forms.eark.write.listing import UNKNOWN_TYPE, PackageFile
from noarkit.forms.eark.write.markup import attributes, href
from noarkit.forms.eark.write.order import SOFTWARE
from noarkit.forms.metadata.file_facts import PRONOM
from noarkit.forms.metadata.model import Agent
from noarkit.safe.xml_text import escape_attribute

ID_PREFIX = "ID-"
"""How every id of a package begins: some judges of AIPs take no other (AIP9), and none may begin with a digit."""

_BATCH = 250


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands in the root element and the header. `record` are alternative record ids with their types."""

    object_id: str
    label: str
    category: str
    content_type: str
    other_content_type: str
    profile: str
    created: str
    package_type: str
    record_status: str = ""
    agents: tuple[Agent, ...] = ()
    record: tuple[tuple[str, str], ...] = ()
    other_category: str = ""
    above: str = ""
    prefix: str = ID_PREFIX
    mime_compat: bool = False

    def media_type(self, file: PackageFile) -> str:
        """What a file is said to be, as an attribute."""
        is_told = not self.mime_compat or has_template_name(file.media_type)
        return escape_attribute(file.media_type if is_told else UNKNOWN_TYPE)


@dataclass(frozen=True, slots=True)
class Group:
    """A file group and the division that shows it. `pointer` is the METS that a division leads to."""

    use: str
    files: Iterable[PackageFile]
    content_type: str = ""
    other_content_type: str = ""
    pointer: str = ""
    with_file_pointer: bool = False


@dataclass(frozen=True, slots=True)
class MetsMetadata:
    """The metadata of a METS: what describes, what tells of preservation, and what else there is."""

    descriptive: Sequence[PackageFile] = ()
    preservation: Sequence[PackageFile] = ()


def software(version: str) -> Agent:
    """The program that makes packages (CSIP10 to CSIP16)."""
    return Agent("CREATOR", "OTHER", SOFTWARE, other_type="SOFTWARE", notes=((version, "SOFTWARE VERSION"),))


def mets(
    heading: Heading, metadata: MetsMetadata, groups: Iterable[Group], checksum: str, kind: str = ""
) -> Iterator[bytes]:
    """A whole METS document. Groups come with at least one file each; `kind` is the type of the top division."""
    yield _root(heading).encode()
    yield _header(heading).encode()
    ids: dict[str, list[str]] = {"dmd": [], "amd": []}
    yield from _metadata(heading, metadata, ids, checksum)
    numbered_groups: list[tuple[Group, str, str]] = []
    files = _Numbers(heading, checksum)
    for number, group in enumerate(groups, 1):
        group_id = f"{heading.prefix}group-{number}"
        if number == 1:
            yield f'<fileSec ID="{heading.prefix}files">\n'.encode()
        yield from _group(group, group_id, files)
        numbered_groups.append((group, group_id, files.last()))
    if numbered_groups:
        yield b"</fileSec>\n"
    yield _map(heading, ids, numbered_groups, kind).encode()
    yield b"</mets>\n"


def _root(heading: Heading) -> str:
    above = f"{heading.above}schemas/"
    places = (
        f"{spec.METS} {above}{METS_XSD} {spec.XLINK} {above}{XLINK_XSD}"
        f" {spec.CSIP} {above}{CSIP_XSD} {spec.SIP} {above}{SIP_XSD}"
    )
    root_attributes = attributes(
        OBJID=heading.object_id,
        LABEL=heading.label,
        TYPE=heading.category,
        PROFILE=heading.profile,
        csip_OTHERTYPE=heading.other_category,
        csip_CONTENTINFORMATIONTYPE=heading.content_type,
        csip_OTHERCONTENTINFORMATIONTYPE=heading.other_content_type,
        xsi_schemaLocation=places,
    )
    spaces = f'xmlns="{spec.METS}" xmlns:csip="{spec.CSIP}" xmlns:sip="{spec.SIP}"'
    more = f'xmlns:xlink="{spec.XLINK}" xmlns:xsi="{spec.XSI}"'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<mets {spaces} {more}{root_attributes}>\n'


def _header(heading: Heading) -> str:
    header_attributes = attributes(
        CREATEDATE=heading.created,
        LASTMODDATE=heading.created,
        RECORDSTATUS=heading.record_status,
        csip_OAISPACKAGETYPE=heading.package_type,
    )
    inside = "".join(map(_agent, heading.agents))
    inside += "".join(
        f'<altRecordID TYPE="{escape_attribute(type_)}">{escape_attribute(value)}</altRecordID>\n'
        for type_, value in heading.record
    )
    return f"<metsHdr{header_attributes}>\n{inside}</metsHdr>\n"


def _agent(agent: Agent) -> str:
    agent_attributes = attributes(
        ROLE=agent.role, OTHERROLE=agent.other_role, TYPE=agent.type, OTHERTYPE=agent.other_type
    )
    notes = "".join(
        f"<note{attributes(csip_NOTETYPE=note_type)}>{escape_attribute(text)}</note>" for text, note_type in agent.notes
    )
    return f"<agent{agent_attributes}><name>{escape_attribute(agent.name)}</name>{notes}</agent>\n"


def _metadata(heading: Heading, metadata: MetsMetadata, ids: dict[str, list[str]], checksum: str) -> Iterator[bytes]:
    for number, file in enumerate(metadata.descriptive, 1):
        section_id = f"{heading.prefix}dmd-{number}"
        ids["dmd"].append(section_id)
        inside = _reference(heading, file, checksum)
        yield f'<dmdSec ID="{section_id}" CREATED="{file.created}" STATUS="CURRENT">{inside}</dmdSec>\n'.encode()
    if metadata.preservation:
        yield b"<amdSec>\n"
        for number, file in enumerate(metadata.preservation, 1):
            section_id = f"{heading.prefix}amd-{number}"
            ids["amd"].append(section_id)
            inside = _reference(heading, file, checksum)
            start = f'<digiprovMD ID="{section_id}" CREATED="{file.created}" STATUS="CURRENT">'
            yield f"{start}{inside}</digiprovMD>\n".encode()
        yield b"</amdSec>\n"


def _reference(heading: Heading, file: PackageFile, checksum: str) -> str:
    type_attributes = attributes(OTHERMDTYPE="OTHER" if file.md_type == "OTHER" else "", MDTYPEVERSION=file.md_version)
    return (
        f'<mdRef LOCTYPE="URL" xlink:type="simple" xlink:href="{href(file.name)}"'
        f' MDTYPE="{escape_attribute(file.md_type)}"{type_attributes} MIMETYPE="{heading.media_type(file)}"'
        f' SIZE="{file.size_bytes}" CREATED="{file.created}"'
        f' CHECKSUM="{file.digest}" CHECKSUMTYPE="{checksum}"/>'
    )


class _Numbers:
    """Numbers the files of one METS, and spells each."""

    def __init__(self, heading: Heading, checksum: str) -> None:
        prefix, self._media_type = heading.prefix, heading.media_type
        self._middle = f'" CHECKSUMTYPE="{checksum}"'
        self._begin = f'<file ID="{prefix}file-'
        self._prefix = prefix
        self._count = 0

    def last(self) -> str:
        """The id of the file that came last."""
        return f"{self._prefix}file-{self._count}"

    def spelt(self, file: PackageFile) -> str:
        """The element of the next file."""
        self._count += 1
        more = _format(file) if file.puid or file.format_name else ""
        owner = f' OWNERID="{escape_attribute(file.original_name)}"' if file.original_name else ""
        return (
            f'{self._begin}{self._count}"{owner} MIMETYPE="{self._media_type(file)}" SIZE="{file.size_bytes}"'
            f' CREATED="{file.created}" CHECKSUM="{file.digest}{self._middle}{more}>'
            f'<FLocat LOCTYPE="URL" xlink:type="simple" xlink:href="{href(file.name)}"/></file>\n'
        )


def _format(file: PackageFile) -> str:
    return attributes(
        sip_FILEFORMATNAME=file.format_name,
        sip_FILEFORMATVERSION=file.format_version,
        sip_FORMATREGISTRY=PRONOM if file.puid else "",
        sip_FORMATREGISTRYKEY=file.puid,
    )


def _group(group: Group, group_id: str, numbers: _Numbers) -> Iterator[bytes]:
    group_attributes = attributes(
        USE=group.use,
        ID=group_id,
        csip_CONTENTINFORMATIONTYPE=group.content_type,
        csip_OTHERCONTENTINFORMATIONTYPE=group.other_content_type,
    )
    yield f"<fileGrp{group_attributes}>\n".encode()
    batch: list[str] = []
    for file in group.files:
        batch.append(numbers.spelt(file))
        if len(batch) >= _BATCH:
            yield "".join(batch).encode()
            batch.clear()
    yield ("".join(batch) + "</fileGrp>\n").encode()


def _map(heading: Heading, ids: dict[str, list[str]], groups: Sequence[tuple[Group, str, str]], kind: str) -> str:
    prefix = heading.prefix
    top = attributes(ID=f"{prefix}div", LABEL=heading.object_id, TYPE=kind)
    link_attributes = attributes(ADMID=" ".join(ids["amd"]), DMDID=" ".join(ids["dmd"]))
    divisions = [f'<div ID="{prefix}div-metadata" LABEL="{spec.LABEL_METADATA}"{link_attributes}/>\n']
    for number, (group, group_id, file_id) in enumerate(groups, 1):
        begin = f'<div ID="{prefix}div-{number}" LABEL="{escape_attribute(group.use)}">'
        if not group.pointer:
            divisions.append(f'{begin}<fptr FILEID="{group_id}"/></div>\n')
            continue
        to = f'LOCTYPE="URL" xlink:type="simple" xlink:href="{href(group.pointer)}" xlink:title="{group_id}"'
        file = f'<fptr FILEID="{file_id}"/>' if group.with_file_pointer else ""
        divisions.append(f"{begin}<mptr {to}/>{file}</div>\n")
    name = attributes(ID=f"{prefix}map", TYPE=spec.STRUCT_MAP_TYPE, LABEL=spec.STRUCT_MAP_LABEL)
    return f"<structMap{name}>\n<div{top}>\n{''.join(divisions)}</div>\n</structMap>\n"
