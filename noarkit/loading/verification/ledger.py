"""The tables of a verification: plan and journal attached, with tables of our own for the source and the archive.

`plan` is every planned entity with what became of it: `"done"`, `"already_there"` (both with an id), `"unnamed"`
(loaded by the journal, which does not say where), `"set_aside"`, `"refused"` or `"open"`. `planned_object` is what has
an id in the archive; `seen` says what it answered: 0 not asked yet, 1 as planned, 2 not there or not in its place, 3
changed since.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

import orjson

from noarkit.graph.entity import Content, FieldValue
from noarkit.graph.store import PlannedEntity
from noarkit.loading.attached import attach_plan, attach_run
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import CHECKSUM, NOT_CLOSED
from noarkit.loading.provenance import NAMED
from noarkit.loading.spans import DERIVED
from noarkit.loading.state import read_state
from noarkit.model import metamodel

UNASKED, AS_PLANNED, AMISS, CHANGED = 0, 1, 2, 3
BEARERS = frozenset({"AbstraktMappe", "AbstraktRegistrering"})
"""Families whose objects bear their source key as an EksternId."""
IDS_A_QUERY = 100

_PLAN = """
CREATE TEMP VIEW plan AS
SELECT p.n, p.key, p.type, family(p.type) AS family, p.parent, p.record, p.bundle,
  CASE WHEN coalesce(e.id, '') != '' AND e.state IN ('done', 'already_there') THEN e.state
       WHEN l.state IS NOT NULL THEN l.state
       WHEN e.state IN ('done', 'already_there') THEN 'unnamed'
       WHEN e.state IS NOT NULL THEN e.state
       ELSE 'open' END AS state,
  coalesce(e.id, '') AS id
