"""Reads METS by events, of any E-ARK version and of those before them: what it says of the package, and what it lists.

Nothing is kept but the heading; whatever is listed is told one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal
from xml.parsers.expat import XMLParserType

from noarkit.errors import PackageFault
from noarkit.forms.eark import spec
from noarkit.forms.eark.read.xml_reader import XmlReader, read_items
from noarkit.forms.eark.write.order import Agent
from noarkit.forms.metadata.file_facts import MOST_KEPT, checksum_of_text, size_of_text
from noarkit.safe.digest import Readable

Role = Literal["file", "metadata", "pointer"]
_MAX_DEPTH = 100
_SECTIONS = ("dmdSec", "techMD", "rightsMD", "sourceMD", "digiprovMD")
_TEXTS = ("name", "note", "altRecordID", "metsDocumentID")


@dataclass(frozen=True, slots=True)
class MetsReference:
    """Something a METS lists: a file, a file of metadata, or another METS. `use` is its group, section or division."""

    role: Role
    href: str
    use: str
    size_bytes: int | None
    checksum: str
    checksum_type: str
    media_type: str
    created: str
    md_type: str = ""
    format_name: str = ""
    format_version: str = ""
    puid: str = ""
    original_name: str = ""
    status: str = ""
    content_type: str = ""
    other_content_type: str = ""


@dataclass(slots=True)
class Heading:
    """What a METS says of the package or representation it describes."""

    name: str
    object_id: str = ""
    label: str = ""
    category: str = ""
    other_category: str = ""
    content_type: str = ""
    other_content_type: str = ""
    profile: str = ""
    created: str = ""
    record_status: str = ""
    package_type: str = ""
    kind: str = ""
    agents: list[Agent] = field(default_factory=list)
    record: list[tuple[str, str]] = field(default_factory=list)

    @property
    def folder(self) -> str:
        """The folder it describes, empty or ending in `/`."""
        return self.name[: self.name.rfind("/") + 1]


def read_mets(source: Readable, heading: Heading, where: str) -> Iterator[MetsReference]:
    """Everything a METS lists, in order; `heading` is filled on the way.

    Raises `PackageFault` for what is no METS, and `UnsafeXml`.
    """
    return read_items(source, where, lambda parser: _MetsReader(parser, heading, where))


class _MetsReader(XmlReader[MetsReference]):
    """The state between two events."""

    def __init__(self, parser: XMLParserType, heading: Heading, where: str) -> None:
        super().__init__(parser, where, _MAX_DEPTH)
        self._heading = heading
        self._depth = 0
        self._groups: list[tuple[str, str, str]] = [("", "", "")]
        self._divisions: list[str] = []
        self._section: tuple[str, str] = ("", "")
        self._file: dict[str, str] = {}
        self._agent: dict[str, str] = {}
        self._notes: list[tuple[str, str]] = []
        self._name = ""
        self._attributes: dict[str, str] = {}

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self._depth += 1
        self._check_depth(self._depth)
        space, _, local = name.rpartition(" ")
        if self._depth == 1:
            if local != "mets" or space != spec.METS:
                raise PackageFault(where=self._where, why="eark-not-mets")
            self._root(attributes)
        elif space == spec.METS:
            begin = getattr(self, f"_on_{local}", None)
            if begin is not None:
                begin(attributes)
            elif local in _SECTIONS:
                self._section = (local, attributes.get("STATUS", ""))
            elif local in _TEXTS:
                self._text, self._attributes = [], attributes

    def end(self, name: str) -> None:
        """It ends."""
        self._depth -= 1
        space, _, local = name.rpartition(" ")
        if space != spec.METS:
            return
        if local == "fileGrp":
            self._groups.pop()
        elif local == "div":
            self._divisions.pop()
        elif local == "agent":
            self._end_agent()
        elif local in _TEXTS and self._text is not None:
            text, self._text = "".join(self._text).strip(), None
            self._end_text(local, text)

    def _root(self, attributes: dict[str, str]) -> None:
        head = self._heading
        head.object_id, head.label = attributes.get("OBJID", ""), attributes.get("LABEL", "")
        head.category, head.profile = attributes.get("TYPE", ""), attributes.get("PROFILE", "")
        head.other_category = _csip_attribute(attributes, "OTHERTYPE")
        head.content_type = _csip_attribute(attributes, "CONTENTINFORMATIONTYPE") or attributes.get(
            f"{spec.XLINK} CONTENTTYPESPECIFICATION", ""
        )
        head.other_content_type = _csip_attribute(attributes, "OTHERCONTENTINFORMATIONTYPE")

    def _on_metsHdr(self, attributes: dict[str, str]) -> None:
        head = self._heading
        head.created, head.record_status = attributes.get("CREATEDATE", ""), attributes.get("RECORDSTATUS", "")
        head.package_type = _csip_attribute(attributes, "OAISPACKAGETYPE")

    def _on_agent(self, attributes: dict[str, str]) -> None:
        self._agent, self._notes, self._name = attributes, [], ""

    def _end_agent(self) -> None:
        attributes = self._agent
        if len(self._heading.agents) >= MOST_KEPT:
            return
        self._heading.agents.append(
            Agent(
                attributes.get("ROLE", ""),
                attributes.get("TYPE", ""),
                self._name,
                attributes.get("OTHERROLE", ""),
                attributes.get("OTHERTYPE", ""),
                tuple(self._notes),
            )
        )

    def _end_text(self, local: str, text: str) -> None:
        if local == "name":
            self._name = self._name or text
        elif local == "note":
            if len(self._notes) < MOST_KEPT:
                self._notes.append((text, _csip_attribute(self._attributes, "NOTETYPE")))
        elif local == "altRecordID":
            self._heading.record.append((self._attributes.get("TYPE", ""), text))

    def _on_mdRef(self, attributes: dict[str, str]) -> None:
        section, status = self._section
        self._items.append(
            _reference("metadata", attributes, attributes, (section, "", ""), status, attributes.get("MDTYPE", ""))
        )

    def _on_fileGrp(self, attributes: dict[str, str]) -> None:
        use, content, other_content = self._groups[-1]
        content = _csip_attribute(attributes, "CONTENTINFORMATIONTYPE") or content
        other_content = _csip_attribute(attributes, "OTHERCONTENTINFORMATIONTYPE") or other_content
        self._groups.append((attributes.get("USE") or use, content, other_content))

    def _on_file(self, attributes: dict[str, str]) -> None:
        self._file = attributes

    def _on_FLocat(self, attributes: dict[str, str]) -> None:
        self._items.append(_reference("file", attributes, self._file, self._groups[-1]))

    def _on_div(self, attributes: dict[str, str]) -> None:
        if len(self._divisions) == 0 and not self._heading.kind:
            self._heading.kind = attributes.get("TYPE", "")
        self._divisions.append(attributes.get("LABEL", ""))

    def _on_mptr(self, attributes: dict[str, str]) -> None:
        if attributes.get("LOCTYPE", "URL") == "URL":
            self._items.append(
                _reference("pointer", attributes, {}, (self._divisions[-1] if self._divisions else "", "", ""))
            )


def _reference(
    role: Role,
    locator: dict[str, str],
    attributes: dict[str, str],
    group: tuple[str, str, str],
    status: str = "",
    md_type: str = "",
) -> MetsReference:
    href = locator.get(f"{spec.XLINK} href") or locator.get("href", "")
    return MetsReference(
        role,
        href,
        group[0],
        size_of_text(attributes.get("SIZE", "")),
        checksum_of_text(attributes.get("CHECKSUM", "")),
        attributes.get("CHECKSUMTYPE", "").strip(),
        attributes.get("MIMETYPE", ""),
        attributes.get("CREATED", ""),
        md_type,
        _sip_attribute(attributes, spec.FORMAT_NAME),
        _sip_attribute(attributes, spec.FORMAT_VERSION),
        _puid(attributes) if len(attributes) > 6 else "",
        attributes.get("OWNERID", ""),
        status,
        group[1],
        group[2],
    )


def _puid(attributes: dict[str, str]) -> str:
    registry = _sip_attribute(attributes, spec.FORMAT_REGISTRY) or _sip_attribute(attributes, spec.FORMAT_REGISTRY_MET)
    key = _sip_attribute(attributes, spec.FORMAT_KEY) or _sip_attribute(attributes, spec.FORMAT_KEY_MET)
    return key if not registry or registry.upper() == spec.PRONOM else ""


def _csip_attribute(attributes: dict[str, str], name: str) -> str:
    return next((attributes[key] for space in spec.CSIP_SPELLINGS if (key := f"{space} {name}") in attributes), "")


def _sip_attribute(attributes: dict[str, str], name: str) -> str:
    return next((attributes[key] for space in spec.SIP_SPELLINGS if (key := f"{space} {name}") in attributes), "")
