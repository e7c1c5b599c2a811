"""What a package says of itself where nobody told it: each default in one place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from noarkit.forms.eark import spec
from noarkit.forms.eark.write.order import (
    DEFAULT_CATEGORY,
    DEFAULT_CONTENT_TYPE,
    DEFAULT_OTHER_CONTENT_TYPE,
    DEFAULT_SUBMITTER,
    EarkFile,
    EarkOrder,
    MetadataFile,
    Representation,
    submitter,
)
from noarkit.safe.xml_text import escape_attribute

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
