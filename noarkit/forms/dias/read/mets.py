"""Reads either METS of a package as a stream: what it says of the package, and every file that it lists.

Both namespaces are read, files in groups at any depth, and files that stand as metadata (`mdRef`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from noarkit.forms.dias.read.walk import XmlHandler
from noarkit.forms.dias.spec import METS_NAMESPACE, SUBMISSION_NAMESPACE, XLINK
from noarkit.forms.metadata.file_facts import MOST_KEPT, checksum_of_text, size_of_text
from noarkit.safe.digest import Readable

_HREF = f"{XLINK}}}href"


@dataclass(frozen=True, slots=True)
class MetsAgent:
    """Someone, or something, that METS names."""

    role: str
    other_role: str
    type: str
    other_type: str
    name: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetsHeader:
    """What METS says of a package."""

    namespace: str = ""
    object_id: str = ""
    type: str = ""
    label: str = ""
    profile: str = ""
    created: str = ""
    record_status: str = ""
    document_id: str = ""
    agents: tuple[MetsAgent, ...] = ()
    records: tuple[tuple[str, str], ...] = ()

    def value(self, kind: str) -> str:
        """The first `altRecordID` of a type; empty if there is none."""
        return next((value for name, value in self.records if name == kind), "")


@dataclass(frozen=True, slots=True)
class MetsFile:
    """A file as METS lists it. `size_bytes` is None if it is not told as a number."""

    href: str
    size_bytes: int | None
    checksum: str
    checksum_type: str
    mime: str
    created: str
    line: int
    owner_id: str = ""


class MetsReader:
    """A METS document that is being read: go through `files` to its end, then `header` is whole."""

    def __init__(self, source: Readable) -> None:
        self._source = source
        self._walk = _MetsHandler()

    def files(self) -> Iterator[MetsFile]:
        """Every file, in order. Raises `PackageFault` and `UnsafeXml` where it cannot be read."""
        return self._walk.items(self._source)

    @property
    def header(self) -> MetsHeader:
        """What was read of it so far."""
        return self._walk.header()

    @property
    def mixed_group_line(self) -> int:
        """The line of the first group that stands beside files, which the schema does not allow; 0 for none."""
        return self._walk.mixed


class _MetsHandler(XmlHandler[MetsFile]):
    def __init__(self) -> None:
        super().__init__()
        self._root: dict[str, str] = {}
        self._header_attributes: dict[str, str] = {}
        self._agents: list[MetsAgent] = []
        self._records: list[tuple[str, str]] = []
        self._agent: tuple[dict[str, str], list[tuple[str, str]]] = ({}, [])
        self._record = ""
        self._document = ""
        self._file: dict[str, str] = {}
        self._at = 0
        self._groups: list[bool] = []
        self.mixed = 0

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        space, _, local = name.rpartition("}")
        if not self._open:
            self._root = {**attributes, "namespace": space}
        if space not in (METS_NAMESPACE, SUBMISSION_NAMESPACE):
            local = ""
        self._open.append(local)
        self._text.clear()
        if local == "file":
            self._file, self._at = attributes, self._line()
            if self._groups:
                self._groups[-1] = True
        elif local == "FLocat":
            self._add_file(self._file, attributes)
        elif local == "mdRef":
            self._at = self._line()
            self._add_file(attributes, attributes)
        elif local == "fileGrp":
            if self._groups and self._groups[-1] and not self.mixed:
                self.mixed = self._line()
            self._groups.append(False)
        else:
            self._start_of_header(local, attributes)

    def _start_of_header(self, local: str, attributes: dict[str, str]) -> None:
        if local == "metsHdr":
            self._header_attributes = attributes
        elif local == "agent":
            self._agent = (attributes, [])
        elif local == "altRecordID":
            self._record = attributes.get("TYPE", "")

    def _add_file(self, file: dict[str, str], place: dict[str, str]) -> None:
        self._ready.append(
            MetsFile(
                place.get(_HREF, ""),
                size_of_text(file.get("SIZE", "")),
                checksum_of_text(file.get("CHECKSUM", "")),
                file.get("CHECKSUMTYPE", "").strip(),
                file.get("MIMETYPE", ""),
                file.get("CREATED", ""),
                self._at,
                file.get("OWNERID", ""),
            )
        )

    def end(self, name: str, /) -> None:
        local = self._open.pop()
        if local == "fileGrp":
            self._groups.pop()
        elif local in ("name", "note"):
            self._agent[1].append((local, "".join(self._text).strip()))
        elif local == "agent":
            self._end_of_agent()
        elif local == "altRecordID" and len(self._records) < MOST_KEPT:
            self._records.append((self._record, "".join(self._text).strip()))
        elif local == "metsDocumentID":
            self._document = "".join(self._text).strip()
        self._text.clear()

    def _end_of_agent(self) -> None:
        if len(self._agents) >= MOST_KEPT:
            return
        attributes, texts = self._agent
        name = next((text for kind, text in texts if kind == "name"), "")
        notes = tuple(text for kind, text in texts if kind == "note")
        role, other_role, kind, other_kind = (
            attributes.get(key, "") for key in ("ROLE", "OTHERROLE", "TYPE", "OTHERTYPE")
        )
        self._agents.append(MetsAgent(role, other_role, kind, other_kind, name, notes))

    def header(self) -> MetsHeader:
        return MetsHeader(
            self._root.get("namespace", ""),
            self._root.get("OBJID", ""),
            self._root.get("TYPE", ""),
            self._root.get("LABEL", ""),
            self._root.get("PROFILE", ""),
            self._header_attributes.get("CREATEDATE", ""),
            self._header_attributes.get("RECORDSTATUS", ""),
            self._document,
            tuple(self._agents),
            tuple(self._records),
        )
