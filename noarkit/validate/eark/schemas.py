"""Which schemas judge METS and PREMIS: those of a folder the user named, else our own, never those of the package."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

import noarkit
from noarkit.errors import PackageFault, UnsafeXml
from noarkit.packages.eark import spec
from noarkit.safe.judge import joined_schema
from noarkit.safe.xml import SMALL, stream

_OWN = "eark"
_JUDGED = frozenset((spec.METS, spec.XLINK, spec.CSIP, spec.SIP, *spec.CSIP_SPELLINGS, *spec.SIP_SPELLINGS))


@dataclass(frozen=True, slots=True)
class Bench:
    """The schemas that judge: METS with its extensions, and PREMIS where one was given.

    Ours knows of PREMIS only what we write ourselves, so it judges nobody else's.
    """

    mets: etree.XMLSchema | None
    premis: etree.XMLSchema | None


def our_folder() -> Path | None:
    """Where our own schemas lie: in the installed package, or in the checkout beside it."""
    here = Path(noarkit.__file__).parent
    for place in (here / "schemas", here.parent / "schemas"):
        if (place / _OWN).is_dir():
            return place / _OWN
    return None


def bench_of(given: Path | None) -> Bench:
    """What judges. Raises `PackageFault` where the files of the folder are no schema together."""
    folder = given if given is not None else our_folder()
    if folder is None:
        return Bench(None, None)
    files: dict[str, Path] = {}
    namespaces: dict[str, str] = {}
    for path in _schema_files(folder):
        if path.name in files:
            continue
        files[path.name] = path
        namespace = _namespace(path)
        if namespace is not None:
            namespaces.setdefault(namespace, path.name)
    premis = _joined(files, namespaces, {spec.PREMIS}, spec.PREMIS) if given is not None else None
    return Bench(_joined(files, namespaces, _JUDGED, spec.METS), premis)


def _joined(
    files: dict[str, Path], namespaces: dict[str, str], judged: frozenset[str] | set[str], needed: str
) -> etree.XMLSchema | None:
    if needed not in namespaces:
        return None
    return joined_schema(files, {name: file for name, file in namespaces.items() if name in judged})


def _schema_files(folder: Path) -> Iterator[Path]:
    """Those of the folder itself first, then those of the folders in it."""
    for pattern in ("*.xsd", "*/*.xsd"):
        found = [path for path in folder.glob(pattern) if path.is_file()]
        yield from sorted(found, key=lambda path: (str(path.parent), len(path.name), path.name))


def _namespace(path: Path) -> str | None:
    """What a schema speaks of; None for what is no schema that could judge."""
    with contextlib.suppress(PackageFault, UnsafeXml):
        for _, element in stream(path, ("start",), limits=SMALL):
            return element.get("targetNamespace")
    return None
