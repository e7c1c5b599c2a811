"""Checks the schemas of a package: whether they are the official ones of its version, and its own schemas for vsm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from noarkit.errors import HostileInput, PackageFault, UnsafeXml
from noarkit.forms.findings import Tally
from noarkit.forms.noark5 import spec
from noarkit.forms.noark5.rules.case import Case
from noarkit.forms.noark5.rules.description import Description
from noarkit.forms.noark5.rules.journals import JOURNALS
from noarkit.forms.noark5.rules.messages import refusal
from noarkit.forms.noark5.rules.schemas import is_ours, namespace_of, undocumented
from noarkit.model.xml_model import VERSIONS, Version
from noarkit.safe.digest import sha256_of
from noarkit.safe.paths import has_file, resolve_inside

_FIRST_EDITION = "2019"


def version_of(root: Path, description: Description | None) -> Version:
    """The version that a package says it is, else that of most of its official schemas, else the current one."""
    version_text = description.value("version") if description is not None else None
    declared_version = spec.parse_version(version_text) if version_text else None
    if declared_version is not None:
        return declared_version
    votes: Counter[str] = Counter()
    for name in spec.schema_files(spec.WRITTEN_VERSION):
        schema = root / name
        official = spec.identify(sha256_of(schema)) if has_file(root, name) else None
        if official is not None:
            votes[official.version] += 1
    return max(
        (version for version in VERSIONS if votes[version]),
        key=lambda version: (votes[version], version),
        default=spec.WRITTEN_VERSION,
    )


def vsm_schemas(root: Path, description: Description | None, tally: Tally) -> dict[str, Path]:
    """The schemas of the archive's own metadata that the package names for arkivstruktur, by their namespace."""
    structure = description.xml(spec.STRUCTURE) if description is not None else None
    path_by_namespace: dict[str, Path] = {}
    for file in structure.schemas if structure is not None else ():
        if file.name in spec.schema_files("5.0") or not file.name.endswith(".xsd"):
            continue
        try:
            path = resolve_inside(root, file.name)
            namespace = namespace_of(path) if path.is_file() else None
            if namespace:
                path_by_namespace.setdefault(namespace, path)
                for element, line in undocumented(path):
                    tally.add("N110", file.name, (None, None), element=element, line=line)
        except (PackageFault, UnsafeXml, OSError) as fault:
            tally.add_hit(refusal(file.name, fault))
        except HostileInput as fault:
            tally.add("N005", file.name, why=fault.data.get("why"))
    return path_by_namespace


def judge_identity(case: Case, vsm: Mapping[str, Path]) -> None:
    """Each standard schema is official, of the version; each namespace of vsm has its schema."""
    vsm_names = {path.name for path in vsm.values()}
    standard = set(spec.schema_files(case.version))
    for name in sorted(standard & case.files - vsm_names):
        sha256 = case.sha256_of(name)
        if sha256 is None:
            continue
        official = spec.identify(sha256)
        if official is not None and official.file == name and _fits(official.version, case.version, name):
            continue
        if official is None and is_ours(name, sha256):
            case.tally.add("N102", name, found=sha256)
        else:
            case.tally.add("N105", name, found=sha256, value=official.version if official else None)
    for namespace in sorted(case.vsm - set(vsm)):
        case.tally.add("N108", f"{spec.STRUCTURE}.xml", value=namespace)


def judge_editions(case: Case) -> None:
    """A journal that came with the schema of 2019 holds nothing that was added in 2023."""
    for number, journal in enumerate(JOURNALS):
        head = case.heads.get(number)
        official = spec.identify(case.sha256_of(f"{journal}.xsd") or "")
        if head is None or head.newer_at is None or official is None or official.edition != _FIRST_EDITION:
            continue
        case.tally.add("N103", f"{journal}.xml", (head.newer_at, None), why=f"{journal}.xsd ({_FIRST_EDITION})")


def _fits(official_version: str, version: Version, name: str) -> bool:
    """ADDML comes in two versions that read the same descriptions; all else is of the package's own version."""
    return official_version == version or name == f"{spec.ADDML}.xsd"
