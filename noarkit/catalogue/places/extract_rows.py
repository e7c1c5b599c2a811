"""The archive units of an extract as rows of a catalogue, read in portions by processes side by side.

Each portion is parsed whole and becomes a batch of rows with the numbers that its units have in the structure. What
cannot be cut, or turns out otherwise than the cuts had it, is told by `StartOver`, and read as a stream of units.
"""

from __future__ import annotations

import gc
import re
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO
from xml.etree.ElementTree import Element

from noarkit.catalogue.places.record_shapes import RecordShape, RecordShapes
from noarkit.catalogue.places.unit_items import (
    LookUps,
    Plain,
    is_reference,
    no_custody,
    system_ids,
    text_of,
    unit_item,
)
from noarkit.catalogue.rows import Numbers, RowBatch
from noarkit.errors import PackageFault
from noarkit.forms.noark5.read.portions import PORTION_BYTES, CannotCut, OpenUnit, Portion, cut
from noarkit.forms.noark5.read.structure import unit_key
from noarkit.forms.noark5.spec import STRUCTURE, XSI_NAMESPACE
from noarkit.forms.noark5.write import unmapped
from noarkit.forms.noark5.write.placeholders import placeholder_uuid
from noarkit.graph.entity import Content
from noarkit.model.disclosure import of_fields
from noarkit.safe.children import WorkerLost
from noarkit.safe.processors import usable_processors
from noarkit.safe.worker_pool import ParentPipe, ProcessPool, WorkerOptions, can_use_workers
from noarkit.safe.xml_portions import parse_portion

LARGE_BYTES = 4 * 1024 * 1024
_MOST_WORKERS = 4
_AHEAD = 2
"""How many portions each worker has, so that it need not wait for the next."""
_PIPE_BYTES = 1024 * 1024
_KINDS = ("arkiv", "arkivdel", "klassifikasjonssystem", "klasse", "mappe", "registrering")
_HOLDERS = frozenset({"arkivdel", "klasse", "mappe"})
_PLACEHOLDERS = {"klasse": "Klasse", "mappe": "Mappe"}
_XSI_TYPE = f"{{{XSI_NAMESPACE}}}type"
_DEEPEST = 100
_DECLARES = b"xmlns"
_MARK = "noarkit-record"
_START_TAG = re.compile(rb"<(?=([\w.-]+:)?)([^\s<>/]+)[^<>]*>")
_VERSION_AT, _MADE_OF_NAMES = 14, "5"


@dataclass(slots=True)
class UnitRows:
    """Rows of some units, and the systemIDs among them that the change log speaks of, with the number of their item."""

    batch: RowBatch
    logged: list[tuple[int, str]]


def unit_rows(
    structure: Path, look_ups: LookUps, *, large_bytes: int | None = LARGE_BYTES, portion_bytes: int = PORTION_BYTES
) -> Iterator[UnitRows]:
    """The units of a structure as rows, in portions. Raises `CannotCut`, also in the middle, and what `safe` refuses.

    A structure of `large_bytes` or more is read by processes side by side, for which `look_ups` must be good in a
    child; None for none.
    """
    portions = cut(structure, portion_bytes)
    if large_bytes is not None and structure.stat().st_size >= large_bytes and can_use_workers():
        yield from _read_in_workers(structure, look_ups, portions)
        return
    with structure.open("rb") as file:
        reader = _PortionReader(file, look_ups)
        for portion in portions:
            yield reader.read(portion)


