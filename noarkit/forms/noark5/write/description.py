"""arkivuttrekk.xml: what the delivery says of itself, in ADDML, with the literal names that its readers look for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from noarkit.forms.noark5.spec import ADDML_NAMESPACE, CATALOGUE, WRITTEN_VERSION, XSI_NAMESPACE
from noarkit.forms.noark5.write.content import xml_text

_ALGORITHM = "SHA-256"


@dataclass(frozen=True, slots=True)
class DescribedFile:
    """A file of the delivery and its sha256."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class DescribedDocument:
    """An XML document: its file, its schemas (own first), and counts of elements by name."""

    name: str
    file: DescribedFile
    schemas: Sequence[DescribedFile]
    counts: Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Description:
    """All that arkivuttrekk.xml says."""

    title: str
    description: str
    creators: Sequence[str]
    system_type: str
    system_name: str
    start: str
    end: str
    incoming: str
    outgoing: str
    screened: bool
    disposed: bool
    to_be_disposed: bool
    business: bool
    files: int
    documents: Sequence[DescribedDocument]
    agreement: Sequence[tuple[str, str]] = field(default=())


def description_xml(description: Description) -> bytes:
    """The document."""
    out = ['<?xml version="1.0" encoding="UTF-8"?>']
    out.extend(_lines(_root(description), 0))
    return ("\n".join(out) + "\n").encode()


@dataclass(frozen=True, slots=True)
class _Tag:
    name: str
    attributes: Sequence[tuple[str, str]]
    inside: Sequence[_Tag | str]


def _tag(name: str, /, *inside: _Tag | str, **attributes: str) -> _Tag:
    return _Tag(name, tuple(attributes.items()), inside)


def _lines(tag: _Tag, depth: int) -> Iterator[str]:
    attributes = "".join(f' {name}="{_attribute(value)}"' for name, value in tag.attributes)
    if tag.inside and isinstance(tag.inside[0], str):
        yield f"{'  ' * depth}<{tag.name}{attributes}>{xml_text(tag.inside[0])}</{tag.name}>"
        return
    yield f"{'  ' * depth}<{tag.name}{attributes}>"
    for child in tag.inside:
        if isinstance(child, _Tag):
            yield from _lines(child, depth + 1)
    yield f"{'  ' * depth}</{tag.name}>"


def _attribute(value: str) -> str:
    return xml_text(value).replace('"', "&quot;").replace("\n", "&#10;")


def _root(description: Description) -> _Tag:
    namespaces = (
        ("xmlns", ADDML_NAMESPACE),
        ("xmlns:xsi", XSI_NAMESPACE),
        ("xsi:schemaLocation", f"{ADDML_NAMESPACE} addml.xsd"),
        ("name", description.title),
    )
    dataset = _tag(
        "dataset",
        *_description_tag(description.description),
        _reference(description),
        _objects(description),
        name=description.title,
    )
    return _Tag("addml", namespaces, (dataset,))


def _description_tag(text: str) -> Iterator[_Tag]:
    if text:
        yield _tag("description", text)


def _reference(description: Description) -> _Tag:
    creators = [_element("recordCreator", _tag("value", name)) for name in description.creators]
    context = [
        _element("recordCreators", _tag("additionalElements", *creators)),
        _element("systemType", _tag("value", description.system_type)),
        _element("systemName", _tag("value", description.system_name)),
        _element("archive", _tag("value", description.title)),
        *(_element(name, _tag("value", value)) for name, value in description.agreement),
    ]
    period = _tag("properties", _property("startDate", description.start), _property("endDate", description.end))
    content = _element("archivalPeriod", period)
    return _tag(
        "reference",
        _tag("context", _tag("additionalElements", *context)),
        _tag("content", _tag("additionalElements", content)),
    )


def _objects(description: Description) -> _Tag:
    schema_names: set[str] = set()
    documents = [_document(document, schema_names) for document in description.documents]
    kind = _property("type", "Noark 5", _property("version", WRITTEN_VERSION))
    period = _property(
        "periode",
        None,
        _property("inngaaendeSkille", description.incoming),
        _property("utgaaendeSkille", description.outgoing),
    )
    flags = (
        ("inneholderSkjermetInformasjon", description.screened),
        ("omfatterDokumenterSomErKassert", description.disposed),
        ("inneholderDokumenterSomSkalKasseres", description.to_be_disposed),
        ("inneholderVirksomhetsspesifikkeMetadata", description.business),
    )
    more = _property(
        "additionalInfo",
        None,
        period,
        *(_property(name, str(value).lower(), data_type="boolean") for name, value in flags),
        _property("antallDokumentfiler", str(description.files), data_type="integer"),
    )
    data_object = _tag(
        "dataObject",
        _tag("properties", _property("info", None, kind, more)),
        _tag("dataObjects", *documents),
        name="Noark 5-arkivuttrekk",
    )
    return _tag("dataObjects", data_object)


def _document(document: DescribedDocument, schema_names: set[str]) -> _Tag:
    properties = [_file(document.file, checked=True, kind="XML")]
    for at, schema in enumerate(document.schemas):
        inside = (_file(schema, checked=schema.name not in schema_names), _property("type", "XML Schema"))
        version = (_property("version", WRITTEN_VERSION),) if at == 0 or schema.name == f"{CATALOGUE}.xsd" else ()
        properties.append(_property("schema", "main" if at == 0 else None, *inside, *version))
        schema_names.add(schema.name)
    counts = [
        _property(
            "numberOfOccurrences",
            name,
            _property("elementPath", f"//{name}"),
            _property("value", str(count)),
            data_type="integer",
        )
        for name, count in document.counts
    ]
    properties.append(_property("info", None, *counts))
    return _tag("dataObject", _tag("properties", *properties), name=document.name)


def _file(file: DescribedFile, *, checked: bool, kind: str | None = None) -> _Tag:
    inside = [_property("name", file.name)]
    if kind:
        inside.append(_property("format", kind, _property("version", "1.0")))
    if checked:
        checksum = _property("checksum", None, _property("algorithm", _ALGORITHM), _property("value", file.sha256))
        inside.append(checksum)
    return _property("file", None, *inside)


def _property(name: str, value: str | None, *inside: _Tag, data_type: str | None = None) -> _Tag:
    attributes = (("name", name), *((("dataType", data_type),) if data_type else ()))
    value_tags: Iterable[_Tag] = () if value is None else (_tag("value", value),)
    return _Tag("property", attributes, (*value_tags, *((_tag("properties", *inside),) if inside else ())))


def _element(name: str, *inside: _Tag) -> _Tag:
    return _tag("additionalElement", *inside, name=name)
