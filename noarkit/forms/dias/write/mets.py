"""Writes the two METS documents of a package: dias-mets.xml within it, and the submission description beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from noarkit.forms.container.digests import modified_ns
from noarkit.forms.container.progress import PackagedFile
from noarkit.forms.dias.spec import (
    CONTENT,
    METS,
    METS_NAMESPACE,
    OBJECT_PREFIX,
    PROFILE,
    SUBMISSION_NAMESPACE,
    TAR_TYPE,
    XLINK,
    href_of,
    mime_of,
)
from noarkit.forms.dias.write.markup import HEAD, attributes, element
from noarkit.forms.dias.write.order import NOT_STATED, SOFTWARE, DiasOrder
from noarkit.forms.metadata.model import Agent, Party, Person, System
from noarkit.safe.xml_text import escape_attribute

ROLES = ("CREATOR", "EDITOR", "ARCHIVIST", "PRESERVATION", "DISSEMINATOR", "CUSTODIAN", "IPOWNER", "OTHER")
TYPES = ("INDIVIDUAL", "ORGANIZATION", "OTHER")
DERIVED_FROM = "DERIVEDFROM"
_BATCH = 500
_IN_CONTENT = CONTENT + "/"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is fixed at the first start of a build; and what a file of the content was called, by its name there: empty
    where it still is."""

    uuid: str
    moment: datetime
    version: str
    original: Callable[[str], str] = lambda name: ""

    def original_of(self, row: PackagedFile) -> str:
        """What the file of a row was called; empty if it still is."""
        return self.original(row.name.removeprefix(_IN_CONTENT)) if row.name.startswith(_IN_CONTENT) else ""


@dataclass(frozen=True, slots=True)
class SealedFile:
    """A file as the outside knows it: where it is, how long, its sha256."""

    path: str
    size_bytes: int
    sha256: str
    mime: str = TAR_TYPE


def dias_mets(
    order: DiasOrder, facts: Facts, own: Iterable[PackagedFile], content: Iterable[PackagedFile]
) -> Iterator[bytes]:
    """dias-mets.xml: `own` are the files of the package itself, `content` those below content/."""
    yield _open(order, facts, METS_NAMESPACE).encode()
    yield _header(order, facts, METS).encode()
    yield b"<fileSec>\n"
    number = 0
    version_date = attributes({"VERSDATE": _moment(facts.moment, order.zone)})
    for start, rows in (
        ('<fileGrp ID="fileGroup001" USE="FILES">\n', own),
        (f'<fileGrp ID="fileGroup002"{version_date} USE="ArchiveExtraction">\n', content),
    ):
        yield start.encode()
        lines: list[str] = []
        for row in rows:
            number += 1
            lines.append(_row(row, number, order, facts))
            if len(lines) >= _BATCH:
                yield "".join(lines).encode()
                lines.clear()
        yield ("".join(lines) + "</fileGrp>\n").encode()
    yield b"</fileSec>\n<structMap><div/></structMap>\n</mets>\n"


def submission_description(order: DiasOrder, facts: Facts, tar: SealedFile, mets: SealedFile) -> bytes:
    """The document beside the tar, which seals it."""
    files = "".join(
        _file(number, file.path, file.mime, file.size_bytes, (_moment(facts.moment, order.zone), file.sha256))
        for number, file in enumerate((tar, mets))
    )
    document = (
        _open(order, facts, SUBMISSION_NAMESPACE)
        + _header(order, facts, "")
        + f'<fileSec>\n<fileGrp ID="fileGroup001" USE="FILES">\n{files}</fileGrp>\n</fileSec>\n'
        + "<structMap><div/></structMap>\n</mets>\n"
    )
    return document.encode()


def aic_mets(order: DiasOrder, facts: Facts, tars: Iterable[SealedFile]) -> bytes:
    """The document of an AIC: its AIPs are files, and each is a part of its structure."""
    moment = _moment(facts.moment, order.zone)
    files, parts = [], []
    for number, tar in enumerate(tars, start=1):
        files.append(_file(number, tar.path, tar.mime, tar.size_bytes, (moment, tar.sha256)))
        parts.append(f'<div{attributes({"LABEL": tar.path})}><fptr FILEID="fileId_{number}"/></div>\n')
    document = (
        _open(order, facts, METS_NAMESPACE, "AIC")
        + _header(order, facts, f"{facts.uuid}.xml")
        + f'<fileSec>\n<fileGrp ID="fileGroup001" USE="FILES">\n{"".join(files)}</fileGrp>\n</fileSec>\n'
        + f"<structMap>\n<div>\n{''.join(parts)}</div>\n</structMap>\n</mets>\n"
    )
    return document.encode()


