"""What the journal says the run made, in the order in which it can go; what must stay, and why.

A table of its own in a temporary database, since a run may have made millions of objects. A record goes whole, with its
documents, their versions and its parties, and a folder with its parties: that is a group, and the record or folder its
head. So nothing is ever half gone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import orjson

from noarkit.graph.store import PlannedEntity
from noarkit.loading.attached import attach_plan, attach_run
from noarkit.loading.folder import RunFolder
from noarkit.loading.retraction.record import KEPT, RetractedObject
from noarkit.model import metamodel

# Each after all that may hang below it or lead to it: a folder leads to its class, a series to its system.
_LAYERS = (
    ("Presedens",),
    ("Dokumentversjon",),
    ("Dokument",),
    ("AbstraktRegistrering",),
    ("AbstraktMappe",),
    ("Arkivdel",),
    ("Klasse",),
    ("Klassifikasjonssystem",),
    ("Arkiv",),
)
_MOST_MEMBERS = 500
TOO_LARGE = "too-large"
MOST_CHECKS = 5000
"""The most parts of one record or folder whose versions go with its delete."""
_LAYER = {family: place for place, families in enumerate(_LAYERS, 1) for family in families}

_CANDIDATE = (
    "CREATE TABLE candidate (n INTEGER PRIMARY KEY, id TEXT NOT NULL, type TEXT NOT NULL, family TEXT NOT NULL,"
    " parent INTEGER, owned INTEGER NOT NULL, head INTEGER NOT NULL, layer INTEGER NOT NULL,"
    " depth INTEGER NOT NULL DEFAULT 0,"
    " settled INTEGER NOT NULL DEFAULT 0, reason TEXT, detail TEXT)"
)
_FILL = (
    "INSERT INTO candidate (n, id, type, family, parent, owned, head, layer)"
    " SELECT p.n, e.id, p.type, family(p.type), p.parent, owned(p.type),"
    " iif(p.bundle IN (SELECT n FROM run.entity WHERE state = 'done'), p.bundle, p.n),"
    " layer(p.type) FROM plan.entity p JOIN run.entity e ON e.n = p.n WHERE e.state = 'done' AND e.id != ''"
)
_OWNERS = (
    "UPDATE candidate SET head = above.head FROM candidate above"
    " WHERE candidate.owned AND candidate.head = candidate.n AND above.n = candidate.parent"
)
_DEPTHS = (
    "WITH RECURSIVE level (n, depth) AS ("
    " SELECT n, 0 FROM candidate c WHERE parent IS NULL OR parent NOT IN (SELECT n FROM candidate)"
    " UNION ALL SELECT c.n, level.depth + 1 FROM level JOIN candidate c ON c.parent = level.n)"
    " UPDATE candidate SET depth = level.depth FROM level WHERE level.n = candidate.n"
)
_INDEXES = (
    "CREATE INDEX candidate_parent ON candidate (parent)",
    "CREATE INDEX candidate_id ON candidate (family, id)",
    "CREATE INDEX candidate_head ON candidate (head)",
    "CREATE INDEX candidate_order ON candidate (settled, layer, depth DESC, n DESC)",
)
# What something that stays needs, stays: what it hangs under, what it leads to, and all of its own group.
_SPREAD = (
    "UPDATE candidate SET reason = 'needed', detail = (SELECT k.type || ' ' || k.id FROM candidate k"
    " WHERE k.reason IS NOT NULL AND k.parent = candidate.n LIMIT 1)"
    " WHERE reason IS NULL AND settled = 0"
    " AND n IN (SELECT parent FROM candidate WHERE reason IS NOT NULL AND settled = 0)",
    "UPDATE candidate SET reason = 'needed', detail = (SELECT k.type || ' ' || k.id FROM candidate k"
    " JOIN plan.link l ON l.entity = k.n WHERE k.reason IS NOT NULL AND l.other = candidate.n LIMIT 1)"
    " WHERE reason IS NULL AND settled = 0 AND n IN (SELECT l.other FROM plan.link l JOIN candidate k ON k.n = l.entity"
    " WHERE k.reason IS NOT NULL AND k.settled = 0)",
    "UPDATE candidate SET reason = 'needed', detail = (SELECT k.type || ' ' || k.id FROM candidate k"
    " WHERE k.reason IS NOT NULL AND k.head = candidate.head LIMIT 1)"
    " WHERE reason IS NULL AND settled = 0"
    " AND head IN (SELECT head FROM candidate WHERE reason IS NOT NULL AND settled = 0)",
)


class Candidate(NamedTuple):
    """An object that the run made: its number in the plan, its id, its type, and the head of its group."""

    n: int
    id: str
    type: str
    family: str
    is_owned: int
    head: int


class Selection:
    """The objects of one run that are to go; close() drops the table."""

    def __init__(self, folder: RunFolder) -> None:
        self._db = sqlite3.connect("", isolation_level=None, uri=True)
        try:
            attach_plan(self._db, folder, "plan")
            attach_run(self._db, folder)
            types = metamodel().types
            self._db.create_function("family", 1, lambda kind: types[kind].family, deterministic=True)
            self._db.create_function("owned", 1, lambda kind: int(types[kind].owned), deterministic=True)
            self._db.create_function("layer", 1, lambda kind: _LAYER.get(types[kind].family, 0), deterministic=True)
            self._db.execute(_CANDIDATE)
            self._db.execute(_FILL)
            for statement in _INDEXES:
                self._db.execute(statement)
            # an external id of a party: its head is found when that of the party is
            while self._db.execute(_OWNERS).rowcount:
                pass
            self._db.execute(_DEPTHS)
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        """Drops it."""
        self._db.close()

    def batches(self, size: int) -> Iterator[list[Candidate]]:
        """All candidates, whatever was said of them, some at a time."""
        last = -1
        while batch := self._candidates("WHERE n > ? ORDER BY n LIMIT ?", last, size):
            yield batch
            last = batch[-1].n

    def next_group_batch(self, size: int) -> list[Candidate]:
        """The next heads that may go, all of one level, each with what goes with it; empty where none is left."""
        heads = self._db.execute(
            "SELECT n, layer, depth FROM candidate WHERE settled = 0 AND reason IS NULL AND head = n"
            " ORDER BY layer, depth DESC, n DESC LIMIT ?",
            (size,),
        ).fetchall()
        numbers = [n for n, layer, depth in heads if (layer, depth) == heads[0][1:]]
        members = 0
        for place, head in enumerate(numbers):
            members += self._db.execute("SELECT count(*) FROM candidate WHERE head = ?", (head,)).fetchone()[0]
            if members > _MOST_MEMBERS and place:
                numbers = numbers[:place]
                break
        condition = "WHERE head IN (SELECT value FROM json_each(?)) AND settled = 0 ORDER BY n DESC"
        return self._candidates(condition, orjson.dumps(numbers).decode())

    def keep(self, n: int, reason: str, detail: str) -> None:
        """Says that an object stays; the first reason is kept."""
        statement = "UPDATE candidate SET reason = ?, detail = ? WHERE n = ? AND reason IS NULL"
        self._db.execute(statement, (reason, detail, n))

    def keep_large(self, most_checks: int) -> None:
        """Lets every group stay that has more parts, to which others may have added, than one delete can check."""
        rows = self._db.execute(
            "SELECT head, count(*) FROM candidate c WHERE settled = 0 AND head != n AND NOT owned"
            " AND EXISTS (SELECT 1 FROM candidate h WHERE h.n = c.head AND h.settled = 0)"
            " GROUP BY head HAVING count(*) > ?",
            (most_checks,),
        )
        for head, count in rows.fetchall():
            self.keep(head, TOO_LARGE, f"{count} > {most_checks}")

    def spread(self) -> None:
        """Lets everything stay that is needed by what stays."""
        while sum(self._db.execute(statement).rowcount for statement in _SPREAD):
            pass

    def open_ones(self, numbers: Iterable[int]) -> frozenset[int]:
        """Which of these may go."""
        statement = "SELECT n FROM candidate WHERE n IN (SELECT value FROM json_each(?)) AND reason IS NULL"
        return frozenset(n for (n,) in self._db.execute(statement, (orjson.dumps(list(numbers)).decode(),)))

    def set_absent(self, numbers: Iterable[int]) -> None:
        """These are not there."""
        self._db.executemany("UPDATE candidate SET settled = 2 WHERE n = ?", [(n,) for n in numbers])

    def absent_batches(self, size: int) -> Iterator[list[Candidate]]:
        """Those that are not there, some at a time; each batch is to be settled before the next."""
        while batch := self._candidates("WHERE settled = 2 LIMIT ?", size):
            yield batch

    def settle(self, numbers: Iterable[int]) -> None:
        """These are gone."""
        self._db.executemany("UPDATE candidate SET settled = 1 WHERE n = ?", [(n,) for n in numbers])

    def has(self, family: str, archive_id: str) -> bool:
        """True for an object that the run made."""
        statement = "SELECT 1 FROM candidate WHERE family = ? AND id = ?"
        return self._db.execute(statement, (family, archive_id)).fetchone() is not None

    def found_above(self) -> dict[str, list[str]]:
        """Ids, by family, of what stood there before the run and has candidates right below it; some of them."""
        rows = self._db.execute(
            "SELECT DISTINCT family(p.type), e.id FROM candidate c JOIN plan.entity p ON p.n = c.parent"
            " JOIN run.entity e ON e.n = p.n WHERE e.state = 'already_there' AND e.id != '' LIMIT 50"
        )
        ids_by_family: dict[str, list[str]] = {}
        for family, archive_id in rows:
            ids_by_family.setdefault(family, []).append(archive_id)
        return ids_by_family

    def planned(self, numbers: Iterable[int]) -> dict[int, PlannedEntity]:
        """What the plan says of these."""
        rows = self._db.execute(
            "SELECT n, key, type, record, parent, parent_link, fields, target, line, unit, bundle FROM plan.entity"
            " WHERE n IN (SELECT value FROM json_each(?))",
            (orjson.dumps(list(numbers)).decode(),),
        )
        return {row[0]: _planned_entity(row) for row in rows}

    def id_of(self, n: int) -> str | None:
        """The id of an entity of the plan, made by the run or found there."""
        row = self._db.execute("SELECT id FROM run.entity WHERE n = ?", (n,)).fetchone()
        return row[0] if row else None

    def sha256_of(self, n: int) -> str | None:
        """The checksum of the file that a version was loaded with."""
        row = self._db.execute("SELECT sha256 FROM run.entity WHERE n = ?", (n,)).fetchone()
        return row[0] if row else None

    def links_of(self, n: int) -> list[tuple[str, str]]:
        """The further links of an entity that the plan makes: name, and the id at the other end."""
        rows = self._db.execute(
            "SELECT l.name, e.id FROM plan.link l JOIN run.entity e ON e.n = l.other WHERE l.entity = ?", (n,)
        )
        return rows.fetchall()

    def counts(self) -> dict[str, int]:
        """How many objects of each type may go."""
        rows = self._db.execute(
            "SELECT type, count(*) FROM candidate WHERE reason IS NULL AND settled = 0 GROUP BY type ORDER BY min(n)"
        )
        return dict(rows.fetchall())

    def kept_objects(self) -> Iterator[RetractedObject]:
        """What stays, and why, in the order of the plan."""
        rows = self._db.execute(
            "SELECT c.n, p.key, c.type, c.id, c.reason, coalesce(c.detail, '') FROM candidate c"
            " JOIN plan.entity p ON p.n = c.n WHERE c.reason IS NOT NULL AND c.settled = 0 ORDER BY c.n"
        )
        for n, key, kind, archive_id, reason, detail in rows:
            yield RetractedObject(n, key, kind, archive_id, KEPT, reason, detail)

    def _candidates(self, condition: str, *values: object) -> list[Candidate]:
        rows = self._db.execute(f"SELECT n, id, type, family, owned, head FROM candidate {condition}", values)  # noqa: S608  # our own words
        return [Candidate(*row) for row in rows]


def _planned_entity(row: tuple[Any, ...]) -> PlannedEntity:  # sqlite3 does not type its rows
    n, key, kind, record, parent, parent_link, fields, target, line, unit, bundle = row
    return PlannedEntity(n, key, kind, record, parent, parent_link, orjson.loads(fields), target, line, unit, bundle)
