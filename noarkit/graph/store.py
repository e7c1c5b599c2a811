"""graph.db: the tables of one plan, written by one process and read by cursors.

Numbers (`n`) are given in the order of arrival; parents always have smaller ones than their children. `unit` is the
topmost folder or record of an entity below its series (0 for the spine: fonds, series, classes), `bundle` the folder or
record that it belongs to. Loading follows (unit, bundle, n): spine first, parents before children, a record whole.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import orjson

from noarkit.errors import JournalFault, PlanChanged
from noarkit.graph.entity import Content, FieldValue
from noarkit.graph.freeze import digest
from noarkit.model import metamodel
from noarkit.safe import atomic
from noarkit.safe.descriptors import flush_file
from noarkit.safe.disk import translate_sqlite_errors

GRAPH_VERSION = 1


Position = tuple[int, int, int]

_TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # state: mapped, set_aside, skipped; code and data say why not
    "CREATE TABLE record (n INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, state TEXT NOT NULL,"
    " root INTEGER, code TEXT, data TEXT)",
    "CREATE TABLE entity (n INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, type TEXT NOT NULL, record INTEGER,"
    " parent INTEGER, parent_link TEXT, fields TEXT NOT NULL, target TEXT NOT NULL, line INTEGER NOT NULL,"
    " unit INTEGER NOT NULL, bundle INTEGER NOT NULL)",
    # late: sent after everything else, because the other end may not be there yet
    "CREATE TABLE link (entity INTEGER NOT NULL, name TEXT NOT NULL, other_key TEXT NOT NULL, other INTEGER,"
    " late INTEGER NOT NULL DEFAULT 0)",
    "CREATE TABLE content (entity INTEGER PRIMARY KEY, locator TEXT NOT NULL, name TEXT NOT NULL, size INTEGER,"
    " modified_ns INTEGER, sha256 TEXT, media_type TEXT, puid TEXT)",
    "CREATE TABLE note (record INTEGER, entity INTEGER, code TEXT NOT NULL, grave INTEGER NOT NULL,"
    " data TEXT NOT NULL)",
    "CREATE TABLE shard (n INTEGER PRIMARY KEY, kind TEXT NOT NULL, entities INTEGER NOT NULL, bytes INTEGER NOT NULL)",
    # a chunk is a range of the order: after (unit, bundle, n) and up to (last_unit, last_bundle, last_n)
    "CREATE TABLE chunk (shard INTEGER NOT NULL, n INTEGER NOT NULL, key TEXT NOT NULL UNIQUE,"
    " entities INTEGER NOT NULL, actions INTEGER NOT NULL, json_bytes INTEGER NOT NULL, bytes INTEGER NOT NULL,"
    " first_unit INTEGER NOT NULL, first_bundle INTEGER NOT NULL, first_n INTEGER NOT NULL,"
    " last_unit INTEGER NOT NULL, last_bundle INTEGER NOT NULL, last_n INTEGER NOT NULL,"
    " PRIMARY KEY (shard, n)) WITHOUT ROWID",
)

IS_THERE = '{"there":true}'
"""The data of a planned record that an earlier run loaded."""
RECORD_STATE = f"CASE WHEN state = 'mapped' AND data = '{IS_THERE}' THEN 'already_there' ELSE state END"
"""The state of a row of `record` as everybody tells it: what earlier runs loaded is already there."""
_ENTITY_ROWS = "SELECT n, key, type, record, parent, parent_link, fields, target, line, unit, bundle FROM entity"

# made after the rows stand, which is far quicker than beside them
INDEXES = (
    "CREATE INDEX entity_order ON entity (unit, bundle, n)",
    "CREATE INDEX entity_parent ON entity (parent)",
    "CREATE INDEX entity_record ON entity (record)",
    "CREATE INDEX entity_bundle ON entity (bundle)",
    "CREATE INDEX link_entity ON link (entity)",
    "CREATE INDEX link_late ON link (late, entity) WHERE late",
    "CREATE INDEX note_code ON note (code)",
    "CREATE INDEX record_state ON record (state, code)",
)


class PlannedEntity(NamedTuple):
    """One entity as it stands in the graph."""

    n: int
    key: str
    type: str
    record: int | None
    parent: int | None
    parent_link: str | None
    fields: dict[str, FieldValue]
    target: str
    line: int
    unit: int
    bundle: int


@dataclass(frozen=True, slots=True)
class PlannedLink:
    """A further link of an entity; `late` ones are sent when everything else stands."""

    entity: int
    name: str
    target: int
    late: bool


@dataclass(frozen=True, slots=True)
class Chunk:
    """A range of the order that is sent as one transaction, with the sums that bound it."""

    shard: int
    n: int
    key: str
    entities: int
    actions: int
    json_bytes: int
    bytes: int
    first: Position
    last: Position


class GraphStore:
    """An open graph.db. `create` makes a new one, `open` reads one that stands; close() ends it."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self.db = db

    @classmethod
    def create(cls, path: Path, *, draft: bool = False) -> GraphStore:
        """A new, empty graph.db at `path`, which must not be there.

        A `draft` is nothing until `settle` has returned: what is left of one that was killed is good for nothing. So
        nothing is written twice or waited for before.
        """
        with translate_sqlite_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600, exist_ok=False)
            db = _connect(path)
            db.execute(f"PRAGMA journal_mode = {'MEMORY' if draft else 'WAL'}")
            db.execute(f"PRAGMA synchronous = {'OFF' if draft else 'NORMAL'}")
            db.execute("BEGIN")
            for table in _TABLES:
                db.execute(table)
            db.execute("INSERT INTO meta VALUES ('version', ?)", (str(GRAPH_VERSION),))
            db.execute("COMMIT")
        return cls(path, db)

    @classmethod
    def open(cls, path: Path, *, read_only: bool = True) -> GraphStore:
        """The graph.db at `path`; JournalFault where it is none or from a later version."""
        if not path.is_file():
            raise JournalFault(where=str(path), why="missing")
        store = cls(path, _connect(path, read_only=read_only))
        with translate_sqlite_errors(path):
            version = store.meta("version")
        if version is None or int(version) > GRAPH_VERSION:
            raise JournalFault(where=str(path), why="unknown-version", detail=version)
        return store

    def end_batches(self) -> None:
        """Nothing is rolled back from here on: a draft keeps no more of what it changes, which could be any amount."""
        if self._journal_mode() == "memory":
            self.db.execute("PRAGMA journal_mode = OFF")

    def settle(self) -> None:
        """Returns once all of it is durable, in one file. Raises DiskFull."""
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.db.execute("PRAGMA journal_mode = DELETE")
        with atomic.no_room(self.path):
            flush_file(self.path)
            atomic.sync_folder(self.path.parent)  # its name too, before plan.json says that it stands

    def _journal_mode(self) -> str:
        return str(self.db.execute("PRAGMA journal_mode").fetchone()[0])

    def close(self) -> None:
        """Ends the connection."""
        self.db.close()

    def meta(self, name: str) -> str | None:
        """One fact of the plan, None if it was not remembered."""
        row = self.db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def remember(self, name: str, value: str) -> None:
        """Remembers one fact of the plan."""
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def count(self, table: str, condition: str = "1") -> int:
        """How many rows a table holds; `table` and `condition` are never data."""
        return int(self.db.execute(f"SELECT count(*) FROM {table} WHERE {condition}").fetchone()[0])  # noqa: S608  # our own words

    def record_counts(self) -> dict[str, int]:
        """How many records have which state; those to be loaded that earlier runs loaded are already there."""
        return dict(self.db.execute(f"SELECT {RECORD_STATE}, count(*) FROM record GROUP BY 1 ORDER BY 1").fetchall())  # noqa: S608  # our own words

    def between(self, first: Position, last: Position) -> Iterator[PlannedEntity]:
        """The entities of a range of the order, both ends included."""
        yield from self._entities("(unit, bundle, n) BETWEEN (?,?,?) AND (?,?,?)", (*first, *last))

    def all_entities(self) -> Iterator[PlannedEntity]:
        """Every entity in the order of loading, by one cursor."""
        yield from self._entities("1", ())

    def entity(self, n: int) -> PlannedEntity:
        """One entity by its number."""
        return next(self._entities("n = ?", (n,)))

    def number_of(self, key: str) -> int | None:
        """The number of the entity with a key; None if the plan has none."""
        row = self.db.execute("SELECT n FROM entity WHERE key = ?", (key,)).fetchone()
        return None if row is None else int(row[0])

    def children(self, parent: int, kind: str) -> list[int]:
        """The numbers of what is planned directly under an entity, of one type, in order."""
        rows = self.db.execute("SELECT n FROM entity WHERE parent = ? AND type = ? ORDER BY n", (parent, kind))
        return [int(row[0]) for row in rows]

    def links_between(self, first: Position, last: Position) -> dict[int, list[PlannedLink]]:
        """The links that go with the entities of a range (not the late ones), by entity."""
        rows = self.db.execute(
            "SELECT link.entity, link.name, link.other FROM entity CROSS JOIN link ON link.entity = entity.n"
            " WHERE (unit, bundle, n) BETWEEN (?,?,?) AND (?,?,?) AND NOT link.late",
            (*first, *last),
        )
        links_by_entity: dict[int, list[PlannedLink]] = {}
        for entity, name, target in rows:
            links_by_entity.setdefault(entity, []).append(PlannedLink(entity, name, target, late=False))
        return links_by_entity

    def late_links(self) -> Iterator[PlannedLink]:
        """The links that are sent when everything else stands, in a stable order."""
        for entity, name, target in self.db.execute(
            "SELECT entity, name, other FROM link WHERE late ORDER BY entity, name, other"
        ):
            yield PlannedLink(entity, name, target, late=True)

    def contents_between(self, first: Position, last: Position) -> dict[int, Content]:
        """The contents of the document versions of a range, by entity."""
        rows = self.db.execute(
            "SELECT content.* FROM entity CROSS JOIN content ON content.entity = entity.n"
            " WHERE (unit, bundle, n) BETWEEN (?,?,?) AND (?,?,?)",
            (*first, *last),
        )
        return {row[0]: Content(*row[1:]) for row in rows}

    def content(self, entity: int) -> Content | None:
        """The content of one document version."""
        row = self.db.execute("SELECT * FROM content WHERE entity = ?", (entity,)).fetchone()
        return None if row is None else Content(*row[1:])

    def chunks(self, shard: int | None = None) -> Iterator[Chunk]:
        """The chunks of a shard, or all, in order."""
        condition, values = ("WHERE shard = ?", (shard,)) if shard is not None else ("", ())
        for row in self.db.execute(f"SELECT * FROM chunk {condition} ORDER BY shard, n", values):  # noqa: S608  # our own words
            yield _chunk(row)

    def needed_ids(self, shard: int) -> Iterator[int]:
        """The numbers whose archive ids matter to a shard: its own entities, their parents, the ends of their links."""
        chunks = list(self.chunks(shard))
        if not chunks:
            return
        span = (*chunks[0].first, *chunks[-1].last)
        rows = self.db.execute(
            "WITH mine AS (SELECT n, parent FROM entity WHERE (unit, bundle, n) BETWEEN (?,?,?) AND (?,?,?))"
            " SELECT n FROM mine UNION SELECT parent FROM mine WHERE parent IS NOT NULL"
            " UNION SELECT link.other FROM mine JOIN link ON link.entity = mine.n"
            " WHERE NOT late AND link.other IS NOT NULL",
            span,
        )
        for row in rows:
            yield int(row[0])

    def shards(self) -> list[tuple[int, str, int, int]]:
        """Every shard: number, kind (spine, unit, links), entities, bytes."""
        return list(self.db.execute("SELECT n, kind, entities, bytes FROM shard ORDER BY n"))

    def check_frozen(self, expected: str) -> None:
        """PlanChanged unless the graph is what was frozen as `expected`."""
        with translate_sqlite_errors(self.path):
            actual = digest(self.db)
        if actual != expected:
            raise PlanChanged(where=str(self.path), frozen=expected, found=actual)

    def forgive_dangling(self, code: str) -> None:
        """Takes out the links to what is not in the plan, to a type that the model does not let stand there, or to a
        class that holds classes; notes each."""
        db = self.db
        db.execute("BEGIN")
        db.execute("CREATE TEMP TABLE fitting (type TEXT, name TEXT, target TEXT, PRIMARY KEY (type, name, target))")
        db.executemany("INSERT OR IGNORE INTO fitting VALUES (?, ?, ?)", _fitting_links())
        db.execute(
            "CREATE TEMP TABLE forgiven AS SELECT link.rowid AS id, link.entity, link.name, link.other_key FROM link"
            " WHERE other IS NULL OR NOT EXISTS (SELECT 1 FROM entity a, entity b, fitting f WHERE a.n = link.entity"
            " AND b.n = link.other AND f.type = a.type AND f.name = link.name AND f.target = b.type)"
            " OR (name = 'refSekundaerKlasse' AND EXISTS (SELECT 1 FROM link below"
            " WHERE below.other = link.other AND below.name = 'refForelderKlasse'))"
        )
        db.execute(
            "INSERT INTO note SELECT e.record, e.n, ?, 0, json_object('name', f.name, 'key', f.other_key)"
            " FROM forgiven f JOIN entity e ON e.n = f.entity",
            (code,),
        )
        db.execute("DELETE FROM link WHERE rowid IN (SELECT id FROM forgiven)")
        db.execute("DROP TABLE forgiven")
        db.execute("DROP TABLE fitting")
        db.execute("COMMIT")

    def leave_out(self, record: int, bundle: int, code: str, data: str) -> None:
        """Takes a record's bundle out of the plan and sets the record aside."""
        db = self.db
        db.execute("DELETE FROM link WHERE entity IN (SELECT n FROM entity WHERE bundle = ?)", (bundle,))
        db.execute("DELETE FROM content WHERE entity IN (SELECT n FROM entity WHERE bundle = ?)", (bundle,))
        db.execute("DELETE FROM entity WHERE bundle = ?", (bundle,))
        db.execute(
            "UPDATE record SET state = 'set_aside', root = NULL, code = ?, data = ? WHERE n = ?", (code, data, record)
        )

    def _entities(self, condition: str, values: tuple[int, ...]) -> Iterator[PlannedEntity]:
        rows = self.db.execute(f"{_ENTITY_ROWS} WHERE {condition} ORDER BY unit, bundle, n", values)
        for row in rows:
            n, key, kind, record, parent, parent_link, fields, *remaining = row
            yield PlannedEntity(n, key, kind, record, parent, parent_link, orjson.loads(fields), *remaining)


