"""Finds and reads the description of a delivery: the XML document whose root is `<addml>`, with `<flatFiles>` in it.

Elements are taken by their local names, so that documents of 8.2 and 8.3 read alike.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from lxml import etree

from noarkit.errors import HostileInput, PackageFault
from noarkit.forms.addml import spec
from noarkit.forms.addml.model import (
    Description,
    Field,
    FieldType,
    FileDefinition,
    FlatFile,
    ForeignKey,
    Layout,
    RecordType,
)
from noarkit.forms.form_markers import HEAD_BYTES, root_of
from noarkit.safe import xml
from noarkit.safe.paths import open_inside, open_without_trace

_STRUCTURES = ("arkivstruktur.xml", "content/arkivstruktur.xml")
_MOST_DOCUMENTS = 50
"""So many XML documents of a folder are looked at; a description stands among few."""


def find_description(folder: Path) -> Path | None:
    """The description of a delivery in a folder, or in the one folder that it holds; None if there is none, or where
    nobody can say which of several it is."""
    try:
        entries = entries_of(folder)
        found = _description_in(folder, entries)
        if found is None:
            inner = [entry for entry in entries if not entry.name.startswith(".")]
            if len(inner) == 1 and inner[0].is_dir() and not inner[0].is_symlink():
                found = _description_in(inner[0], entries_of(inner[0]))
    except OSError:
        return None  # it is told by who reads it
    return found


def entries_of(folder: Path) -> list[Path]:
    """What a folder holds, by name; it is not touched by being looked at."""
    try:
        descriptor = open_without_trace(folder.resolve())
    except PermissionError:
        return sorted(folder.iterdir())  # a system that opens no folders, or the fault that this one tells
    try:
        return [folder / name for name in sorted(os.listdir(descriptor))]  # noqa: PTH208  # by its descriptor
    finally:
        os.close(descriptor)


def read_description(path: Path) -> Description:
    """What the document says of flat files. Raises `PackageFault` and `UnsafeXml` for one that cannot be read."""
    with open_inside(path.parent, path.name) as file:
        root = xml.parse(file)
    files: list[FlatFile] = []
    definitions: dict[str, FileDefinition] = {}
    for flat_files in (part for data_set in _children(root, "dataset") for part in _children(data_set, "flatFiles")):
        structure = _child(flat_files, "structureTypes")
        layouts = {_name(part): _layout(part) for part in _below(structure, "flatFileTypes", "flatFileType")}
        types = {_name(part): _field_type(part) for part in _below(structure, "fieldTypes", "fieldType")}
        trimmed = {
            _name(part)
            for part in _below(structure, "recordTypes", "recordType")
            if _child(part, "trimmed") is not None
        }
        for part in _below(flat_files, "flatFileDefinitions", "flatFileDefinition"):
            definitions[_name(part)] = _definition(part, layouts, types, trimmed)
        files += [_flat_file(part, flat_files) for part in _children(flat_files, "flatFile")]
    return Description(tuple(files), definitions)


def _description_in(folder: Path, entries: list[Path]) -> Path | None:
    if any((folder / name).exists() for name in _STRUCTURES):
        return None
    documents = [entry for entry in entries if entry.suffix.lower() == ".xml" and entry.is_file()]
    found = [path for path in documents[:_MOST_DOCUMENTS] if _describes_files(path)]
    usual = [path for path in found if path.name.lower() == spec.USUAL_NAME]
    return usual[0] if usual else found[0] if len(found) == 1 else None


def _describes_files(path: Path) -> bool:
    """True for ADDML that has flat files."""
    try:
        with open_inside(path.parent, path.name) as file:
            if root_of(file.read(HEAD_BYTES)) != spec.ROOT:
                return False
            file.seek(0)
            return any(_local(element) == "flatFiles" for _, element in xml.stream(file, ("start",), limits=xml.SMALL))
    except (PackageFault, HostileInput, OSError):
        return False  # the file stays a file


def _definition(
    part: etree._Element, layouts: Mapping[str, Layout], types: Mapping[str, FieldType], trimmed: set[str]
) -> FileDefinition:
    return FileDefinition(
        name=_name(part),
        layout=layouts.get(part.get("typeReference", "")),
        record_types=tuple(
            _record_type(record, types, trimmed) for record in _below(part, "recordDefinitions", "recordDefinition")
        ),
        identifier=_text(part, "recordDefinitionFieldIdentifier").strip(),
    )


def _record_type(part: etree._Element, types: Mapping[str, FieldType], trimmed: set[str]) -> RecordType:
    keys = list(_below(part, "keys", "key"))
    primary = next((_field_names(key) for key in keys if _child(key, "primaryKey") is not None), ())
    mark = _child(part, "recordDefinitionFieldValue")
    return RecordType(
        name=_name(part),
        fields=tuple(_fields(part, types)),
        mark=None if mark is None else (mark.text or ""),
        length=_number(part, "fixedLength"),
        header_lines=_number(part, "headerLevel") or 0,
        primary_key=primary,
        foreign_keys=tuple(_foreign_keys(keys)),
        is_trimmed=part.get("typeReference", "") in trimmed,
        is_incomplete=_child(part, "incomplete") is not None,
        repeats=_child(part, "repeatingGroups") is not None,
    )


def _foreign_keys(keys: list[etree._Element]) -> Iterator[ForeignKey]:
    for key in keys:
        foreign = _child(key, "foreignKey")
        target = None if foreign is None else _child(foreign, "flatFileDefinitionReference")
        if target is None:
            continue
        record = next(_below(target, "recordDefinitionReferences", "recordDefinitionReference"), None)
        references = () if record is None else _field_names(record)
        yield ForeignKey(_field_names(key), _name(target), "" if record is None else _name(record), references)


def _field_names(part: etree._Element) -> tuple[str, ...]:
    return tuple(_name(field) for field in _below(part, "fieldDefinitionReferences", "fieldDefinitionReference"))


def _fields(part: etree._Element, types: Mapping[str, FieldType]) -> Iterator[Field]:
    """The fields with their places. A field without a start follows the one before it."""
    elements = list(_below(part, "fieldDefinitions", "fieldDefinition"))
    starts = [start for element in elements if (start := _number(element, "startPos")) is not None]
    first = 0 if 0 in starts else 1  # the first position is 1, and 0 in the descriptions of some
    at: int | None = 0
    for element in elements:
        start, end, length = (_number(element, name) for name in ("startPos", "endPos", "fixedLength"))
        begin = at if start is None else start - first
        if length is None and start is not None and end is not None:
            length = end - start + 1
        at = None if begin is None or length is None else begin + length
        yield Field(_name(element), types.get(element.get("typeReference", ""), FieldType()), begin, length)


def _layout(part: etree._Element) -> Layout:
    charset = _text(part, "charset")
    known = spec.charset_of(charset)
    encoding, translation = known or ("", {})
    characters = dict(translation)
    for definition in _below(part, "charDefinitions", "charDefinition"):
        written, meant = definition.get("fromChar", ""), definition.get("toChar", "")
        if len(written) == 1:
            characters[ord(written)] = meant
        else:
            encoding = ""  # nobody can say what that stands for
    delimited = _child(part, "delimFileFormat")
    fixed = _child(part, "fixedFileFormat")
    form = delimited if delimited is not None else fixed
    separator = "" if form is None else spec.separator_of(_text(form, "recordSeparator"))
    if delimited is None:
        return Layout(charset, encoding, separator, translation=characters)
    delimiter = spec.separator_of(_text(delimited, "fieldSeparatingChar"))
    return Layout(charset, encoding, separator, delimiter, _text(delimited, "quotingChar").strip(), characters)


def _field_type(part: etree._Element) -> FieldType:
    return FieldType(
        kind=_text(part, "dataType").strip().lower(),
        pattern=_text(part, "fieldFormat").strip(),
        nulls=frozenset(null.text or "" for null in _below(part, "nullValues", "nullValue")),
        pad=_text(part, "padChar"),
        align=_text(part, "alignment").strip().lower(),
        packing=_text(part, "packType").strip(),
    )


def _flat_file(part: etree._Element, flat_files: etree._Element) -> FlatFile:
    definition = part.get("definitionReference", "")
    properties = _properties(part)
    if (spec.FILE_NAME,) not in properties:  # some tell of the file where it is defined
        for other in _below(flat_files, "flatFileDefinitions", "flatFileDefinition"):
            if _name(other) == definition:
                properties = {**_properties(other), **properties}
    path = properties.get((spec.FILE_NAME,)) or _name(part)
    algorithm = properties.get((spec.CHECKSUM, spec.ALGORITHM), "").lower().replace("-", "").strip()
    counts = (properties.get((name,), "").strip() for name in spec.RECORD_COUNTS)
    return FlatFile(
        name=_name(part),
        path=path.strip().replace("\\", "/").removeprefix("./"),
        definition=definition,
        algorithm=algorithm,
        checksum=properties.get((spec.CHECKSUM, spec.VALUE), "").strip().lower(),
        record_count=next((int(count) for count in counts if count.isdecimal()), None),
    )


def _properties(part: etree._Element, above: tuple[str, ...] = ()) -> dict[tuple[str, ...], str]:
    values: dict[tuple[str, ...], str] = {}
    for element in _below(part, "properties", "property"):
        path = (*above, _name(element).lower())
        if (value := _child(element, "value")) is not None:
            values.setdefault(path, value.text or "")
        values.update(_properties(element, path))
    return values


def _below(part: etree._Element | None, *names: str) -> Iterator[etree._Element]:
    """The elements down a path of names."""
    if part is None:
        return
    for child in _children(part, names[0]):
        if len(names) == 1:
            yield child
        else:
            yield from _below(child, *names[1:])


def _children(part: etree._Element, name: str) -> Iterator[etree._Element]:
    return (child for child in part if _local(child) == name)


def _child(part: etree._Element | None, name: str) -> etree._Element | None:
    return None if part is None else next(_children(part, name), None)


def _local(element: etree._Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _text(part: etree._Element, name: str) -> str:
    child = _child(part, name)
    return "" if child is None else child.text or ""


def _number(part: etree._Element, name: str) -> int | None:
    text = _text(part, name).strip().removeprefix("+")
    return int(text) if text.isdecimal() and len(text) < 10 else None


def _name(part: etree._Element) -> str:
    return part.get("name", "")
