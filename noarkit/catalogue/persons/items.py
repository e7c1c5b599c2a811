"""Searches the metadata of a catalogue for a person: every field of every item and of its documents, masked or not.

What is screened is told as the rest is, by its veil: that a person occurs there, and nothing of what stands there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import orjson

from noarkit.catalogue.persons.matching import Certainty, Kind, Person
from noarkit.catalogue.persons.occurrences import Occurrence, Occurrences, Unsearched
from noarkit.catalogue.port import Json
from noarkit.catalogue.veil import shown_ref
from noarkit.model.disclosure import mask_text, shown_class

_ITEMS = (
    "SELECT n, ref, type, title, ident, class, status, screened, fault, state, documents, fields FROM item"
    " WHERE n > ? ORDER BY n LIMIT ?"
)
_DOCUMENTS = (
    "SELECT item, ref, title, name, fields, custody, screened FROM document"
    " WHERE item IN (SELECT value FROM json_each(?)) ORDER BY n"
)
_CHANGES = "SELECT item, actor, before, after FROM change WHERE item IN (SELECT value FROM json_each(?))"
_BATCH = 500
_ID_DIGITS = 11
_DOCUMENT, _HISTORY = "document", "history"
_SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class _Row:
    n: int
    ref: str
    type: str
    title: str
    ident: str
    klass: str
    status: str
    screened: int
    fault: str
    state: str
    documents: int
    fields: str


@dataclass(slots=True)
class _Value:
    """A text of an item, and what it stands in."""

    field: str
    text: str


def search_items(
    db: sqlite3.Connection,
    place: str,
    person: Person,
    occurrences: Occurrences,
) -> int:
    """Searches every item of a catalogue and returns how many there are."""
    last = searched = 0
    while rows := [_Row(*row) for row in db.execute(_ITEMS, (last, _BATCH))]:
        last = rows[-1].n
        numbers = orjson.dumps([row.n for row in rows]).decode()
        documents, changes = _by_item(db, _DOCUMENTS, numbers), _by_item(db, _CHANGES, numbers)
        for row in rows:
            _search_item(row, documents.get(row.n, ()), changes.get(row.n, ()), place, person, occurrences)
        searched += len(rows)
    return searched


def _by_item(db: sqlite3.Connection, query: str, numbers: str) -> dict[int, list[tuple[object, ...]]]:
    groups: dict[int, list[tuple[object, ...]]] = {}
    for n, *values in db.execute(query, (numbers,)):
        groups.setdefault(n, []).append(tuple(values))
    return groups


def _search_item(
    row: _Row,
    documents: Sequence[tuple[object, ...]],
    changes: Sequence[tuple[object, ...]],
    place: str,
    person: Person,
    occurrences: Occurrences,
) -> None:
    # a table that broke off, a file that could not be read: what would be in it is not here
    if not row.documents and (row.fault or row.state == _SKIPPED):
        reason = row.fault or row.state
        occurrences.add_unsearched(Unsearched(place, shown_ref(row.ref, screened=bool(row.screened)), reason))
    raw = "\n".join(
        (
            *(row.ref, row.title, row.ident, row.klass, row.status, row.fields),
            *(str(value) for document in documents for value in document[:-1]),
            *(str(value) for change in changes for value in change),
        )
    )
    if not person.may_occur_in(raw):
        return
    values = list(_values_of(row, documents, changes))
    screened = bool(row.screened) or any(bool(document[-1]) for document in documents)
    for kind, certainty, fields in _found_in(values, person):
        occurrences.add(
            Occurrence(
                *(place, "metadata", kind, certainty, shown_ref(row.ref, screened=bool(row.screened)), row.type),
                ident=mask_text(shown_class(row.ident, screened=bool(row.screened))),
                fields=fields,
                screened=screened,
            )
        )


def _found_in(values: Sequence[_Value], person: Person) -> Iterator[tuple[Kind, Certainty, tuple[str, ...]]]:
    """What an item holds of a person, at most once of each kind, with the names of the fields."""
    fields: dict[Kind, dict[str, Certainty]] = {}
    for value in values:
        for match in person.matches(value.text):
            by_field = fields.setdefault(match.kind, {})
            if by_field.get(value.field) != "certain":
                by_field[value.field] = match.certainty
    for kind, by_field in fields.items():
        yield kind, "certain" if "certain" in by_field.values() else "possible", tuple(by_field)
    if "name" in fields or not person.names:
        return
    words_by_field = {value.field: words for value in values if (words := person.words_in(value.text))}
    if person.is_complete(set().union(*words_by_field.values())):
        yield "name", "possible", tuple(words_by_field)


def _values_of(
    row: _Row, documents: Sequence[tuple[object, ...]], changes: Sequence[tuple[object, ...]]
) -> Iterator[_Value]:
    """Every text of an item, with what it stands in."""
    for label, fact in (("title", row.title), ("ident", row.ident), ("class", row.klass), ("status", row.status)):
        yield _Value(label, fact)
    yield _Value("ref", row.ref)
    yield from _leaves(orjson.loads(row.fields), "")
    for ref, title, name, fields, custody, _ in documents:
        facts = {"ref": ref, "title": title, "name": name}
        yield from (_Value(f"{_DOCUMENT}.{field}", str(fact)) for field, fact in facts.items())
        yield from _leaves(orjson.loads(str(fields)), _DOCUMENT)
        yield from _leaves(orjson.loads(str(custody)), f"{_DOCUMENT}.custody")
    for change in changes:
        yield from (_Value(_HISTORY, str(entry)) for entry in change)


def _leaves(value: Json, path: str) -> Iterator[_Value]:
    """The texts in fields, however deep; also their own names, which may be anybody's words."""
    if isinstance(value, dict):
        for name, inner in value.items():
            below = f"{path}.{name}" if path else name
            yield _Value(f"{path or 'fields'}: names", name)
            yield from _leaves(inner, below)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, path)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        yield _Value(path, str(int(value)).zfill(_ID_DIGITS) if abs(value) >= 10**9 else str(int(value)))
    else:
        yield _Value(path, str(value))
