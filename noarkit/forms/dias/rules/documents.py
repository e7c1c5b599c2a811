"""Copies the XML documents of a package into a temporary folder and validates them against schemas.

A package's own schemas are never used, because it could bring schemas that allow everything: ours are used, or official
ones from a folder of the user, known by their sha256.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.dias.schemas import METS_SCHEMA, PREMIS_SCHEMA, SUBMISSION_SCHEMA, XLINK_SCHEMA, schemas
from noarkit.forms.dias.spec import METS_NAMESPACE, PREMIS_NAMESPACE, SUBMISSION_NAMESPACE
from noarkit.forms.findings import Hit, Tally, place_data
from noarkit.safe.digest import Readable, copy_hashing, sha256_of
from noarkit.safe.judge import joined_schema, judge

OFFICIAL: Mapping[str, tuple[str, frozenset[str]]] = {
    METS_SCHEMA: (
        "DIAS_METS.xsd",
        frozenset(
            {
                "6d2a718014c8cde1c44e82f884cb66fe4c7c01b296f17c3b91c5e7036015233a",
                "b71370ffdd2e86dfa3320ccb5a8eb6fb39de1bf8b4467632331a0f4f69ff7c1e",
                "67b13f76ffe8ea63a76ec88d1940568d8c22e1f654da991cbda1319fad541741",
            }
        ),
    ),
    PREMIS_SCHEMA: (
        "DIAS_PREMIS.xsd",
        frozenset({"5131975b732ca285dbb4dfdafd85dde122eb384db3984e9aec2598057671e017"}),
    ),
    SUBMISSION_SCHEMA: (
        "submissionDescription.xsd",
        frozenset(
            {
                "55f36c2d16628b225c4782dd6129da227cc9dad436ec2ce27243b476ebaa71b8",
                "f13b18f99b0db876c71163cdaff871724ca2833f2a14481cc91462377fa2638c",
            }
        ),
    ),
}
"""What the official schemas are called, and the editions that are known."""

_NAMESPACES: Mapping[str, str] = {
    METS_NAMESPACE: METS_SCHEMA,
    SUBMISSION_NAMESPACE: SUBMISSION_SCHEMA,
    PREMIS_NAMESPACE: PREMIS_SCHEMA,
}
_MOST = 1_000


@dataclass(frozen=True, slots=True)
class CopiedDocument:
    """A document in our own folder, and what its bytes are."""

    path: Path
    size_bytes: int
    sha256: str


class DocumentValidator:
    """Validates XML documents against schemas, in a folder of its own."""

    def __init__(self, folder: Path, schema_folder: Path | None) -> None:
        self._folder = folder
        self._files: dict[str, Path] = {}
        self._count = 0
        for name, text in schemas().items():
            (folder / name).write_bytes(text)
            self._files[name] = folder / name
        for name, (official, checksums) in OFFICIAL.items():
            path = schema_folder / official if schema_folder is not None else None
            if path is not None and path.is_file() and sha256_of(path) in checksums:
                self._files[name] = path

    def copy(self, content: AbstractContextManager[Readable]) -> CopiedDocument:
        """Copies a document here, so that it can be read more than once."""
        self._count += 1
        path = self._folder / f"{self._count}.xml"
        with content as source, path.open("xb") as file:
            digest = copy_hashing(source, file)
        return CopiedDocument(path, digest.size_bytes, digest.sha256)

    def judge(self, path: Path, namespace: str, rule_and_name: tuple[str, str], tally: Tally) -> None:
        """Reports schema errors of a document under a rule; `rule_and_name` is the rule and the document's name."""
        code, name = rule_and_name
        schema_name = _NAMESPACES.get(namespace)
        if schema_name is None:
            tally.add_hit(Hit(code, name, line=1, data=place_data({"why": f"namespace {namespace or '-'}"})))
            return
        files = {file_name: self._files[file_name] for file_name in (schema_name, XLINK_SCHEMA)}
        for error in judge(path, joined_schema(files, {namespace: schema_name}), most=_MOST):
            if error.element == "fileGrp" and "not expected" in error.message:
                continue  # a rule of its own tells it
            tally.add_hit(Hit(code, name, line=error.line or None, data=place_data({"why": error.message})))


def reason_data(fault: PackageFault | UnsafeXml) -> dict[str, str]:
    """The reason of a fault in a document that cannot be read, as data of a place."""
    return place_data({"why": fault.data.get("detail") or fault.data.get("why")})


def line_of(fault: PackageFault | UnsafeXml) -> int | None:
    """The line where it cannot be read."""
    line = fault.data.get("line")
    return line if isinstance(line, int) else None


def hash_of_bytes(content: Readable, algorithm: str) -> tuple[int, str]:
    """Size and checksum of what is left of a stream."""
    hasher = hashlib.new(algorithm, usedforsecurity=False)
    size = 0
    while block := content.read(1024 * 1024):
        hasher.update(block)
        size += len(block)
    return size, hasher.hexdigest()
