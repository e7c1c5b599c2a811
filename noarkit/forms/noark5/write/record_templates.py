"""Writes plain records by one template for the whole record, with its party, documents and versions.

`shapes` has a template for each object; this goes one step further, since nearly all records of a source look alike.
The kind of a record is the list of its objects and of the fields that are set in each. Its template is made once:

    Journalpost(tittel) with Dokument(tittel) with Dokumentversjon(versjonsnummer)
        kind       ("+Journalpost", "tittel", "+Dokument", "tittel", "+Dokumentversjon", "versjonsnummer")
        template   "<registrering xsi:type=…>…<tittel>%s</tittel>…<dokumentbeskrivelse>…<tittel>%s</tittel>…"
        values     of the objects 0, 1 and 2 one after the other, then put in the order of the places by `take`

A record is plain where nothing in it must be sorted or linked: one part at most, few documents, no links. Others, and
those of too many kinds, are left to `structure`, which writes them object by object, to the same text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter

from noarkit.forms.noark5.read.original import GROUP
from noarkit.forms.noark5.write.content import Content
from noarkit.forms.noark5.write.shapes import ComputedPart, Convert, Field, Fill, Op, getter
from noarkit.model.mapping import BUSINESS_METADATA

Fields = dict[str, object]
CompiledOps = tuple[str, tuple[Op, ...], tuple[Op, ...], str]
Take = Callable[[tuple[object, ...]], tuple[object, ...]]

_MARK = "+"
_DOCUMENT, _VERSION = "+Dokument", "+Dokumentversjon"
_MEMBERS = {_DOCUMENT: "+d", _VERSION: "+v"}
_MOST = 4
_MOST_KINDS = 2_000
_FEW_KINDS = 100


@dataclass(slots=True)
class _EntityNode:
    """An object within a kind of record: its number, its type, which fields are set, and which objects stand within it
    (in the words of `ComputedPart.needs`)."""

    number: int
    type: str
    names: tuple[str, ...]
    within: list[tuple[str, _EntityNode]] = field(default_factory=list)


@dataclass(slots=True)
class _RecordTemplate:
    """The template of a kind of record; `take` puts the values of its things where they stand."""

    text: str
    getters: tuple[Callable[[Fields], tuple[object, ...]], ...]
    take: Take
    converts: tuple[tuple[int, Convert], ...]
    fills: tuple[tuple[int, Fill, int], ...]
    units: tuple[tuple[str, int], ...]
    kinds: tuple[tuple[str, tuple[str, ...]], ...]
    count: int = 0


class RecordTemplates:
    """The kinds of plain records met so far. `plan` tells the operations of a type; `units` is counted up."""

    def __init__(self, plan: Callable[[str], CompiledOps], units: Counter[str]) -> None:
        self._plan = plan
        self._units = units
        self._templates: dict[tuple[str, ...], _RecordTemplate | None] = {}
        self._field_counts: Counter[tuple[str, str]] = Counter()
        self._built_count = 0
        self._rendered_count = 0

    def field_counts(self) -> Counter[tuple[str, str]]:
        """How many of the things that were written had each field set, by type and field."""
        for template in self._templates.values():
            if template is not None:
                for kind, names in template.kinds:
                    for name in names:
                        self._field_counts[kind, name] += template.count
                template.count = 0
        return self._field_counts

    def render(self, content: Content) -> str | None:
        """Renders a record by its template; None if it is not plain."""
        shape = _key_and_fields(content)
        if shape is None:
            return None
        key, field_sets = shape
        template = self._templates[key] if key in self._templates else self._new(key)
        if template is None:
            return None
        # The order matters for speed alone: values by C (`itemgetter`), then the few that are converted or computed,
        # then one `%`.
        raw_values: tuple[object, ...] = ()
        for take, fields in zip(template.getters, field_sets, strict=True):
            raw_values += take(fields)
        values = list(template.take(raw_values))
        for at, convert in template.converts:
            values[at] = convert(values[at])
        for at, fill, number in template.fills:
            values[at] = fill(content if not number else _content_at(content, number))
        units = self._units
        for name, count in template.units:
            units[name] += count
        template.count += 1
        self._rendered_count += 1
        return template.text % tuple(values)

    def _new(self, key: tuple[str, ...]) -> _RecordTemplate | None:
        """A kind that is new; None if there are so many that none is worth its template."""
        # A template pays after some ten uses. Where every record is of a new kind, building them would cost more than
        # they save.
        if self._built_count > _FEW_KINDS and self._built_count * 10 > self._rendered_count:
            return None
        if len(self._templates) >= _MOST_KINDS:
            # The counts of the templates are taken before these are thrown away.
            self.field_counts()
            self._templates.clear()
        self._built_count += 1
        template = self._templates[key] = _TemplateBuilder(self._plan).build(_tree(key))
        return template


def _key_and_fields(content: Content) -> tuple[tuple[str, ...], list[Fields]] | None:
    """The kind of a record, and the fields of the things in it, in the order of their numbers."""
    entity = content["o"]
    fields = entity["f"]
    # Links are written sorted by what they lead to, and originals are put back by place: both depend on values, and a
    # template knows only which fields are set.
    if content.get("k") or _has_originals(fields):
        return None
    # The order of the fields is part of the key, unsorted: sorting would cost more than the few doubles, since a source
    # gives them in one order.
    key = [_MARK + entity["t"], *fields]
    field_sets = [fields]
    parts = content.get("p")
    if parts:
        part = parts[0]
        if len(parts) > 1 or "k" in part or _has_originals(part["f"]):
            return None
        key.append(_MARK + part["t"])
        key += part["f"]
        field_sets.append(part["f"])
    documents = content.get("d", ())
    if len(documents) > _MOST:
        return None
    for document in documents:
        versions = document.get("v", ())
        if document.get("p") or len(versions) > _MOST:
            return None
        fields = document["o"]["f"]
        if _has_originals(fields):
            return None
        key.append(_DOCUMENT)
        key += fields
        field_sets.append(fields)
        for version in versions:
            fields = version["o"]["f"]
            key.append(_VERSION)
            key += fields
            field_sets.append(fields)
    return tuple(key), field_sets


def _has_originals(fields: Fields) -> bool:
    """True for a thing that keeps elements of its original, which are put back one by one."""
    metadata = fields.get(BUSINESS_METADATA)
    return isinstance(metadata, dict) and GROUP in metadata


def _content_at(content: Content, number: int) -> Content:
    """The thing of that number in a record."""
    parts = content.get("p")
    contents: list[Content] = [content]
    contents += [{"o": part} for part in parts or ()]
    for document in content.get("d", ()):
        contents += [document, *document.get("v", ())]
    return contents[number]


def _tree(key: tuple[str, ...]) -> _EntityNode:
    """A kind of record as its things; what begins a thing bears a mark that no name of a field has."""
    starts = [at for at, word in enumerate(key) if word.startswith(_MARK)]
    root = document = _EntityNode(0, "", ())
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(key)], strict=True)):
        mark, names = key[start], key[start + 1 : end]
        node = _EntityNode(number, mark.removeprefix(_MARK), names)
        if number == 0:
            root = node
        elif mark == _VERSION:
            document.within.append((_MEMBERS[mark], node))
        else:
            root.within.append((_MEMBERS.get(mark, node.type), node))
            document = node if mark == _DOCUMENT else document
    return root


class _TemplateBuilder:
    """Builds the template of a kind of record: its text, and the places for values."""

    def __init__(self, plan: Callable[[str], CompiledOps]) -> None:
        self._plan = plan
        self._text: list[str] = []
        self._places: list[tuple[int, str]] = []
        self._converts: list[tuple[int, Convert]] = []
        self._fills: list[tuple[int, Fill, int]] = []
        self._units: Counter[str] = Counter()
        self._kinds: list[tuple[str, tuple[str, ...]]] = []

    def build(self, root: _EntityNode) -> _RecordTemplate | None:
        """The template; None if there are too few values for one."""
        self._add_node(root)
        # Places come in the order of the text, values in the order of the objects; `order` leads from one to the other.
        nodes = sorted(_walk_nodes(root), key=lambda one: one.number)
        numbers: dict[tuple[int, str], int] = {}
        names: list[tuple[str, ...]] = []
        for node in nodes:
            field_names = tuple(dict.fromkeys(name for number, name in self._places if number == node.number and name))
            numbers |= {(node.number, name): len(numbers) + at for at, name in enumerate(field_names)}
            names.append(field_names)
        if len(self._places) < 2 or not numbers:
            return None
        # A computed place takes value 0, which is replaced; `itemgetter` wants one for every place.
        order = [numbers.get(place, 0) for place in self._places]
        return _RecordTemplate(
            "".join(self._text),
            tuple(getter(group) for group in names),
            itemgetter(*order),
            tuple(self._converts),
            tuple(self._fills),
            tuple(self._units.items()),
            tuple(self._kinds),
        )

    def _add_node(self, node: _EntityNode) -> None:
        start_tag, before, after, end_tag = self._plan(node.type)
        self._kinds.append((node.type, node.names))
        # Asked now, when the template is built, and never again for a record of this kind.
        there = frozenset((*node.names, *(mark for mark, _ in node.within)))
        self._text.append(start_tag.replace("%", "%%"))
        for op in (*before, *after):
            if isinstance(op, Field):
                self._add_field(node, op)
            elif not op.needs or there.intersection(op.needs):
                self._add_computed(node, op)
        self._text.append(end_tag.replace("%", "%%"))

    def _add_field(self, node: _EntityNode, op: Field) -> None:
        there = op.name in node.names
        if not there and op.fallback is None:
            return
        if there and op.convert is not None:
            self._converts.append((len(self._places), op.convert))
        elif not there and op.fallback is not None:
            self._fills.append((len(self._places), op.fallback, node.number))
        self._text += [op.start_tag.replace("%", "%%"), "%s", op.end_tag.replace("%", "%%")]
        self._places.append((node.number, op.name if there else ""))

    def _add_computed(self, node: _EntityNode, op: ComputedPart) -> None:
        nested = op.nested
        within = [
            child for mark, child in node.within if nested and (mark in nested.types or mark == f"+{nested.member}")
        ]
        for child in within:
            self._add_node(child)
        if nested is not None and within:
            self._units[nested.element] += len(within)
        if not within:
            self._fills.append((len(self._places), op.fill, node.number))
            self._places.append((node.number, ""))
            self._text.append("%s")


def _walk_nodes(node: _EntityNode) -> Iterator[_EntityNode]:
    yield node
    for _, child in node.within:
        yield from _walk_nodes(child)
