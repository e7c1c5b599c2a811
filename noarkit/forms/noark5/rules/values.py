"""Tables of allowed values: codes with texts and keys by version, formats with endings and first bytes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from noarkit.model.metamodel import metamodel
from noarkit.model.xml_model import Version, xml_model

_CLOSED = (
    "arkivstatus",
    "arkivdelstatus",
    "saksstatus",
    "journalstatus",
    "dokumentstatus",
    "journalposttype",
    "korrespondanseparttype",
    "dokumentmedium",
    "variantformat",
    "tilknyttetRegistreringSom",
    "avskrivningsmaate",
    "kassasjonsvedtak",
    "slettingstype",
    "skjermingDokument",
    "skjermingMetadata",
    "presedensStatus",
    "elektroniskSignaturVerifisert",
)
"""Fields whose values are agreed on; those of other fields are each archive's own."""


@dataclass(frozen=True, slots=True)
class Formats:
    """What is known of document formats, by ending without its dot, in small letters."""

    endings: Mapping[str, frozenset[str]]
    first_bytes: Mapping[str, tuple[bytes, ...]]


@cache
def codes(version: Version) -> Mapping[str, frozenset[str]]:
    """The texts that each closed field may hold; where the schemas hold the codes themselves, they alone judge."""
    texts_by_field: dict[str, frozenset[str]] = {}
    own_codes = _table()["codes"]
    lists = metamodel().code_lists
    for name in _CLOSED:
        if xml_model(version).values.get(name) is not None and xml_model(version).values[name].codes:
            continue
        older = xml_model("4.0").values.get(name)
        texts = set(older.codes if older else ()) | set(own_codes.get(name, ()))
        if name in lists:
            texts |= {code.name for code in lists[name].codes}
        texts_by_field[name] = frozenset(texts)
    grades = frozenset(xml_model("4.0").values["gradering"].codes)
    if version == "5.0":
        texts_by_field["grad"] = grades
    return {name: texts for name, texts in texts_by_field.items() if texts}


@cache
def keys() -> Mapping[str, frozenset[str]]:
    """The keys of the service interface by field."""
    return {name: frozenset(values) for name, values in _table()["keys"].items()}


@cache
def formats() -> Formats:
    """What is known of formats."""
    table = _table()
    return Formats(
        {puid: frozenset(endings) for puid, endings in table["formats"].items()},
        {suffix: tuple(map(bytes.fromhex, starts)) for suffix, starts in table["first_bytes"].items()},
    )


@cache
def _table() -> Mapping[str, Mapping[str, list[str]]]:
    return tomllib.loads(files("noarkit.forms.noark5.rules").joinpath("values.toml").read_text("utf-8"))
