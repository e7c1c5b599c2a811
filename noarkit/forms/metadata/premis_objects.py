"""What the objects of a PREMIS document say of files: one meaning of it, whoever asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from noarkit.forms.container.statements import PremisEvent
from noarkit.forms.metadata.file_facts import PRONOM, checksum_name, size_of_text
from noarkit.forms.metadata.premis_entities import EVERY_NAMESPACE, PremisEntity, read_entities
from noarkit.safe.digest import Readable

_PART = frozenset({"is included in", "is part of"})


@dataclass(frozen=True, slots=True)
class PremisObject:
    """An object: `kind` is file, representation or another. `digests` are checksums by METS' name of the algorithm.

    `location` is an address; `included_in` is the package that this one is a part of.
    """

    kind: str
    identifiers: tuple[str, ...]
    original_name: str = ""
    location: str = ""
    size_bytes: int | None = None
    digests: tuple[tuple[str, str], ...] = ()
    format_name: str = ""
    format_version: str = ""
    puid: str = ""
    included_in: str = ""
    line: int = field(default=0, compare=False)


def read_objects(source: Readable, where: str, namespaces: tuple[str, ...] = EVERY_NAMESPACE) -> Iterator[PremisObject]:
    """Every object of a PREMIS document. Raises `PackageFault` for what is none, and `UnsafeXml`."""
    for entity in read_entities(source, where, namespaces):
        if entity.kind == "object":
            yield object_of(entity)


def object_of(entity: PremisEntity) -> PremisObject:
    """An entity that is an object, as a value."""
    is_part = entity.first("relationshipSubType").lower() in _PART
    return PremisObject(
        entity.type,
        tuple(entity.all("objectIdentifierValue")),
        entity.first("originalName"),
        entity.first("contentLocationValue"),
        size_of_text(entity.first("size")),
        tuple((checksum_name(algorithm), digest.lower()) for algorithm, digest in entity.digests),
        entity.first("formatName"),
        entity.first("formatVersion"),
        entity.first("formatRegistryKey") if PRONOM in entity.first("formatRegistryName").upper() else "",
        entity.first("relatedObjectIdentifierValue") if is_part else "",
        entity.line,
    )


def event_of(entity: PremisEntity) -> PremisEvent:
    """An entity that is an event, as it is told beside a file."""
    outcome = "; ".join((*entity.all("eventOutcome"), *entity.all("eventOutcomeDetailNote")))
    return PremisEvent(
        entity.first("eventType"),
        entity.first("eventDateTime"),
        "; ".join(entity.all("eventDetail")),
        outcome,
        tuple(entity.all("linkingAgentIdentifierValue")),
        tuple(entity.all("linkingObjectIdentifierValue")),
    )