def _row(row: PackagedFile, number: int, order: DiasOrder, facts: Facts) -> str:
    modified_at_ns = modified_ns(row.stamp)
    created = facts.moment if modified_at_ns is None else datetime.fromtimestamp(modified_at_ns // 1_000_000_000, UTC)
    sealed = (_moment(created, order.zone), row.digests[0])
    return _file(number, row.name, mime_of(row.name), row.size_bytes, sealed, facts.original_of(row))


def _file(number: int, path: str, mime: str, size_bytes: int, sealed: tuple[str, str], owner: str = "") -> str:
    created, sha256 = sealed
    owned = attributes({"OWNERID": owner})
    return (
        f'<file ID="fileId_{number}"{owned} MIMETYPE="{mime}" SIZE="{size_bytes}" CREATED="{created}"'
        f' CHECKSUM="{sha256}" CHECKSUMTYPE="SHA-256" USE="Datafile"><FLocat LOCTYPE="URL" xlink:type="simple"'
        f' xlink:href="{escape_attribute(href_of(path))}"/></file>\n'
    )


def _open(order: DiasOrder, facts: Facts, namespace: str, kind: str = "") -> str:
    root_attributes = {
        "xmlns": namespace,
        "xmlns:xlink": XLINK,
        "OBJID": f"{OBJECT_PREFIX}{facts.uuid}",
        "LABEL": order.label,
        "TYPE": kind or order.type,
        "PROFILE": PROFILE,
    }
    return f"{HEAD}<mets{attributes(root_attributes)}>\n"


def _header(order: DiasOrder, facts: Facts, document: str) -> str:
    """The header; `document` is empty for the description beside a tar, whose schema knows less."""
    created = _moment(facts.moment, order.zone)
    parts = [f'<metsHdr CREATEDATE="{created}" RECORDSTATUS="{order.record_status}">\n']
    parts += _agents(order, facts)
    if document:  # the schema of the description beside the tar knows no other roles
        parts += [_other_agent(agent) for agent in order.agents if agent.role in ROLES]
    parts += [
        element("altRecordID", value, TYPE=kind) for kind, value in _records(order, inside=bool(document)) if value
    ]
    if document:
        parts.append(element("metsDocumentID", document))
    return "".join([*parts, "</metsHdr>\n"])


def _records(order: DiasOrder, *, inside: bool) -> Iterator[tuple[str, str]]:
    yield "DELIVERYSPECIFICATION", order.description or order.label or NOT_STATED
    yield "SUBMISSIONAGREEMENT", order.agreement
    yield from (("PREVIOUSSUBMISSIONAGREEMENT", value) for value in order.previous_agreements)
    yield "DELIVERYTYPE", order.delivery_type
    if inside:  # the schema of the description beside the tar knows no project
        yield "PROJECTNAME", order.project
    yield "PACKAGENUMBER", order.package_number
    yield "REFERENCECODE", order.reference_code
    yield from (("PREVIOUSREFERENCECODE", value) for value in order.previous_reference_codes)
    yield "STARTDATE", order.start.isoformat() if order.start else ""
    yield "ENDDATE", order.end.isoformat() if order.end else ""
    if inside:
        yield from ((DERIVED_FROM, value) for value in order.derived_from)
        yield from order.records


def _agents(order: DiasOrder, facts: Facts) -> Iterator[str]:
    creators = order.archive_creators
    submitter = order.submitter or Party(creators[0].name, creators[0].identification)
    producer = order.producer or Party(submitter.name, submitter.identification)
    for party in creators:
        yield from _party(party, ROLE="ARCHIVIST")
    yield from _party(submitter, ROLE="OTHER", OTHERROLE="SUBMITTER")
    yield from _party(producer, ROLE="OTHER", OTHERROLE="PRODUCER")
    for party in order.owners or (Party(creators[0].name, creators[0].identification),):
        yield from _party(party, ROLE="IPOWNER")
    yield from _party(order.packer or Party(producer.name, producer.identification), ROLE="CREATOR")
    yield _software(System(SOFTWARE, facts.version, ""), ROLE="CREATOR")
    yield from _party(order.recipient or Party(NOT_STATED), ROLE="PRESERVATION")
    yield _software(order.system, ROLE="ARCHIVIST")
    if order.archive_system is not None:
        yield _software(order.archive_system, ROLE="OTHER", OTHERROLE="PRODUCER")


def _other_agent(agent: Agent) -> str:
    role = {"ROLE": agent.role, "OTHERROLE": agent.other_role, "TYPE": agent.type if agent.type in TYPES else "OTHER"}
    if agent.other_type == "SOFTWARE":
        role["OTHERTYPE"] = agent.other_type
    lines = "".join(element("note", note) for note, _ in agent.notes if note)
    return f"<agent{attributes(role)}>\n{element('name', agent.name or NOT_STATED)}{lines}</agent>\n"


def _party(party: Party, **role: str) -> Iterator[str]:
    more = {f"Note{number}": note for number, note in enumerate(party.notes, start=1)}
    notes = {"Identification": party.identification, **more}
    kind = "INDIVIDUAL" if party.individual else "ORGANIZATION"
    yield _agent(party.name, notes, {**role, "TYPE": kind})
    for person in party.people:
        yield _agent(person.name, _details(person), {**role, "TYPE": "INDIVIDUAL"})


def _details(person: Person) -> Mapping[str, str]:
    return {"Address": person.address, "Telephone": person.phone, "Email": person.email}


def _software(system: System, **role: str) -> str:
    notes = {"Version": system.version, "Type": system.type, "TypeVersion": system.type_version}
    return _agent(system.name, notes, {**role, "TYPE": "OTHER", "OTHERTYPE": "SOFTWARE"})


def _agent(name: str, notes: Mapping[str, str], role: Mapping[str, str]) -> str:
    """An agent; its notes are loose texts, and a last one says what they are."""
    nonempty_notes = {key: value for key, value in notes.items() if value}
    lines = "".join(element("note", value) for value in nonempty_notes.values())
    if nonempty_notes:
        lines += element("note", f"notescontent:{','.join(nonempty_notes)}")
    return f"<agent{attributes(role)}>\n{element('name', name or NOT_STATED)}{lines}</agent>\n"


def _moment(value: datetime, zone: str) -> str:
    return value.astimezone(ZoneInfo(zone)).isoformat(timespec="seconds")
