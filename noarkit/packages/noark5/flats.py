"""Plain records in one go: one template for a record with its party, documents and versions, made once for each kind.

A record is plain where nothing in it must be sorted or linked: one part at most, few documents, no links. Others, and
those of too many kinds, are left to whoever writes things one by one, to the same text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter

from noarkit.model.mapping import BUSINESS_METADATA
from noarkit.packages.noark5.content import Content
from noarkit.packages.noark5.original import GROUP
from noarkit.packages.noark5.shapes import Convert, Field, Fill, Made, Op, getter

Fields = dict[str, object]
Planned = tuple[str, tuple[Op, ...], tuple[Op, ...], str]
Take = Callable[[tuple[object, ...]], tuple[object, ...]]

_MARK = "+"
_DOCUMENT, _VERSION = "+Dokument", "+Dokumentversjon"
_MEMBERS = {_DOCUMENT: "+d", _VERSION: "+v"}
_MOST = 4
_MOST_KINDS = 2_000
_FEW_KINDS = 100


@dataclass(slots=True)
class _Thing:
    """One thing of a kind of record: its number among them, its type, which fields are set, and what stands within
    (in the words of `Made.needs`)."""

    number: int
    type: str
    names: tuple[str, ...]
    within: list[tuple[str, _Thing]] = field(default_factory=list)


@dataclass(slots=True)
class _Flat:
    """The template of a kind of record; `take` puts the values of its things where they stand."""

    template: str
    getters: tuple[Callable[[Fields], tuple[object, ...]], ...]
    take: Take
    converts: tuple[tuple[int, Convert], ...]
    fills: tuple[tuple[int, Fill, int], ...]
    units: tuple[tuple[str, int], ...]
    kinds: tuple[tuple[str, tuple[str, ...]], ...]
    count: int = 0


class Flats:
    """The kinds of plain records met so far. `plan` tells the operations of a type; `units` is counted up."""

    def __init__(self, plan: Callable[[str], Planned], units: Counter[str]) -> None:
        self._plan = plan
        self._units = units
        self._known: dict[tuple[str, ...], _Flat | None] = {}
        self._met: Counter[tuple[str, str]] = Counter()
        self._made = 0
        self._written = 0

    def met(self) -> Counter[tuple[str, str]]:
        """How many of the things that were written had each field set, by type and field."""
        for flat in self._known.values():
            if flat is not None:
                for kind, names in flat.kinds:
                    for name in names:
                        self._met[kind, name] += flat.count
                flat.count = 0
        return self._met

    def whole(self, content: Content) -> str | None:
        """A record; None where it is not plain."""
        found = _gathered(content)
        if found is None:
            return None
        key, things = found
        flat = self._known[key] if key in self._known else self._new(key)
        if flat is None:
            return None
        taken: tuple[object, ...] = ()
        for take, fields in zip(flat.getters, things, strict=True):
            taken += take(fields)
        values = list(flat.take(taken))
        for at, convert in flat.converts:
            values[at] = convert(values[at])
        for at, fill, number in flat.fills:
            values[at] = fill(content if not number else _content(content, number))
        units = self._units
        for name, count in flat.units:
            units[name] += count
        flat.count += 1
        self._written += 1
        return flat.template % tuple(values)

    def _new(self, key: tuple[str, ...]) -> _Flat | None:
        """A kind that is new; None where there are so many that none is worth its template."""
        if self._made > _FEW_KINDS and self._made * 10 > self._written:
            return None
        if len(self._known) >= _MOST_KINDS:
            self.met()
            self._known.clear()
        self._made += 1
        flat = self._known[key] = _Laid(self._plan).flat(_tree(key))
        return flat


def _gathered(content: Content) -> tuple[tuple[str, ...], list[Fields]] | None:
    """The kind of a record, and the fields of the things in it, in the order of their numbers."""
    thing = content["o"]
    fields = thing["f"]
    if content.get("k") or _keeps(fields):
        return None
    key = [_MARK + thing["t"], *fields]
    things = [fields]
    parts = content.get("p")
    if parts:
        part = parts[0]
        if len(parts) > 1 or "k" in part or _keeps(part["f"]):
            return None
        key.append(_MARK + part["t"])
        key += part["f"]
        things.append(part["f"])
    documents = content.get("d", ())
    if len(documents) > _MOST:
        return None
    for document in documents:
        versions = document.get("v", ())
        if document.get("p") or len(versions) > _MOST:
            return None
        fields = document["o"]["f"]
        if _keeps(fields):
            return None
        key.append(_DOCUMENT)
        key += fields
        things.append(fields)
        for version in versions:
            fields = version["o"]["f"]
            key.append(_VERSION)
            key += fields
            things.append(fields)
    return tuple(key), things


def _keeps(fields: Fields) -> bool:
    """True for a thing that keeps elements of its original, which are put back one by one."""
    held = fields.get(BUSINESS_METADATA)
    return isinstance(held, dict) and GROUP in held


def _content(content: Content, number: int) -> Content:
    """The thing of that number in a record."""
    parts = content.get("p")
    contents: list[Content] = [content]
    contents += [{"o": part} for part in parts or ()]
    for document in content.get("d", ()):
        contents += [document, *document.get("v", ())]
    return contents[number]


def _tree(key: tuple[str, ...]) -> _Thing:
    """A kind of record as its things; what begins a thing bears a mark that no name of a field has."""
    starts = [at for at, word in enumerate(key) if word.startswith(_MARK)]
    root = document = _Thing(0, "", ())
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(key)], strict=True)):
        mark, names = key[start], key[start + 1 : end]
        thing = _Thing(number, mark.removeprefix(_MARK), names)
        if number == 0:
            root = thing
        elif mark == _VERSION:
            document.within.append((_MEMBERS[mark], thing))
        else:
            root.within.append((_MEMBERS.get(mark, thing.type), thing))
            document = thing if mark == _DOCUMENT else document
    return root


class _Laid:
    """Lays a kind of record out: text, and places for values."""

    def __init__(self, plan: Callable[[str], Planned]) -> None:
        self._plan = plan
        self._text: list[str] = []
        self._places: list[tuple[int, str]] = []
        self._converts: list[tuple[int, Convert]] = []
        self._fills: list[tuple[int, Fill, int]] = []
        self._units: Counter[str] = Counter()
        self._kinds: list[tuple[str, tuple[str, ...]]] = []

    def flat(self, root: _Thing) -> _Flat | None:
        """The template; None where there are too few values for one."""
        self._lay(root)
        things = sorted(_all(root), key=lambda one: one.number)
        numbers: dict[tuple[int, str], int] = {}
        names: list[tuple[str, ...]] = []
        for thing in things:
            wanted = tuple(dict.fromkeys(name for number, name in self._places if number == thing.number and name))
            numbers |= {(thing.number, name): len(numbers) + at for at, name in enumerate(wanted)}
            names.append(wanted)
        if len(self._places) < 2 or not numbers:
            return None
        order = [numbers.get(place, 0) for place in self._places]
        return _Flat(
            "".join(self._text),
            tuple(getter(some) for some in names),
            itemgetter(*order),
            tuple(self._converts),
            tuple(self._fills),
            tuple(self._units.items()),
            tuple(self._kinds),
        )

    def _lay(self, thing: _Thing) -> None:
        opening, before, after, closing = self._plan(thing.type)
        self._kinds.append((thing.type, thing.names))
        there = frozenset((*thing.names, *(mark for mark, _ in thing.within)))
        self._text.append(opening.replace("%", "%%"))
        for op in (*before, *after):
            if isinstance(op, Field):
                self._field(thing, op)
            elif not op.needs or there.intersection(op.needs):
                self._made(thing, op)
        self._text.append(closing.replace("%", "%%"))

    def _field(self, thing: _Thing, op: Field) -> None:
        there = op.name in thing.names
        if not there and op.fallback is None:
            return
        if there and op.convert is not None:
            self._converts.append((len(self._places), op.convert))
        elif not there and op.fallback is not None:
            self._fills.append((len(self._places), op.fallback, thing.number))
        self._text += [op.opening.replace("%", "%%"), "%s", op.closing.replace("%", "%%")]
        self._places.append((thing.number, op.name if there else ""))

    def _made(self, thing: _Thing, op: Made) -> None:
        nested = op.nested
        within = [one for mark, one in thing.within if nested and (mark in nested.types or mark == f"+{nested.member}")]
        for one in within:
            self._lay(one)
        if nested is not None and within:
            self._units[nested.element] += len(within)
        if not within:
            self._fills.append((len(self._places), op.fill, thing.number))
            self._places.append((thing.number, ""))
            self._text.append("%s")


def _all(thing: _Thing) -> Iterator[_Thing]:
    yield thing
    for _, one in thing.within:
        yield from _all(one)