def _read_in_workers(structure: Path, look_ups: LookUps, portions: Iterator[Portion]) -> Iterator[UnitRows]:
    outlives_thread = threading.current_thread() is not threading.main_thread()
    options = WorkerOptions(outlives_thread=outlives_thread, pipe_bytes=_PIPE_BYTES)
    with ProcessPool(partial(_serve, structure, look_ups), options) as pool:
        idle = deque(pool.start() for _ in range(max(1, min(usable_processors(), _MOST_WORKERS))))
        idle *= _AHEAD
        busy: deque[Any] = deque()  # Any: workers, in the order of their portions
        try:
            for portion in islice(portions, len(idle)):
                worker = idle.popleft()
                worker.send(portion)
                busy.append(worker)
            while busy:
                worker = busy.popleft()
                rows = _from_plain(worker.receive())
                following = next(portions, None)
                if following is not None:
                    worker.send(following)
                    busy.append(worker)
                yield rows
        except WorkerLost as error:
            raise PackageFault(where=str(structure), why="lost-worker") from error


def _serve(structure: Path, look_ups: LookUps, parent: ParentPipe) -> None:
    """Runs in the child, until its parent closes the pipe."""
    gc.disable()  # nothing here makes circles
    with structure.open("rb") as file:
        reader = _PortionReader(file, look_ups)
        while True:
            portion = parent.receive()
            parent.send_plain(_as_plain(reader.read(portion)))


def _as_plain(rows: UnitRows) -> tuple[object, ...]:
    batch = rows.batch
    lists = (batch.items, batch.documents, batch.links, batch.words)
    return (*lists, batch.numbers.as_tuple(), rows.logged)


def _from_plain(values: Any) -> UnitRows:  # Any: what _as_plain made of it
    items, documents, links, words, numbers, logged = values
    return UnitRows(RowBatch(items, documents, links, [], words, Numbers(*numbers)), logged)


@dataclass(frozen=True, slots=True)
class _Around:
    """What a unit stands in: its number in the catalogue (0 at the top), key, class and screening, and the keys of
    series, classes and folders, which placeholders are known by."""

    number: int = 0
    key: str = ""
    klass: str = ""
    screened: bool = False
    holders: tuple[str, ...] = ()


