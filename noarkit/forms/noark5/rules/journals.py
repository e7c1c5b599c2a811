"""Reads a journal or the change log in one pass: rows for the store, and findings that need this file only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol
from xml.etree.ElementTree import Element

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.noark5 import spec
from noarkit.forms.noark5.rules.alike import STAND_IN, AlikeReader, Pick, Tag, Texts, parse_again, picker
from noarkit.forms.noark5.rules.keys import answer_key, party_key, sorted_keys, text_key, whole_number
from noarkit.forms.noark5.rules.messages import Head, Message, Notes, Rows, RuleCounts
from noarkit.forms.noark5.rules.store import Row, pack_id
from noarkit.forms.noark5.rules.structure import encoding_finding, is_plain_xml
from noarkit.model.xml_model import xml_model
from noarkit.safe.growing import TooDeep, follow, read_prologue
from noarkit.safe.xml import LIMITS

JOURNALS = (spec.RUNNING_JOURNAL, spec.PUBLIC_JOURNAL)
"""The two journals; their place here is their number."""

_BATCH = 5_000
_MOST_CREATORS = 100
_WITHHELD = "*"
_DEEPEST = LIMITS.max_depth
_ENTRY_GROUPS = ("journalhode", "arkivskaper", "klasse", "saksmappe", "journalpost", "korrespondansepart")
"""The groups whose leaves are needed; leaves of other groups belong to the group around them."""


def read_journal(path: Path, journal: int) -> Iterator[Message]:
    """The entries of a journal in their order, its head, and what is wrong in it."""
    entries = _Entries(journal, Notes(path.name))
    yield from _read(path, entries, _Form(JOURNALS[journal], "journalregistrering", _ENTRY_GROUPS))
    yield Head(
        journal, entries.head, entries.head_at, entries.count, entries.newer_at, entries.rises, tuple(entries.creators)
    )
    yield from entries.notes.messages()


def read_change_log(path: Path) -> Iterator[Message]:
    """The changes of a change log, and what is wrong in it."""
    changes = _Changes(Notes(path.name))
    yield from _read(path, changes, _Form(spec.CHANGE_LOG, "endring", ("endring",)))
    yield RuleCounts({("N938",): changes.count})
    yield from changes.notes.messages()


@dataclass(frozen=True, slots=True)
class _Form:
    """A document, the element that stands in it again and again, and the groups whose leaves are needed."""

    document: str
    unit: str
    groups: Sequence[str]


@dataclass(slots=True)
class _Group:
    """An open group: its number among the elements, and the leaves in it by their names."""

    name: str
    at: int
    values: dict[str, str]


class _RowMaker(Protocol):
    """Who makes rows of the groups of one document."""

    table: str
    leaf_names: tuple[str, ...]
    rows: list[Row]
    notes: Notes

    def take(self, group: _Group) -> None:
        """A group that is whole."""
        ...


def _read(path: Path, taker: _RowMaker, form: _Form) -> Iterator[Message]:
    with path.open("rb") as file:
        prologue = read_prologue(file, path.name)
        if not is_plain_xml(prologue):
            taker.notes.take(encoding_finding(prologue, path.name))
        handler = _ElementHandler(taker, form)
        try:
            for _ in follow(handler.reader(file), path.name, handler, (_Group("", 0, {}), False)):
                if len(taker.rows) >= _BATCH:
                    yield Rows(taker.table, tuple(taker.rows))
                    taker.rows.clear()
        except (PackageFault, UnsafeXml):
            parse_again(file, path.name)  # the parser did not see all, so that its line is another
            raise
    yield Rows(taker.table, tuple(taker.rows))


_Place = tuple[_Group, bool]
"""The group that leaves belong to, and whether the open element is that group itself."""


@dataclass(frozen=True, slots=True)
class _UnitPlan:
    """What is taken of a unit that others are like: the leaves of each group, by the number of its element, in the
    order of their ends; and those of no group in it. `count` is the number of its elements, `depth` that of levels."""

    groups: tuple[tuple[str, int, tuple[str, ...], Pick], ...]
    outer_names: tuple[str, ...]
    pick_outer: Pick
    count: int
    depth: int


class _UnitPlanner:
    def __init__(self, groups: Set[str], leaves: Set[str]) -> None:
        self._groups = groups
        self._leaves = leaves

    def plan(self, tags: Sequence[Tag]) -> tuple[_UnitPlan, frozenset[int]]:
        """The leaves of each group; those of any other belong to the group around it."""
        open_groups: list[tuple[Tag, list[tuple[str, int]]]] = []
        outer: list[tuple[str, int]] = []
        groups: list[tuple[str, int, tuple[str, ...], Pick]] = []
        text_numbers: list[int] = []
        depth = deepest = 0
        for tag in tags:
            leaves = open_groups[-1][1] if open_groups else outer
            deepest = max(deepest, depth + tag.begins)
            if tag.is_leaf:
                if tag.name in self._leaves:
                    leaves.append((tag.name, len(text_numbers)))
                    text_numbers.append(tag.number)
                continue
            depth += 1 if tag.begins else -1
            if tag.begins and tag.name in self._groups:
                open_groups.append((tag, []))
            elif tag.name in self._groups:
                begin, leaves = open_groups.pop()
                groups.append((tag.name, begin.number, *_names_and_pick(leaves)))
        count = sum(tag.begins for tag in tags)
        return _UnitPlan(tuple(groups), *_names_and_pick(outer), count, deepest), frozenset(text_numbers)

    def accepts(self, plan: _UnitPlan, texts: Texts) -> bool:
        """Every text will do; they are held against those of arkivstruktur later."""
        return True


def _names_and_pick(leaves: Sequence[tuple[str, int]]) -> tuple[tuple[str, ...], Pick]:
    return tuple(name for name, _ in leaves), picker([place for _, place in leaves])


class _ElementHandler:
    """What is done with the elements of a document whose groups hold leaves; what nobody knows is passed through."""

    def __init__(self, taker: _RowMaker, form: _Form) -> None:
        self._taker = taker
        self._form = form
        self._space = spec.namespace(form.document)
        prefix = f"{{{self._space}}}"
        self._groups = {prefix + name: name for name in form.groups}
        self._leaves = {prefix + name: name for name in taker.leaf_names}
        self._stand_in = prefix + STAND_IN
        self._number = 0

    def reader(self, file: BinaryIO) -> AlikeReader[_UnitPlan]:
        """What takes the units that are all alike out of the file."""
        planner = _UnitPlanner(set(self._form.groups), set(self._taker.leaf_names))
        reader = AlikeReader(file, self._form.unit, self._space, planner)
        self._taken = reader.taken
        return reader

    def enter(self, above: _Place, element: Element) -> _Place:
        """An element that has children."""
        self._number += 1
        name = self._groups.get(element.tag)
        return (above[0], False) if name is None else (_Group(name, self._number, {}), True)

    def leave(self, at: _Place) -> None:
        """Its end."""
        if at[1]:
            self._taker.take(at[0])

    def fill(self, at: _Place, children: Sequence[Element], depth: int) -> None:
        """Its children."""
        self._fill(at[0].values, children, depth)

    def _fill(self, values: dict[str, str], children: Iterable[Element], depth: int) -> None:
        leaf_name, number = self._leaves.get, self._number
        for child in children:
            number += 1
            if len(child):
                self._number = number
                self._descend(values, child, depth)
                number = self._number
                continue
            text, name = child.text, leaf_name(child.tag)
            if not text or text.isspace():
                if child.tag == self._stand_in:
                    number = self._take_alike(values, number, depth)
                    continue
                self._taker.notes.hit("N010", number, element=child.tag.rpartition("}")[2])
            if name is not None:
                values[name] = text or ""
        self._number = number

    def _take_alike(self, values: dict[str, str], number: int, depth: int) -> int:
        """A unit that was taken out of the file; returns the number of its last element."""
        plan, texts = self._taken.popleft()
        if depth + plan.depth - 1 > _DEEPEST:
            raise TooDeep
        for name, at, names, pick in plan.groups:
            self._taker.take(_Group(name, number + at, dict(zip(names, pick(texts), strict=True))))
        values.update(zip(plan.outer_names, plan.pick_outer(texts), strict=True))
        return number + plan.count - 1

    def _descend(self, values: dict[str, str], child: Element, depth: int) -> None:
        if depth >= _DEEPEST:
            raise TooDeep
        name = self._groups.get(child.tag)
        if name is None:
            self._fill(values, child, depth + 1)
            return
        group = _Group(name, self._number, {})
        self._fill(group.values, child, depth + 1)
        self._taker.take(group)


class _Entries:
    """The entries of one journal."""

    table = "entries"
    leaf_names: tuple[str, ...] = (
        *("systemID", "journalaar", "journalsekvensnummer", "journalpostnummer", "tittel", "offentligTittel"),
        *("journaldato", "dokumentetsDato", "skjermingMetadata", "saksaar", "sakssekvensnummer"),
        *("journalStartDato", "journalSluttDato", "antallJournalposter", "seleksjon"),
        *("avskrivningsdato", "avskrivningsmaate", "korrespondanseparttype", "korrespondansepartNavn"),
        *("arkivskaperNavn", "klasseID", "mappeID", "registreringsID"),
    )

    def __init__(self, journal: int, notes: Notes) -> None:
        self.rows: list[Row] = []
        self.notes = notes
        self.head: dict[str, str] = {}
        self.head_at = 0
        self.count = 0
        self.newer_at: int | None = None
        self.rises = True
        self._journal = journal
        self._title = "offentligTittel" if journal else "tittel"
        self._before = (0, 0)
        self.creators: list[str] = []
        self._case: tuple[int | None, ...] = (None,) * 4
        self._class: tuple[int | None, int | None] = (None, None)
        self._parties: list[bytes] = []
        self._first = self._last = ""
        self._newer = _newer(JOURNALS[journal])
        self.leaf_names = (*self.leaf_names, *{name for names in self._newer.values() for name in names})

    def take(self, group: _Group) -> None:
        """A group that is whole."""
        if self.newer_at is None and not self._newer.get(group.name, _NONE).isdisjoint(group.values):
            self.newer_at = group.at
        if group.name == "journalpost":
            self._entry(group.values, group.at)
        elif group.name == "korrespondansepart":
            values = group.values
            self._parties.append(party_key(values.get("korrespondanseparttype"), values.get("korrespondansepartNavn")))
        elif group.name == "saksmappe":
            values = group.values
            numbers = (whole_number(values.get("saksaar")), whole_number(values.get("sakssekvensnummer")))
            self._case = (*numbers, text_key(values.get(self._title)), text_key(values.get("mappeID")))
        elif group.name == "klasse":
            self._class = (_shown_key(group.values.get("klasseID")), _shown_key(group.values.get("tittel")))
        elif group.name == "arkivskaper":
            self._creator(group.values.get("arkivskaperNavn", ""))
        elif group.name == "journalhode":
            self.head, self.head_at = group.values, group.at
            self._first, self._last = (
                self.head.get(name, "")[:10] for name in ("journalStartDato", "journalSluttDato")
            )

    def _creator(self, name: str) -> None:
        if name and name not in self.creators and len(self.creators) < _MOST_CREATORS:
            self.creators.append(name)

    def _entry(self, values: Mapping[str, str], at: int) -> None:
        self.count += 1
        key, day = values.get("systemID", ""), values.get("journaldato", "")[:10]
        year, sequence = (
            whole_number(values.get("journalaar")) or 0,
            whole_number(values.get("journalsekvensnummer")) or 0,
        )
        if (year, sequence) <= self._before:
            self.rises = False
            if (year, sequence) < self._before:
                self.notes.hit("N505", at, key, year=str(year), sequence=str(sequence))
        self._before = (year, sequence)
        if day and ((self._first and day < self._first) or (self._last and day > self._last)):
            self.notes.hit("N512", at, key, value=day)
        title, number = text_key(values.get(self._title)), whole_number(values.get("journalpostnummer"))
        document_day = values.get("dokumentetsDato", "")[:10]
        parties = sorted_keys(b"".join(self._parties))
        self._parties.clear()
        day_of_answer, method = values.get("avskrivningsdato"), values.get("avskrivningsmaate")
        answer = answer_key(day_of_answer, method) if day_of_answer or method else b""
        entry = (self._journal, pack_id(key), year, sequence, number, day, document_day, title)
        ident = text_key(values.get("registreringsID"))
        self.rows.append((*entry, ident, *self._case, *self._class, parties, answer, at))
        self._class = (None, None)


def _shown_key(text: str | None) -> int | None:
    """A text as it is compared; None where parts of it are withheld."""
    return None if text is None or _WITHHELD in text else text_key(text)


_NONE: frozenset[str] = frozenset()


def _newer(document: str) -> Mapping[str, frozenset[str]]:
    """The fields of each group that the first edition of 5.0 did not have."""
    groups = xml_model("5.0").documents[document].groups.values()
    return {group.name: frozenset(leaf.name for leaf in group.own if leaf.since_2023) for group in groups}


class _Changes:
    """The changes of a change log."""

    table = "changes"
    leaf_names: tuple[str, ...] = (
        *("referanseArkivenhet", "referanseMetadata", "endretDato", "tidligereVerdi", "nyVerdi"),
    )

    def __init__(self, notes: Notes) -> None:
        self.rows: list[Row] = []
        self.notes = notes
        self.count = 0

    def take(self, group: _Group) -> None:
        """A group that is whole."""
        if group.name == "endring":
            self.count += 1
            values = group.values
            key, name = values.get("referanseArkivenhet", ""), values.get("referanseMetadata", "")
            old, new = values.get("tidligereVerdi"), values.get("nyVerdi")
            if old is not None and old == new:
                self.notes.hit("N606", group.at, key, element=name, value=old)
            self.rows.append((pack_id(key), name, values.get("endretDato", ""), old, new, group.at))
