"""Fills a graph from mapped records, in batches, in constant memory.

A record goes in whole or is set aside whole. Folders and classes that several records name are taken once; any other
key that comes twice sets the later record aside (F222). Every folder and record gets its source key as an EksternId.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice

import orjson

from noarkit.graph.entity import AlreadyThere, Content, CreationMode, Entity, MappedRecord, Note, SetAside, Skipped
from noarkit.graph.store import INDEXES, IS_THERE, GraphStore, fields_json
from noarkit.model import metamodel

# Several records may name them; they are made once. A label of theirs comes along with them.
SHARED = frozenset({"AbstraktMappe", "Klasse", "Klassifikasjonssystem", "Arkiv", "Arkivdel", "Arkivskaper"})
_PLACES_IN_MEMORY = 20_000
_OWNER_LINK = {"AbstraktMappe": "refMappe", "AbstraktRegistrering": "refRegistrering"}
_CREATE = str(CreationMode.CREATE)
_LABEL_BEGINS = '{"eksternID":'
_SPINE = frozenset({"Klasse", "Klassifikasjonssystem", "Arkiv", "Arkivdel", "Arkivskaper"})

Item = MappedRecord | SetAside | Skipped | AlreadyThere
EntityCheck = Callable[[Entity], "Note | None"]


Place = tuple[int, str, int, int]
"""The place of an entity in the order: its number, family, unit and bundle. A plain tuple, since there are millions."""


@dataclass(slots=True)
class _Batch:
    records: list[tuple[object, ...]] = field(default_factory=list)
    entities: list[tuple[object, ...]] = field(default_factory=list)
    links: list[tuple[object, ...]] = field(default_factory=list)
    contents: list[tuple[object, ...]] = field(default_factory=list)
    notes: list[tuple[object, ...]] = field(default_factory=list)

    def sizes(self) -> tuple[int, int, int]:
        return len(self.entities), len(self.links), len(self.contents)

    def cut(self, sizes: tuple[int, int, int]) -> None:
        for rows, size in zip((self.entities, self.links, self.contents), sizes, strict=True):
            del rows[size:]


class GraphBuilder:
    """Takes mapped records in any number; `finish` writes what is pending and makes the indexes.

    A key that is not in memory is taken for new: the tables refuse it if it is not. Then the batch is taken again, and
    from there on the tables are asked for every key.
    """

    def __init__(self, store: GraphStore, external_system: str, check: EntityCheck, batch_records: int = 1000) -> None:
        self._store = store
        self._label_ends = f',"eksterntSystem":{orjson.dumps(external_system).decode()}}}'
        self._check = check
        self._batch_records = batch_records
        self._pending: list[Item] = []
        self._known: dict[str, Place] = {}
        self._asks_always = False
        self._next_entity = store.count("entity") + 1
        self._next_record = store.count("record") + 1
        self._family = {name: kind.family for name, kind in metamodel().types.items()}
        self._shared = frozenset(name for name, family in self._family.items() if family in SHARED)
        self._owners = frozenset(name for name, family in self._family.items() if family in _OWNER_LINK)

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
        next_record, next_entity, known_count = self._next_record, self._next_entity, len(self._known)
        try:
            self._write(self._take_all(pending))
        except sqlite3.IntegrityError:
            if self._asks_always:
                raise
            self._asks_always = True
            self._next_record, self._next_entity = next_record, next_entity
            self._known = dict(islice(self._known.items(), known_count))
            self._write(self._take_all(pending))
        if len(self._known) > _PLACES_IN_MEMORY:
            self._known = dict(list(self._known.items())[-_PLACES_IN_MEMORY // 2 :])

    def finish(self) -> None:
        """Writes the rest, resolves links between entities, and makes the indexes."""
        self.flush()
        self._store.end_batches()
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

    def _take_all(self, pending: list[Item]) -> _Batch:
        batch = _Batch()
        keys: set[str] = set()
        for item in pending:
            key = item.record_key
            if key in keys or (self._asks_always and self._has_record(key)):
                self._set_aside(batch, key, SetAside(key, "F222", {"what": "record"}), again=True)
                continue
            keys.add(key)
            if isinstance(item, MappedRecord):
                self._take_mapped(item, batch)
            else:
                self._take_unmapped(item, batch)
        return batch

    def _take_unmapped(self, item: SetAside | Skipped | AlreadyThere, batch: _Batch) -> None:
        if isinstance(item, SetAside):
            self._set_aside(batch, item.record_key, item)
            return
        if isinstance(item, Skipped):
            state, data = "skipped", _json({"reason": item.reason})
        else:
            # a later plan compares with them
            file_stamps = [(content.locator, content.size_bytes, content.modified_ns) for content in item.contents]
            state, data = "already_there", _json({"contents": file_stamps})
        batch.records.append((self._next_record, item.record_key, state, None, None, data))
        self._next_record += 1

    def _take_mapped(self, item: MappedRecord, batch: _Batch) -> None:
        number, known, asks_always = self._next_record, self._known, self._asks_always
        sizes, first_entity, own_entities = batch.sizes(), self._next_entity, []
        shared, check, place = self._shared, self._check, self._place
        reused: set[str] = set()
        for entity in item.entities:
            key, kind = entity.key, entity.type
            is_shared = kind in shared
            comes_along = entity.parent in reused
            may_stand = is_shared or asks_always or (comes_along and kind not in self._owners)
            if key in known or (may_stand and self._recall(key)):
                if is_shared or comes_along:
                    reused.add(key)
                    continue
                fault: Note | None = Note("F222", {"what": kind})
            else:
                fault = check(entity) or place(entity, number, batch)
                own_entities.append(key)
            if fault is not None:
                batch.cut(sizes)
                self._next_entity = first_entity
                for key in own_entities:
                    known.pop(key, None)
                    known.pop(key + "#x", None)
                data = {**fault.data, "line": entity.recipe_line}
                self._set_aside(batch, item.record_key, SetAside(item.record_key, fault.code, data))
                return
        self._next_record = number + 1
        root = item.root or _root(item.entities, self._family)
        root_place, stood = known.get(root) if root else None, IS_THERE if item.is_there else None
        batch.records.append((number, item.record_key, "mapped", root_place[0] if root_place else None, None, stood))
        for note in item.notes:
            batch.notes.append((number, None, note.code, 0, _json(note.data)))

    def _place(self, entity: Entity, record: int | None, batch: _Batch) -> Note | None:
        """Gives the entity its place; returns a note where it can have none."""
        key, type_name, line, known = entity.key, entity.type, entity.recipe_line, self._known
        above, parent = None, entity.parent
        number = self._next_entity
        family = self._family[type_name]
        if parent:
            parent_place = known.get(parent) or self._recall(parent)
            if parent_place is None:
                return Note("F223", {"what": type_name})
            above, _, unit, bundle = parent_place
            unit, bundle = _unit_and_bundle(number, family, unit, bundle)
        else:
            # a document without a parent stands in the archive, and is given further versions
            unit = bundle = number if family == "Dokument" else 0
        known[key] = (number, family, unit, bundle)
        fields = fields_json(entity.fields)
        target = _CREATE if entity.target is CreationMode.CREATE else str(entity.target)
        rows = batch.entities
        rows.append((number, key, type_name, record, above, entity.parent_link, fields, target, line, unit, bundle))
        if entity.links:
            batch.links.extend((number, name, target_key) for name, target_key in entity.links)
        if entity.content is not None:
            batch.contents.append((number, *_content_row(entity.content)))
        owner_link = _OWNER_LINK.get(family)
        if owner_link:
            label_key, label_number = key + "#x", number + 1
            known[label_key] = (label_number, "EksternId", unit, bundle)
            fields = f"{_LABEL_BEGINS}{orjson.dumps(key).decode()}{self._label_ends}"
            rows.append(
                (label_number, label_key, "EksternId", record, number, owner_link, fields, _CREATE, line, unit, bundle)
            )
            number = label_number
        self._next_entity = number + 1
        return None

    def _set_aside(self, batch: _Batch, key: str, set_aside: SetAside, *, again: bool = False) -> None:
        number = self._next_record
        self._next_record += 1
        # a record key that comes twice keeps its place in the sums under a key of its own
        stored_key = f"{key}#again{number}" if again else key
        batch.records.append((number, stored_key, "set_aside", None, set_aside.code, _json(set_aside.data)))

    def _recall(self, key: str) -> Place | None:
        """Learns the place of a key that an earlier batch wrote; None if none did."""
        row = self._store.db.execute("SELECT n, type, unit, bundle FROM entity WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        number, type_name, unit, bundle = row
        place = self._known[key] = (number, self._family[type_name], unit, bundle)
        return place

    def _has_record(self, key: str) -> bool:
        return self._store.db.execute("SELECT 1 FROM record WHERE key = ?", (key,)).fetchone() is not None

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


def _unit_and_bundle(number: int, family: str, unit: int, bundle: int) -> tuple[int, int]:
    """Those of an entity under a parent with these."""
    if family == "AbstraktRegistrering" or family == "AbstraktMappe":
        return unit or number, number
    return (0, 0) if family in _SPINE else (unit, bundle)


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
