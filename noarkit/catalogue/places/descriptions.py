"""Documents that describe a package (METS, PREMIS, EAD, ADDML, arkivuttrekk) as items, and faults as items.

What a document states becomes fields, its events history; what cannot be read is an item with the fault's code, so that
the rest of a broken package can still be seen.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from lxml import etree

from noarkit.catalogue.port import Change, Document, Item, Json
from noarkit.errors import NoarkitError, PackageFault
from noarkit.forms.container.statements import PremisEvent, Root, Statement, read_statements
from noarkit.safe import xml
from noarkit.safe.digest import Readable

DOCUMENT_TYPE = "description"
MOST_VALUES = 5_000
"""As many statements of one document as fields show; all of it is in the document itself."""


def describe_document(
    source: Readable, ref: str, size_bytes: int | None = None, *, parent: str | None = None, locator: str | None = None
) -> Item:
    """The item of a document, with what it states. Raises what `safe` refuses."""
    fields: dict[str, Json] = {}
    events: list[Change] = []
    name = PurePosixPath(ref).name
    document = Document(f"{ref}#file", name, name, size_bytes=size_bytes, locator=locator)
    documents = () if locator is None else (document,)
    values = 0
    try:
        for statement in read_statements(source, ref):
            if isinstance(statement, Root):
                fields["root"] = statement.name
            elif values >= MOST_VALUES:
                continue
            elif isinstance(statement, Statement):
                values += 1
                _add(fields, statement.name, statement.text)
            else:
                values += 1
                events.append(change_of(statement))
    except PackageFault as fault:
        return Item(
            ref,
            parent,
            DOCUMENT_TYPE,
            name,
            fault=fault.code,
            fields={**fields, **fault_fields(fault)},
            documents=documents,
        )
    return Item(ref, parent, DOCUMENT_TYPE, name, fields=fields, documents=documents, history=tuple(events))


def describe_addml(path: Path) -> Item:
    """The item of an ADDML description, such as arkivuttrekk.xml: its elements by the names that it gives them. Raises
    what `safe` refuses."""
    try:
        fields = _named_fields(xml.parse(path))
    except PackageFault as fault:
        return Item(path.name, None, DOCUMENT_TYPE, path.name, fault=fault.code, fields=fault_fields(fault))
    return Item(path.name, None, DOCUMENT_TYPE, path.name, fields=fields)


def _named_fields(element: etree._Element) -> dict[str, Json]:
    fields: dict[str, Json] = {}
    for child in element:
        if not isinstance(child.tag, str):
            continue
        inner = _named_fields(child)
        value: Json = inner or (child.text or "").strip()
        if isinstance(value, dict) and list(value) == ["value"]:
            value = value["value"]
        _add(fields, child.get("name") or child.tag.rpartition("}")[2], value)
    return fields


def fault_item(ref: str, fault: NoarkitError, parent: str | None = None) -> Item:
    """An item that stands for what could not be read."""
    return Item(f"{ref}#fault", parent, DOCUMENT_TYPE, ref, fault=fault.code, fields=fault_fields(fault))


def fault_fields(fault: NoarkitError) -> dict[str, Json]:
    """What a fault knows, as fields."""
    return {name: value if isinstance(value, int) else str(value) for name, value in fault.data.items()}


def change_of(event: PremisEvent) -> Change:
    """An event of PREMIS as an entry of a history: its type, its detail, its outcome."""
    return Change(event.date, "; ".join(event.agents), event.type, event.detail, event.outcome)


def _add(fields: dict[str, Json], name: str, value: Json) -> None:
    """One more value of a name; several are a list."""
    before = fields.get(name)
    if before is None:
        fields[name] = value
    elif isinstance(before, list):
        before.append(value)
    else:
        fields[name] = [before, value]
