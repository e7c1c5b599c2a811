"""Checks the documents: header and files of dias-mets.xml, PREMIS and log against it, and descriptive metadata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.dias import spec
from noarkit.forms.dias.read.inventory import Inventory
from noarkit.forms.dias.rules.documents import CopiedDocument, DocumentValidator, line_of, reason_data
from noarkit.forms.findings import Hit, Tally, place_data
from noarkit.forms.metadata.file_facts import checksum_name
from noarkit.forms.metadata.mets_facts import MetsHeader, MetsItem, MetsReader
from noarkit.forms.metadata.model import Agent
from noarkit.forms.metadata.premis_entities import read_entities
from noarkit.forms.metadata.premis_objects import PremisObject, object_of
from noarkit.safe.xml import stream

_ROOTS: Mapping[str, str] = {spec.EAD: "ead", spec.EAC: "eac-cpf"}
_STRONG = ("SHA-256", "SHA-384", "SHA-512")


def read_mets(
    copied: CopiedDocument, inventory: Inventory, validator: DocumentValidator, tally: Tally
) -> MetsHeader | None:
    """Judges dias-mets.xml, and takes all that it lists; None if it cannot be read to its end."""
    try:
        with copied.path.open("rb") as file:
            mets = MetsReader(file, spec.METS)
            for entry in mets.files():
                _take(entry, mets, inventory, tally)
        header = mets.header
        validator.judge(copied.path, header.namespace, ("D202", spec.METS), tally)
    except (PackageFault, UnsafeXml) as fault:
        tally.add_hit(Hit("D201", spec.METS, line=line_of(fault), data=reason_data(fault)))
        return None
    if header.namespace == spec.SUBMISSION_NAMESPACE:
        tally.add("D203", spec.METS, value=header.namespace)
    if mets.mixed_group_line:
        tally.add_hit(Hit("D204", spec.METS, line=mets.mixed_group_line))
    _judge_header(header, tally)
    return header


def _take(entry: MetsItem, mets: MetsReader, inventory: Inventory, tally: Tally) -> None:
    outcome, name = inventory.match_listed(entry)
    code = {"twice": "D304", "unsafe": "D307", "missing": "D301", "found": ""}[outcome]
    if outcome == "missing" and spec.may_be_absent(mets.header.type, name):
        code = "D302"
    if code:
        tally.add_hit(Hit(code, spec.METS, line=entry.line, data=place_data({"name": name or entry.href})))
    elif not entry.checksum or entry.checksum_type.upper() not in spec.CHECKSUM_TYPES:
        data = place_data({"name": name, "value": entry.checksum_type or "-"})
        tally.add_hit(Hit("D308", spec.METS, line=entry.line, data=data))


def judge_strength(entries: Mapping[str, int], tally: Tally) -> None:
    """Tells of checksums that can be forged, once for each kind."""
    for kind, count in entries.items():
        if kind.upper() in spec.CHECKSUM_TYPES and kind.upper() not in _STRONG:
            tally.add("D309", spec.METS, value=kind, count=count)


def _judge_header(header: MetsHeader, tally: Tally) -> None:
    if not spec.uuid_in(header.object_id):
        tally.add("D205", spec.METS, value=header.object_id or "-")
    for role in _missing_roles(header.agents):
        tally.add("D206", spec.METS, value=role)
    if not header.value("SUBMISSIONAGREEMENT"):
        tally.add("D207", spec.METS)
    if header.profile != spec.PROFILE:
        tally.add("D208", spec.METS, value=header.profile or "-")
    for element in ("STARTDATE", "ENDDATE"):
        value = header.value(element)
        if value and not _is_day(value):
            tally.add("D209", spec.METS, element=element, value=value)
    start, end = header.value("STARTDATE"), header.value("ENDDATE")
    if _is_day(start) and _is_day(end) and end < start:
        tally.add("D209", spec.METS, element="ENDDATE", value=f"{end} < {start}")


def _missing_roles(agents: Iterable[Agent]) -> list[str]:
    roles = {(agent.role, agent.other_role, agent.type) for agent in agents}
    expected_roles = (
        ("ARCHIVIST", "", "ORGANIZATION"),
        ("OTHER", "SUBMITTER", "ORGANIZATION"),
        ("IPOWNER", "", "ORGANIZATION"),
        ("CREATOR", "", "ORGANIZATION"),
        ("PRESERVATION", "", "ORGANIZATION"),
        ("ARCHIVIST", "", "OTHER"),
    )
    return [" ".join(word for word in role if word) for role in expected_roles if role not in roles]


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    return True


def judge_premis(
    name: str, copied: CopiedDocument, uuid: str, context: tuple[Inventory, DocumentValidator, Tally]
) -> None:
    """Holds dias-premis.xml or log.xml to its schema, and to what dias-mets.xml says of the same files."""
    inventory, validator, tally = context
    names_package = False
    try:
        with copied.path.open("rb") as file:
            for entity in read_entities(file, name, (spec.PREMIS_NAMESPACE,)):
                if entity.kind != "object":
                    continue
                premis_object = object_of(entity)
                names_package = names_package or any(
                    spec.uuid_in(identifier) == uuid for identifier in premis_object.identifiers
                )
                _judge_object(
                    name,
                    premis_object,
                    entity.first("size"),
                    _file_of(premis_object, uuid, inventory),
                    (inventory, tally),
                )
        validator.judge(copied.path, spec.PREMIS_NAMESPACE, ("D402", name), tally)
    except (PackageFault, UnsafeXml) as fault:
        tally.add_hit(Hit("D401", name, line=line_of(fault), data=reason_data(fault)))
        return
    if uuid and not names_package:
        tally.add("D403", name, uuid=uuid)


def _judge_object(
    document: str, premis_object: PremisObject, size: str, name: str, context: tuple[Inventory, Tally]
) -> None:
    """Holds an object to what METS says of the file `name`; `size` is as it is written."""
    inventory, tally = context
    if not name:
        return
    entry = inventory.entry(name)
    if entry is None:
        tally.add_hit(Hit("D404", document, line=premis_object.line, data=place_data({"name": name})))
        return
    pairs = [(size, str(entry.size_bytes if entry.listed_bytes is None else entry.listed_bytes))]
    listed_by = checksum_name(entry.checksum_type)
    pairs += [(digest, entry.checksum) for algorithm, digest in premis_object.digests if algorithm == listed_by]
    for value, expected in pairs:
        if value and value != expected:
            data = place_data({"name": name, "value": value, "expected": expected})
            tally.add_hit(Hit("D405", document, line=premis_object.line, data=data))


def _file_of(premis_object: PremisObject, uuid: str, inventory: Inventory) -> str:
    """The file of the package that an object is; empty for the package itself."""
    for name in (premis_object.location, premis_object.original_name):
        if name:
            return next((path for path in spec.paths_of(name) if inventory.files.has(path)), name)
    for identifier in premis_object.identifiers:
        head, _, file_path = identifier.partition("/")
        if file_path and spec.uuid_in(head) == uuid and inventory.files.has(file_path):
            return file_path
    return ""


def judge_description(name: str, copied: CopiedDocument, tally: Tally) -> None:
    """An EAD or EAC can be read, and is one."""
    try:
        roots = [element.tag for _, element in stream(copied.path, ("start",)) if element.getparent() is None]
    except (PackageFault, UnsafeXml) as fault:
        tally.add_hit(Hit("D601", name, line=line_of(fault), data=reason_data(fault)))
        return
    root = str(roots[0]).rpartition("}")[2] if roots else ""
    if root != _ROOTS[name]:
        tally.add("D601", name, why=f"root {root}")
