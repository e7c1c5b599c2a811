"""Walks arkivstruktur.xml in one pass and constant memory, and checks every unit when it is complete."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO
from xml.etree.ElementTree import Element

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.findings import Hit
from noarkit.forms.noark5 import spec
from noarkit.forms.noark5.rules.alike import STAND_IN, AlikeReader, parse_again
from noarkit.forms.noark5.rules.alike_records import RECORD, Opening, RecordPlan, RecordPlanner
from noarkit.forms.noark5.rules.fields import (
    CODE,
    DATE,
    GROUP,
    KEEP,
    MANY,
    NAME,
    NAMESPACE,
    REFERENCE,
    REFERENCES,
    Field,
    fields,
)
from noarkit.forms.noark5.rules.units import CLOSERS
from noarkit.forms.noark5.rules.values import keys
from noarkit.forms.noark5.rules.walk_state import FILE, Frame, WalkState
from noarkit.safe.growing import Prologue, TooDeep, follow, read_prologue
from noarkit.safe.xml import LIMITS

EARLIEST = "1500"
_AHEAD = frozenset({"kassasjonsdato", "skjermingOpphoererDato", "nedgraderingsdato"})
"""What is decided long before it comes to pass."""

_LATEST = "2500"
_STRANGE = frozenset('<>{}[]|\\"§=@*#')
_MOST_NAMES = 10_000
_MOST_NAMESPACES = 100
_TYPE = f"{{{spec.XSI_NAMESPACE}}}type"
_VSM = "virksomhetsspesifikkeMetadata"
_STAND_IN = NAMESPACE + STAND_IN
_DEEPEST = LIMITS.max_depth


def walk_structure(file: BinaryIO, state: WalkState) -> Iterator[WalkState]:
    """Yields what is in sight after each block, so that others get their turn; whole when it ends."""
    prologue = read_prologue(file, FILE)
    if not is_plain_xml(prologue):
        state.tally.add_hit(encoding_finding(prologue, FILE))
    handler = _ElementHandler(state)
    reader = handler.reader(file)
    try:
        for _ in follow(reader, FILE, handler, (state.frame, _WITHIN)):
            state.bytes = reader.bytes
            yield state
    except (PackageFault, UnsafeXml):
        parse_again(file, FILE)  # the parser did not see all, so that its line is another
        raise
    yield state


def is_plain_xml(prologue: Prologue) -> bool:
    """True for XML 1.0 in UTF-8."""
    return prologue.version in (None, "1.0") and (prologue.encoding or "UTF-8").upper() in ("UTF-8", "UTF8")


def encoding_finding(prologue: Prologue, file: str) -> Hit:
    """What is told of a document that is not plain."""
    return Hit("N008", file, None, 1, None, {"value": f"{prologue.version} {prologue.encoding or ''}".strip()})


_UNIT, _WITHIN, _OWN, _OTHERS = range(4)
"""How the children of an element are read: as those of a group; the same, but the group is the one around it; as what
is in metadata of others, whose namespaces are noted; or only counted."""

_Place = tuple[Frame, int]


class _ElementHandler:
    """Handles the elements. `fill` may see a hundred million of them: it keeps attributes in locals and calls nothing
    for an ordinary leaf."""

    def __init__(self, state: WalkState) -> None:
        self._state = state
        self._names: set[str] = set()
        self._fields = fields(state.version)
        for name, (kind, key, choices) in self._fields.items():
            self._fields[name] = (kind, key, self._names if kind == NAME else choices)
        for group in (*CLOSERS, _VSM):
            self._fields[NAMESPACE + group] = (GROUP, group, self._names)
        self._planner = RecordPlanner(dict(self._fields), EARLIEST, state.bounds.today)
        self._fields[_STAND_IN] = (GROUP, STAND_IN, self._names)

    def reader(self, file: BinaryIO) -> AlikeReader[RecordPlan]:
        """What takes the records that are all alike out of the file."""
        reader = AlikeReader(file, RECORD, spec.namespace(spec.STRUCTURE), self._planner)
        self._taken = reader.taken
        return reader

    def enter(self, above: _Place, element: Element) -> _Place:
        """An element that has children."""
        self._state.number += 1
        return self._enter(above, element, self._fields.get(element.tag))

    def leave(self, at: _Place) -> None:
        """Its end."""
        if at[1] == _UNIT:
            self._close(at[0])

    def fill(self, at: _Place, children: Sequence[Element], depth: int) -> None:
        """Its children."""
        frame, mode = at
        if mode >= _OWN:
            self._pass_over(children, depth, note_names=mode == _OWN)
            return
        state, find_field, values = self._state, self._fields.get, frame.values
        today, number = state.bounds.today, state.number
        for child in children:
            number += 1
            field, text = find_field(child.tag), child.text
            if len(child):
                state.number = number
                self._descend(at, child, field, depth)
                number = state.number
            elif not text or text.isspace():
                state.number = number
                self._empty(frame, child, field, depth)
                number = state.number
            elif field is not None:
                kind, key, choices = field
                if kind <= CODE:
                    values[key] = text
                    if kind != KEEP and not (EARLIEST < text <= today if kind == DATE else text in choices):
                        state.number = number
                        self._check_doubtful(kind, key, text)
                elif kind != NAME or text not in choices:
                    state.number = number
                    self._act(frame, child, field, text)
        state.number = number

    def _descend(self, above: _Place, child: Element, field: Field | None, depth: int) -> None:
        if depth >= _DEEPEST:
            raise TooDeep
        place = self._enter(above, child, field)
        self.fill(place, list(child), depth + 1)
        if place[1] == _UNIT:
            self._close(place[0])

    def _enter(self, above: _Place, element: Element, field: Field | None) -> _Place:
        frame, mode = above
        if mode >= _OWN:
            return frame, _OTHERS
        if field is None or field[0] != GROUP:
            return frame, _WITHIN
        if field[1] == _VSM:
            self._note_vsm(frame)
            return frame, _OWN
        return self._open(frame, field[1], _type_of(element)), _UNIT

    def _open(self, above: Frame, kind: str, type_: str) -> Frame:
        state = self._state
        frame = Frame(kind, type_, state.number, above)
        inner = above.inner
        if above.kind == "klasse":
            _check_single_kind(above, kind, frame.at)
        inner[kind] = inner.get(kind, 0) + 1
        frame.level = above.level + 1 if above.kind == kind else 1
        if above.kind == "arkivdel":
            state.series = above.values.get("tittel", "")
        elif kind == "arkivdel":
            state.series_at = frame.at
        elif kind == "arkiv":
            state.fonds_at = frame.at
        elif kind == "klassifikasjonssystem":
            state.system_at = frame.at
        state.frame = frame
        return frame

    def _close(self, frame: Frame) -> None:
        state, closer = self._state, CLOSERS[frame.kind]
        parent = frame.parent or frame
        if closer is not None:
            closer(state, frame, parent)
        state.frame = parent

    def _take_alike(self, above: Frame, depth: int) -> None:
        """A record that was taken out of the file."""
        plan, texts = self._taken.popleft()
        state, before, frame = self._state, self._state.number - 1, above
        if depth + plan.depth - 1 > _DEEPEST:
            raise TooDeep
        for step in plan.steps:
            if step is None:
                self._close(frame)
                frame = frame.parent or frame
            elif isinstance(step, Opening):
                state.number = before + step.number + 1
                frame = self._open(frame, step.kind, step.type)
                frame.values = dict(zip(step.names, step.pick(texts), strict=True))
            else:
                state.number = before + step.number + 1
                state.refer(step.reference, texts[step.text])
        state.number = before + plan.count

    def _empty(self, frame: Frame, child: Element, field: Field | None, depth: int) -> None:
        """An element without content."""
        if field is not None and field[1] == STAND_IN:
            self._take_alike(frame, depth)
        elif field is not None and field[0] == GROUP:
            self._empty_group(frame, child, field[1])
        elif child.tag.startswith(NAMESPACE):
            self._state.hit("N009", element=child.tag.removeprefix(NAMESPACE))

    def _empty_group(self, frame: Frame, child: Element, kind: str) -> None:
        """A group without children. Before 5.0 the field of a gradering has the name of the gradering."""
        is_field = kind == frame.kind == "gradering"
        if kind == _VSM:
            self._note_vsm(frame)
        elif not is_field:
            self._close(self._open(frame, kind, _type_of(child)))
        if not (is_field or kind == _VSM) or not (child.text or "").strip():
            self._state.hit("N009", element=kind)

    def _check_doubtful(self, kind: int, name: str, text: str) -> None:
        """A date or a code that is not what one expects."""
        if kind != DATE:
            self._state.hit("N331" if text in keys().get(name, ()) else "N330", element=name, value=text)
        elif name not in _AHEAD or not EARLIEST < text <= _LATEST:
            self._state.hit("N341", element=name, value=text)

    def _act(self, frame: Frame, child: Element, field: Field, text: str) -> None:
        """A field of several values, a reference, a name that was not met before, or a group that holds mere text."""
        kind, name, choices = field
        if kind == REFERENCE:
            self._state.refer(_REFERENCE_NUMBER[name], text)
        elif kind == NAME:
            self._judge_name(name, text)
        elif kind == MANY:
            frame.values[name] = f"{frame.values.get(name, '')}|{text}"
            if choices and text not in choices:
                self._check_doubtful(CODE, name, text)
        else:
            self._empty_group(frame, child, name)

    def _judge_name(self, name: str, text: str) -> None:
        if _STRANGE.intersection(text) or not any(character.isalpha() for character in text):
            self._state.hit("N350", element=name, value=text)
        elif len(self._names) < _MOST_NAMES:
            self._names.add(text)

    def _note_vsm(self, frame: Frame) -> None:
        frame.inner[_VSM] = 1
        self._state.counts.add("N944", frame.kind)

    def _pass_over(self, children: Sequence[Element], depth: int, *, note_names: bool) -> None:
        """Elements of others: their namespaces are noted, and nothing else."""
        if depth > _DEEPEST:
            raise TooDeep
        state = self._state
        for child in children:
            state.number += 1
            if child.tag == _STAND_IN:
                state.number += self._taken.popleft()[0].count - 1
            if note_names and len(state.vsm) < _MOST_NAMESPACES:
                state.vsm.add(child.tag[1:].rpartition("}")[0])
            if len(child):
                self._pass_over(list(child), depth + 1, note_names=False)


def _type_of(element: Element) -> str:
    return (element.get(_TYPE) or "").rpartition(":")[2]


_REFERENCE_NUMBER = {name: number for number, name in enumerate(REFERENCES)}


def _check_single_kind(above: Frame, kind: str, at: int) -> None:
    """A class holds one kind of thing; the first of another kind is remembered."""
    if above.mixed is not None or kind not in ("klasse", "mappe", "registrering"):
        return
    inner = above.inner
    if (kind == "klasse" and inner.get("mappe")) or (kind == "mappe" and inner.get("klasse")):
        above.mixed = ("N311", at)
    elif (kind == "klasse" and inner.get("registrering")) or (kind == "registrering" and inner.get("klasse")):
        above.mixed = ("N312", at)