class _PortionReader:
    """Reads portions of one structure; change logs are not asked here."""

    def __init__(self, file: BinaryIO, look_ups: LookUps) -> None:
        self._file = file
        self._log = None if look_ups.log is None or look_ups.log.is_empty else look_ups.log
        self._look_ups = replace(look_ups, log=None)
        self._names = _Names()
        self._kinds: dict[str, str] = {}
        self._marks: frozenset[str] = frozenset()
        self._links: list[tuple[str, str]] = []
        self._shapes = RecordShapes(self._look_ups) if look_ups.custody is no_custody else None
        self._records: deque[tuple[RecordShape, tuple[tuple[str, ...], list[Content]]]] = deque()
        self._number = 0
        self._heads: tuple[bytes, ...] = ()
        self._left_open: frozenset[int] = frozenset()
        self._rows = UnitRows(RowBatch(), [])

    def read(self, portion: Portion) -> UnitRows:
        """The rows of a portion. Raises `CannotCut` where it is not what the cut had it for."""
        pieces = [self._bytes(unit.start, unit.head_end) for unit in portion.open_units]
        self._heads = tuple(pieces)
        content = self._bytes(portion.start, portion.end)
        self._records.clear()
        pieces.append(self._take_records(content, pieces) if self._shapes is not None and self._kinds else content)
        pieces += [b"</" + name + b">" for name, _ in reversed(portion.left_open)]
        try:
            root = parse_portion(pieces, STRUCTURE)
        except PackageFault as fault:
            raise CannotCut from fault
        self._rows = UnitRows(RowBatch(), [])
        self._number = portion.before
        self._left_open = frozenset(number for _, number in portion.left_open)
        if len(root) != 1:
            raise CannotCut
        if not self._kinds:
            namespace = root[0].tag.rpartition("}")[0]
            self._kinds = {f"{namespace}}}{kind}" if namespace else kind: kind for kind in _KINDS}
            self._marks = frozenset({f"{namespace}}}{_MARK}" if namespace else _MARK, _MARK})
            self._names.update(dict.fromkeys((*self._kinds, *self._marks), ""))
        self._visit(root[0], _Around(), 1, portion.open_units)
        if self._records or self._number != portion.last:
            raise CannotCut
        return self._rows

    def _take_records(self, content: bytes, heads: list[bytes]) -> bytes:
        """A portion with a mark for each record whose shape is known; the others stand as they are, to be parsed."""
        declares = any(_DECLARES in head for head in heads[1:]) or _DECLARES in content
        root = _START_TAG.match(heads[0]) if heads else None
        if declares or root is None or self._shapes is None:
            return content
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise CannotCut from error
        prefix = (root[1] or b"").decode()
        begin, end = f"<{prefix}registrering", f"</{prefix}registrering>"
        mark = f"<{_MARK}/>"
        pieces: list[str] = []
        at, start = 0, text.find(begin)
        while start >= 0:
            match = self._shapes.match(text, start)
            if match is None:
                behind = text.find(end, start) + len(end)
                self._shapes.learn(text[start:behind], partial(self._parse_record, root))
            else:
                shape, record, behind = match
                self._records.append((shape, record))
                pieces += (text[at:start], mark)
                at = behind
            start = text.find(begin, behind)
        pieces.append(text[at:])
        return "".join(pieces).encode()

    def _parse_record(self, root: re.Match[bytes], record: str) -> tuple[str, Plain, list[tuple[str, str]]] | None:
        try:
            tree = parse_portion((root[0], record.encode(), b"</" + root[2] + b">"), STRUCTURE)
        except PackageFault:
            return None
        element = tree[0][0]
        self._links = []
        fields, inner = self._fields(element, is_left_open=False)
        if inner or self._kinds.get(element.tag) != "registrering":
            return None
        return element.get(_XSI_TYPE, "").rpartition(":")[2].strip() or "registrering", fields, self._links

    def _bytes(self, start: int, end: int) -> bytes:
        self._file.seek(start)
        content: bytes = self._file.read(end - start)
        return content

    def _visit(self, element: Element, around: _Around, place: int, open_units: tuple[OpenUnit, ...]) -> None:
        """A unit and those in it. `open_units` has begun before this portion: the first is this one."""
        kind = self._kinds.get(element.tag, "")
        first = 1
        if open_units:
            number, first = open_units[0].number, open_units[0].children + (len(open_units) == 1)
        else:
            self._number += 1
            number = self._number
        links: list[tuple[str, str]] = []
        self._links = links
        fields, inner = self._fields(element, is_left_open=number in self._left_open)
        own = text_of(fields, "systemID")
        if open_units and number not in self._left_open and _facts(fields) != self._facts_of_head(len(open_units)):
            raise CannotCut  # what was told of the units in it, in portions before, was told without this
        key = unit_key(own) if own else f"{around.key}/{place}:{kind}" if around.key else f"{STRUCTURE}:{kind}"
        klass = text_of(fields, "klasseID") if kind == "klasse" else around.klass
        screened = around.screened or of_fields(fields).is_screened
        holders = (*around.holders, key) if kind in _HOLDERS else around.holders
        below = _Around(number, key, klass, screened, holders)
        if _is_placeholder(kind, key, around.holders):
            below = replace(below, number=around.number, key=around.key)
        elif number not in self._left_open:
            self._add(element, (number, around.number, key, klass), (fields, links), screened=screened)
        for position, unit in enumerate(inner, first):
            if unit.tag in self._marks:
                self._add_record(below)
                continue
            self._visit(unit, below, position, open_units[1:] if unit is inner[0] else ())

    def _facts_of_head(self, inner_count: int) -> tuple[str, str, bool]:
        """What of an open unit stands before the first unit in it; so many are open from it on."""
        heads = self._heads[: len(self._heads) - inner_count + 1]
        ends = [b"</" + match[2] + b">" for match in map(_START_TAG.match, reversed(heads)) if match is not None]
        element = parse_portion([*heads, *ends], STRUCTURE)
        for _ in heads:
            element = element[-1]
        self._links = []  # those of the unit are known
        return _facts(self._fields(element, is_left_open=False)[0])

    def _fields(self, element: Element, *, is_left_open: bool) -> tuple[Plain, list[Element]]:
        """What stands in a unit, and the units in it. Its references are added to those of this portion's unit."""
        fields: Plain = {}
        inner: list[Element] = []
        names, links = self._names, self._links
        for child in element:
            name = names[child.tag]
            if not name:
                inner.append(child)
                continue
            if inner and is_left_open:
                raise CannotCut  # a field among units: it would be in no portion that the unit ends in
            if len(child):
                _put(fields, name, _plain(child, names, links, 1))
                continue
            text = child.text or ""
            if name in fields:
                _put(fields, name, text)
            else:
                fields[name] = text
            if name in names.references and (stripped := text.strip()):
                links.append((name, unit_key(stripped)))
        return fields, inner

    def _add_record(self, around: _Around) -> None:
        """The next record that was taken out of the portion."""
        if not self._records:
            raise CannotCut
        shape, record = self._records.popleft()
        self._number += 1
        number = self._number
        place = (number, around.number, around.klass)
        keys = shape.add(record, place, self._rows.batch, screened=around.screened)
        if self._log is not None:
            self._rows.logged += [(number, unit) for unit in keys if self._log.may_speak_of(unit)]

    def _add(
        self,
        element: Element,
        place: tuple[int, int, str, str],
        contents: tuple[Plain, list[tuple[str, str]]],
        *,
        screened: bool,
    ) -> None:
        number, parent, key, klass = place
        fields, links = contents
        type_name = element.get(_XSI_TYPE, "").rpartition(":")[2].strip()
        item = unit_item(type_name or self._kinds[element.tag], (key, None, klass), fields, self._look_ups, links)
        self._rows.batch.add(item, number, parent, screened=screened)
        if self._log is not None:
            units = map(unit_key, system_ids(fields))
            self._rows.logged += [(number, unit) for unit in units if self._log.may_speak_of(unit)]


