"""Reads PREMIS 3 and 2.2 by events: the objects it tells of, with their checksums and formats, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from xml.parsers.expat import XMLParserType

from noarkit.errors import PackageFault
from noarkit.forms.eark import spec
from noarkit.forms.eark.read.xml_reader import XmlReader, read_items
from noarkit.safe.digest import Readable

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


def read_premis(source: Readable, where: str, *namespaces: str) -> Iterator[PremisObject]:
    """Every object of a PREMIS document, of version 3 or 2 or of another of these `namespaces`.

    Raises `PackageFault` for what is none, and `UnsafeXml`.
    """
    return read_items(source, where, lambda parser: _PremisReader(parser, where, (*_NAMESPACES, *namespaces)))


class _PremisReader(XmlReader[PremisObject]):
    """The state between two events."""

    def __init__(self, parser: XMLParserType, where: str, namespaces: tuple[str, ...]) -> None:
        super().__init__(parser, where, _MAX_DEPTH)
        self._namespaces = namespaces
        self._depth = 0
        self._kind = ""
        self._object_texts: dict[str, list[str]] | None = None
        self._related = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self._depth += 1
        self._check_depth(self._depth)
        space, _, local = name.rpartition(" ")
        if self._depth == 1 and (local not in ("premis", "object") or space not in self._namespaces):
            raise PackageFault(where=self._where, why="eark-not-premis")
        if local == "object" and self._object_texts is None:
            self._kind = attributes.get(_XSI_TYPE, "").rpartition(":")[2]
            self._object_texts = {}
        elif self._object_texts is not None and local in _OBJECT_TEXTS:
            self._text = []

    def end(self, name: str) -> None:
        """It ends."""
        self._depth -= 1
        local = name.rpartition(" ")[2]
        if self._object_texts is None:
            return
        if self._text is not None and local in _OBJECT_TEXTS:
            self._object_texts.setdefault(local, []).append("".join(self._text).strip())
            self._text = None
        elif local == "object":
            self._items.append(_object(self._kind, self._object_texts))
            self._object_texts = None


def _object(kind: str, texts: dict[str, list[str]]) -> PremisObject:
    def first(name: str) -> str:
        return next(iter(texts.get(name, ())), "")

    size = first("size")
    registry = first("formatRegistryName").upper()
    algorithms, digests = texts.get("messageDigestAlgorithm", []), texts.get("messageDigest", [])
    return PremisObject(
        kind,
        tuple(texts.get("objectIdentifierValue", ())),
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
