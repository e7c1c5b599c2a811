"""What a Noark 5 extract consists of: file names, namespaces, versions and the official schemas, known by their sha256.

Facts only; reading, writing and judging packages happens elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

from noarkit.model.xml_model import NAMESPACE, VERSIONS, Version

WRITTEN_VERSION: Version = "5.0"
TYPE_NAME = "Noark 5"

DESCRIPTION = "arkivuttrekk"
STRUCTURE = "arkivstruktur"
CHANGE_LOG = "endringslogg"
RUNNING_JOURNAL = "loependeJournal"
PUBLIC_JOURNAL = "offentligJournal"
CATALOGUE = "metadatakatalog"
ADDML = "addml"
XML_DOCUMENTS = (STRUCTURE, CHANGE_LOG, RUNNING_JOURNAL, PUBLIC_JOURNAL)
"""The documents that hold the archive, in the order in which the description names them."""

ADDML_NAMESPACE = "http://www.arkivverket.no/standarder/addml"
XSI_NAMESPACE = "http://www.w3.org/2001/XMLSchema-instance"
CATALOGUE_NAMESPACE = NAMESPACE + CATALOGUE

DOCUMENT_FOLDER = "dokumenter"
DOCUMENT_FOLDERS = ("dokumenter", "DOKUMENTER", "dokument", "DOKUMENT")
"""The names of the document folder that are read, the one that is written first."""

AddmlVersion = Literal["8.2", "8.3"]
_ADDML_OF: Mapping[Version, AddmlVersion] = {"3.1": "8.2", "4.0": "8.2", "5.0": "8.3"}


@dataclass(frozen=True, slots=True)
class OfficialSchema:
    """One published schema file; `edition` is its year, None for ADDML; line ends are "lf" or "crlf"."""

    version: str
    edition: str | None
    file: str
    line_ends: str
    sha256: str


def namespace(document: str) -> str:
    """The namespace of one of the XML documents, of the catalogue or of ADDML."""
    return ADDML_NAMESPACE if document in (ADDML, DESCRIPTION) else NAMESPACE + document


def addml_version(version: Version) -> AddmlVersion:
    """The version of ADDML that goes with a version of Noark 5."""
    return _ADDML_OF[version]


def schema_files(version: Version) -> tuple[str, ...]:
    """The names of all schema files of a delivery of that version, sorted."""
    return tuple(
        sorted(
            {schema.file for schema in official_schemas().values() if schema.version in (version, _ADDML_OF[version])}
        )
    )


def schemas_of(document: str) -> tuple[str, ...]:
    """The schema files that one XML document needs, its own first."""
    return (f"{ADDML}.xsd",) if document in (ADDML, DESCRIPTION) else (f"{document}.xsd", f"{CATALOGUE}.xsd")


def identify(sha256: str) -> OfficialSchema | None:
    """The official schema with this sha256 (hexadecimal, either case), or None if it is not one that is known."""
    return official_schemas().get(sha256.lower())


def parse_version(text: str) -> Version | None:
    """The version that a package means by what it writes: "5.5" and "5.5.0" are 5.0; None if it is not known."""
    word = text.strip()
    if word in ("5.5", "5.5.0", "5", "5.0.0"):
        return "5.0"
    return next((version for version in VERSIONS if version == word), None)


@cache
def official_schemas() -> Mapping[str, OfficialSchema]:
    """Every official schema by its sha256, with either line ending."""
    lines = files("noarkit.forms.noark5").joinpath("official-schemas.txt").read_text("utf-8").splitlines()
    rows = (line.split() for line in lines if line and not line.startswith("#"))
    official = (
        OfficialSchema(version, None if edition == "-" else edition, file, line_ends, sha256)
        for version, edition, file, line_ends, sha256 in rows
    )
    return MappingProxyType({schema.sha256: schema for schema in official})