FROM graph.entity p
LEFT JOIN run.entity e ON e.n = p.n
LEFT JOIN run.left_out l ON l.bundle = p.bundle AND p.bundle != 0
"""
_OWN_TABLES = (
    # is_record: 0 for what the source itself, or a rule of the recipe, leaves out
    "CREATE TABLE source_key (key TEXT PRIMARY KEY, is_record INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE next_key (key TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE external_id (key TEXT, id TEXT, owner TEXT)",
    "CREATE TABLE planned_object (n INTEGER PRIMARY KEY, family TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL,"
    " seen INTEGER NOT NULL DEFAULT 0)",
    # what a version names in the archive now
    "CREATE TABLE version_file (n INTEGER PRIMARY KEY, file TEXT, sha256 TEXT, size INTEGER)",
    # the number that the archive gave a document or a version
    "CREATE TABLE object_number (n INTEGER PRIMARY KEY, parent INTEGER NOT NULL, type TEXT NOT NULL,"
    " number REAL NOT NULL)",
)
_ENTITY = "SELECT n, key, type, record, parent, parent_link, fields, target, line, unit, bundle FROM graph.entity"


class ArchivedEntity(NamedTuple):
    """A planned entity that has an id in the archive."""

    n: int
    id: str
    state: str
    judgement: int


class LoadedFile(NamedTuple):
    """The file of a version as the journal remembers it."""

    file: str | None
    sha256: str | None
    size_bytes: int | None


class Ledger:
    """The SQLite connection of a verification, with the queries that its steps share."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder

    def __enter__(self) -> Ledger:
        self.db = db = sqlite3.connect("", uri=True, isolation_level=None)
        types = metamodel().types
        db.create_function("family", 1, lambda name: types[name].family if name in types else name, deterministic=True)
        attach_plan(db, self._folder)
        self.began = attach_run(db, self._folder)
        for statement in (*_OWN_TABLES, _PLAN):
            db.execute(statement)
        self.system = self._meta("graph", "external_system") or ""
        self.recipe = self._meta("graph", "recipe") or ""
        self.has_derived_dates = bool(self._meta("graph", DERIVED))
        self.has_named_makers = bool(self._meta("graph", NAMED))
        self.plan_sha256 = self._meta("run", "plan") or str(self._folder.plan()["sha256"])
        state = read_state(self._folder)
        self.closes, self.closed = state.closes, bool(state.closed)
        self.sets_system_fields = self._meta("run", "sets_system_fields") == "True"
        self.began = self.began and self.count("SELECT count(*) FROM run.entity") > 0
        self.has_links = self.count("SELECT count(*) FROM graph.link") > 0
        self._read_findings()
        return self

    def __exit__(self, *_: object) -> None:
        self.db.close()

    def count(self, statement: str, *values: object) -> int:
        """One number."""
        return int(self.db.execute(statement, values).fetchone()[0] or 0)

    def fill(self) -> None:
        """Lists everything that has an id, once."""
        db = self.db
        db.execute("BEGIN")
        db.execute(
            "INSERT INTO planned_object SELECT n, family, id, state, 0 FROM plan"
            " WHERE state IN ('done', 'already_there')"
        )
        db.execute("CREATE INDEX planned_object_id ON planned_object (family, id)")
        db.execute("CREATE INDEX planned_object_order ON planned_object (family, n)")
        db.execute("COMMIT")

    def entity(self, n: int) -> PlannedEntity:
        """One planned entity."""
        row = self.db.execute(f"{_ENTITY} WHERE n = ?", (n,)).fetchone()
        return _planned_entity(row)

    def unnamed_children(self, parents: Mapping[str, int], family: str) -> Iterator[tuple[str, str, PlannedEntity]]:
        """What is planned below parents (their numbers by id) and has no id: the parent's id, its state, and itself."""
        ids = {n: id_ for id_, n in parents.items()}
        ids_json = orjson.dumps(list(ids)).decode()
        rows = self.db.execute(
            "SELECT p.state, e.n, e.key, e.type, e.record, e.parent, e.parent_link, e.fields, e.target, e.line, e.unit,"
            " e.bundle FROM json_each(?) j CROSS JOIN graph.entity e ON e.parent = j.value JOIN plan p ON p.n = e.n"
            " WHERE p.family = ? AND p.state IN ('unnamed', 'open') AND NOT EXISTS"
            " (SELECT 1 FROM planned_object s WHERE s.n = e.n) ORDER BY e.n",
            (ids_json, family),
        ).fetchall()
        for state, *row in rows:
            entity = _planned_entity(row)
            yield ids[entity.parent or 0], str(state), entity

    def has_unnamed(self, family: str, link: str) -> bool:
        """True if something stands that hangs by this link, and the journal does not say where it is."""
        statement = (
            "SELECT 1 FROM plan p JOIN graph.entity e ON e.n = p.n"
            " WHERE p.state = 'unnamed' AND p.family = ? AND e.parent_link = ? LIMIT 1"
        )
        return self.db.execute(statement, (family, link)).fetchone() is not None

    def has_new_version(self, n: int) -> bool:
        """True if the run added a version to the document of this number in the plan, or to one of a record's."""
        statement = (
            "WITH document (n) AS (SELECT :n UNION ALL SELECT n FROM plan WHERE parent = :n AND type = 'Dokument')"
            " SELECT 1 FROM document JOIN plan ON plan.parent = document.n"
            " WHERE plan.type = 'Dokumentversjon' AND plan.state = 'done' LIMIT 1"
        )
        return self.db.execute(statement, {"n": n}).fetchone() is not None

    def archived_entity(self, n: int) -> ArchivedEntity | None:
        """The archived entity of this number in the plan; None if it has no id."""
        row = self.db.execute("SELECT n, id, state, seen FROM planned_object WHERE n = ?", (n,)).fetchone()
        return ArchivedEntity(*row) if row else None

    def archived_as(self, family: str, id_: str) -> ArchivedEntity | None:
        """The archived entity with this id; None if the plan has none."""
        row = self.db.execute(
            "SELECT n, id, state, seen FROM planned_object WHERE family = ? AND id = ?", (family, id_)
        ).fetchone()
        return ArchivedEntity(*row) if row else None

    def batches(self, family: str, condition: str = "1") -> Iterator[list[ArchivedEntity]]:
        """Yields the rows of a family in batches that fit one query; `condition` is never data."""
        last = -1
        statement = (
            f"SELECT n, id, state, seen FROM planned_object WHERE family = ? AND n > ? AND {condition}"  # noqa: S608  # our own words
            f" ORDER BY n LIMIT {IDS_A_QUERY}"
        )
        while rows := self.db.execute(statement, (family, last)).fetchall():
            last = rows[-1][0]
            yield [ArchivedEntity(*row) for row in rows]

    def keep_recognised(self, entity: PlannedEntity, id_: str, state: str) -> ArchivedEntity:
        """Keeps the id of an entity that was recognised in the archive without help of the journal."""
        family = metamodel().types[entity.type].family
        self.db.execute("INSERT INTO planned_object VALUES (?, ?, ?, ?, 0)", (entity.n, family, id_, state))
        return ArchivedEntity(entity.n, id_, state, UNASKED)

    def mark(self, n: int, judgement: int) -> None:
        """Keeps the judgement of an entity."""
        self.db.execute("UPDATE planned_object SET seen = max(seen, ?) WHERE n = ?", (judgement, n))

    def families(self) -> list[str]:
        """The families of what is planned."""
        return [str(row[0]) for row in self.db.execute("SELECT DISTINCT family(type) FROM graph.entity ORDER BY 1")]

    def links(self, n: int) -> list[tuple[str, int]]:
        """The further links of an entity: name, and the number of the other end."""
        if not self.has_links:
            return []
        rows = self.db.execute("SELECT name, other FROM graph.link WHERE entity = ? AND other IS NOT NULL", (n,))
        return [(str(name), int(target)) for name, target in rows]

    def linked_from(self, n: int, name: str) -> bool:
        """True if a planned entity links to this one by that name."""
        if not self.has_links:
            return False
        statement = "SELECT 1 FROM graph.link WHERE other = ? AND name = ? LIMIT 1"
        return self.db.execute(statement, (n, name)).fetchone() is not None

    def has_link(self, entity: int, name: str, target: int) -> bool:
        """True if the plan links an entity to another by that name, as a further link or as its parent."""
        if self.has_links:
            statement = "SELECT 1 FROM graph.link WHERE entity = ? AND name = ? AND other = ? LIMIT 1"
            if self.db.execute(statement, (entity, name, target)).fetchone() is not None:
                return True
        statement = "SELECT 1 FROM graph.entity WHERE n = ? AND parent_link = ? AND parent = ?"
        return self.db.execute(statement, (entity, name, target)).fetchone() is not None

    def many_links(self, kind: str, name: str) -> Iterator[tuple[int, list[int]]]:
        """The links of a type by a name: the other end, and up to a query's worth of those that link to it."""
        last = (-1, -1)
        while True:
            rows = self.db.execute(
                "SELECT l.other, l.entity FROM graph.link l JOIN graph.entity e ON e.n = l.entity"
                " WHERE l.name = ? AND e.type = ? AND l.other IS NOT NULL AND (l.other, l.entity) > (?, ?)"
                " ORDER BY l.other, l.entity LIMIT ?",
                (name, kind, *last, IDS_A_QUERY),
            ).fetchall()
            if not rows:
                return
            last = rows[-1]
            for target, group in groupby(rows, key=lambda row: int(row[0])):
                yield target, [int(row[1]) for row in group]

    def link_names(self) -> list[tuple[str, str]]:
        """Every type that has further links, with their names."""
        if not self.has_links:
            return []
        rows = self.db.execute(
            "SELECT DISTINCT e.type, l.name FROM graph.link l JOIN graph.entity e ON e.n = l.entity ORDER BY 1, 2"
        )
        return [(str(kind), str(name)) for kind, name in rows.fetchall()]

    def reason_link_missing(self, entity: int, name: str, target: int) -> str:
        """The reason why a link was not made: still to come, or left out with its record; empty if it was made."""
        db = self.db
        late = "SELECT 1 FROM run.late_link WHERE entity = ? AND name = ? AND other = ? AND state = 'planned'"
        if db.execute(late, (entity, name, target)).fetchone():
            return "open"
        row = db.execute(
            "SELECT l.state FROM graph.entity e JOIN run.left_out l ON l.bundle = e.bundle AND e.bundle != 0"
            " WHERE e.n = ?",
            (entity,),
        ).fetchone()
        return str(row[0]) if row else ""

    def keep_file(self, n: int, file: str | None, sha256: str | None, size: object) -> None:
        """Keeps the file that the archive names for a version now."""
        size_bytes = int(str(size)) if str(size).isdigit() else None
        self.db.execute("INSERT OR REPLACE INTO version_file VALUES (?, ?, ?, ?)", (n, file, sha256, size_bytes))

    def loaded_file(self, n: int) -> LoadedFile:
        """The file of a version as the journal remembers it."""
        row = self.db.execute("SELECT file, nullif(sha256, ''), bytes FROM run.entity WHERE n = ?", (n,)).fetchone()
        return LoadedFile(*row) if row else LoadedFile(None, None, None)

    def content(self, n: int) -> Content | None:
        """The content that a version is planned to hold."""
        row = self.db.execute("SELECT * FROM graph.content WHERE entity = ?", (n,)).fetchone()
        return Content(*row[1:]) if row else None

    def _read_findings(self) -> None:
        """`not_closed`: what the run could not close, as type and id, with the state of that finding. `accepted`: by
        number, the checksum of the bytes that somebody took as they are."""
        self.not_closed: dict[str, str] = {}
        self.accepted: dict[int, str] = {}
        if not self.count("SELECT count(*) FROM run.sqlite_master WHERE name = 'finding'"):
            return  # a journal from before findings were kept
        for kind, key, entity, data, state in self.db.execute(
            "SELECT kind, key, entity, data, state FROM run.finding WHERE state != 'mended'"
        ):
            if kind == NOT_CLOSED:
                self.not_closed[str(key)] = str(state)
            elif kind == CHECKSUM and state == "accepted" and entity is not None:
                self.accepted[int(entity)] = str(orjson.loads(data).get("theirs") or "").lower()

    def _meta(self, schema: str, name: str) -> str | None:
        row = self.db.execute(f"SELECT value FROM {schema}.meta WHERE name = ?", (name,)).fetchone()  # noqa: S608  # our own words
        return None if row is None else str(row[0])


def _planned_entity(row: tuple[object, ...] | list[object]) -> PlannedEntity:
    n, key, kind, record, parent, parent_link, fields, *remaining = row
    values: dict[str, FieldValue] = orjson.loads(str(fields))
    return PlannedEntity(n, key, kind, record, parent, parent_link, values, *remaining)  # type: ignore[arg-type]  # as the table has it
