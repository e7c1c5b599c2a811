"""Reads `arkivuttrekk.xml`, the description of a package. Nothing is checked here, and a missing value is None.

The properties are nested by name and value; each keeps its line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from noarkit.forms.noark5.spec import ADDML_NAMESPACE
from noarkit.safe.xml import parse

_NS = f"{{{ADDML_NAMESPACE}}}"
FLAGS = (
    "inneholderSkjermetInformasjon",
    "omfatterDokumenterSomErKassert",
    "inneholderDokumenterSomSkalKasseres",
    "inneholderVirksomhetsspesifikkeMetadata",
)
DIVIDES = ("inngaaendeSkille", "utgaaendeSkille")
CONTEXT = ("systemType", "systemName", "archive")


@dataclass(frozen=True, slots=True)
class DescribedValue:
    """A value and the line it stands on."""

    value: str
    line: int


@dataclass(frozen=True, slots=True)
class DescribedFile:
    """A file that a package names, with its checksum as far as it is given."""

    name: str
    line: int
    has_checksum: bool = False
    algorithm: str | None = None
    checksum: str | None = None


@dataclass(frozen=True, slots=True)
class DescribedXml:
    """One XML file: itself, its schemas, and the counts told of it by element name."""

    name: str
    line: int
    file: DescribedFile | None
    schemas: tuple[DescribedFile, ...]
    counts: dict[str, DescribedValue]


@dataclass(frozen=True, slots=True)
class Description:
    """The content of the description. `values` holds every single value by its name."""

    values: dict[str, DescribedValue]
    creators: tuple[str, ...]
    order: tuple[str, ...]
    xmls: tuple[DescribedXml, ...]

    def value(self, name: str) -> str | None:
        """What is said under that name."""
        entry = self.values.get(name)
        return entry.value if entry else None

    def xml(self, name: str) -> DescribedXml | None:
        """What is said of an XML file, found by its file name or by the name of its object."""
        by_file = (xml for xml in self.xmls if xml.file is not None and Path(xml.file.name).stem == name)
        return next(by_file, None) or next((xml for xml in self.xmls if xml.name == name), None)

    def files(self) -> Iterator[DescribedFile]:
        """Every file named, in order."""
        for xml in self.xmls:
            if xml.file is not None:
                yield xml.file
            yield from xml.schemas


def read_description(path: Path) -> Description:
    """The description of a package; `PackageFault` or `UnsafeXml` where it cannot be read."""
    root = parse(path)
    values: dict[str, DescribedValue] = {}
    elements = {name: element for element in root.iter(f"{_NS}additionalElement") if (name := element.get("name"))}
    for name in CONTEXT:
        _note(values, name, elements.get(name))
    period = elements.get("archivalPeriod")
    for name in ("startDate", "endDate"):
        _note(values, name, _property(period, name) if period is not None else None)
    creators = [
        text
        for element in root.iter(f"{_NS}additionalElement")
        if element.get("name") == "recordCreator" and (text := _text(element))
    ]
    package = next(root.iter(f"{_NS}dataObject"), None)
    info = _property(package, "info") if package is not None else None
    if info is not None:
        _read_info(values, info)
    xmls = tuple(_read_xml(data_object) for data_object in root.iter(f"{_NS}dataObject") if data_object is not package)
    order = tuple(str(child.get("name")) for child in _properties(info)) if info is not None else ()
    return Description(values, tuple(creators), order, xmls)


def _read_info(values: dict[str, DescribedValue], info: etree._Element) -> None:
    kind = _property(info, "type")
    _note(values, "type", kind)
    _note(values, "version", _property(kind, "version") if kind is not None else None)
    additional = _property(info, "additionalInfo")
    if additional is None:
        return
    period = _property(additional, "periode")
    for name in DIVIDES:
        _note(values, name, _property(period, name) if period is not None else None)
    for name in (*FLAGS, "antallDokumentfiler"):
        _note(values, name, _property(additional, name))


def _read_xml(element: etree._Element) -> DescribedXml:
    file_element = _property(element, "file")
    schemas = [
        _read_file(file)
        for child in _properties(element)
        if child.get("name") == "schema" and (file := _property(child, "file")) is not None
    ]
    counts: dict[str, DescribedValue] = {}
    info = _property(element, "info")
    for child in _properties(info) if info is not None else ():
        number = _property(child, "value")
        if child.get("name") == "numberOfOccurrences" and number is not None:
            counts[_text(child) or ""] = DescribedValue(_text(number) or "", _line(number))
    name = str(element.get("name") or "")
    return DescribedXml(
        name, _line(element), _read_file(file_element) if file_element is not None else None, tuple(schemas), counts
    )


def _read_file(element: etree._Element) -> DescribedFile:
    name = _property(element, "name")
    checksum = _property(element, "checksum")
    file_name = (_text(name) if name is not None else None) or ""
    if checksum is None:
        return DescribedFile(file_name, _line(element))
    algorithm, value = _property(checksum, "algorithm"), _property(checksum, "value")
    return DescribedFile(
        file_name,
        _line(checksum),
        True,
        _text(algorithm) if algorithm is not None else None,
        _text(value) if value is not None else None,
    )


def _properties(element: etree._Element) -> list[etree._Element]:
    inner = element.find(f"{_NS}properties")
    return [] if inner is None else inner.findall(f"{_NS}property")


def _property(element: etree._Element, name: str) -> etree._Element | None:
    return next((child for child in _properties(element) if child.get("name") == name), None)


def _note(values: dict[str, DescribedValue], name: str, element: etree._Element | None) -> None:
    text = _text(element) if element is not None else None
    if element is not None and text:
        values[name] = DescribedValue(text, _line(element))


def _text(element: etree._Element) -> str | None:
    value = element.findtext(f"{_NS}value")
    return value.strip() if value and value.strip() else None


def _line(element: etree._Element) -> int:
    line = element.sourceline
    return line if isinstance(line, int) else 0
