"""Writes arkivuttrekk.xml of a draft: its properties, the checksums of its files as they are now, its counts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from noarkit.forms.noark5 import spec
from noarkit.safe.digest import sha256_of
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


SAID: Mapping[str, str] = {
    "systemType": "Sakarkiv (Noark 5)",
    "systemName": "Eksempel",
    "archive": "Eksempelarkivet",
    "startDate": "2019-01-01",
    "endDate": "2019-12-31",
    "type": "Noark 5",
    "version": "5.0",
    "inngaaendeSkille": "skarpt",
    "utgaaendeSkille": "skarpt",
    "inneholderSkjermetInformasjon": "false",
    "omfatterDokumenterSomErKassert": "false",
    "inneholderDokumenterSomSkalKasseres": "false",
    "inneholderVirksomhetsspesifikkeMetadata": "false",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What a description is made of: the sha256 of each file, how often elements begin in each, and what is said."""

    sums: Mapping[str, str]
    counts: Mapping[tuple[str, str], int]
    documents: int
    said: Mapping[str, str]
    schemas: tuple[str, ...] = ()


def seal(draft: Draft) -> None:
    """Describes the draft as it is."""
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in draft.files.items()}
    counts = {(name, each): draft.count(f"{name}.xml", each) for name, some in _COUNTED.items() for each in some}
    documents = sum(name.startswith(f"{spec.DOCUMENT_FOLDER}/") for name in draft.files)
    text = _text(Facts(sums, counts, documents, draft.said, tuple(draft.schemas)))
    draft.files[f"{spec.DESCRIPTION}.xml"] = text.encode()


def describe(folder: Path, counts: Mapping[str, int], documents: int) -> None:
    """Describes a package on disk whose elements were counted when it was written."""
    sums = {path.name: sha256_of(path) for path in folder.iterdir() if path.is_file()}
    numbers = {(name, each): counts[each] for name, some in _COUNTED.items() for each in some}
    (folder / f"{spec.DESCRIPTION}.xml").write_text(_text(Facts(sums, numbers, documents, SAID)), "utf-8")


def _text(facts: Facts) -> str:
    said = facts.said
    context = "".join(_additional(name, _value(said[name])) for name in ("systemType", "systemName", "archive"))
    creators = _additional(
        "recordCreators", _wrapped("additionalElements", _additional("recordCreator", _value("Prøve kommune")))
    )
    period = "".join(_property(name, said[name]) for name in ("startDate", "endDate"))
    divides = "".join(_property(name, said[name]) for name in ("inngaaendeSkille", "utgaaendeSkille"))
    more = _property("periode", inner=divides) + "".join(_property(name, said[name], "boolean") for name in _FLAGS)
    more += _property("antallDokumentfiler", str(facts.documents), "integer")
    info = _property(
        "info",
        inner=_property("type", said["type"], inner=_property("version", said["version"]))
        + _property("additionalInfo", inner=more),
    )
    objects = "".join(_document(facts, name) for name in _COUNTED if f"{name}.xml" in facts.sums)
    package = (
        f'<dataObject name="Noark 5-arkivuttrekk">\n{_wrapped("properties", info)}'
        f"{_wrapped('dataObjects', objects)}</dataObject>\n"
    )
    reference = _wrapped("context", _wrapped("additionalElements", creators + context)) + _wrapped(
        "content",
        _wrapped("additionalElements", _additional("archivalPeriod", _wrapped("properties", period))),
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<addml xmlns="{spec.ADDML_NAMESPACE}" name="Eksempel">\n'
        f'<dataset name="Eksempel">\n<description>Noark 5-arkivuttrekk</description>\n'
        f"{_wrapped('reference', reference)}{_wrapped('dataObjects', package)}</dataset>\n</addml>\n"
    )


def _document(facts: Facts, name: str) -> str:
    own = facts.schemas if name == spec.STRUCTURE else []
    main, *others = spec.schemas_of(name)
    schemas = _property("schema", "main", inner=_file(facts, main))
    schemas += "".join(_property("schema", inner=_file(facts, other)) for other in [*others, *own])
    counts = "".join(
        _property(
            "numberOfOccurrences",
            element,
            inner=_property("elementPath", f"//{element}")
            + _property("value", str(facts.counts[name, element]), "integer"),
        )
        for element in _COUNTED[name]
    )
    inner = _file(facts, f"{name}.xml") + schemas + _property("info", inner=counts)
    return f'<dataObject name="{name}">\n{_wrapped("properties", inner)}</dataObject>\n'


def _file(facts: Facts, name: str) -> str:
    checksum = _property("checksum", inner=_property("algorithm", "SHA-256") + _property("value", facts.sums[name]))
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
