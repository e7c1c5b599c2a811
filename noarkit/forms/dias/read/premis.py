"""Reads dias-premis.xml or log.xml as a stream: every object with what it tells of a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from noarkit.forms.dias.read.walk import XmlHandler
from noarkit.forms.dias.spec import PREMIS_NAMESPACE
from noarkit.safe.digest import Readable

_TEXTS = frozenset(
    {
        "objectIdentifierValue",
        "originalName",
        "contentLocationValue",
        "relatedObjectIdentifierValue",
        "relationshipSubType",
        "size",
        "messageDigest",
        "messageDigestAlgorithm",
        "formatName",
    }
)
_KNOWN = {f"{PREMIS_NAMESPACE}}}{name}": name for name in (*_TEXTS, "object", "event")}
_PART = frozenset({"is included in", "is part of"})


@dataclass(frozen=True, slots=True)
class PremisObject:
    """An object: its identifiers, and what is told of it, empty if nothing is. `location` is an address.

    `included_in` is the package that this one is a part of.
    """

    identifiers: tuple[str, ...]
    original_name: str
    location: str
    included_in: str
    size: str
    digest: str
    algorithm: str
    format: str
    line: int


class PremisReader:
    """A PREMIS document that is being read: go through `objects` to its end, then `events` is right."""

    def __init__(self, source: Readable) -> None:
        self._source = source
        self._walk = _PremisHandler()

    def objects(self) -> Iterator[PremisObject]:
        """Every object. Raises `PackageFault` and `UnsafeXml` where it cannot be read."""
        return self._walk.items(self._source)

    @property
    def events(self) -> int:
        """How many events were met so far."""
        return self._walk.events


class _PremisHandler(XmlHandler[PremisObject]):
    def __init__(self) -> None:
        super().__init__()
        self._texts_by_name: dict[str, list[str]] = {}
        self._at = 0
        self.events = 0

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        local = _KNOWN.get(name, "")
        self._open.append(local)
        self._text.clear()
        if local == "object":
            self._texts_by_name, self._at = {}, self._line()
        elif local == "event":
            self.events += 1

    def end(self, name: str, /) -> None:
        local = self._open.pop()
        if local in _TEXTS and "object" in self._open:
            text = "".join(self._text).strip()
            if local in self._texts_by_name:
                self._texts_by_name[local].append(text)
            else:
                self._texts_by_name[local] = [text]
        elif local == "object":
            self._ready.append(
                PremisObject(
                    tuple(self._texts_by_name.get("objectIdentifierValue", ())),
                    self._first("originalName"),
                    self._first("contentLocationValue"),
                    self._included(),
                    self._first("size"),
                    self._first("messageDigest").lower(),
                    self._first("messageDigestAlgorithm"),
                    self._first("formatName"),
                    self._at,
                )
            )
        self._text.clear()

    def _included(self) -> str:
        is_part = self._first("relationshipSubType").lower() in _PART
        return self._first("relatedObjectIdentifierValue") if is_part else ""

    def _first(self, name: str) -> str:
        texts = self._texts_by_name.get(name)
        return texts[0] if texts else ""
