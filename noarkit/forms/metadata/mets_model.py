"""The elements of a METS document as plain values, with their attributes as they stand, and who hears of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

METS, DIAS = "http://www.loc.gov/METS/", "http://arkivverket.no/standarder/METS"
NAMESPACES = (METS, DIAS)
XLINK = "http://www.w3.org/1999/xlink"
CSIP, SIP = (f"https://DILCIS.eu/XML/METS/{name}ExtensionMETS" for name in ("CSIP", "SIP"))
CSIP_SPELLINGS, SIP_SPELLINGS = ((name, name.replace("DILCIS", "dilcis")) for name in (CSIP, SIP))
"""Both are met; the first is the schema's own, and the one that is written."""

CONTENT_TYPE, OTHER_CONTENT_TYPE = f"{CSIP} CONTENTINFORMATIONTYPE", f"{CSIP} OTHERCONTENTINFORMATIONTYPE"
FORMAT_NAME, FORMAT_VERSION = "FILEFORMATNAME", "FILEFORMATVERSION"
FORMAT_REGISTRIES = ("FORMATREGISTRY", "FILEFORMATREGISTRY")
FORMAT_KEYS = ("FORMATREGISTRYKEY", "FILEFORMATKEY")
"""The attributes of a file's format in the SIP namespace: as the schema declares them, and as the rules' text says."""

Attributes = Mapping[str, str]


@dataclass(slots=True)
class AgentElement:
    """An agent of the header; `notes` are the types of its notes, and their texts."""

    attributes: Attributes
    line: int
    names: list[str] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)

    def get(self, name: str) -> str:
        """An attribute, or nothing."""
        return self.attributes.get(name, "")


@dataclass(slots=True)
class Header:
    """The root element and the header. `ids` are alternative record identifiers, each with its type."""

    namespace: str
    root: Attributes
    line: int
    attributes: Attributes | None = None
    header_line: int = 0
    agents: list[AgentElement] = field(default_factory=list)
    ids: list[tuple[str, str]] = field(default_factory=list)
    document_id: str = ""


@dataclass(slots=True)
class Section:
    """A section of metadata. `kind` is the element: dmdSec, digiprovMD, rightsMD, techMD or sourceMD; empty for a
    reference that stands in none."""

    kind: str
    attributes: Attributes
    line: int
    references: list[tuple[Attributes, int]] = field(default_factory=list)


@dataclass(slots=True)
class Group:
    """A file group, with the files right in it and those in groups inside it.

    Its use and content type are its own, or those of the innermost group around it that states them: METS has them
    pertain to all files of a group. What a group itself states stands in `attributes`.
    """

    attributes: Attributes
    line: int
    use: str = ""
    content_type: str = ""
    other_content_type: str = ""
    is_beside_files: bool = False
    files: int = 0
    files_inside: int = 0


@dataclass(slots=True)
class Division:
    """A division right below the top one of a structural map, with its pointers; of many only the first are kept."""

    attributes: Attributes
    line: int
    files: list[str] = field(default_factory=list)
    pointers: list[Attributes] = field(default_factory=list)

    @property
    def label(self) -> str:
        """What it is called."""
        return self.attributes.get("LABEL", "")


@dataclass(slots=True)
class StructMap:
    """A structural map; `tops` are its top divisions."""

    attributes: Attributes
    line: int
    tops: list[tuple[Attributes, int]] = field(default_factory=list)


@dataclass(slots=True)
class FileElement:
    """A file of the file section, with its locators."""

    attributes: Attributes
    line: int
    locators: list[Attributes] = field(default_factory=list)


class MetsHandler:
    """Hears of the elements of a METS document, each once it is complete; a subclass does what it cares for."""

    def header(self, header: Header) -> None:
        """The root element and the header: before anything else is told, and once."""

    def section(self, section: Section) -> None:
        """A section of metadata."""

    def administrative(self, attributes: Attributes, line: int) -> None:
        """An amdSec begins."""

    def file_section(self, attributes: Attributes, line: int) -> None:
        """The file section begins."""

    def group(self, group: Group) -> None:
        """A file group ended."""

    def file(self, file: FileElement, group: Group) -> None:
        """A file, in the innermost group around it."""

    def pointer(self, attributes: Attributes) -> None:
        """A pointer to another METS, in whatever division."""

    def division(self, struct_map: StructMap, division: Division) -> None:
        """A division right below the top one."""

    def structure(self, struct_map: StructMap) -> None:
        """A structural map ended."""
