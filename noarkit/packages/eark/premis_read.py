"""Reads PREMIS 3 and 2.2 by events: the objects it tells of, with their checksums and formats, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast
from xml.parsers.expat import XMLParserType

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.packages.eark import spec
from noarkit.safe.digest import Readable
from noarkit.safe.sax import check_text, event_parser, feed

_NAMESPACES = (spec.PREMIS, spec.PREMIS_2)
_MAX_DEPTH = 100
_XSI_TYPE = f"{spec.XSI} type"
_OBJECT_TEXTS = frozenset(
    {
        "objectIdentifierValue",
        "originalName",
        "contentLocationValue",
        "size",
        "formatName",
        "formatVersion",
        "formatRegistryName",
        "formatRegistryKey",
        "messageDigestAlgorithm",
        "messageDigest",
    }
)


@dataclass(frozen=True, slots=True)
class PremisObject:
    """An object: `kind` is file, representation or another. `digests` are checksums by METS' name of the algorithm."""

    kind: str
    identifiers: tuple[str, ...]
    original_name: str = ""
    location: str = ""
    size_bytes: int | None = None
    digests: tuple[tuple[str, str], ...] = ()
    format_name: str = ""
    format_version: str = ""
    puid: str = ""


def read_premis(source: Readable, where: str) -> Iterator[PremisObject]:
    """Every object of a PREMIS document. Raises `PackageFault` for what is none, and `UnsafeXml`."""
    parser = event_parser(where)
    reading = _Reading(parser, where)
    parser.StartElementHandler, parser.EndElementHandler = reading.start, reading.end
    parser.CharacterDataHandler = reading.data
    for _ in feed(parser, cast(BinaryIO, source), where):  # only read() is asked
        yield from reading.taken()
    yield from reading.taken()


class _Reading:
    """The state between two events."""

    def __init__(self, parser: XMLParserType, where: str) -> None:
        self._parser = parser
        self._where = where
        self._depth = 0
        self._found: list[PremisObject] = []
        self._kind = ""
        self._told: dict[str, list[str]] | None = None
        self._related = 0
        self._text: list[str] | None = None

    def taken(self) -> list[PremisObject]:
        """What was found since the last call."""
        found, self._found = self._found, []
        if self._text is not None:
            check_text(self._text, self._parser, self._where)
        return found

    def start(self, name: str, told: dict[str, str]) -> None:
        """An element begins."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise UnsafeXml(where=self._where, why="depth", line=self._parser.CurrentLineNumber)
        space, _, local = name.rpartition(" ")
        if self._depth == 1 and (local not in ("premis", "object") or space not in _NAMESPACES):
            raise PackageFault(where=self._where, why="eark-not-premis")
        if local == "object" and self._told is None:
            self._kind = told.get(_XSI_TYPE, "").rpartition(":")[2]
            self._told = {}
        elif self._told is not None and local in _OBJECT_TEXTS:
            self._text = []

    def end(self, name: str) -> None:
        """It ends."""
        self._depth -= 1
        local = name.rpartition(" ")[2]
        if self._told is None:
            return
        if self._text is not None and local in _OBJECT_TEXTS:
            self._told.setdefault(local, []).append("".join(self._text).strip())
            self._text = None
        elif local == "object":
            self._found.append(_object(self._kind, self._told))
            self._told = None

    def data(self, text: str) -> None:
        """Some of its text."""
        if self._text is not None:
            self._text.append(text)


def _object(kind: str, told: dict[str, list[str]]) -> PremisObject:
    def first(name: str) -> str:
        return next(iter(told.get(name, ())), "")

    size = first("size")
    registry = first("formatRegistryName").upper()
    algorithms, digests = told.get("messageDigestAlgorithm", []), told.get("messageDigest", [])
    return PremisObject(
        kind,
        tuple(told.get("objectIdentifierValue", ())),
        first("originalName"),
        first("contentLocationValue"),
        int(size) if size.isascii() and size.isdigit() and len(size) < 19 else None,
        tuple(
            (spec.PREMIS_CHECKSUMS.get(algorithm.upper(), algorithm), digest.lower())
            for algorithm, digest in zip(algorithms, digests, strict=False)
        ),
        first("formatName"),
        first("formatVersion"),
        first("formatRegistryKey") if "PRONOM" in registry else "",
    )
