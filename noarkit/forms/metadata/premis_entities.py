"""Reads the entities of a PREMIS document one by one: objects with their relationships, events, agents and rights.

Of texts that stand a million times in one entity, only the first are kept, so that memory stays bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.parsers import expat

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.eark.rules.mets import MOST_KEPT, SmallBlockReader
from noarkit.safe.digest import Readable
from noarkit.safe.sax import check_text, event_parser, feed
from noarkit.safe.xml import LIMITS

PREMIS_3, PREMIS_2 = "http://www.loc.gov/premis/v3", "info:lc/xmlns/premis-v2"
DIAS = "http://arkivverket.no/standarder/PREMIS"
NAMESPACES = (PREMIS_3, PREMIS_2)
_XSI_TYPE = "http://www.w3.org/2001/XMLSchema-instance type"
_ENTITY_KINDS = ("object", "event", "agent", "rights")
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
        "eventDetail",
        "eventOutcome",
        "linkingObjectIdentifierValue",
        "linkingAgentIdentifierValue",
        "agentIdentifierValue",
        "relationshipType",
        "relationshipSubType",
        "relatedObjectIdentifierValue",
        "relatedEventIdentifierValue",
    }
)
_RELATIONSHIP = " relationship"  # in either namespace
_OF_RELATIONSHIP = (
    "relationshipType",
    "relationshipSubType",
    "relatedObjectIdentifierValue",
    "relatedEventIdentifierValue",
)
_ACTIONS: Mapping[str, str] = {
    f"{namespace} {name}": name for namespace in (*NAMESPACES, DIAS) for name in (*_ENTITY_KINDS, *_TEXTS)
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
    """An object, event, agent or right: its kind, its type, its texts by name, and its relationships."""

    kind: str
    type: str
    line: int
    texts: dict[str, list[str]] = field(default_factory=dict)
    namespace: str = ""
    relationships: list[Relationship] = field(default_factory=list)

    def all(self, name: str) -> Sequence[str]:
        """Every text of that name."""
        return self.texts.get(name, ())

    def first(self, name: str) -> str:
        """The first text of that name, or nothing."""
        texts = self.texts.get(name)
        return texts[0] if texts else ""


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
    """The state of one reading. Of texts that stand a million times in one thing, only the first are kept."""

    def __init__(self, parser: expat.XMLParserType, location: str, namespaces: tuple[str, ...]) -> None:
        self._namespaces = namespaces
        self.ready: list[PremisEntity] = []
        self.text: list[str] | None = None
        self._parser = parser
        self._location = location
        self._depth = 0
        self._entity: PremisEntity | None = None
        self._before: tuple[int, ...] = ()
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._data

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth <= 2:
            self._begin(name, attributes)
        elif self._depth > LIMITS.max_depth:
            raise UnsafeXml(where=self._location, why="depth", line=self._parser.CurrentLineNumber)
        elif name in _ACTIONS:
            self.text = []
        elif self._entity is not None and name.endswith(_RELATIONSHIP):
            self._before = tuple(len(self._entity.all(text)) for text in _OF_RELATIONSHIP)

    def _relate(self, entity: PremisEntity) -> None:
        """A relationship ends: what was read since it began is its own."""
        kinds, subtypes, objects, events = (
            tuple(entity.all(name)[begin:]) for name, begin in zip(_OF_RELATIONSHIP, self._before, strict=True)
        )
        self._before = ()
        if len(entity.relationships) < MOST_KEPT:
            entity.relationships.append(Relationship("".join(kinds[:1]), "".join(subtypes[:1]), objects, events))

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        local_name = name.rpartition(" ")[2]
        if self._depth == 1 and (
            name[: -len(local_name) - 1] not in self._namespaces or local_name not in ("premis", *_ENTITY_KINDS)
        ):
            raise PackageFault(where=self._location, why="no-premis", line=self._parser.CurrentLineNumber)
        if local_name in _ENTITY_KINDS:
            kind = attributes.get(_XSI_TYPE, "").rpartition(":")[2]
            self._entity = PremisEntity(
                local_name, kind, self._parser.CurrentLineNumber, namespace=name[: -len(local_name) - 1]
            )
        elif self._entity is not None and name in _ACTIONS:
            self.text = []

    def _end(self, name: str) -> None:
        self._depth -= 1
        entity = self._entity
        if entity is None:
            return
        if self._before and name.endswith(_RELATIONSHIP):
            self._relate(entity)
        if self.text is not None:
            texts = entity.texts.setdefault(_ACTIONS.get(name, ""), [])
            text = "".join(self.text).strip()
            if text and len(texts) < MOST_KEPT:
                texts.append(text)
            self.text = None
        elif self._depth < 2 and _ACTIONS.get(name) == entity.kind:
            self.ready.append(entity)
            self._entity = None

    def _data(self, piece: str) -> None:
        if self.text is not None:
            self.text.append(piece)
