"""Fills a graph from mapped records, in batches, in constant memory.

A record goes in whole or is set aside whole. Folders and classes that several records name are taken once; any other
key that comes twice sets the later record aside (F222). Every folder and record gets its source key as an EksternId.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from noarkit.graph.entity import AlreadyThere, Content, Entity, MappedRecord, Note, SetAside, Skipped
from noarkit.graph.store import INDEXES, GraphStore, fields_json
from noarkit.model import metamodel

# Several records may name them; they are made once. A label of theirs comes along with them.
SHARED = frozenset({"AbstraktMappe", "Klasse", "Klassifikasjonssystem", "Arkiv", "Arkivdel", "Arkivskaper"})
_PLACES_IN_MEMORY = 20_000
_OWNER_LINK = {"AbstraktMappe": "refMappe", "AbstraktRegistrering": "refRegistrering"}
_SPINE = frozenset({"Klasse", "Klassifikasjonssystem", "Arkiv", "Arkivdel", "Arkivskaper"})

Item = MappedRecord | SetAside | Skipped | AlreadyThere
EntityCheck = Callable[[Entity], "Note | None"]


class Place(NamedTuple):
    """The place of an entity in the order."""

    n: int
    family: str
    unit: int
    bundle: int


@dataclass(slots=True)
class _Batch:
    records: list[tuple[object, ...]] = field(default_factory=list)
    entities: list[tuple[object, ...]] = field(default_factory=list)
    links: list[tuple[object, ...]] = field(default_factory=list)
    contents: list[tuple[object, ...]] = field(default_factory=list)
    notes: list[tuple[object, ...]] = field(default_factory=list)

    def sizes(self) -> tuple[int, ...]:
        return len(self.entities), len(self.links), len(self.contents), len(self.notes)

    def cut(self, sizes: tuple[int, ...]) -> None:
        for rows, size in zip((self.entities, self.links, self.contents, self.notes), sizes, strict=True):
            del rows[size:]


class GraphBuilder:
    """Takes mapped records in any number; `finish` writes what is pending and makes the indexes."""

    def __init__(self, store: GraphStore, external_system: str, check: EntityCheck, batch_records: int = 1000) -> None:
        self._store = store
        self._system = external_system
        self._check = check
        self._batch_records = batch_records
        self._pending: list[Item] = []
        self._known: dict[str, Place] = {}
        self._next_entity = store.count("entity") + 1
        self._next_record = store.count("record") + 1
        self._family = {name: kind.family for name, kind in metamodel().types.items()}

    def targets(self, entities: Iterable[Entity], notes: Iterable[Note] = ()) -> None:
        """Puts the spine in first: what every record hangs under. They and their notes belong to no record."""
        batch = _Batch()
        batch.notes.extend((None, None, note.code, 0, _json(note.data)) for note in notes)
        for entity in entities:
            if entity.key not in self._known:
                self._place(entity, None, batch)
        self._write(batch)

    def add(self, item: Item) -> None:
        """Adds one record; it is written when its batch is full."""
        self._pending.append(item)
        if len(self._pending) >= self._batch_records:
            self.flush()

    def flush(self) -> None:
        """Writes what is pending."""
        pending, self._pending = self._pending, []
        if not pending:
            return
        known_keys = self._recall(pending)
        batch = _Batch()
        for item in pending:
            if item.record_key in known_keys:
                self._set_aside(
                    batch, item.record_key, SetAside(item.record_key, "F222", {"what": "record"}), again=True
                )
                continue
            known_keys.add(item.record_key)
            self._take(item, batch)
        self._write(batch)
        if len(self._known) > _PLACES_IN_MEMORY:
            self._known = dict(list(self._known.items())[-_PLACES_IN_MEMORY // 2 :])

    def finish(self) -> None:
        """Writes the rest, resolves links between entities, and makes the indexes."""
        self.flush()
        db = self._store.db
        db.execute("BEGIN")
        for index in INDEXES:
            db.execute(index)
        db.execute("UPDATE link SET other = (SELECT n FROM entity WHERE key = link.other_key)")
        # a link can go with its entity when the other end is loaded before it: in the spine, or earlier in its unit
        db.execute(
            "UPDATE link SET late = 1 WHERE other IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entity a, entity b"
            " WHERE a.n = link.entity AND b.n = link.other"
            " AND ((b.unit = 0 AND a.unit > 0) OR (b.unit = a.unit AND b.n < a.n)))"
        )
        db.execute("COMMIT")

    def _take(self, item: Item, batch: _Batch) -> None:
        number = self._next_record
        if isinstance(item, SetAside):
            self._set_aside(batch, item.record_key, item)
        elif isinstance(item, Skipped):
            self._next_record += 1
            batch.records.append((number, item.record_key, "skipped", None, None, _json({"reason": item.reason})))
        elif isinstance(item, AlreadyThere):
            self._next_record += 1
            # a later plan compares with them
            file_stamps = [(content.locator, content.size_bytes, content.modified_ns) for content in item.contents]
            batch.records.append(
                (number, item.record_key, "already_there", None, None, _json({"contents": file_stamps}))
            )
        else:
            self._take_mapped(item, batch)

    def _take_mapped(self, item: MappedRecord, batch: _Batch) -> None:
        number = self._next_record
        sizes, first_entity, own_entities = batch.sizes(), self._next_entity, []
        root = item.root or _root(item.entities, self._family)
        reused: set[str] = set()
        for entity in item.entities:
            if entity.key in self._known:
                if self._family.get(entity.type) in SHARED or entity.parent in reused:
                    reused.add(entity.key)
                    continue
                fault: Note | None = Note("F222", {"what": entity.type})
            else:
                fault = self._check(entity) or self._place(entity, number, batch)
                own_entities.append(entity.key)
            if fault is not None:
                batch.cut(sizes)
                self._next_entity = first_entity
                for key in own_entities:
                    self._known.pop(key, None)
                    self._known.pop(key + "#x", None)
                data = {**fault.data, "line": entity.recipe_line}
                self._set_aside(batch, item.record_key, SetAside(item.record_key, fault.code, data))
                return
        self._next_record += 1
        place = self._known.get(root) if root else None
        batch.records.append((number, item.record_key, "mapped", place.n if place else None, None, None))
        batch.notes.extend((number, None, note.code, 0, _json(note.data)) for note in item.notes)

    def _place(self, entity: Entity, record: int | None, batch: _Batch) -> Note | None:
        """Gives the entity its place; returns a note where it can have none."""
        parent = self._known.get(entity.parent) if entity.parent else None
        if entity.parent and parent is None:
            return Note("F223", {"what": entity.type})
        number = self._next_entity
        place = _place_under(number, self._family[entity.type], parent)
        self._add_row(batch, entity, place, record, parent)
        batch.links.extend((number, name, target_key) for name, target_key in entity.links)
        if entity.content is not None:
            batch.contents.append((number, *_content_row(entity.content)))
        owner_link = _OWNER_LINK.get(place.family)
        if owner_link:
            fields = {"eksterntSystem": self._system, "eksternID": entity.key}
            label = Entity(
                entity.key + "#x", "EksternId", fields, entity.key, owner_link, recipe_line=entity.recipe_line
            )
            self._add_row(batch, label, Place(self._next_entity, "EksternId", place.unit, place.bundle), record, place)
        return None

    def _add_row(self, batch: _Batch, entity: Entity, place: Place, record: int | None, parent: Place | None) -> None:
        self._next_entity += 1
        self._known[entity.key] = place
        batch.entities.append(
            (
                place.n,
                entity.key,
                entity.type,
                record,
                parent.n if parent else None,
                entity.parent_link,
                fields_json(entity.fields),
                str(entity.target),
                entity.recipe_line,
                place.unit,
                place.bundle,
            )
        )

    def _set_aside(self, batch: _Batch, key: str, set_aside: SetAside, *, again: bool = False) -> None:
        number = self._next_record
        self._next_record += 1
        # a record key that comes twice keeps its place in the sums under a key of its own
        stored_key = f"{key}#again{number}" if again else key
        batch.records.append((number, stored_key, "set_aside", None, set_aside.code, _json(set_aside.data)))

    def _recall(self, pending: list[Item]) -> set[str]:
        """Learns the places of keys that earlier batches wrote; returns the record keys that already stand."""
        db = self._store.db
        keys = {
            key
            for item in pending
            if isinstance(item, MappedRecord)
            for entity in item.entities
            for key in (entity.key, entity.parent)
            if key and key not in self._known
        }
        rows = db.execute(
            "SELECT entity.key, n, entity.type, unit, bundle"
            " FROM json_each(?) j CROSS JOIN entity ON entity.key = j.value",
            (_json(list(keys)),),
        )
        for key, number, kind, unit, bundle in rows:
            self._known[key] = Place(number, self._family[kind], unit, bundle)
        names = _json([item.record_key for item in pending])
        existing_rows = db.execute(
            "SELECT record.key FROM json_each(?) j CROSS JOIN record ON record.key = j.value", (names,)
        )
        return {str(row[0]) for row in existing_rows}

    def _write(self, batch: _Batch) -> None:
        db = self._store.db
        db.execute("BEGIN")
        try:
            db.executemany("INSERT INTO record VALUES (?,?,?,?,?,?)", batch.records)
            db.executemany("INSERT INTO entity VALUES (?,?,?,?,?,?,?,?,?,?,?)", batch.entities)
            db.executemany("INSERT INTO link (entity, name, other_key) VALUES (?,?,?)", batch.links)
            db.executemany("INSERT INTO content VALUES (?,?,?,?,?,?,?,?)", batch.contents)
            db.executemany("INSERT INTO note VALUES (?,?,?,?,?)", batch.notes)
            db.execute("COMMIT")
        except sqlite3.Error:
            db.execute("ROLLBACK")
            raise


def _place_under(number: int, family: str, parent: Place | None) -> Place:
    if family == "Dokument" and parent is None:
        # one that stands in the archive, and is given further versions
        return Place(number, family, number, number)
    if family in _SPINE or parent is None:
        return Place(number, family, 0, 0)
    if family in ("AbstraktMappe", "AbstraktRegistrering"):
        return Place(number, family, parent.unit or number, number)
    return Place(number, family, parent.unit, parent.bundle)


def _root(entities: tuple[Entity, ...], family: dict[str, str]) -> str | None:
    return next((entity.key for entity in reversed(entities) if family.get(entity.type) in _OWNER_LINK), None)


def _content_row(content: Content) -> tuple[object, ...]:
    return (
        content.locator,
        content.name,
        content.size_bytes,
        content.modified_ns,
        content.sha256,
        content.media_type,
        content.puid,
    )


def _json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
