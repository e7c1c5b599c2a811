"""Chooses the schemas that a package is validated against, and recognises official schemas.

A package's own schemas are not used, because it could bring schemas that allow everything: ours are used, or official
ones from a folder of the user, known by their sha256. Only business-specific metadata (vsm) has no schema but the one
in the package.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from noarkit.errors import PackageFault
from noarkit.forms.noark5 import spec
from noarkit.forms.noark5.rules.messages import Message, Notes
from noarkit.model.xml_model import Version
from noarkit.safe.digest import sha256_of
from noarkit.safe.judge import joined_schema, judge
from noarkit.safe.xml import parse

_XS = "{http://www.w3.org/2001/XMLSchema}"
_OWN = "noark5"
_LOCATED = 1000
"""So many errors get a line: more than are shown, for some fall to other rules."""


@dataclass(frozen=True, slots=True)
class SchemaSet:
    """The files that judge one document: by their names, and the file of each namespace."""

    files: Mapping[str, Path]
    namespaces: Mapping[str, str]
    own_namespaces: frozenset[str]


def own_schema_folder(version: Version) -> Path | None:
    """Where our own schemas of a version lie: in the installed package, or in the checkout beside it."""
    package_folder = Path(str(files("noarkit")))
    for place in (package_folder / "schemas", package_folder.parent / "schemas"):
        if (place / _OWN / version).is_dir():
            return place / _OWN / version
    return None


def judging_files(version: Version, user_folder: Path | None) -> dict[str, Path]:
    """The schema files that judge packages of a version, by name: from a folder of the user where they are official."""
    files: dict[str, Path] = {}
    own_folder = own_schema_folder(version)
    for name in spec.schema_files(version):
        for folder in (own_folder, own_folder.parent if own_folder else None):
            if folder is not None and (folder / name).is_file():
                files.setdefault(name, folder / name)
        official = user_folder / name if user_folder is not None else None
        if official is not None and official.is_file() and spec.identify(sha256_of(official)) is not None:
            files[name] = official
    return files


def is_ours(name: str, sha256: str) -> bool:
    """True for a schema that we make ourselves: equivalent to the official one, but not it."""
    for version in ("3.1", "4.0", "5.0"):
        folder = own_schema_folder(version)
        if folder is None:
            continue
        for place in (folder / name, folder.parent / name):
            if place.is_file() and sha256_of(place) == sha256:
                return True
    return False


def schemas_for(document: str, files: Mapping[str, Path], own_schemas: Mapping[str, Path]) -> SchemaSet | None:
    """The schemas for one document; None if we have none. `own_schemas` are those for vsm, by namespace."""
    schema_names = spec.schemas_of(document)
    if any(name not in files for name in schema_names):
        return None
    chosen_files = {name: files[name] for name in schema_names}
    namespaces = {spec.namespace(document): schema_names[0]}
    for namespace, path in own_schemas.items():
        chosen_files[path.name] = path
        namespaces[namespace] = path.name
    return SchemaSet(chosen_files, namespaces, frozenset(own_schemas))


def namespace_of(schema: Path) -> str | None:
    """The namespace that a schema is for; None if it has none or is no schema. `PackageFault` where it is no XML."""
    root = parse(schema)
    return root.get("targetNamespace") if root.tag == f"{_XS}schema" else None


def undocumented(schema: Path) -> Iterator[tuple[str, int]]:
    """The elements of a schema that nobody explains, with their lines."""
    for element in parse(schema).iter(f"{_XS}element"):
        name = element.get("name")
        if name and element.find(f"{_XS}annotation/{_XS}documentation") is None:
            line = element.sourceline
            yield name, line if isinstance(line, int) else 0


def judge_document(path: Path, schemas: SchemaSet) -> Iterator[Message]:
    """What the schemas have against a document."""
    notes = Notes(path.name)
    try:
        schema = joined_schema(schemas.files, schemas.namespaces)
    except PackageFault as fault:
        notes.line("N109", None, why=str(fault.data.get("detail", "")))
        plain = {name: place for name, place in schemas.files.items() if name in spec.schemas_of(path.stem)}
        schema = joined_schema(plain, {space: name for space, name in schemas.namespaces.items() if name in plain})
    for error in judge(path, schema, located=_LOCATED):
        code = "N109" if error.namespace in schemas.own_namespaces else "N103"
        notes.line(code, error.line or None, element=error.element, why=error.message)
    yield from notes.messages()
