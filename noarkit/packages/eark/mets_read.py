"""Reads METS by events, of any E-ARK version and of those before them: what it says of the package, and what it lists.

Nothing is kept but the heading; whatever is listed is told one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal
from xml.parsers.expat import XMLParserType

from noarkit.errors import PackageFault
from noarkit.packages.eark import spec
from noarkit.packages.eark.order import Agent
from noarkit.packages.eark.reading import Reading, found_in
from noarkit.safe.digest import Readable

Role = Literal["file", "metadata", "pointer"]
_MAX_DEPTH = 100
_SECTIONS = ("dmdSec", "techMD", "rightsMD", "sourceMD", "digiprovMD")
_TEXTS = ("name", "note", "altRecordID", "metsDocumentID")


@dataclass(frozen=True, slots=True)
class Named:
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


def read_mets(source: Readable, heading: Heading, where: str) -> Iterator[Named]:
    """Everything a METS lists, in order; `heading` is filled on the way.

    Raises `PackageFault` for what is no METS, and `UnsafeXml`.
    """
    return found_in(source, where, lambda parser: _Reading(parser, heading, where))


class _Reading(Reading[Named]):
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

    def start(self, name: str, told: dict[str, str]) -> None:
        """An element begins."""
        self._depth += 1
        self._judge(self._depth)
        space, _, local = name.rpartition(" ")
        if self._depth == 1:
            if local != "mets" or space != spec.METS:
                raise PackageFault(where=self._where, why="eark-not-mets")
            self._root(told)
        elif space == spec.METS:
            begin = getattr(self, f"_on_{local}", None)
            if begin is not None:
                begin(told)
            elif local in _SECTIONS:
                self._section = (local, told.get("STATUS", ""))
            elif local in _TEXTS:
                self._text, self._attributes = [], told

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

    def _root(self, told: dict[str, str]) -> None:
        head = self._heading
        head.object_id, head.label = told.get("OBJID", ""), told.get("LABEL", "")
        head.category, head.profile = told.get("TYPE", ""), told.get("PROFILE", "")
        head.other_category = _of_csip(told, "OTHERTYPE")
        head.content_type = _of_csip(told, "CONTENTINFORMATIONTYPE") or told.get(
            f"{spec.XLINK} CONTENTTYPESPECIFICATION", ""
        )
        head.other_content_type = _of_csip(told, "OTHERCONTENTINFORMATIONTYPE")

    def _on_metsHdr(self, told: dict[str, str]) -> None:
        head = self._heading
        head.created, head.record_status = told.get("CREATEDATE", ""), told.get("RECORDSTATUS", "")
        head.package_type = _of_csip(told, "OAISPACKAGETYPE")

    def _on_agent(self, told: dict[str, str]) -> None:
        self._agent, self._notes, self._name = told, [], ""

    def _end_agent(self) -> None:
        told = self._agent
        self._heading.agents.append(
            Agent(
                told.get("ROLE", ""),
                told.get("TYPE", ""),
                self._name,
                told.get("OTHERROLE", ""),
                told.get("OTHERTYPE", ""),
                tuple(self._notes),
            )
        )

    def _end_text(self, local: str, text: str) -> None:
        if local == "name":
            self._name = text
        elif local == "note":
            self._notes.append((text, _of_csip(self._attributes, "NOTETYPE")))
        elif local == "altRecordID":
            self._heading.record.append((self._attributes.get("TYPE", ""), text))

    def _on_mdRef(self, told: dict[str, str]) -> None:
        section, status = self._section
        self._found.append(_named("metadata", told, told, (section, "", ""), status, told.get("MDTYPE", "")))

    def _on_fileGrp(self, told: dict[str, str]) -> None:
        use, content, other = self._groups[-1]
        content = _of_csip(told, "CONTENTINFORMATIONTYPE") or content
        other = _of_csip(told, "OTHERCONTENTINFORMATIONTYPE") or other
        self._groups.append((told.get("USE") or use, content, other))

    def _on_file(self, told: dict[str, str]) -> None:
        self._file = told

    def _on_FLocat(self, told: dict[str, str]) -> None:
        self._found.append(_named("file", told, self._file, self._groups[-1]))

    def _on_div(self, told: dict[str, str]) -> None:
        if len(self._divisions) == 0 and not self._heading.kind:
            self._heading.kind = told.get("TYPE", "")
        self._divisions.append(told.get("LABEL", ""))

    def _on_mptr(self, told: dict[str, str]) -> None:
        if told.get("LOCTYPE", "URL") == "URL":
            self._found.append(_named("pointer", told, {}, (self._divisions[-1] if self._divisions else "", "", "")))


def _named(
    role: Role,
    place: dict[str, str],
    told: dict[str, str],
    group: tuple[str, str, str],
    status: str = "",
    md_type: str = "",
) -> Named:
    href = place.get(f"{spec.XLINK} href") or place.get("href", "")
    size = told.get("SIZE", "")
    return Named(
        role,
        href,
        group[0],
        int(size) if size.isascii() and size.isdigit() and len(size) < 19 else None,
        told.get("CHECKSUM", "").lower(),
        told.get("CHECKSUMTYPE", ""),
        told.get("MIMETYPE", ""),
        told.get("CREATED", ""),
        md_type,
        _of_sip(told, spec.FORMAT_NAME),
        _of_sip(told, spec.FORMAT_VERSION),
        _puid(told) if len(told) > 6 else "",
        told.get("OWNERID", ""),
        status,
        group[1],
        group[2],
    )


def _puid(told: dict[str, str]) -> str:
    registry = _of_sip(told, spec.FORMAT_REGISTRY) or _of_sip(told, spec.FORMAT_REGISTRY_MET)
    key = _of_sip(told, spec.FORMAT_KEY) or _of_sip(told, spec.FORMAT_KEY_MET)
    return key if not registry or registry.upper() == spec.PRONOM else ""


def _of_csip(told: dict[str, str], name: str) -> str:
    return next((told[key] for space in spec.CSIP_SPELLINGS if (key := f"{space} {name}") in told), "")


def _of_sip(told: dict[str, str], name: str) -> str:
    return next((told[key] for space in spec.SIP_SPELLINGS if (key := f"{space} {name}") in told), "")
