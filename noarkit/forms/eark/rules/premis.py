"""Checks PREMIS documents (2 and 3) against the files: sizes, checksums, and links between events and agents.

A file is found by its location, by an identifier that is a path or an id of METS, or by its original name.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

from noarkit.errors import UnsafePath
from noarkit.forms.eark.rules.finding_sink import FindingSink
from noarkit.forms.eark.rules.inventory import Entry, Inventory, PremisClaim
from noarkit.forms.eark.rules.places import FoundFile, Places
from noarkit.forms.metadata.file_facts import MOST_KEPT, checksum_name
from noarkit.forms.metadata.premis_entities import PremisEntity

_ASIDE = 5_000
_LENGTHS = {"MD5": 32, "SHA-1": 40, "SHA-256": 64, "SHA-384": 96, "SHA-512": 128}


def file_finder(inventory: Inventory) -> Callable[[str, str], str | None]:
    """What finds the file that a PREMIS document names by a location; None for one that is not in the package."""
    places = Places(inventory)

    def find(document: str, location: str) -> str | None:
        folder, base = _folders_of(document)
        for above in dict.fromkeys((base, "", folder)):
            try:
                match = places.find(location, above)
            except UnsafePath:
                return None
            if isinstance(match, FoundFile):
                return match.name
        return None

    return find


def _folders_of(document: str) -> tuple[str, str]:
    """The folder of a PREMIS document, and the one that its locations begin in."""
    folder = posixpath.dirname(document)
    base = folder.removesuffix("preservation").rstrip("/").removesuffix("metadata")
    return (f"{folder}/" if folder else "", base)


class Preservation:
    """Judges one PREMIS document. `keep` takes checksums that METS does not have, to be compared later, `observe` is
    shown every entity."""

    def __init__(
        self,
        name: str,
        inventory: Inventory,
        sink: FindingSink,
        keep: Callable[[Entry], None],
        observe: Callable[[str, PremisEntity], None] = lambda *_: None,
        *,
        aip: bool,
    ) -> None:
        self._observe = observe
        self._name = name
        self._inventory = inventory
        self._places = Places(inventory)
        self._sink = sink
        self._keep = keep
        self._aip = aip
        self.namespace = ""
        self._folder, self._base = _folders_of(name)
        self._claims: list[PremisClaim] = []
        self._agents: set[str] = set()
        self._linked_agents: dict[str, int] = {}
        self._formats = self._keys = self._objects = 0
        self._related = False
        self._events: set[str] = set()

    def judge(self, entities: Iterator[PremisEntity]) -> None:
        """Everything in the document."""
        for entity in entities:
            self.namespace = entity.namespace
            self._observe(self._name, entity)
            if entity.kind == "object":
                self._object(entity)
            elif entity.kind == "event":
                self._event(entity)
            elif entity.kind == "agent" and len(self._agents) < MOST_KEPT:
                self._agents.update(entity.all("agentIdentifierValue"))
        self._compare_claims()
        if self._aip:
            self._archival()

    def _object(self, entity: PremisEntity) -> None:
        self._related |= bool(entity.all("relationshipSubType"))
        if len(self._events) < MOST_KEPT:
            self._events.update(entity.all("relatedEventIdentifierValue"))
        if "is included in" in entity.all("relationshipSubType") and not entity.all("relatedObjectIdentifierValue"):
            self._aip_hit("AIP13", entity.line)
        if entity.type not in ("file", "bitstream", "") or (not entity.type and not entity.all("messageDigest")):
            return
        if entity.type == "bitstream":
            return
        self._objects += 1
        self._formats += bool(entity.all("formatName") or entity.all("formatRegistryKey"))
        self._keys += bool(entity.all("formatRegistryKey"))
        if not self._wait(entity):
            self._compare(entity, self._place(entity))

    def _wait(self, entity: PremisEntity) -> bool:
        """Puts an object with a plain location and one checksum aside, to be compared with many others at once."""
        locations, size = entity.all("contentLocationValue"), entity.first("size")
        algorithm = checksum_name(entity.digests[0][0]) if len(entity.digests) == 1 else ""
        if len(locations) != 1 or algorithm not in _LENGTHS or not (size.isdigit() and len(size) < 19):
            return False
        try:
            plain = self._places.is_plain(locations[0])
        except UnsafePath:
            return False
        if plain:
            self._claims.append(
                (self._base + locations[0], entity.line, algorithm, entity.digests[0][1].lower(), int(size))
            )
            if len(self._claims) >= _ASIDE:
                self._compare_claims()
        return plain

    def _compare_claims(self) -> None:
        """Compares what was put aside; what is not the same is looked at once more, one by one."""
        for name, line, algorithm, digest, size in self._inventory.differing_claims(self._claims):
            entity = PremisEntity("object", "file", line)
            entity.texts = {
                "contentLocationValue": [name.removeprefix(self._base)],
                "size": [str(size)],
            }
            entity.digests = [(algorithm, digest)]
            self._compare(entity, self._place(entity))
        self._claims.clear()

    def _compare(self, entity: PremisEntity, place: FoundFile | None) -> None:
        if place is None:
            self._sink.hit("EARK-PREMIS-OBJECT", entity.line, name=_display_name(entity))
            return
        size_text = entity.first("size")
        if size_text and size_text != str(place.size_bytes):
            self._sink.hit("EARK-PREMIS-SIZE", entity.line, name=place.name, expected=size_text, found=place.size_bytes)
        for algorithm, digest in entity.digests:
            self._digest(entity.line, place, algorithm, digest.lower())

    def _digest(self, line: int, place: FoundFile, spelt: str, digest: str) -> None:
        algorithm = checksum_name(spelt)
        if algorithm not in _LENGTHS:
            self._sink.hit("EARK-ALGORITHM", line, value=spelt)
            return
        listed_digest = self._inventory.checksum_of(place.name, algorithm)
        if len(digest) != _LENGTHS[algorithm] or (listed_digest is not None and listed_digest != digest):
            self._sink.hit("EARK-PREMIS-CHECKSUM", line, name=place.name, expected=digest, found=listed_digest)
        elif listed_digest is None:
            self._keep(Entry(place.name, "object", self._name, line, algorithm, digest, -1))

    def _place(self, entity: PremisEntity) -> FoundFile | None:
        """The file of an object. What would lead out of the package is told, and followed nowhere."""
        values = entity.all("objectIdentifierValue")
        for href in (*entity.all("contentLocationValue"), *values, *entity.all("originalName")):
            for above in dict.fromkeys((self._base, "", self._folder)):
                try:
                    match = self._places.find(href, above)
                except UnsafePath as fault:
                    self._sink.hit("EARK-HREF", entity.line, name=href, why=fault.data.get("why"), fault=fault.code)
                    break
                if isinstance(match, FoundFile):
                    return match
        for value in values:
            name = self._inventory.name_of_id(value)
            size = self._inventory.size_of(name) if name is not None else None
            if name is not None and size is not None:
                return FoundFile(name, size)
        return None

    def _event(self, entity: PremisEntity) -> None:
        agents = entity.all("linkingAgentIdentifierValue")
        if not entity.all("eventIdentifierValue"):
            self._aip_hit("AIP15", entity.line)
        if not agents:
            self._aip_hit("AIP16", entity.line, name=entity.first("eventType"))
        for agent in agents:
            if len(self._linked_agents) < MOST_KEPT:
                self._linked_agents.setdefault(agent, entity.line)
        related = entity.all("relatedEventIdentifierValue") or self._events.intersection(
            entity.all("eventIdentifierValue")
        )
        if "migration" in entity.first("eventType").lower() and not related:
            self._aip_hit("AIP17", entity.line, name=entity.first("eventType"))

    def _archival(self) -> None:
        for agent, line in self._linked_agents.items():
            if agent not in self._agents:
                self._sink.hit("AIP18", line, name=agent)
        if self._objects and not self._formats:
            self._sink.hit("AIP7")
        if self._objects and not self._keys:
            self._sink.hit("AIP8")
        if not self._related:
            self._sink.hit("AIP12")

    def _aip_hit(self, code: str, line: int, **data: object) -> None:
        if self._aip:
            self._sink.hit(code, line, **data)


def _display_name(entity: PremisEntity) -> str:
    names = (*entity.all("contentLocationValue"), *entity.all("originalName"), *entity.all("objectIdentifierValue"))
    return next(iter(names), "")
