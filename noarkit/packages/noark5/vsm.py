"""Business-specific metadata as elements of the delivery's own schema: one element a group, one a value in it.

The ids of groups and fields are the names of their elements; groups and fields stand in the order of their ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

NAMESPACE = "urn:noarkit:virksomhetsspesifikkeMetadata"
CARRIED_NAMESPACE = "urn:noarkit:ikkeIFormen"
SCHEMA_FILE = "virksomhetsspesifikkeMetadata.xsd"
CARRIED_SCHEMA_FILE = "ikkeIFormen.xsd"


def groups_xml(value: object, left_out: str = "") -> str:
    """The groups of an object's business-specific metadata but one, texts ready for XML; nothing without any."""
    if not isinstance(value, dict):
        return ""
    out: list[str] = []
    for group_id in sorted(value):
        if group_id == left_out:
            continue
        fields = value[group_id]
        told = [_field(field_id, fields[field_id]) for field_id in sorted(fields)] if isinstance(fields, dict) else []
        if any(told):
            out.append(f'<vsm:{group_id} xmlns:vsm="{NAMESPACE}">\n{"".join(told)}</vsm:{group_id}>\n')
    return "".join(out)


def carried_schema() -> str:
    """The XSD of what is carried because the form has no element for it."""
    return (
        _head(CARRIED_NAMESPACE)
        + '  <xs:element name="enhet">\n    <xs:complexType>\n      <xs:sequence>\n'
        + '        <xs:element name="felt" minOccurs="0" maxOccurs="unbounded">\n          <xs:complexType>\n'
        + '            <xs:simpleContent>\n              <xs:extension base="xs:string">\n'
        + '                <xs:attribute name="navn" type="xs:string" use="required"/>\n'
        + "              </xs:extension>\n            </xs:simpleContent>\n          </xs:complexType>\n"
        + "        </xs:element>\n      </xs:sequence>\n"
        + '      <xs:attribute name="type" type="xs:string" use="required"/>\n'
        + "    </xs:complexType>\n  </xs:element>\n</xs:schema>\n"
    )


def carried_xml(type_name: str, fields: Iterable[tuple[str, str]]) -> str:
    """One object's fields that the form has no element for; texts are ready for XML."""
    told = "".join(f"<n:felt navn={quoteattr(name)}>{value}</n:felt>\n" for name, value in fields)
    return f'<n:enhet xmlns:n="{CARRIED_NAMESPACE}" type="{type_name}">\n{told}</n:enhet>\n' if told else ""


def _head(namespace: str) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"'
        f' targetNamespace="{namespace}" xmlns="{namespace}" elementFormDefault="qualified">\n'
    )


def _field(field_id: str, held: object) -> str:
    values = held.get("values") if isinstance(held, dict) else held
    listed = values if isinstance(values, list) else []
    return "".join(f"<vsm:{field_id}>{_value(value)}</vsm:{field_id}>\n" for value in listed if value not in (None, ""))


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
