"""Writes arkivuttrekk.xml of a draft: its properties, the checksums of its files as they are now, its counts."""

from __future__ import annotations

import hashlib
from xml.sax.saxutils import escape

from noarkit.packages.noark5 import spec
from samples.packages.good import Draft

_FLAGS = (
    "inneholderSkjermetInformasjon",
    "omfatterDokumenterSomErKassert",
    "inneholderDokumenterSomSkalKasseres",
    "inneholderVirksomhetsspesifikkeMetadata",
)
_COUNTED = {
    spec.STRUCTURE: ("mappe", "registrering"),
    spec.CHANGE_LOG: ("endring",),
    spec.RUNNING_JOURNAL: ("journalregistrering",),
    spec.PUBLIC_JOURNAL: ("journalregistrering",),
}


def seal(draft: Draft) -> None:
    """Describes the draft as it is."""
    said = draft.said
    context = "".join(_additional(name, _value(said[name])) for name in ("systemType", "systemName", "archive"))
    creators = _additional(
        "recordCreators", _wrapped("additionalElements", _additional("recordCreator", _value("Prøve kommune")))
    )
    period = "".join(_property(name, said[name]) for name in ("startDate", "endDate"))
    documents = sum(name.startswith(f"{spec.DOCUMENT_FOLDER}/") for name in draft.files)
    divides = "".join(_property(name, said[name]) for name in ("inngaaendeSkille", "utgaaendeSkille"))
    more = _property("periode", inner=divides) + "".join(_property(name, said[name], "boolean") for name in _FLAGS)
    more += _property("antallDokumentfiler", str(documents), "integer")
    info = _property(
        "info",
        inner=_property("type", said["type"], inner=_property("version", said["version"]))
        + _property("additionalInfo", inner=more),
    )
    objects = "".join(_document(draft, name) for name in _COUNTED if f"{name}.xml" in draft.files)
    package = (
        f'<dataObject name="Noark 5-arkivuttrekk">\n{_wrapped("properties", info)}'
        f"{_wrapped('dataObjects', objects)}</dataObject>\n"
    )
    reference = _wrapped("context", _wrapped("additionalElements", creators + context)) + _wrapped(
        "content",
        _wrapped("additionalElements", _additional("archivalPeriod", _wrapped("properties", period))),
    )
    text = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<addml xmlns="{spec.ADDML_NAMESPACE}" name="Eksempel">\n'
        f'<dataset name="Eksempel">\n<description>Noark 5-arkivuttrekk</description>\n'
        f"{_wrapped('reference', reference)}{_wrapped('dataObjects', package)}</dataset>\n</addml>\n"
    )
    draft.files[f"{spec.DESCRIPTION}.xml"] = text.encode()


def _document(draft: Draft, name: str) -> str:
    own = draft.schemas if name == spec.STRUCTURE else []
    main, *others = spec.schemas_of(name)
    schemas = _property("schema", "main", inner=_file(draft, main))
    schemas += "".join(_property("schema", inner=_file(draft, other)) for other in [*others, *own])
    counts = "".join(
        _property(
            "numberOfOccurrences",
            element,
            inner=_property("elementPath", f"//{element}")
            + _property("value", str(draft.count(f"{name}.xml", element)), "integer"),
        )
        for element in _COUNTED[name]
    )
    inner = _file(draft, f"{name}.xml") + schemas + _property("info", inner=counts)
    return f'<dataObject name="{name}">\n{_wrapped("properties", inner)}</dataObject>\n'


def _file(draft: Draft, name: str) -> str:
    digest = hashlib.sha256(draft.files[name]).hexdigest()
    checksum = _property("checksum", inner=_property("algorithm", "SHA-256") + _property("value", digest))
    return _property("file", inner=_property("name", name) + checksum)


def _property(name: str, value: str = "", kind: str = "", inner: str = "") -> str:
    type_ = f' dataType="{kind}"' if kind else ""
    held = (_value(value) if value else "") + (_wrapped("properties", inner) if inner else "")
    return f'<property name="{name}"{type_}>\n{held}</property>\n'


def _additional(name: str, inner: str) -> str:
    return f'<additionalElement name="{name}">\n{inner}</additionalElement>\n'


def _value(value: str) -> str:
    return f"<value>{escape(value)}</value>\n"


def _wrapped(name: str, inner: str) -> str:
    return f"<{name}>\n{inner}</{name}>\n"
