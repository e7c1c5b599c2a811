"""What a seal says: what the package is, who made it when, and the checksum of the list of all its files.

noarkit-seal.json    the statement; the only thing that is signed
noarkit-seal.sig     its signature, 64 bytes
noarkit-files.jsonl  every other file with its size and sha256, in the order in which they lie; the seal has its sha256
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import orjson

from noarkit.errors import SealBroken

Kind = Literal["bundle", "receipt", "request", "acceptance"]
KINDS: tuple[Kind, ...] = get_args(Kind)

FORMAT = "noarkit seal"
VERSION = 1
SEAL, SIGNATURE, FILES = "noarkit-seal.json", "noarkit-seal.sig", "noarkit-files.jsonl"
PLAN = "noarkit-plan"
"""The folder of a bundle that holds the plan."""
MOST_SEAL_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class SealedFile:
    """A file of the package, as the list has it."""

    name: str
    size_bytes: int
    sha256: str

    def line(self) -> bytes:
        """Its line of the list."""
        fields = {"name": self.name, "size": self.size_bytes, "sha256": self.sha256}
        return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


@dataclass(frozen=True, slots=True)
class Seal:
    """A statement that is signed. `by` is who made it (user, machine, noarkit), `key` the fingerprint of the key that
    signs, `statement` what this kind of package has to say; `files` and `size_bytes` are sums over the list."""

    kind: Kind
    id: str
    made_at: str
    key: str
    file_list: SealedFile
    files: int
    size_bytes: int
    by: Mapping[str, str] = field(default_factory=dict)
    statement: Mapping[str, object] = field(default_factory=dict)

    def content(self) -> bytes:
        """The bytes that are signed: the same seal has always the same."""
        fields = {
            "format": FORMAT,
            "version": VERSION,
            "kind": self.kind,
            "id": self.id,
            "made": self.made_at,
            "by": dict(self.by),
            "key": self.key,
            "list": {"name": self.file_list.name, "size": self.file_list.size_bytes, "sha256": self.file_list.sha256},
            "files": self.files,
            "bytes": self.size_bytes,
            self.kind: dict(self.statement),
        }
        return (json.dumps(fields, indent=1, ensure_ascii=False) + "\n").encode()


def top_of(kind: Kind) -> str:
    """The folder that the files of a packed one lie in, whatever the file is called."""
    return f"noarkit-{kind}"


def read_seal(content: bytes, where: str) -> Seal:
    """The seal that these bytes are; only after their signature was found good. Raises `SealBroken`."""
    try:
        fields = json.loads(content)
        if fields["format"] != FORMAT or fields["kind"] not in KINDS:
            raise SealBroken(where=where, why="seal-unreadable")
        if fields["version"] != VERSION:
            raise SealBroken(where=where, why="unknown-version")
        kind = KINDS[KINDS.index(fields["kind"])]
        file_list = fields["list"]
        return Seal(
            kind,
            str(fields["id"]),
            str(fields["made"]),
            str(fields["key"]),
            SealedFile(str(file_list["name"]), int(file_list["size"]), str(file_list["sha256"])),
            int(fields["files"]),
            int(fields["bytes"]),
            {str(name): str(value) for name, value in fields["by"].items()},
            dict(fields[kind]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SealBroken(where=where, why="seal-unreadable") from error


def parse_list_line(line: bytes, where: str) -> SealedFile:
    """A line of the list. Raises `SealBroken`."""
    try:
        fields = orjson.loads(line)
        return SealedFile(str(fields["name"]), int(fields["size"]), str(fields["sha256"]))
    except (ValueError, KeyError, TypeError) as error:
        raise SealBroken(where=where, why="seal-list") from error


def claimed_key(content: bytes) -> str:
    """The fingerprint that unproven bytes claim to be signed by, for a sentence to people; empty if none is."""
    try:
        return str(json.loads(content)["key"])
    except (ValueError, KeyError, TypeError):
        return ""
