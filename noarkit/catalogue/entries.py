"""Reads items of a catalogue as lines of lists, of the tree and of searches."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import orjson

from noarkit.catalogue.port import Change, Document, Fields
from noarkit.results import HIDDEN, JsonObject, json_field

OPEN, SCREENED, PART_SCREENED = 0, 1, 2
"""What the column `screened` of an item says: nothing, all of it, or a part that its ref may name."""
_ENTRY = (
    "SELECT i.n, i.ref, i.type, i.title, i.ident, i.day, i.status, i.class, i.screened, i.fault, i.state,"
    " i.documents, coalesce((SELECT items FROM inside WHERE inside.parent = i.n), 0),"
    " CASE WHEN i.screened AND json_type(i.fields, '$.offentligTittel') = 'text'"
    " THEN json_extract(i.fields, '$.offentligTittel') ELSE '' END FROM item i"
)


@dataclass(frozen=True, slots=True)
class Entry(JsonObject):
    """One item as a line of a list or of the tree. `n` is its place in the order of the catalogue."""

    n: int = field(metadata=HIDDEN)
    ref: str
    type: str
    title: str
    ident: str
    day: str
    status: str
    klass: str = field(metadata=json_field("class"))
    screened: bool
    fault: str
    state: str
    documents: int
    children: int
    public_title: str = field(default="", metadata=HIDDEN)
    """The title that is meant for the public, of what is screened."""
    hides_key: bool = field(default=False, metadata=HIDDEN)
    """True if its ref is not shown: it is screened, or a part of it that its ref may name."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link of an item: its name, what it leads to (None where that is not in the place), and the ref it names."""

    name: str
    ref: str
    entry: Entry | None


@dataclass(frozen=True, slots=True)
class Card:
    """All that a catalogue knows of one item. Of very many links, either way, the first are given, and the number of
    all."""

    entry: Entry
    ancestors: tuple[Entry, ...]
    fields: Fields
    documents: tuple[Document, ...]
    links: tuple[Link, ...]
    links_here: tuple[Link, ...]
    history: tuple[Change, ...]
    links_here_count: int = 0
    links_count: int = 0


def select_entries(db: sqlite3.Connection, condition: str, values: Sequence[object]) -> Iterator[Entry]:
    """The items that a condition over `item i` selects."""
    for row in db.execute(f"{_ENTRY} {condition}", values):
        n, ref, kind, title, ident, day, status, klass, screened, fault, state, documents, children, told = row
        yield Entry(
            *(int(str(n)), str(ref), str(kind), str(title), str(ident), str(day), str(status), str(klass)),
            *(screened == SCREENED, str(fault), str(state), int(str(documents)), int(str(children))),
            *(str(told), screened != OPEN),
        )


def entries_by_number(db: sqlite3.Connection, numbers: Sequence[int]) -> list[Entry]:
    """The items with these numbers, in this order."""
    where = "WHERE i.n IN (SELECT value FROM json_each(?))"
    entries = {entry.n: entry for entry in select_entries(db, where, (orjson.dumps(numbers).decode(),))}
    return [entries[n] for n in numbers]
