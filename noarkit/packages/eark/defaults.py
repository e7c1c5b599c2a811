"""What a package says of itself where nobody told it: each default in one place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from noarkit.packages.eark import spec
from noarkit.packages.eark.markup import escaped
from noarkit.packages.eark.order import (
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

_MD_TYPES = (("ead", "EAD"), ("eac", "EAC-CPF"), ("dc", "DC"), ("mods", "MODS"), ("premis", "PREMIS"), ("lido", "LIDO"))
DC = "http://purl.org/dc/elements/1.1/"
NOTE = "about.txt"
DESCRIPTION = "dc.xml"


def filled(order: EarkOrder, parts: tuple[Representation, ...], name: str) -> EarkOrder:
    """The order with everything told. `name` is its id where it has none."""
    object_id = order.object_id or name
    label = order.label or object_id
    kinds = {(part.content_type, part.other_content_type or _other(part.content_type)) for part in parts}
    content_type, other = kinds.pop() if len(kinds) == 1 else ("MIXED", "")
    if order.content_type:
        content_type, other = order.content_type, order.other_content_type or _other(order.content_type)
    categories = {part.category for part in parts}
    one = categories.pop() if len(categories) == 1 else ""
    submitting = any((agent.role, agent.type) == ("CREATOR", "ORGANIZATION") for agent in order.agents)
    told = replace(
        order,
        object_id=object_id,
        label=label,
        profile=order.profile or spec.PROFILES[order.kind, order.version][0],
        category=order.category or one or DEFAULT_CATEGORY,
        content_type=content_type,
        other_content_type=other,
        record_status=order.record_status or "NEW",
        agents=order.agents if submitting else (submitter(DEFAULT_SUBMITTER), *order.agents),
        metadata=tuple(map(_typed, order.metadata)),
    )
    described = any(file.folder == "descriptive" for file in told.metadata)
    if not described:
        told = replace(told, metadata=(*told.metadata, _dublin_core(told)))
    return replace(told, documentation=_or_note(order.documentation, told))


def filled_part(part: Representation) -> Representation:
    """A representation with everything told."""
    return replace(
        part,
        other_content_type=part.other_content_type or _other(part.content_type),
        label=part.label or part.name,
        metadata=tuple(map(_typed, part.metadata)),
    )


def _other(content_type: str) -> str:
    return DEFAULT_OTHER_CONTENT_TYPE if content_type == DEFAULT_CONTENT_TYPE else ""


def _typed(file: MetadataFile) -> MetadataFile:
    if file.md_type:
        return file
    name = file.name.rsplit("/", 1)[-1].lower()
    return replace(file, md_type=next((kind for begin, kind in _MD_TYPES if name.startswith(begin)), "OTHER"))


def _dublin_core(order: EarkOrder) -> MetadataFile:
    creators = [agent.name for agent in order.agents if agent.role == "ARCHIVIST"]
    told = [("title", order.label), *(("creator", name) for name in creators), ("identifier", order.object_id)]
    lines = "".join(f"  <dc:{name}>{escaped(value)}</dc:{name}>\n" for name, value in told)
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
