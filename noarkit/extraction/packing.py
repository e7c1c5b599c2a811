"""Writes what a source holds and says into a package of another form: each element where that form has its place.

What the form has no element for goes along as a document of the source, or as a record identifier of its own type.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from noarkit.events import Listener
from noarkit.extraction.package_files import DescriptionFile, moment_of
from noarkit.extraction.payload import Part, Payload
from noarkit.extraction.renamed import PartPlacement, place_parts, renamed_files
from noarkit.extraction.statements import SOURCE_SUFFIX
from noarkit.forms.bagit.spec import DEFAULT_ALGORITHMS, PAYLOAD
from noarkit.forms.bagit.write import Blocks, Rows
from noarkit.forms.container.building import File
from noarkit.forms.container.packager import MadePackage, OnWhole
from noarkit.forms.container.sinks import top_name
from noarkit.forms.dias.spec import ADMINISTRATIVE, DESCRIPTIVE
from noarkit.forms.dias.write.order import DEFAULT_LABEL, DEFAULT_STATUS, DEFAULT_SYSTEM, NOT_STATED
from noarkit.forms.eark import spec
from noarkit.forms.eark.write.listing import UNKNOWN_TYPE, PackageFile
from noarkit.forms.eark.write.order import EarkFile, EarkOrder, MetadataFile, Representation
from noarkit.forms.metadata.bag import bag_info
from noarkit.forms.metadata.dias import dias_order, read_order
from noarkit.forms.metadata.eark import content_type_of, eark_agents, eark_records
from noarkit.forms.metadata.facts import read_facts
from noarkit.forms.metadata.model import FileFacts, PackageMetadata, PartFacts, System
from noarkit.forms.metadata.provenance import Conversion
from noarkit.version import __version__

_SHA256 = "sha256"
_TYPES = mimetypes.MimeTypes(filenames=())  # the language's own table: the same everywhere
MOST_TAG_BYTES = 64 * 1024 * 1024
_CONTENT_TYPES = {
    "noark5": ("OTHER", "Noark 5", "Databases"),
    "siard": ("citssiard_v1_0", "", "Databases"),
    "files": ("OTHER", "", "Mixed"),
}
_MEDIA_TYPE = re.compile(
    r"(?:application|audio|font|image|message|model|multipart|text|video)/[a-z0-9][\w.+-]*", re.IGNORECASE
)
_KINDS = {"copies": "PRESERVATION", "access": "ACCESS"}
"""What E-ARK calls a representation of copies, by what they are for."""
_DIAS_FOLDERS = {"documentation": "documentation", "other": "other", "schema": "schemas"}
_OWN_OF_DIAS = ("ead.", "eac-cpf")


@dataclass(frozen=True, slots=True)
class Delivery:
    """A package that is to be made: what goes in, where to, what it says of itself, and how it came from its source;
    `before_named` is told of it before it gets its name. `mime_compat` as of `EarkOrder`."""

    payload: Payload
    target: Path
    package: Path | None
    metadata: PackageMetadata
    conversion: Conversion | None
    before_named: OnWhole
    emit: Listener
    mime_compat: bool = False


def metadata_for(payload: Payload, package: Path | None) -> PackageMetadata:
    """What the new package says: what `package.toml` tells, and else what the source did."""
    source = payload.statement.metadata
    metadata = source if package is None else _without_defaults(read_facts(package).metadata).fill_from(source)
    return replace(metadata, identifier="", derived_from=payload.statement.identifiers, package_type="", created="")


def _without_defaults(metadata: PackageMetadata) -> PackageMetadata:
    """The facts that someone stated: what stands in every `package.toml` from the start says nothing."""
    return replace(
        metadata,
        label=metadata.label if metadata.label != DEFAULT_LABEL else "",
        record_status=metadata.record_status if metadata.record_status != DEFAULT_STATUS else "",
        system=metadata.system if metadata.system and metadata.system.name not in ("", DEFAULT_SYSTEM.name) else None,
    )


def pack_bag(delivery: Delivery, product: str) -> MadePackage:
    """A bag: of the payload of a bag a new one; any other package goes into it whole."""
    from noarkit.forms.bagit.write import BagFile, BagOrder, make_bag

    payload = delivery.payload
    info, names = _names_in_bag(payload, product)
    tags = tuple(_tags(payload.statement.outer)) if payload.form == "bagit" else ()
    order = BagOrder(
        (*bag_info(delivery.metadata), *info),
        tags=(*names, *tags),
        identified=True,
        premis=partial(_bag_premis, delivery, product),
        algorithms=DEFAULT_ALGORITHMS if payload.derivations is None else (*DEFAULT_ALGORITHMS, _SHA256),
    )
    return make_bag(
        (BagFile(*file) for file in placed_files(place_parts(payload, product))),
        delivery.target,
        order,
        aside=payload.aside,
        before_named=delivery.before_named,
        emit=delivery.emit,
    )


def _names_in_bag(payload: Payload, product: str) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, Blocks], ...]]:
    """What a bag says of files that are called otherwise: an entry of its information, and a tag file."""
    from noarkit.forms.bagit.names import LABEL, ORIGINAL_NAMES, names_tag

    def pairs() -> Iterator[tuple[str, str]]:
        return ((name.removeprefix(f"{PAYLOAD}/"), key) for name, key in renamed_files(payload, product))

    count = sum(1 for _ in pairs())
    if not count:
        return (), ()
    return ((LABEL, f"{ORIGINAL_NAMES} ({count})"),), ((ORIGINAL_NAMES, names_tag(pairs)),)


def _bag_premis(delivery: Delivery, product: str, identifier: str, created: str, rows: Rows) -> Iterable[bytes]:
    """premis.xml: how the bag came to be, and the copies in it with their originals."""
    from noarkit.forms.eark.write.premis import PremisHeading as Subject
    from noarkit.forms.eark.write.premis import file_id, premis

    derivations, prefix = delivery.payload.derivations, "ID-"
    if derivations is not None:
        for number, file in enumerate(_paired_files(delivery, product, created, rows), 1):
            derivations.identify(file.name, file_id(prefix, number), file.digest)
    subject = Subject(
        identifier,
        "intellectualEntity",
        created,
        __version__,
        "",
        delivery.metadata.history,
        sources=delivery.metadata.derived_from,
        conversion=delivery.conversion,
        derivations=derivations,
    )
    return premis(subject, _paired_files(delivery, product, created, rows), spec.WRITTEN_CHECKSUM, prefix)


def _paired_files(delivery: Delivery, product: str, created: str, rows: Rows) -> Iterator[PackageFile]:
    """The copies in a bag, and what they were made of."""
    derivations = delivery.payload.derivations
    if derivations is None:
        return
    placements = place_parts(delivery.payload, product)
    for row in rows():
        if derivations.concerns(row.name):
            facts = _file_facts(placements, row.name.removeprefix(f"{PAYLOAD}/")) or FileFacts()
            yield PackageFile(
                row.name,
                row.size_bytes,
                row.digests[-1],
                created,
                facts.media_type or _TYPES.guess_type(row.name)[0] or UNKNOWN_TYPE,
                facts.puid,
                original_name=facts.original_name,
            )


def _tags(documents: Iterable[DescriptionFile]) -> Iterator[tuple[str, bytes]]:
    """The tag files of a bag that go into the next one."""
    for document in documents:
        name, source, _, _ = document.file
        if isinstance(source, (str, Path)):
            yield f"metadata/{name}", Path(source).read_bytes()
        else:
            with source() as content:
                yield f"metadata/{name}", content.read(MOST_TAG_BYTES)


def pack_eark(delivery: Delivery, product: str) -> MadePackage:
    """An E-ARK package, of the kind that the product names."""
    from noarkit.forms.eark.write.package import make_eark

    payload, metadata = delivery.payload, delivery.metadata
    kind = next(kind for kind in spec.KINDS if product.endswith(kind))
    parts = (_representation(part, payload, metadata) for part in payload.parts)
    names = {part.name for part in payload.parts}
    documents = [document for document in payload.statement.documents if document.part not in names]
    content_type, other_type = content_type_of(metadata.content_type, metadata.other_content_type)
    category = metadata.category if metadata.category in (*spec.CONTENT_CATEGORIES, spec.ERMS_CATEGORY) else ""
    odd = () if category or not metadata.category else (("CONTENTCATEGORY", metadata.category),)
    order = EarkOrder(
        kind=kind,
        identified=True,
        label=metadata.label or top_name(delivery.target),
        category=category,
        other_category=metadata.other_category if category in ("Other", "OTHER") else "",
        content_type=content_type,
        other_content_type=other_type,
        record_status=metadata.record_status if metadata.record_status in spec.RECORD_STATUSES else "",
        agents=tuple(eark_agents(metadata)),
        agreement=metadata.agreement,
        previous_agreements=metadata.previous_agreements,
        reference_code=metadata.reference_code,
        previous_reference_codes=metadata.previous_reference_codes,
        derived_from=metadata.derived_from,
        records=(*eark_records(metadata), *odd),
        metadata=_metadata(documents),
        documentation=_documents(documents, "documentation"),
        schemas=_documents(documents, "schema"),
        history=metadata.history,
        conversion=delivery.conversion,
        derivations=payload.derivations,
        mime_compat=delivery.mime_compat,
    )
    return make_eark(
        parts,
        delivery.target,
        order,
        aside=payload.aside,
        before_named=delivery.before_named,
        emit=delivery.emit,
    )


def _representation(part: Part, payload: Payload, metadata: PackageMetadata) -> Representation:
    kind, other_type, category = _CONTENT_TYPES[part.content]
    facts = next((entry for entry in metadata.parts if entry.name == part.name), PartFacts(part.name))
    if facts.content_type:
        kind, other_type = content_type_of(facts.content_type, facts.other_content_type)
    elif metadata.content_type and len(payload.parts) == 1:
        kind, other_type = content_type_of(metadata.content_type, metadata.other_content_type)
    documents = [entry for entry in payload.statement.documents if entry.part == part.name]
    return Representation(
        part.folder,
        (_eark_file(file, file_facts) for file, file_facts in part.named_files()),
        kind,
        other_type,
        facts.category if facts.category in spec.CONTENT_CATEGORIES else category,
        label=facts.label,
        kind=facts.kind or _KINDS.get(part.role, "ORIGINAL"),
        metadata=_metadata(documents),
        documentation=_documents(documents, "documentation"),
        schemas=_documents(documents, "schema"),
        made_of=_made_of(part, payload),
    )


def _made_of(part: Part, payload: Payload) -> tuple[str, ...]:
    """The representation whose files a representation has copies of."""
    if part.role not in _KINDS:
        return ()
    return tuple(other.folder for other in payload.parts if other.role == "originals")


def _eark_file(file: File, facts: FileFacts | None) -> EarkFile:
    name, source, size, stamp = file
    if facts is None:
        return EarkFile(name, source, size, stamp)
    return EarkFile(
        name,
        source,
        size,
        stamp,
        media_type=facts.media_type if _MEDIA_TYPE.fullmatch(facts.media_type) else "",
        puid=facts.puid,
        format_name=facts.format_name,
        format_version=facts.format_version,
        created=moment_of(facts.created),
        original_name=facts.original_name,
    )


def _metadata(documents: Iterable[DescriptionFile]) -> tuple[MetadataFile, ...]:
    return tuple(
        MetadataFile(name, source, document.md_type, document.kind, _media_type(name), size, stamp)
        for document in documents
        if document.kind in ("descriptive", "other")
        for name, source, size, stamp in [document.file]
    )


def _media_type(name: str) -> str:
    """The media type of a document of a source, whose name ends otherwise here."""
    return "application/xml" if name.endswith(f".xml{SOURCE_SUFFIX}") else ""


def _documents(documents: Iterable[DescriptionFile], kind: str) -> tuple[EarkFile, ...]:
    return tuple(EarkFile(*document.file) for document in documents if document.kind == kind)


def pack_dias(delivery: Delivery, product: str) -> MadePackage:
    """A DIAS package, of the type that the product names."""
    from noarkit.forms.dias.write.package import PackageContent, make_dias

    payload, metadata = delivery.payload, delivery.metadata
    order = dias_order(metadata, read_order(delivery.package, type=product.removeprefix("dias-").upper()))
    if not any(part.content == "noark5" for part in payload.parts):
        if metadata.system is None and order.system == DEFAULT_SYSTEM:
            order = replace(order, system=System(NOT_STATED, "", "", ""))
        if not metadata.label and order.label == DEFAULT_LABEL:
            order = replace(order, label=payload.title)
    order = replace(order, conversion=delivery.conversion)
    placements = place_parts(payload, product)
    inputs = PackageContent(
        placed_files(placements),
        _dias_documents(payload.statement.documents),
        partial(_file_facts, placements),
        payload.derivations,
    )
    return make_dias(
        inputs,
        delivery.target,
        order,
        aside=payload.aside,
        before_named=delivery.before_named,
        emit=delivery.emit,
    )


def _file_facts(placements: tuple[PartPlacement, ...], name: str) -> FileFacts | None:
    """What is known of a file of the content."""
    placement = next((placement for placement in placements if name.startswith(placement.folder)), None)
    return None if placement is None else placement.part.facts_of(name.removeprefix(placement.folder))


def _dias_documents(documents: Iterable[DescriptionFile]) -> Iterator[File]:
    """Every document below its folder in the metadata of a DIAS package; what bears a name of its own steps aside."""
    used_paths: set[str] = set()
    for document in documents:
        name, source, size, stamp = document.file
        part = f"representations/{document.part}/" if document.part else ""
        if document.kind == "descriptive":
            aside = "source/" if not part and name.startswith(_OWN_OF_DIAS) else ""
            place = f"{DESCRIPTIVE}/{part}{aside}{name}"
        else:
            place = f"{ADMINISTRATIVE}/{part}{_DIAS_FOLDERS[document.kind]}/{name}"
        while place in used_paths:
            above, _, last = place.rpartition("/")
            place = f"{above}/again/{last}"
        used_paths.add(place)
        yield place, source, size, stamp


def count_files(payload: Payload, product: str) -> int:
    """How many files go into a package: those of the source, the documents that it has of itself, and what the form
    puts beside them before its own description."""
    count = sum(1 for placement in place_parts(payload, product) for _ in placement.part.files())
    if product.startswith("dias"):
        from noarkit.forms.dias.write.package import TWICE

        twice = len(TWICE) if any(part.content == "noark5" for part in payload.parts) else 0
        return count + len(payload.statement.documents) + twice
    if product.startswith("eark"):
        from noarkit.forms.eark.write.package import count_own_files

        parts = {part.name for part in payload.parts}
        kinds = {document.kind for document in payload.statement.documents if document.part not in parts}
        return count + len(payload.statement.documents) + count_own_files(kinds)
    return count


def placed_files(placements: tuple[PartPlacement, ...]) -> Iterator[File]:
    """The files of all parts, each below the folder that it goes to."""
    for placement in placements:
        yield from placement.files()
