"""Holds PREMIS (2 and 3) against the files: sizes, checksums, and who did what.

A file is found by its location, by an identifier that is a path or an id of METS, or by its original name.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.parsers import expat

from noarkit.errors import PackageFault, UnsafePath, UnsafeXml
from noarkit.packages.eark import spec
from noarkit.safe.digest import Readable
from noarkit.safe.sax import check_text, event_parser, feed
from noarkit.safe.xml import LIMITS
from noarkit.validate.eark.inventory import Aside, Entry, Inventory
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
_ASIDE = 5_000
_LENGTHS = {"MD5": 32, "SHA-1": 40, "SHA-256": 64, "SHA-384": 96, "SHA-512": 128}


_ACTIONS: Mapping[str, str] = {f"{namespace} {name}": name for namespace in _NAMESPACES for name in (*_THINGS, *_TEXTS)}


@dataclass(slots=True)
class Thing:
    """An object, event, agent or right: its kind, its type, and its texts by name."""

    kind: str
    type: str
    line: int
    texts: dict[str, list[str]] = field(default_factory=dict)
    namespace: str = ""

    def all(self, name: str) -> Sequence[str]:
        """Every text of that name."""
        return self.texts.get(name, ())

    def first(self, name: str) -> str:
        """The first text of that name, or nothing."""
        found = self.texts.get(name)
        return found[0] if found else ""


def things(source: Readable, where: str) -> Iterator[Thing]:
    """What a PREMIS document says, thing by thing. Raises `UnsafeXml`, and `PackageFault` for what is no PREMIS."""
    parser = event_parser(where)
    reader = _Reader(parser, where)
    for _ in feed(parser, InPieces(source, parser), where):  # type: ignore[arg-type]  # it is only read from
        check_text(reader.text or (), parser, where)
        yield from reader.ready
        reader.ready.clear()
    yield from reader.ready


class _Reader:
    """The state of one reading. Of texts that stand a million times in one thing, only the first are kept."""

    def __init__(self, parser: expat.XMLParserType, where: str) -> None:
        self.ready: list[Thing] = []
        self.text: list[str] | None = None
        self._parser = parser
        self._where = where
        self._depth = 0
        self._thing: Thing | None = None
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._data

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth <= 2:
            self._begin(name, attributes)
        elif self._depth > LIMITS.max_depth:
            raise UnsafeXml(where=self._where, why="depth", line=self._parser.CurrentLineNumber)
        elif name in _ACTIONS:
            self.text = []

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        if self._depth == 1 and (name[: -len(local) - 1] not in _NAMESPACES or local not in ("premis", *_THINGS)):
            raise PackageFault(where=self._where, why="no-premis", line=self._parser.CurrentLineNumber)
        if local in _THINGS:
            kind = attributes.get(_XSI_TYPE, "").rpartition(":")[2]
            self._thing = Thing(local, kind, self._parser.CurrentLineNumber, namespace=name[: -len(local) - 1])
        elif self._thing is not None and name in _ACTIONS:
            self.text = []

    def _end(self, name: str) -> None:
        self._depth -= 1
        thing = self._thing
        if thing is None:
            return
        if self.text is not None:
            found = thing.texts.setdefault(_ACTIONS.get(name, ""), [])
            text = "".join(self.text).strip()
            if text and len(found) < MOST_KEPT:
                found.append(text)
            self.text = None
        elif self._depth < 2 and _ACTIONS.get(name) == thing.kind:
            self.ready.append(thing)
            self._thing = None

    def _data(self, piece: str) -> None:
        if self.text is not None:
            self.text.append(piece)


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
        here = posixpath.dirname(name)
        self.namespace = ""
        self._here = f"{here}/" if here else ""
        self._base = here.removesuffix("preservation").rstrip("/").removesuffix("metadata")
        self._aside: list[Aside] = []
        self._agents: set[str] = set()
        self._called: dict[str, int] = {}
        self._formats = self._keys = self._objects = 0
        self._related = False
        self._events: set[str] = set()

    def judge(self, found: Iterator[Thing]) -> None:
        """Everything in the document."""
        for thing in found:
            self.namespace = thing.namespace
            if thing.kind == "object":
                self._object(thing)
            elif thing.kind == "event":
                self._event(thing)
            elif thing.kind == "agent" and len(self._agents) < MOST_KEPT:
                self._agents.update(thing.all("agentIdentifierValue"))
        self._compare_aside()
        if self._aip:
            self._archival()

    def _object(self, thing: Thing) -> None:
        self._related |= bool(thing.all("relationshipSubType"))
        if len(self._events) < MOST_KEPT:
            self._events.update(thing.all("relatedEventIdentifierValue"))
        if "is included in" in thing.all("relationshipSubType") and not thing.all("relatedObjectIdentifierValue"):
            self._aip_hit("AIP13", thing.line)
        if thing.type not in ("file", "bitstream", "") or (not thing.type and not thing.all("messageDigest")):
            return
        if thing.type == "bitstream":
            return
        self._objects += 1
        self._formats += bool(thing.all("formatName") or thing.all("formatRegistryKey"))
        self._keys += bool(thing.all("formatRegistryKey"))
        if not self._wait(thing):
            self._compare(thing, self._place(thing))

    def _wait(self, thing: Thing) -> bool:
        """Puts an object with a plain location and one checksum aside, to be compared with many others at once."""
        where, digests = thing.all("contentLocationValue"), thing.all("messageDigest")
        algorithm = spec.PREMIS_CHECKSUMS.get(thing.first("messageDigestAlgorithm"), "")
        size = thing.first("size")
        if len(where) != 1 or len(digests) != 1 or not algorithm or not (size.isdigit() and len(size) < 19):
            return False
        try:
            plain = self._places.is_plain(where[0])
        except UnsafePath:
            return False
        if plain:
            self._aside.append((self._base + where[0], thing.line, algorithm, digests[0].lower(), int(size)))
            if len(self._aside) >= _ASIDE:
                self._compare_aside()
        return plain

    def _compare_aside(self) -> None:
        """Compares what was put aside; what is not the same is looked at once more, one by one."""
        for name, line, algorithm, digest, size in self._inventory.different(self._aside):
            thing = Thing("object", "file", line)
            thing.texts = {
                "contentLocationValue": [name.removeprefix(self._base)],
                "messageDigestAlgorithm": [algorithm],
                "messageDigest": [digest],
                "size": [str(size)],
            }
            self._compare(thing, self._place(thing))
        self._aside.clear()

    def _compare(self, thing: Thing, place: Found | None) -> None:
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
        for href in (*thing.all("contentLocationValue"), *values, *thing.all("originalName")):
            for above in dict.fromkeys((self._base, "", self._here)):
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
        named = thing.all("relatedEventIdentifierValue") or self._events.intersection(thing.all("eventIdentifierValue"))
        if "migration" in thing.first("eventType").lower() and not named:
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
