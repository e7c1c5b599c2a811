"""Holds PREMIS (2 and 3) against the files: sizes, checksums, and who did what.

A file is found by its location, by an identifier that is a path or an id of METS, or by its original name.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from noarkit.errors import PackageFault, UnsafePath, UnsafeXml
from noarkit.packages.eark import spec
from noarkit.safe.digest import Readable
from noarkit.safe.sax import check_text, event_parser, feed
from noarkit.safe.xml import LIMITS
from noarkit.validate.eark.inventory import Entry, Inventory
from noarkit.validate.eark.mets import MOST_KEPT, InPieces
from noarkit.validate.eark.places import Found, Places
from noarkit.validate.eark.told import Told

_NAMESPACES = (spec.PREMIS, spec.PREMIS_2)
_XSI_TYPE = f"{spec.XSI} type"
_THINGS = ("object", "event", "agent", "rights")
_TEXTS = frozenset(
    {
        "objectIdentifierType",
        "objectIdentifierValue",
        "messageDigestAlgorithm",
        "messageDigest",
        "size",
        "originalName",
        "contentLocationValue",
        "formatRegistryKey",
        "formatName",
        "eventIdentifierValue",
        "eventType",
        "linkingAgentIdentifierValue",
        "agentIdentifierValue",
        "relationshipSubType",
        "relatedObjectIdentifierValue",
        "relatedEventIdentifierValue",
    }
)
_LENGTHS = {"MD5": 32, "SHA-1": 40, "SHA-256": 64, "SHA-384": 96, "SHA-512": 128}


@dataclass(slots=True)
class Thing:
    """An object, event, agent or right: its kind, its type, and its texts in the order in which they stand."""

    kind: str
    type: str
    line: int
    texts: list[tuple[str, str]] = field(default_factory=list)

    def all(self, name: str) -> list[str]:
        """Every text of that name."""
        return [text for of, text in self.texts if of == name and text]

    def first(self, name: str) -> str:
        """The first text of that name, or nothing."""
        return next(iter(self.all(name)), "")


def things(source: Readable, where: str) -> Iterator[Thing]:
    """What a PREMIS document says, thing by thing. Raises `UnsafeXml`, and `PackageFault` for what is no PREMIS."""
    parser = event_parser(where)
    ready: list[Thing] = []
    current: list[Thing] = []
    text: list[str] | None = None
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth, text
        depth += 1
        namespace, _, local = name.rpartition(" ")
        if depth == 1 and (namespace not in _NAMESPACES or local not in ("premis", *_THINGS)):
            raise PackageFault(where=where, why="no-premis", line=parser.CurrentLineNumber)
        if depth > LIMITS.max_depth:
            raise UnsafeXml(where=where, why="depth", line=parser.CurrentLineNumber)
        if depth <= 2 and local in _THINGS:
            current.append(Thing(local, attributes.get(_XSI_TYPE, "").rpartition(":")[2], parser.CurrentLineNumber))
        elif current and local in _TEXTS:
            text = []

    def end(name: str) -> None:
        nonlocal depth, text
        local = name.rpartition(" ")[2]
        depth -= 1
        if text is not None and current:
            if len(current[-1].texts) >= MOST_KEPT:
                raise UnsafeXml(where=where, why="limits", line=parser.CurrentLineNumber)
            current[-1].texts.append((local, "".join(text).strip()))
            text = None
        elif depth < 2 and current and local == current[-1].kind:
            ready.append(current.pop())

    def data(piece: str) -> None:
        if text is not None:
            text.append(piece)

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, data
    for _ in feed(parser, InPieces(source, parser), where):  # type: ignore[arg-type]  # it is only read from
        check_text(text or (), parser, where)
        yield from ready
        ready.clear()
    yield from ready


class Preservation:
    """Judges one PREMIS document. `keep` takes checksums that METS does not have, to be compared later."""

    def __init__(
        self, name: str, inventory: Inventory, told: Told, keep: Callable[[Entry], None], *, aip: bool
    ) -> None:
        self._name = name
        self._inventory = inventory
        self._places = Places(inventory)
        self._told = told
        self._keep = keep
        self._aip = aip
        self._agents: set[str] = set()
        self._called: dict[str, int] = {}
        self._formats = self._keys = self._objects = 0
        self._related = False

    def judge(self, found: Iterator[Thing]) -> None:
        """Everything in the document."""
        for thing in found:
            if thing.kind == "object":
                self._object(thing)
            elif thing.kind == "event":
                self._event(thing)
            elif thing.kind == "agent" and len(self._agents) < MOST_KEPT:
                self._agents.update(thing.all("agentIdentifierValue"))
        if self._aip:
            self._archival()

    def _object(self, thing: Thing) -> None:
        self._related |= bool(thing.all("relationshipSubType"))
        if "is included in" in thing.all("relationshipSubType") and not thing.all("relatedObjectIdentifierValue"):
            self._aip_hit("AIP13", thing.line)
        if thing.type not in ("file", "bitstream", "") or (not thing.type and not thing.all("messageDigest")):
            return
        if thing.type == "bitstream":
            return
        self._objects += 1
        self._formats += bool(thing.all("formatName") or thing.all("formatRegistryKey"))
        self._keys += bool(thing.all("formatRegistryKey"))
        place = self._place(thing)
        if place is None:
            self._told.hit("EARK-PREMIS-OBJECT", thing.line, name=_shown_name(thing))
            return
        said = thing.first("size")
        if said and said != str(place.size_bytes):
            self._told.hit("EARK-PREMIS-SIZE", thing.line, name=place.name, expected=said, found=place.size_bytes)
        algorithms, digests = thing.all("messageDigestAlgorithm"), thing.all("messageDigest")
        for algorithm, digest in zip(algorithms, digests, strict=False):
            self._digest(thing.line, place, algorithm, digest.lower())

    def _digest(self, line: int, place: Found, spelt: str, digest: str) -> None:
        algorithm = spec.PREMIS_CHECKSUMS.get(spelt.upper().replace("_", "-"), "")
        if not algorithm:
            self._told.hit("EARK-ALGORITHM", line, value=spelt)
            return
        said = self._inventory.said_of(place.name, algorithm)
        if len(digest) != _LENGTHS[algorithm] or (said is not None and said != digest):
            self._told.hit("EARK-PREMIS-CHECKSUM", line, name=place.name, expected=digest, found=said)
        elif said is None:
            self._keep(Entry(place.name, "object", self._name, line, algorithm, digest, -1))

    def _place(self, thing: Thing) -> Found | None:
        """The file of an object. What would lead out of the package is told, and followed nowhere."""
        values = thing.all("objectIdentifierValue")
        here = posixpath.dirname(self._name)
        base = here.removesuffix("preservation").rstrip("/").removesuffix("metadata")
        for href in (*thing.all("contentLocationValue"), *values, *thing.all("originalName")):
            for above in dict.fromkeys((base, "", f"{here}/" if here else "")):
                try:
                    found = self._places.find(href, above)
                except UnsafePath as fault:
                    self._told.hit("EARK-HREF", thing.line, name=href, why=fault.data.get("why"), fault=fault.code)
                    break
                if isinstance(found, Found):
                    return found
        for value in values:
            name = self._inventory.name_of_id(value)
            size = self._inventory.size_of(name) if name is not None else None
            if name is not None and size is not None:
                return Found(name, size)
        return None

    def _event(self, thing: Thing) -> None:
        agents = thing.all("linkingAgentIdentifierValue")
        if not thing.all("eventIdentifierValue"):
            self._aip_hit("AIP15", thing.line)
        if not agents:
            self._aip_hit("AIP16", thing.line, name=thing.first("eventType"))
        for agent in agents:
            if len(self._called) < MOST_KEPT:
                self._called.setdefault(agent, thing.line)
        if "migration" in thing.first("eventType").lower() and not thing.all("relatedEventIdentifierValue"):
            self._aip_hit("AIP17", thing.line, name=thing.first("eventType"))

    def _archival(self) -> None:
        for agent, line in self._called.items():
            if agent not in self._agents:
                self._told.hit("AIP18", line, name=agent)
        if self._objects and not self._formats:
            self._told.hit("AIP7")
        if self._objects and not self._keys:
            self._told.hit("AIP8")
        if not self._related:
            self._told.hit("AIP12")

    def _aip_hit(self, code: str, line: int, **data: object) -> None:
        if self._aip:
            self._told.hit(code, line, **data)


def _shown_name(thing: Thing) -> str:
    names = (*thing.all("contentLocationValue"), *thing.all("originalName"), *thing.all("objectIdentifierValue"))
    return next(iter(names), "")
