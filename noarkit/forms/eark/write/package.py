"""Makes an E-ARK package (SIP, AIP, DIP; 2.1.0, 2.2.0): every file is copied and hashed in one pass, and described by
one METS for the package and one for each representation, with PREMIS beside them.

    files = files_below(Path("case-files"))
    make_eark([Representation("rep1", files)], Path("delivery.zip"), EarkOrder(kind="sip", agreement="2026/1042"))

The target's name says what it becomes: a folder, `.zip`, `.tar` or `.tar.gz`. It appears whole or not at all; the same
call after a kill goes on where the last stopped, and ends in the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from noarkit.errors import UnsafeMember, UnsafePath, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.forms.container.building import File, OnUnreadable
from noarkit.forms.container.building import Source as Unread
from noarkit.forms.container.packager import MadePackage, OnWhole, Order, keep_first_fact, make_package
from noarkit.forms.container.sinks import top_name
from noarkit.forms.eark import spec
from noarkit.forms.eark.schemas import schemas
from noarkit.forms.eark.write.describe import Describer
from noarkit.forms.eark.write.listing import Facts
from noarkit.forms.eark.write.markup import moment
from noarkit.forms.eark.write.order import (
    DEFAULT_CATEGORY,
    DEFAULT_CONTENT_TYPE,
    DEFAULT_OTHER_CONTENT_TYPE,
    DEFAULT_SUBMITTER,
    EarkFile,
    EarkOrder,
    MetadataFile,
    PackageEvent,
    Representation,
    Source,
    submitter,
)
from noarkit.forms.metadata.model import Agent
from noarkit.safe.paths import checked_parts, twin_key
from noarkit.safe.tree import walk_tree
from noarkit.safe.xml_text import escape_attribute
from noarkit.version import __version__

__all__ = [
    "Agent",
    "EarkFile",
    "EarkOrder",
    "MadePackage",
    "MetadataFile",
    "PackageEvent",
    "Representation",
    "files_below",
    "make_eark",
]

CREATED, OBJECT_ID = "eark-created", "eark-object-id"
UUID_PREFIX = "uuid-"
_UUID_NAME = re.compile(rf"(?:{UUID_PREFIX})?[0-9a-fA-F]{{8}}(?:-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}")
"""The name of a package that is an id of its own."""
_FORMAT = "3"
_METADATA_FOLDERS = ("descriptive", "preservation", "other")


def make_eark(
    representations: Iterable[Representation],
    target: Path,
    order: EarkOrder | None = None,
    *,
    aside: OnUnreadable | None = None,
    before_named: OnWhole | None = None,
    emit: Listener = ignore_event,
) -> MadePackage:
    """Makes the package at `target`, which must not be there. `aside` is told of files that cannot be read,
    `before_named` of the package before it gets its name.

    Raises `UsageFault`, `RunLocked` where another process makes the same, a `SourceFault` for a file that cannot be
    taken (what was done is kept for the next call), `UnsafePath` and `UnsafeMember` for names no package can hold.
    """
    parts = tuple(map(apply_part_defaults, representations))
    order = order or EarkOrder()
    job = f"eark {_FORMAT} {order.kind} {order.version} {order.object_id or order.identified}"
    job += " mime-compat" if order.mime_compat else ""
    package_order = Order(target, job, (spec.HASHES.get(order.checksum, ""),), order.width)
    _check_order(apply_defaults(order, parts, "-"), parts)
    object_id = order.object_id or top_name(target)
    if order.identified and _UUID_NAME.fullmatch(top_name(target)) is None:
        object_id = keep_first_fact(package_order, OBJECT_ID, f"{UUID_PREFIX}{uuid4()}")
    full_order = apply_defaults(replace(order, object_id=object_id), parts, object_id)
    facts = Facts()
    with closing(facts):
        describer = Describer(full_order, parts, facts, __version__)
        return make_package(
            _files(full_order, parts, facts),
            replace(
                package_order,
                folders=tuple(f"{spec.REPRESENTATIONS}/{part.name}/{spec.DATA}" for part in parts),
                top=folder_name(full_order.object_id),
                keep=((OBJECT_ID, object_id), (CREATED, moment(full_order.created or datetime.now(UTC)))),
                aside=aside,
                before_named=before_named,
            ),
            lambda build, progress: describer.describe(build, progress, progress.get(CREATED) or ""),
            emit=emit,
        )


def files_below(root: Path) -> Iterator[EarkFile]:
    """Every file below a folder, in a stable order. Raises `UnsafeMember` for a link or device: packages hold none."""
    above = os.path.join(root, "")  # noqa: PTH118  # joining texts is ten times quicker, for millions of files
    for entry in walk_tree(root):
        if entry.kind == "file":
            yield EarkFile(entry.name, above + entry.name, entry.size())
        elif entry.kind != "folder":
            raise UnsafeMember(where=entry.name, why="link" if entry.kind == "link" else "device")


def folder_name(object_id: str) -> str:
    """What the folder of a package is called: its id, but for signs that some system takes for a path or drive.

    >>> folder_name("urn:uuid:1f2e")
    'urn+uuid+1f2e'
    """
    cleaned = "".join("+" if sign in ':/\\*?"<>|' or ord(sign) < 32 else sign for sign in object_id).rstrip(". ")
    return cleaned or "package"


def _check_order(order: EarkOrder, parts: tuple[Representation, ...]) -> None:
    if order.kind not in spec.KINDS:
        raise UsageFault(what="bad-value", where=str(order.kind))
    if order.version not in spec.WRITTEN_VERSIONS:
        raise UsageFault(what="bad-value", where=str(order.version))
    if order.checksum not in spec.HASHES:
        raise UsageFault(what="bad-value", where=order.checksum)
    if order.record_status not in ("", *spec.RECORD_STATUSES):
        raise UsageFault(what="bad-value", where=order.record_status)
    for kind in (order.content_type, *(part.content_type for part in parts)):
        if kind not in spec.CONTENT_TYPES:
            raise UsageFault(what="bad-value", where=kind)
    if not parts:
        raise UsageFault(what="bad-value", where="representations")
    twin_keys: set[str] = set()
    for part in parts:
        if len(checked_parts(part.name)) != 1 or "/" in part.name or twin_key(part.name) in twin_keys:
            raise UnsafePath(where=part.name, why="not-plain")
        twin_keys.add(twin_key(part.name))


def _files(order: EarkOrder, parts: tuple[Representation, ...], facts: Facts) -> Iterator[File]:
    """Every file under its whole name, which is judged here; what is told of it is remembered."""
    for name, content in sorted(schemas().items()):
        yield from _named_files(f"{spec.SCHEMAS}/", (EarkFile(name, content),), facts)
    yield from _level_files("", order, facts)
    for part in parts:
        base = f"{spec.REPRESENTATIONS}/{part.name}/"
        yield from _level_files(base, part, facts)
        yield from _named_files(f"{base}{spec.DATA}/", part.files, facts)


def _level_files(base: str, owner: EarkOrder | Representation, facts: Facts) -> Iterator[File]:
    yield from _named_files(f"{base}{spec.SCHEMAS}/", owner.schemas, facts)
    yield from _named_files(f"{base}{spec.DOCUMENTATION}/", owner.documentation, facts)
    for file in owner.metadata:
        if file.folder not in _METADATA_FOLDERS:
            raise UsageFault(what="bad-value", where=file.folder)
        name = _full_name(f"{base}{spec.METADATA}/{file.folder}/", file.name)
        facts.metadata(name, file)
        yield (name, *_source(file.source, file.size_bytes, file.stamp))


def _named_files(base: str, files: Iterable[EarkFile], facts: Facts) -> Iterator[File]:
    for file in files:
        name = _full_name(base, file.name)
        facts.file(name, file)
        yield (name, *_source(file.source, file.size_bytes, file.stamp))


def _full_name(base: str, name: str) -> str:
    if "/".join(checked_parts(name)) != name:
        raise UnsafePath(where=name, why="not-plain")
    if not name.isascii():
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise UnsafePath(where=name, why="not-utf-8") from error
    return base + name


def _source(source: Source, size: int | None, stamp: str) -> tuple[Unread, int | None, str]:
    if not isinstance(source, bytes):
        return source, size, stamp
    content = source
    return lambda: closing(io.BytesIO(content)), len(content), stamp or hashlib.sha256(content).hexdigest()


_MD_TYPES = (("ead", "EAD"), ("eac", "EAC-CPF"), ("dc", "DC"), ("mods", "MODS"), ("premis", "PREMIS"), ("lido", "LIDO"))
DC = "http://purl.org/dc/elements/1.1/"
NOTE = "about.txt"
DESCRIPTION = "dc.xml"


def apply_defaults(order: EarkOrder, parts: tuple[Representation, ...], name: str) -> EarkOrder:
    """The order with everything told. `name` is its id where it has none."""
    object_id = order.object_id or name
    label = order.label or object_id
    kinds = {(part.content_type, part.other_content_type or _other_content_type(part.content_type)) for part in parts}
    content_type, other_type = kinds.pop() if len(kinds) == 1 else ("MIXED", "")
    if order.content_type:
        content_type, other_type = (
            order.content_type,
            order.other_content_type or _other_content_type(order.content_type),
        )
    categories = {part.category for part in parts}
    shared_category = categories.pop() if len(categories) == 1 else ""
    submitting = any((agent.role, agent.type) == ("CREATOR", "ORGANIZATION") for agent in order.agents)
    full_order = replace(
        order,
        object_id=object_id,
        label=label,
        profile=order.profile or spec.PROFILES[order.kind, order.version][0],
        category=order.category or shared_category or DEFAULT_CATEGORY,
        content_type=content_type,
        other_content_type=other_type,
        record_status=order.record_status or "NEW",
        agents=order.agents if submitting else (submitter(DEFAULT_SUBMITTER), *order.agents),
        metadata=tuple(map(_with_md_type, order.metadata)),
    )
    has_descriptive = any(file.folder == "descriptive" for file in full_order.metadata)
    if not has_descriptive:
        full_order = replace(full_order, metadata=(*full_order.metadata, _dublin_core(full_order)))
    return replace(full_order, documentation=_or_note(order.documentation, full_order))


def count_own_files(kinds: Collection[str]) -> int:
    """How many files a package gets beside those that it is made of, which has documents of these kinds already."""
    return len(schemas()) + sum(kind not in kinds for kind in ("descriptive", "documentation"))


def apply_part_defaults(part: Representation) -> Representation:
    """A representation with everything told."""
    return replace(
        part,
        other_content_type=part.other_content_type or _other_content_type(part.content_type),
        label=part.label or part.name,
        metadata=tuple(map(_with_md_type, part.metadata)),
    )


def _other_content_type(content_type: str) -> str:
    return DEFAULT_OTHER_CONTENT_TYPE if content_type == DEFAULT_CONTENT_TYPE else ""


def _with_md_type(file: MetadataFile) -> MetadataFile:
    if file.md_type:
        return file
    name = file.name.rsplit("/", 1)[-1].lower()
    return replace(file, md_type=next((kind for begin, kind in _MD_TYPES if name.startswith(begin)), "OTHER"))


def _dublin_core(order: EarkOrder) -> MetadataFile:
    creators = [agent.name for agent in order.agents if agent.role == "ARCHIVIST"]
    dc_fields = [("title", order.label), *(("creator", name) for name in creators), ("identifier", order.object_id)]
    lines = "".join(f"  <dc:{name}>{escape_attribute(value)}</dc:{name}>\n" for name, value in dc_fields)
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<metadata xmlns:dc="{DC}">\n{lines}</metadata>\n'
    return MetadataFile(DESCRIPTION, text.encode(), "DC", media_type="application/xml")


def _or_note(files: Iterable[EarkFile], order: EarkOrder) -> Iterable[EarkFile]:
    """The documentation; where there is none, a note, for a package shall have some."""
    any_file = False
    for file in files:
        any_file = True
        yield file
    if not any_file:
        lines = (
            f"{order.object_id}",
            f"E-ARK {order.kind.upper()} {order.version}",
            f"{order.label}",
        )
        yield EarkFile(NOTE, ("\n".join(lines) + "\n").encode())
