"""Reads arkivstruktur.xml as a stream of archive units, each after the one that it stands in, in constant memory.

The fields of a case file stand after its records in the XML, so the units of a folder wait until it ends: in memory
while they are few, in a temporary file when they are many.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, takewhile
from pathlib import Path
from typing import IO, Literal, NamedTuple

import orjson
from lxml import etree

from noarkit.errors import PackageFault
from noarkit.forms.noark5.nodes import LocalNames, Node, Value, text
from noarkit.forms.noark5.read.plain_records import PlainRecords
from noarkit.forms.noark5.spec import STRUCTURE, XSI_NAMESPACE
from noarkit.forms.noark5.write import unmapped
from noarkit.forms.noark5.write.placeholders import placeholder_uuid
from noarkit.safe import xml

UnitKind = Literal["arkiv", "arkivdel", "klassifikasjonssystem", "klasse", "mappe", "registrering"]
_KINDS: tuple[UnitKind, ...] = ("arkiv", "arkivdel", "klassifikasjonssystem", "klasse", "mappe", "registrering")
_REPEATABLE_KINDS = ("klassifikasjonssystem", "klasse")
_PLACEHOLDER_TYPES: Mapping[str, str] = {"klasse": "Klasse", "mappe": "Mappe"}
_XSI_TYPE = f"{XSI_NAMESPACE}}}type"
_BUFFERED_UNITS = 500
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class Unit(NamedTuple):
    """One archive unit: what it is, the key of its own and of what it stands in, and its own elements.

    `type` is its xsi:type without prefix, or empty. `key` is its systemID where it has one that nothing of this file
    can mistake, else made from its place. `above` and `above_kind` are of the unit around it.
    """

    kind: UnitKind
    type: str
    key: str
    above: str
    above_kind: str
    above_type: str
    arkivdel: str
    klasse: str
    line: int
    node: Node


@dataclass(slots=True)
class _Frame:
    """A unit that has begun and not ended."""

    kind: UnitKind
    type: str
    node: Node
    line: int
    key: str = ""
    is_placeholder: bool = False
    place: int = 0
    is_emitted: bool = False
    children: int = 0
    waiting: _UnitBuffer | None = None


@dataclass(slots=True)
class _UnitBuffer:
    """Units in their order, few in memory and many on disk."""

    few: list[Unit] = field(default_factory=list)
    many: IO[bytes] | None = None

    def add(self, unit: Unit) -> None:
        self.few.append(unit)
        if len(self.few) >= _BUFFERED_UNITS:
            if self.many is None:
                self.many = tempfile.TemporaryFile("w+b", prefix="noarkit-units-")  # noqa: SIM115  # closed by units()
            self.many.writelines(orjson.dumps(tuple(waiting)) + b"\n" for waiting in self.few)
            self.few.clear()

    def units(self) -> Iterator[Unit]:
        """All of them, once."""
        if self.many is not None:
            with self.many as file:
                file.seek(0)
                for line in file:
                    yield Unit(*orjson.loads(line))
        yield from self.few


def units(structure: Path, first: Callable[[str], bool]) -> Iterator[Unit]:
    """The units of an arkivstruktur.xml. Raises PackageFault where it is none or not well-formed, UnsafeXml.

    `first` says whether a text comes for the first time; a unit whose systemID another unit has gets a key of its
    place. A classification system and its classes may be repeated: they keep their keys.
    """
    namespace = _namespace(structure)
    tags = {f"{namespace}}}{kind}" if namespace else kind: kind for kind in _KINDS}
    with structure.open("rb", buffering=0) as file:
        plain_records = PlainRecords(file, str(structure))
        reader = _Reader(tags, first, plain_records.take)
        try:
            for _ in xml.read(plain_records, reader):
                yield from reader.ready()
        finally:
            reader.close()


def unit_key(system_id: str) -> str:
    """The key of the unit that has this systemID; letters of a UUID are the same in either case."""
    return system_id.lower() if UUID.fullmatch(system_id) else system_id.replace("#", "##")


def _innermost(frames: list[_Frame], kind: UnitKind) -> str:
    for frame in reversed(frames):
        if frame.kind == kind:
            return frame.key
    return ""


def _namespace(structure: Path) -> str:
    """The namespace of the root, which must be an arkiv."""
    for _, root in xml.stream(structure, ("start",)):
        name = etree.QName(root)
        if name.localname != "arkiv":
            raise PackageFault(where=str(structure), why="not-a-structure", line=root.sourceline)
        return name.namespace or ""
    raise PackageFault(where=str(structure), why="malformed-xml")


class _Reader:
    """Handles the elements of a structure: builds the nodes of units, and tells units that are whole."""

    def __init__(
        self,
        tags: Mapping[str, UnitKind],
        first: Callable[[str], bool],
        take: Callable[[Mapping[str, str]], Node | None],
    ) -> None:
        self._tags = tags
        self._first = first
        self._take = take
        self._open: list[_Frame] = []
        self._ready: list[Unit] = []
        self._local = LocalNames()
        self._local[f"{unmapped.NAMESPACE}}}{unmapped.ROOT}"] = unmapped.MARK
        self._line: Callable[[], int] = int
        # what stands within the elements that are open; None where nothing does yet
        self._nodes: list[Node | None] = []
        self._text = ""

    def ready(self) -> Iterator[Unit]:
        """The units that are whole since the last time."""
        ready, self._ready = self._ready, []
        yield from ready

    def place(self, line: Callable[[], int], /) -> None:
        """How to ask for the line that is being read."""
        self._line = line

    @property
    def depth(self) -> int:
        """How many elements are open."""
        return len(self._nodes)

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        """An element begins: a unit, or what belongs to one."""
        self._text = ""
        node = self._take(attributes) if attributes else None
        if name in self._tags:
            xsi_type = attributes.get(_XSI_TYPE, "").rpartition(":")[2].strip()
            self._begin(_Frame(self._tags[name], xsi_type, node or {}, self._line()))
        else:
            self._nodes.append(node)

    def data(self, text: str, /) -> None:
        """Some text of the innermost element."""
        self._text += text

    def end(self, name: str, /) -> None:
        """An element ends: what it held goes to the one around it."""
        node = self._nodes.pop()
        if name in self._tags:
            self._end()
            return
        local = self._local[name]
        value: Value = node if node is not None else self._text or None
        self._text = ""
        around = self._nodes[-1]
        if around is None:
            self._nodes[-1] = {local: [value]}
        elif local in around:
            around[local].append(value)
        else:
            around[local] = [value]

    def close(self) -> None:
        """Lets go of what waits on disk."""
        for frame in self._open:
            if frame.waiting is not None and frame.waiting.many is not None:
                frame.waiting.many.close()

    def _begin(self, frame: _Frame) -> None:
        """A unit begins: the ones around it are whole by now, but for folders."""
        for place, around in enumerate(self._open):
            if not around.is_emitted and around.kind != "mappe":
                self._emit_unit(around)
            if not around.key:
                self._key_of(around, self._open[:place])
        if frame.kind == "mappe":
            frame.waiting = _UnitBuffer()
        if self._open:
            self._open[-1].children += 1
            frame.place = self._open[-1].children
        self._open.append(frame)
        self._nodes.append(frame.node)

    def _end(self) -> None:
        """The innermost unit is whole."""
        frame = self._open[-1]
        if not frame.is_emitted:
            self._emit_unit(frame)
        self._open.pop()

    def _emit_unit(self, frame: _Frame) -> None:
        frame.is_emitted = True
        around = list(takewhile(lambda one: one is not frame, self._open))
        frame.key = self._key(frame, around)
        sink = next(
            (outer.waiting for outer in reversed(around) if outer.waiting is not None and not outer.is_emitted), None
        )
        own = () if frame.is_placeholder else (self._unit(frame, around),)
        below = frame.waiting.units() if frame.waiting is not None else ()
        add = self._ready.append if sink is None else sink.add
        for unit in chain(own, below):
            add(unit)

    def _unit(self, frame: _Frame, around: list[_Frame]) -> Unit:
        around = [outer for outer in around if not outer.is_placeholder]
        above = around[-1] if around else None
        return Unit(
            kind=frame.kind,
            type=frame.type,
            key=frame.key,
            above=self._key_of(above, around[:-1]) if above else "",
            above_kind=above.kind if above else "",
            above_type=above.type if above else "",
            arkivdel=_innermost(around, "arkivdel"),
            klasse=_innermost(around, "klasse"),
            line=frame.line,
            node=frame.node,
        )

    def _key_of(self, frame: _Frame, around: list[_Frame]) -> str:
        """The key of a unit that has begun; a folder's systemID stands before its first unit."""
        if not frame.key:
            frame.key = self._key(frame, around)
        return frame.key

    def _key(self, frame: _Frame, around: list[_Frame]) -> str:
        if frame.key:
            return frame.key
        own = text(frame.node, "systemID")
        if own and self._is_unique(unit_key(own), frame.kind):
            frame.is_placeholder = self._is_placeholder(frame.kind, unit_key(own), around)
            return unit_key(own)
        above = around[-1] if around else None
        place = f"{self._key_of(above, around[:-1])}/{frame.place}" if above else STRUCTURE
        return f"{place}:{frame.kind}"

    def _is_placeholder(self, kind: UnitKind, key: str, around: list[_Frame]) -> bool:
        """True for a class or folder that only the form needs; what it holds stands in what it stands in."""
        what = _PLACEHOLDER_TYPES.get(kind)
        if what is None:
            return False
        holders = {outer.key for outer in around if outer.kind in ("arkivdel", "klasse", "mappe")}
        return any(placeholder_uuid(holder, what) == key for holder in holders)

    def _is_unique(self, key: str, kind: UnitKind) -> bool:
        is_repeated = not self._first(f"unit {key}")
        if kind not in _REPEATABLE_KINDS:
            return not is_repeated
        return not self._first(f"{kind} {key}") or not is_repeated
