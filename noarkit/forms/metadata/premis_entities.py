"""Reads the entities of a PREMIS document one by one: objects with their relationships, events, agents and rights.

All who read PREMIS read it here, of whatever version: 3, 2, or that of DIAS. Only elements of its own namespaces count:
what a tool added under a name of its own says nothing. Of texts that stand a million times in one entity, only the
first are kept, so that memory stays bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.parsers import expat

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.metadata.file_facts import MOST_KEPT
from noarkit.safe.digest import Readable
from noarkit.safe.sax import SmallBlockReader, check_text, event_parser, feed
from noarkit.safe.xml import LIMITS

PREMIS_3, PREMIS_2 = "http://www.loc.gov/premis/v3", "info:lc/xmlns/premis-v2"
DIAS = "http://arkivverket.no/standarder/PREMIS"
NAMESPACES = (PREMIS_3, PREMIS_2)
EVERY_NAMESPACE = (*NAMESPACES, DIAS)
_XSI_TYPE = "http://www.w3.org/2001/XMLSchema-instance type"
_ENTITY_KINDS = ("object", "event", "agent", "rights")
_TEXTS = (
    *("objectIdentifierType", "objectIdentifierValue", "originalName", "contentLocationValue", "size"),
    *("messageDigestAlgorithm", "messageDigest", "formatName", "formatVersion"),
    *("formatRegistryName", "formatRegistryKey"),
    *("eventIdentifierType", "eventIdentifierValue", "eventType", "eventDateTime", "eventDetail"),
    *("eventOutcome", "eventOutcomeDetailNote"),
    *("linkingObjectIdentifierType", "linkingObjectIdentifierValue"),
    *("linkingAgentIdentifierType", "linkingAgentIdentifierValue"),
    *("agentIdentifierType", "agentIdentifierValue", "agentName", "agentType", "agentVersion"),
    *("relationshipType", "relationshipSubType", "relatedObjectIdentifierValue", "relatedEventIdentifierValue"),
)
_ALGORITHM, _DIGEST = "messageDigestAlgorithm", "messageDigest"
_OF_RELATIONSHIP = (
    *("relationshipType", "relationshipSubType", "relatedObjectIdentifierValue", "relatedEventIdentifierValue"),
)
_TEXT_NAMES: Mapping[str, str] = {f"{namespace} {name}": name for namespace in EVERY_NAMESPACE for name in _TEXTS}
_CONTAINERS: Mapping[str, str] = {
    f"{namespace} {name}": name for namespace in EVERY_NAMESPACE for name in (*_ENTITY_KINDS, "relationship", "fixity")
}


@dataclass(frozen=True, slots=True)
class Relationship:
    """What an object is to others, and the events that this comes from."""

    type: str
    subtype: str
    objects: tuple[str, ...]
    events: tuple[str, ...]


@dataclass(slots=True)
class PremisEntity:
    """An object, event, agent or right: its kind, its type, its texts by name, and its relationships.

    `digests` are pairs of an algorithm, as it is spelt, and a checksum, which stand in one fixity; `ordered` are all
    texts of what is no object, with their names, as they follow each other, the empty ones too.
    """

    kind: str
    type: str
    line: int
    texts: dict[str, list[str]] = field(default_factory=dict)
    namespace: str = ""
    relationships: list[Relationship] = field(default_factory=list)
    digests: list[tuple[str, str]] = field(default_factory=list)
    ordered: list[tuple[str, str]] = field(default_factory=list)

    def all(self, name: str) -> Sequence[str]:
        """Every text of that name."""
        return self.texts.get(name, ())

    def first(self, name: str) -> str:
        """The first text of that name, or nothing."""
        texts = self.texts.get(name)
        return texts[0] if texts else ""

    def pairs(self, first: str, second: str) -> list[tuple[str, str]]:
        """Texts of the second name with the text of the first that stands before each."""
        pairs, before = [], ""
        for name, text in self.ordered:
            if name == first:
                before = text
            elif name == second:
                pairs.append((before, text))
                before = ""
        return pairs


def read_entities(source: Readable, location: str, namespaces: tuple[str, ...] = NAMESPACES) -> Iterator[PremisEntity]:
    """Reads the entities of a PREMIS document one by one. Raises `UnsafeXml`, `PackageFault` for what is no PREMIS."""
    parser = event_parser(location)
    reader = _Reader(parser, location, namespaces)
    for _ in feed(parser, SmallBlockReader(source, parser), location):
        check_text(reader.text or (), parser, location)
        yield from reader.ready
        reader.ready.clear()
    yield from reader.ready


class _Reader:
    """The state of one reading."""

    def __init__(self, parser: expat.XMLParserType, location: str, namespaces: tuple[str, ...]) -> None:
        self._namespaces = namespaces
        self.ready: list[PremisEntity] = []
        self.text: list[str] | None = None
        self._parser = parser
        self._location = location
        self._depth = 0
        self._entity: PremisEntity | None = None
        self._related_from: tuple[int, ...] = ()
        self._fixity: dict[str, str] | None = None
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._data

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth <= 2:
            self._begin(name, attributes)
        elif self._depth > LIMITS.max_depth:
            raise UnsafeXml(where=self._location, why="depth", line=self._parser.CurrentLineNumber)
        elif name in _TEXT_NAMES:
            self.text = []
        elif name in _CONTAINERS and (entity := self._entity) is not None:
            local_name = _CONTAINERS[name]
            if local_name == "relationship":
                self._related_from = tuple(len(entity.all(text)) for text in _OF_RELATIONSHIP)
            elif local_name == "fixity":
                self._fixity = {}

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        namespace, _, local_name = name.rpartition(" ")
        if self._depth == 1 and (namespace not in self._namespaces or local_name not in ("premis", *_ENTITY_KINDS)):
            raise PackageFault(where=self._location, why="no-premis", line=self._parser.CurrentLineNumber)
        if local_name in _ENTITY_KINDS:
            kind = attributes.get(_XSI_TYPE, "").rpartition(":")[2]
            self._entity = PremisEntity(local_name, kind, self._parser.CurrentLineNumber, namespace=namespace)
        elif name in _TEXT_NAMES:
            self.text = []

    def _end(self, name: str) -> None:
        self._depth -= 1
        entity = self._entity
        if entity is None:
            self.text = None
        elif self.text is not None:
            self._keep_text(entity, _TEXT_NAMES.get(name, ""), "".join(self.text).strip())
            self.text = None
        elif (local_name := _CONTAINERS.get(name)) is None:
            return
        elif local_name == "relationship" and self._related_from:
            self._relate(entity)
        elif local_name == "fixity" and self._fixity is not None:
            self._keep_digest(entity, self._fixity)
            self._fixity = None
        elif self._depth < 2 and local_name == entity.kind:
            self.ready.append(entity)
            self._entity = None

    def _keep_text(self, entity: PremisEntity, name: str, text: str) -> None:
        texts = entity.texts.get(name)
        if texts is None:
            texts = entity.texts[name] = []
        if text and len(texts) < MOST_KEPT:
            texts.append(text)
        if entity.kind != "object":
            if len(entity.ordered) < 10 * MOST_KEPT:
                entity.ordered.append((name, text))
        elif self._fixity is not None and name in (_ALGORITHM, _DIGEST):
            self._fixity.setdefault(name, text)

    @staticmethod
    def _keep_digest(entity: PremisEntity, fixity: Mapping[str, str]) -> None:
        """A checksum belongs to the algorithm beside it; one that names none is of none."""
        if fixity.get(_DIGEST) and len(entity.digests) < MOST_KEPT:
            entity.digests.append((fixity.get(_ALGORITHM, ""), fixity[_DIGEST]))

    def _relate(self, entity: PremisEntity) -> None:
        """A relationship ends: what was read since it began is its own."""
        kinds, subtypes, objects, events = (
            tuple(entity.all(name)[begin:]) for name, begin in zip(_OF_RELATIONSHIP, self._related_from, strict=True)
        )
        self._related_from = ()
        if len(entity.relationships) < MOST_KEPT:
            entity.relationships.append(Relationship("".join(kinds[:1]), "".join(subtypes[:1]), objects, events))

    def _data(self, piece: str) -> None:
        if self.text is not None:
            self.text.append(piece)