def _fitting_links() -> Iterator[tuple[str, str, str]]:
    """Every type, reference and type that it may lead to."""
    model = metamodel()
    for name, kind in model.types.items():
        for reference in kind.references.values():
            for target in reference.targets:
                yield from ((name, reference.name, concrete) for concrete in model.concrete(target))


def _chunk(row: tuple[object, ...]) -> Chunk:
    shard, n, key, entities, actions, json_bytes, size, *ends = row
    numbers = [int(str(end)) for end in ends]
    return Chunk(
        shard=int(str(shard)),
        n=int(str(n)),
        key=str(key),
        entities=int(str(entities)),
        actions=int(str(actions)),
        json_bytes=int(str(json_bytes)),
        bytes=int(str(size)),
        first=(numbers[0], numbers[1], numbers[2]),
        last=(numbers[3], numbers[4], numbers[5]),
    )


def fields_json(fields: Mapping[str, FieldValue]) -> str:
    """Field values as canonical JSON: sorted, so that the same fields are the same text."""
    return orjson.dumps(fields, option=orjson.OPT_SORT_KEYS).decode()


def _connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}{'?mode=ro' if read_only else ''}"
    with translate_sqlite_errors(path):
        db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA cache_size = -6000")
        db.execute("PRAGMA temp_store = FILE")
    return db
