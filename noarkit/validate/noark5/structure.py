"""One pass through arkivstruktur.xml in constant memory: every element once, every unit judged when it is whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO
from xml.etree.ElementTree import Element

from noarkit.model.xml_model import Version
from noarkit.packages.noark5 import spec
from noarkit.safe.growing import Prologue, TooDeep, follow, read_prologue
from noarkit.safe.xml import LIMITS
from noarkit.validate.findings import Hit, Tally
from noarkit.validate.noark5.fields import (
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
from noarkit.validate.noark5.sight import FILE, Bounds, Frame, Sight
from noarkit.validate.noark5.store import Store
from noarkit.validate.noark5.units import CLOSERS
from noarkit.validate.noark5.values import keys

EARLIEST = "1500"
_AHEAD = frozenset({"kassasjonsdato", "skjermingOpphoererDato", "nedgraderingsdato"})
"""What is decided long before it comes to pass."""

_LATEST = "2500"
_STRANGE = frozenset('<>{}[]|\\"§=@*#')
_MOST_NAMES = 10_000
_MOST_NAMESPACES = 100
_TYPE = f"{{{spec.XSI_NAMESPACE}}}type"
_VSM = "virksomhetsspesifikkeMetadata"
_DEEPEST = LIMITS.max_depth


def walk_structure(file: BinaryIO, version: Version, bounds: Bounds, store: Store, tally: Tally) -> Iterator[Sight]:
    """Yields what is in sight after each block, so that others get their turn; whole when it ends."""
    prologue = read_prologue(file, FILE)
    if not plain(prologue):
        tally.take(doubted(prologue, FILE))
    sight = Sight(version, bounds, store, tally)
    reading = _Reading(sight)
    for read in follow(file, FILE, reading, (sight.frame, _WITHIN)):
        sight.bytes = read
        yield sight
    yield sight


def plain(prologue: Prologue) -> bool:
    """True for XML 1.0 in UTF-8."""
    return prologue.version in (None, "1.0") and (prologue.encoding or "UTF-8").upper() in ("UTF-8", "UTF8")


def doubted(prologue: Prologue, file: str) -> Hit:
    """What is told of a document that is not plain."""
    return Hit("N008", file, None, 1, None, {"value": f"{prologue.version} {prologue.encoding or ''}".strip()})


_UNIT, _WITHIN, _OWN, _OTHERS = range(4)
"""How the children of an element are read: as those of a group; the same, but the group is the one around it; as what
is in metadata of others, whose namespaces are noted; or only counted."""

_Place = tuple[Frame, int]


class _Reading:
    """What is done with the elements. `fill` meets some hundred million of them, and is written for that."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._names: set[str] = set()
        self._known = fields(sight.version)
        for name, (kind, key, allowed) in self._known.items():
            self._known[name] = (kind, key, self._names if kind == NAME else allowed)
        for group in (*CLOSERS, _VSM):
            self._known[NAMESPACE + group] = (GROUP, group, self._names)

    def enter(self, above: _Place, element: Element) -> _Place:
        """An element that has children."""
        self._sight.number += 1
        return self._enter(above, element, self._known.get(element.tag))

    def leave(self, at: _Place) -> None:
        """Its end."""
        if at[1] == _UNIT:
            self._close(at[0])

    def fill(self, at: _Place, children: Sequence[Element], depth: int) -> None:
        """Its children."""
        frame, how = at
        if how >= _OWN:
            self._pass_over(children, depth, noted=how == _OWN)
            return
        sight, known, values = self._sight, self._known.get, frame.values
        today, number = sight.bounds.today, sight.number
        for child in children:
            number += 1
            what, text = known(child.tag), child.text
            if len(child):
                sight.number = number
                self._descend(at, child, what, depth)
                number = sight.number
            elif not text or text.isspace():
                sight.number = number
                self._empty(frame, child, what)
            elif what is not None:
                kind, key, allowed = what
                if kind <= CODE:
                    values[key] = text
                    if kind != KEEP and not (EARLIEST < text <= today if kind == DATE else text in allowed):
                        sight.number = number
                        self._doubt(kind, key, text)
                elif kind != NAME or text not in allowed:
                    sight.number = number
                    self._act(frame, child, what, text)
        sight.number = number

    def _descend(self, above: _Place, child: Element, what: Field | None, depth: int) -> None:
        if depth >= _DEEPEST:
            raise TooDeep
        place = self._enter(above, child, what)
        self.fill(place, list(child), depth + 1)
        if place[1] == _UNIT:
            self._close(place[0])

    def _enter(self, above: _Place, element: Element, what: Field | None) -> _Place:
        frame, how = above
        if how >= _OWN:
            return frame, _OTHERS
        if what is None or what[0] != GROUP:
            return frame, _WITHIN
        if what[1] == _VSM:
            self._note_vsm(frame)
            return frame, _OWN
        return self._open(frame, what[1], element), _UNIT

    def _open(self, above: Frame, kind: str, element: Element) -> Frame:
        sight = self._sight
        type_ = element.get(_TYPE)
        frame = Frame(kind, type_.rpartition(":")[2] if type_ else "", sight.number, above)
        inner = above.inner
        if above.kind == "klasse":
            _mixture(above, kind, frame.at)
        inner[kind] = inner.get(kind, 0) + 1
        frame.level = above.level + 1 if above.kind == kind else 1
        if above.kind == "arkivdel":
            sight.series = above.values.get("tittel", "")
        elif kind == "arkivdel":
            sight.series_at = frame.at
        elif kind == "arkiv":
            sight.fonds_at = frame.at
        sight.frame = frame
        return frame

    def _close(self, frame: Frame) -> None:
        sight, closer = self._sight, CLOSERS[frame.kind]
        parent = frame.parent or frame
        if closer is not None:
            closer(sight, frame, parent)
        sight.frame = parent

    def _empty(self, frame: Frame, child: Element, what: Field | None) -> None:
        """An element without content."""
        if what is not None and what[0] == GROUP:
            self._bare(frame, child, what[1])
        elif child.tag.startswith(NAMESPACE):
            self._sight.hit("N009", element=child.tag.removeprefix(NAMESPACE))

    def _bare(self, frame: Frame, child: Element, kind: str) -> None:
        """A group without children. Before 5.0 the field of a gradering has the name of the gradering."""
        is_field = kind == frame.kind == "gradering"
        if kind == _VSM:
            self._note_vsm(frame)
        elif not is_field:
            self._close(self._open(frame, kind, child))
        if not (is_field or kind == _VSM) or not (child.text or "").strip():
            self._sight.hit("N009", element=kind)

    def _doubt(self, kind: int, name: str, text: str) -> None:
        """A date or a code that is not what one expects."""
        if kind != DATE:
            self._sight.hit("N331" if text in keys().get(name, ()) else "N330", element=name, value=text)
        elif name not in _AHEAD or not EARLIEST < text <= _LATEST:
            self._sight.hit("N341", element=name, value=text)

    def _act(self, frame: Frame, child: Element, what: Field, text: str) -> None:
        """A field of several values, a reference, a name that was not met before, or a group that holds mere text."""
        kind, name, allowed = what
        if kind == REFERENCE:
            self._sight.refer(_REFERENCE_NUMBER[name], text)
        elif kind == NAME:
            self._judge_name(name, text)
        elif kind == MANY:
            frame.values[name] = f"{frame.values.get(name, '')}|{text}"
            if allowed and text not in allowed:
                self._doubt(CODE, name, text)
        else:
            self._bare(frame, child, name)

    def _judge_name(self, name: str, text: str) -> None:
        if _STRANGE.intersection(text) or not any(sign.isalpha() for sign in text):
            self._sight.hit("N350", element=name, value=text)
        elif len(self._names) < _MOST_NAMES:
            self._names.add(text)

    def _note_vsm(self, frame: Frame) -> None:
        frame.inner[_VSM] = 1
        self._sight.counts.add("N944", frame.kind)

    def _pass_over(self, children: Sequence[Element], depth: int, *, noted: bool) -> None:
        """Elements of others: their namespaces are noted, and nothing else."""
        if depth > _DEEPEST:
            raise TooDeep
        sight = self._sight
        for child in children:
            sight.number += 1
            if noted and len(sight.vsm) < _MOST_NAMESPACES:
                sight.vsm.add(child.tag[1:].rpartition("}")[0])
            if len(child):
                self._pass_over(list(child), depth + 1, noted=False)


_REFERENCE_NUMBER = {name: number for number, name in enumerate(REFERENCES)}


def _mixture(above: Frame, kind: str, at: int) -> None:
    """A class holds one kind of thing; the first of another kind is remembered."""
    if above.mixed is not None or kind not in ("klasse", "mappe", "registrering"):
        return
    inner = above.inner
    if (kind == "klasse" and inner.get("mappe")) or (kind == "mappe" and inner.get("klasse")):
        above.mixed = ("N311", at)
    elif (kind == "klasse" and inner.get("registrering")) or (kind == "registrering" and inner.get("klasse")):
        above.mixed = ("N312", at)
