"""Business-specific metadata as our own schema in a package declares it, so that names and kinds of fields come back.

Fields of foreign schemas are text: what stands there is kept letter by letter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from lxml import etree

from noarkit.forms.noark5.schemas import VsmField, VsmGroup
from noarkit.safe import xml

_XS = "{http://www.w3.org/2001/XMLSchema}"
_KINDS: Mapping[str, str] = {
    "xs:long": "long",
    "xs:double": "double",
    "xs:dateTime": "timestamp",
    "xs:boolean": "boolean",
    "xs:anyURI": "uri",
}


def declared_groups(schema: Path, namespace: str) -> tuple[VsmGroup, ...]:
    """The groups that a schema of ours declares; none where there is no such file, or it has another namespace.

    Raises PackageFault where it is not well-formed, UnsafeXml.
    """
    if not schema.is_file():
        return ()
    root = xml.parse(schema)
    return tuple(_groups(root)) if root.get("targetNamespace") == namespace else ()


def _groups(schema: etree._Element) -> Iterator[VsmGroup]:
    for element in schema.findall(f"{_XS}element"):
        fields = element.iterfind(f"{_XS}complexType/{_XS}sequence/{_XS}element")
        yield VsmGroup(str(element.get("name")), _name(element), tuple(_field(child) for child in fields))


def _field(element: etree._Element) -> VsmField:
    restriction = element.find(f"{_XS}simpleType/{_XS}restriction")
    base = None if restriction is None else restriction.get("base")
    return VsmField(str(element.get("name")), _name(element), _KINDS.get(base or "", "string"))


def _name(element: etree._Element) -> str:
    return element.findtext(f"{_XS}annotation/{_XS}documentation") or str(element.get("name"))


def read_context(description: Path) -> Iterator[tuple[str, str]]:
    """What an arkivuttrekk.xml says of the package as a whole and the archive has no place for: the system that it
    comes from, and its period. Raises PackageFault where it is not well-formed, UnsafeXml."""
    if not description.is_file():
        return
    for element in xml.parse(description).iter("{*}additionalElement"):
        name = element.get("name")
        if name == "systemName" and (value := (element.findtext("{*}value") or "").strip()):
            yield "systemName", value
        if name == "archivalPeriod":
            for entry in element.iter("{*}property"):
                if value := (entry.findtext("{*}value") or "").strip():
                    yield f"archivalPeriod/{entry.get('name')}", value
