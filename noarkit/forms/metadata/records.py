"""Alternative record identifiers of METS, by type: which field of the metadata each is, in E-ARK and in DIAS alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from noarkit.forms.metadata.model import PackageMetadata, System, stated_name

DERIVED_FROM = "DERIVEDFROM"
SINGLE: Mapping[str, str] = MappingProxyType(
    {
        "DELIVERYSPECIFICATION": "description",
        "SUBMISSIONAGREEMENT": "agreement",
        "DELIVERYTYPE": "delivery_type",
        "PROJECTNAME": "project",
        "PACKAGENUMBER": "package_number",
        "REFERENCECODE": "reference_code",
        "STARTDATE": "start",
        "ENDDATE": "end",
    }
)
MANY: Mapping[str, str] = MappingProxyType(
    {
        "PREVIOUSSUBMISSIONAGREEMENT": "previous_agreements",
        "PREVIOUSREFERENCECODE": "previous_reference_codes",
        DERIVED_FROM: "derived_from",
    }
)
CONTENT: Mapping[str, str] = MappingProxyType(
    {
        "CONTENTCATEGORY": "category",
        "OTHERCONTENTCATEGORY": "other_category",
        "CONTENTINFORMATIONTYPE": "content_type",
        "OTHERCONTENTINFORMATIONTYPE": "other_content_type",
    }
)
"""What has an attribute of its own in E-ARK, and none in DIAS."""
STATUS = "RECORDSTATUS"
_SYSTEM: Mapping[str, str] = MappingProxyType({"SYSTEMTYPE": "type", "SYSTEMTYPEVERSION": "type_version"})


def with_records(metadata: PackageMetadata, records: Iterable[tuple[str, str]]) -> PackageMetadata:
    """The metadata with what the identifiers of a METS tell."""
    values: dict[str, str] = {}
    many: dict[str, tuple[str, ...]] = {}
    more: list[tuple[str, str]] = []
    for kind, value in records:
        field = SINGLE.get(kind) or CONTENT.get(kind)
        if kind in MANY:
            many[MANY[kind]] = (*many.get(MANY[kind], ()), value)
        elif kind == STATUS:
            values["record_status"] = value
        elif field and field not in values:
            values[field] = stated_name(value)
        elif value and kind not in _SYSTEM:
            more.append((kind, value))
    result = replace(metadata, **values, **many, more=tuple(more))  # type: ignore[arg-type]  # fields by name
    kinds = {_SYSTEM[kind]: value for kind, value in records if kind in _SYSTEM}
    if kinds:
        system = result.system or System("", "", "")
        result = replace(result, system=replace(system, **kinds))
    return result


def system_records(system: System | None) -> Iterator[tuple[str, str]]:
    """The type of the source system, which has no agent's note of its own in E-ARK."""
    if system is not None:
        yield "SYSTEMTYPE", system.type
        yield "SYSTEMTYPEVERSION", system.type_version