def _facts(fields: Plain) -> tuple[str, str, bool]:
    """What of a unit decides something of those in it."""
    return text_of(fields, "systemID"), text_of(fields, "klasseID"), of_fields(fields).is_screened


def _put(fields: Plain, name: str, value: Any) -> None:  # Any: a text or what stands in an element
    if name not in fields:
        fields[name] = value
        return
    before = fields[name]
    if isinstance(before, list):
        before.append(value)
    else:
        fields[name] = [before, value]


def _plain(element: Element, names: _Names, links: list[tuple[str, str]], depth: int) -> Plain:
    """What stands in an element that holds elements."""
    if depth > _DEEPEST:
        raise CannotCut
    fields: Plain = {}
    for child in element:
        name = names[child.tag] or child.tag.rpartition("}")[2]
        value: Any = _plain(child, names, links, depth + 1) if len(child) else child.text or ""  # Any: either
        if name in fields:
            _put(fields, name, value)
        else:
            fields[name] = value
        if name in names.references and isinstance(value, str) and (stripped := value.strip()):
            links.append((name, unit_key(stripped)))
    return fields


class _Names(dict[str, str]):
    """The local name of each tag met so far, empty for a unit; `references` are those that name another unit."""

    def __init__(self) -> None:
        super().__init__({f"{{{unmapped.NAMESPACE}}}{unmapped.ROOT}": unmapped.MARK})
        self.references: set[str] = set()

    def __missing__(self, tag: str) -> str:
        name = self[tag] = tag.rpartition("}")[2]
        if is_reference(name):
            self.references.add(name)
        return name


def _is_placeholder(kind: str, key: str, holders: tuple[str, ...]) -> bool:
    """True for a class or folder that only the form needs; what it holds stands in what it stands in."""
    what = _PLACEHOLDERS.get(kind)
    if what is None or key[_VERSION_AT : _VERSION_AT + 1] != _MADE_OF_NAMES:
        return False
    return any(placeholder_uuid(holder, what) == key for holder in holders)
