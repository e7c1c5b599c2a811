"""What a METS says of its package and of what it lists: one meaning of it, whatever the form of the package.

Nothing is kept but the header; whatever is listed is told one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from noarkit.forms.metadata.file_facts import PRONOM, checksum_of_text, size_of_text
from noarkit.forms.metadata.mets import read_mets
from noarkit.forms.metadata.mets_model import (
    CONTENT_TYPE,
    CSIP,
    FORMAT_KEYS,
    FORMAT_NAME,
    FORMAT_REGISTRIES,
    FORMAT_VERSION,
    NAMESPACES,
    OTHER_CONTENT_TYPE,
    SIP_SPELLINGS,
    XLINK,
    AgentElement,
    Attributes,
    FileElement,
    Group,
    Header,
    MetsHandler,
    Section,
    StructMap,
)
from noarkit.forms.metadata.model import Agent
from noarkit.safe.digest import Readable

Role = Literal["file", "metadata", "pointer"]
_HREF = f"{XLINK} href"


class MetsItem(NamedTuple):
    """Something a METS lists: a file, a file of metadata, or another METS. `use` is that of its group, or its section.

    What its attributes mean is worked out when it is asked for.
    """

    role: Role
    href: str
    attributes: Attributes
    line: int
    use: str = ""
    status: str = ""
    content_type: str = ""
    other_content_type: str = ""

    @property
    def size_bytes(self) -> int | None:
        """Its size; None if that is not told as a number."""
        return size_of_text(self.attributes.get("SIZE", ""))

    @property
    def checksum(self) -> str:
        """Its checksum, in small letters."""
        return checksum_of_text(self.attributes.get("CHECKSUM", ""))

    @property
    def checksum_type(self) -> str:
        """The algorithm of the checksum, as it is spelt."""
        return self.attributes.get("CHECKSUMTYPE", "").strip()

    @property
    def media_type(self) -> str:
        """Its media type."""
        return self.attributes.get("MIMETYPE", "")

    @property
    def created(self) -> str:
        """When it was made, as it was written."""
        return self.attributes.get("CREATED", "")

    @property
    def original_name(self) -> str:
        """How it was called before."""
        return self.attributes.get("OWNERID", "")

    @property
    def md_type(self) -> str:
        """What kind of metadata it is."""
        return self.attributes.get("MDTYPE", "")

    @property
    def format_name(self) -> str:
        """The name of its format."""
        return self._of_sip(FORMAT_NAME)

    @property
    def format_version(self) -> str:
        """The version of its format."""
        return self._of_sip(FORMAT_VERSION)

    @property
    def puid(self) -> str:
        """The PRONOM identifier of its format."""
        key = self._of_sip(*FORMAT_KEYS)
        return key if key and self._of_sip(*FORMAT_REGISTRIES).upper() in ("", PRONOM) else ""

    def _of_sip(self, *names: str) -> str:
        attributes = self.attributes
        for name in names:
            for space in SIP_SPELLINGS:
                if text := attributes.get(f"{space} {name}"):
                    return text
        return ""


@dataclass(frozen=True, slots=True)
class MetsHeader:
    """What a METS says of the package or representation it describes. `kind` is that of its top division."""

    namespace: str = ""
    object_id: str = ""
    type: str = ""
    other_type: str = ""
    label: str = ""
    profile: str = ""
    content_type: str = ""
    other_content_type: str = ""
    created: str = ""
    record_status: str = ""
    package_type: str = ""
    document_id: str = ""
    kind: str = ""
    agents: tuple[Agent, ...] = ()
    records: tuple[tuple[str, str], ...] = ()

    def value(self, kind: str) -> str:
        """The first `altRecordID` of a type; empty if there is none."""
        return next((value for name, value in self.records if name == kind), "")


class MetsReader:
    """A METS document that is being read: go through `items` to its end, then `header` is whole."""

    def __init__(self, source: Readable, where: str, namespaces: Sequence[str] = NAMESPACES) -> None:
        self._source = source
        self._where = where
        self._namespaces = namespaces
        self._listing = _Listing()

    def items(self) -> Iterator[MetsItem]:
        """Everything it lists, in order. Raises `PackageFault` for what is no METS, and `UnsafeXml`."""
        listing = self._listing
        for _ in read_mets(self._source, self._where, listing, namespaces=self._namespaces):
            yield from listing.items
            listing.items.clear()
        yield from listing.items

    def files(self) -> Iterator[MetsItem]:
        """Every file and file of metadata, but no other METS. Raises as `items` does."""
        return (item for item in self.items() if item.role != "pointer")

    @property
    def header(self) -> MetsHeader:
        """What was read of it so far."""
        return self._listing.facts()

    @property
    def mixed_group_line(self) -> int:
        """The line of the first group that stands beside files, which the schema does not allow; 0 for none."""
        return self._listing.mixed


class _Listing(MetsHandler):
    """Takes down what a document lists."""

    def __init__(self) -> None:
        self.items: list[MetsItem] = []
        self.mixed = 0
        self._header = Header("", {}, 0)
        self._kind = ""

    def header(self, header: Header) -> None:
        self._header = header

    def section(self, section: Section) -> None:
        status = section.attributes.get("STATUS", "")
        for attributes, line in section.references:
            self.items.append(MetsItem("metadata", _href(attributes), attributes, line, section.kind, status))

    def group(self, group: Group) -> None:
        if group.is_beside_files:
            self.mixed = min(self.mixed or group.line, group.line)

    def file(self, file: FileElement, group: Group) -> None:
        for locator in file.locators:
            item = MetsItem(
                "file",
                _href(locator),
                file.attributes,
                file.line,
                group.use,
                "",
                group.content_type,
                group.other_content_type,
            )
            self.items.append(item)

    def pointer(self, attributes: Attributes) -> None:
        if attributes.get("LOCTYPE", "URL") == "URL":
            self.items.append(MetsItem("pointer", _href(attributes), {}, 0))

    def structure(self, struct_map: StructMap) -> None:
        for attributes, _ in struct_map.tops:
            self._kind = self._kind or attributes.get("TYPE", "")

    def facts(self) -> MetsHeader:
        """The header, as far as it was read."""
        header = self._header
        root, attributes = header.root, header.attributes or {}
        return MetsHeader(
            header.namespace,
            root.get("OBJID", ""),
            root.get("TYPE", ""),
            root.get(f"{CSIP} OTHERTYPE", ""),
            root.get("LABEL", ""),
            root.get("PROFILE", ""),
            root.get(CONTENT_TYPE) or root.get(f"{XLINK} CONTENTTYPESPECIFICATION", ""),
            root.get(OTHER_CONTENT_TYPE, ""),
            attributes.get("CREATEDATE", ""),
            attributes.get("RECORDSTATUS", ""),
            attributes.get(f"{CSIP} OAISPACKAGETYPE", ""),
            header.document_id,
            self._kind,
            tuple(map(_agent, header.agents)),
            tuple(header.ids),
        )


def _agent(agent: AgentElement) -> Agent:
    """An agent; of several names the first counts."""
    return Agent(
        agent.get("ROLE"),
        agent.get("TYPE"),
        next(filter(None, agent.names), ""),
        agent.get("OTHERROLE"),
        agent.get("OTHERTYPE"),
        tuple((text, kind) for kind, text in agent.notes),
    )


def _href(attributes: Attributes) -> str:
    return attributes.get(_HREF) or attributes.get("href", "")
