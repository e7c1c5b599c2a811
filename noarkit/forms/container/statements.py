"""Reads what a document that describes a package states: EAD, EAC-CPF, Dublin Core, PREMIS, ERMS, ADDML, METS.

Every text is told with the path of its element, and every event of PREMIS as one. What describes single files in bulk
is left to the reader of its form: components of an EAD, objects of PREMIS, units of an ERMS document, lists of METS.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, cast
from xml.parsers.expat import XMLParserType

from noarkit.errors import UnsafeXml
from noarkit.safe.digest import Readable
from noarkit.safe.sax import check_text, event_parser, feed

_MAX_DEPTH = 200
# what is read one by one elsewhere, or tells of single files; by the root of the document
_LEFT_OUT: Mapping[str, frozenset[str]] = {
    "ead": frozenset({"dsc"}),
    "premis": frozenset({"object"}),
    "erms": frozenset({"aggregations", "records", "aggregation", "record"}),
    "mets": frozenset({"dmdSec", "amdSec", "fileSec", "structMap", "structLink", "behaviorSec"}),
}
_XSI = "http://www.w3.org/2001/XMLSchema-instance "
_EVENT_TEXTS = {
    "eventType": "type",
    "eventDateTime": "date",
    "eventDetail": "detail",
    "eventOutcome": "outcome",
    "eventOutcomeDetailNote": "note",
    "linkingAgentIdentifierValue": "agent",
    "linkingObjectIdentifierValue": "object",
}


@dataclass(frozen=True, slots=True)
class Statement:
    """A text of a document: the names of the elements that lead to it below the root, and its text."""

    path: tuple[str, ...]
    text: str

    @property
    def name(self) -> str:
        """The path as one text."""
        return "/".join(self.path)


@dataclass(frozen=True, slots=True)
class PremisEvent:
    """Something that was done to a package or its files; empty if it is not told."""

    type: str
    date: str = ""
    detail: str = ""
    outcome: str = ""
    agents: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Root:
    """What a document is, by its root element; told before everything else."""

    name: str
    namespace: str


def read_statements(source: Readable, where: str) -> Iterator[Root | Statement | PremisEvent]:
    """Everything that is stated, in order. Raises `PackageFault` for what is no XML, and `UnsafeXml`."""
    parser = event_parser(where)
    reader = _StatementReader(parser, where)
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.data
    for _ in feed(parser, cast(BinaryIO, source), where):  # only read() is asked
        yield from reader.drain()
    yield from reader.drain()


@dataclass(slots=True)
class _Element:
    """An element that is open: `inline` is part of the text around it."""

    name: str
    attributes: dict[str, str]
    inline: bool
    pieces: list[str] = field(default_factory=list)
    bare: bool = True


class _StatementReader:
    """The state between two events."""

    def __init__(self, parser: XMLParserType, where: str) -> None:
        self._parser = parser
        self._where = where
        self._ready: list[Root | Statement | PremisEvent] = []
        self._open: list[_Element] = []
        self._root = ""
        self._passed_over = 0
        self._event: dict[str, list[str]] | None = None

    def drain(self) -> list[Root | Statement | PremisEvent]:
        """What was found since the last call. Raises `UnsafeXml` for a text without end."""
        ready, self._ready = self._ready, []
        if self._open:
            check_text(self._open[-1].pieces, self._parser, self._where)
        return ready

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        space, _, local = name.rpartition(" ")
        if self._passed_over or (self._open and local in _LEFT_OUT.get(self._root, ())):
            self._passed_over += 1
            return
        if len(self._open) >= _MAX_DEPTH:
            raise UnsafeXml(where=self._where, why="depth", line=self._parser.CurrentLineNumber)
        if not self._open:
            self._root = local
            self._ready.append(Root(local, space))
        elif self._root == "premis" and local == "event":
            self._event = {}
        above = self._open[-1] if self._open else None
        inline = above is not None and (above.inline or bool("".join(above.pieces).strip()))
        if above is not None:
            above.bare = False
        self._open.append(_Element(local, attributes, inline))

    def data(self, text: str) -> None:
        """Some of its text."""
        if self._open and not self._passed_over:
            self._open[-1].pieces.append(text)

    def end(self, name: str) -> None:
        """It ends."""
        if self._passed_over:
            self._passed_over -= 1
            return
        element = self._open.pop()
        text = " ".join("".join(element.pieces).split())
        if element.inline and self._open:
            self._open[-1].pieces.append("".join(element.pieces))
        elif self._event is not None:
            self._add_event_text(element.name, text)
        elif text or (element.bare and self._open):
            self._add_statement(element, text)

    def _add_event_text(self, local: str, text: str) -> None:
        event = self._event
        if event is not None and text and local in _EVENT_TEXTS:
            event.setdefault(_EVENT_TEXTS[local], []).append(text)
        elif event is not None and local == "event":
            self._event = None
            self._ready.append(_event(event))

    def _add_statement(self, element: _Element, text: str) -> None:
        path = (*(ancestor.name for ancestor in self._open[1:]), element.name)
        if text:
            self._ready.append(Statement(path, text))
            return
        for name, value in element.attributes.items():
            if value.strip() and not name.startswith(_XSI):
                self._ready.append(Statement((*path, f"@{name.rpartition(' ')[2]}"), " ".join(value.split())))


def _event(texts: Mapping[str, list[str]]) -> PremisEvent:
    def first(name: str) -> str:
        return next(iter(texts.get(name, ())), "")

    outcome = "; ".join(text for text in (*texts.get("outcome", ()), *texts.get("note", ())) if text)
    return PremisEvent(
        first("type"),
        first("date"),
        "; ".join(texts.get("detail", ())),
        outcome,
        tuple(texts.get("agent", ())),
        tuple(texts.get("object", ())),
    )
