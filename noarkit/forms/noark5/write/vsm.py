"""Business-specific metadata as elements of the delivery's own schema: one element a group, one a value in it.

The ids of groups and fields are the names of their elements; groups and fields stand in the order of their ids.
"""

from __future__ import annotations

NAMESPACE = "urn:noarkit:virksomhetsspesifikkeMetadata"
SCHEMA_FILE = "virksomhetsspesifikkeMetadata.xsd"


def groups_xml(value: object, left_out: str = "") -> str:
    """The groups of an object's business-specific metadata but one, texts ready for XML; nothing without any."""
    if not isinstance(value, dict):
        return ""
    out: list[str] = []
    for group_id in sorted(value):
        if group_id == left_out:
            continue
        fields = value[group_id]
        fields_xml = (
            [_field(field_id, fields[field_id]) for field_id in sorted(fields)] if isinstance(fields, dict) else []
        )
        if any(fields_xml):
            out.append(f'<vsm:{group_id} xmlns:vsm="{NAMESPACE}">\n{"".join(fields_xml)}</vsm:{group_id}>\n')
    return "".join(out)


def _field(field_id: str, field_value: object) -> str:
    values = field_value.get("values") if isinstance(field_value, dict) else field_value
    value_list = values if isinstance(values, list) else []
    return "".join(
        f"<vsm:{field_id}>{_value(value)}</vsm:{field_id}>\n" for value in value_list if value not in (None, "")
    )


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
