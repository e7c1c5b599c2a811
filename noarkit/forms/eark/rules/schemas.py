"""Loads the schemas for METS and PREMIS: those of the user's folder, else our own, never those of the package."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from lxml import etree

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.eark import spec
from noarkit.forms.metadata.mets_model import CSIP_SPELLINGS, SIP_SPELLINGS
from noarkit.safe.judge import joined_schema
from noarkit.safe.xml import SMALL, stream

_OWN = "eark"
_JUDGED = frozenset((spec.METS, spec.XLINK, *CSIP_SPELLINGS, *SIP_SPELLINGS))


@dataclass(frozen=True, slots=True)
class SchemaSet:
    """The schemas that judge: METS with its extensions, and PREMIS where one was given.

    Our own PREMIS schema covers only what we write ourselves, so it is not used for the documents of others.
    """

    mets: etree.XMLSchema | None
    premis: etree.XMLSchema | None


def own_schema_folder() -> Path | None:
    """Where our own schemas lie: in the installed package, or in the checkout beside it."""
    package_folder = Path(str(files("noarkit")))
    for place in (package_folder / "schemas", package_folder.parent / "schemas"):
        if (place / _OWN).is_dir():
            return place / _OWN
    return None


def load_schemas(user_folder: Path | None) -> SchemaSet:
    """Loads the schemas. Raises `PackageFault` where the files of the folder do not form a schema."""
    folder = user_folder if user_folder is not None else own_schema_folder()
    if folder is None:
        return SchemaSet(None, None)
    files: dict[str, Path] = {}
    namespaces: dict[str, str] = {}
    for path in _schema_files(folder):
        if path.name in files:
            continue
        files[path.name] = path
        namespace = _namespace(path)
        if namespace is not None:
            namespaces.setdefault(namespace, path.name)
    premis = _join(files, namespaces, {spec.PREMIS}, spec.PREMIS) if user_folder is not None else None
    return SchemaSet(_join(files, namespaces, _JUDGED, spec.METS), premis)


def _join(
    files: dict[str, Path],
    namespaces: dict[str, str],
    judged_namespaces: frozenset[str] | set[str],
    needed_namespace: str,
) -> etree.XMLSchema | None:
    if needed_namespace not in namespaces:
        return None
    return joined_schema(files, {name: file for name, file in namespaces.items() if name in judged_namespaces})


def _schema_files(folder: Path) -> Iterator[Path]:
    """Those of the folder itself first, then those of the folders in it."""
    for pattern in ("*.xsd", "*/*.xsd"):
        paths = [path for path in folder.glob(pattern) if path.is_file()]
        yield from sorted(paths, key=lambda path: (str(path.parent), len(path.name), path.name))


def _namespace(path: Path) -> str | None:
    """What a schema speaks of; None for what is no schema that could judge."""
    with contextlib.suppress(PackageFault, UnsafeXml):
        for _, element in stream(path, ("start",), limits=SMALL):
            return element.get("targetNamespace")
    return None
