"""run.db: the journal of a run. One process writes it; any number may read it.

States of a chunk: planned → intent → done, with in_doubt, refused and set_aside. States of an entity: done,
already_there, set_aside, refused; an entity without a row is planned. Every change is durable when the method returns.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from noarkit.graph.store import Chunk, GraphStore
from noarkit.loading.clocks import Clocks
from noarkit.loading.journal_tables import JOURNAL_VERSION, PRAGMAS, SHARED_PRAGMAS, TABLES, UPGRADES
from noarkit.loading.lease import (
    BundleLeftOut,
    BytesDiffer,
    ChunkDone,
    ChunkInDoubt,
    ChunkSent,
    ChunkSplit,
    ChunkTask,
    Guard,
    LinksMade,
    Outcome,
)
from noarkit.loading.tables import change_tables, open_tables
from noarkit.safe.disk import translate_sqlite_errors

CHECKSUM, NOT_CLOSED = "checksum", "not-closed"
SHARD_SET_ASIDE = "F432"
_PERHAPS_SENT = "F431"  # its worker was lost, and nothing was heard of a sending

_SENT, _WAS_SENT = ("chunk", "mending"), " WHERE sent_at IS NOT NULL"

Row = tuple[Any, ...]  # sqlite3 does not type its rows


@dataclass(frozen=True, slots=True)
class ArchiveFinding:
    """A finding: something of this run that is wrong in the archive, by kind and key, with the data of its fault."""

    kind: str
    key: str
    entity: int | None
    data: Mapping[str, object]


class Journal:
    """An open run.db, synchronous=FULL. With `is_shared` it may lie in a folder that other machines have open too."""

    def __init__(self, path: Path, *, is_shared: bool = False) -> None:
        self.path = path
        pragmas = SHARED_PRAGMAS if is_shared else PRAGMAS
        self._db = open_tables(path, TABLES, JOURNAL_VERSION, pragmas=pragmas, upgrades=UPGRADES, threads=True)

    def close(self) -> None:
        """Ends the connection."""
        self._db.close()

    def checkpoint(self) -> None:
        """Brings what lies beside the file into it, as far as nobody reads there."""
        with translate_sqlite_errors(self.path):
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def meta(self, name: str) -> str | None:
        """One fact of the run, None if it was not remembered."""
        with translate_sqlite_errors(self.path):
            row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def remember(self, **facts: str) -> None:
        """Remembers facts of the run by name."""
        with change_tables(self._db, self.path) as db:
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", facts.items())

    def change(self) -> AbstractContextManager[sqlite3.Connection]:
        """A transaction of the journal, for what has a table of its own in it. Raises `DiskFull`, `JournalFault`."""
        return change_tables(self._db, self.path)

    def rows(self, statement: str, values: tuple[object, ...]) -> list[Row]:
        """The rows of a statement of ours."""
        return self._rows(statement, values)

    def forget_doubts(self, shard: int) -> None:
        """Chunks that were asked for after their deadline and are not there are planned, as if never sent."""
        with change_tables(self._db, self.path) as db:
            db.execute(
                "UPDATE chunk SET state = 'planned', sent_at = NULL, code = NULL"
                " WHERE shard = ? AND state IN ('intent', 'in_doubt')",
                (shard,),
            )
            db.execute("UPDATE shard SET state = 'open' WHERE n = ? AND state != 'done'", (shard,))

    def guards(self) -> list[tuple[int, Guard]]:
        """Every shard that has a guard, with the guard as last known."""
        return [(n, Guard(*row)) for n, *row in self._rows("SELECT shard, id, version FROM guard ORDER BY shard", ())]

    def adopt(self, graph: GraphStore, only: Collection[int] | None = None) -> None:
        """Writes every shard and chunk of the plan (or `only` these shards') as planned; harmless when repeated."""
        shards = [shard[:2] for shard in graph.shards() if only is None or shard[0] in only]
        with change_tables(self._db, self.path) as db:
            # Not INSERT OR IGNORE as for shards: chunks that were split are gone from the table, and must not come back
            # whole.
            adopted = {n for (n,) in db.execute("SELECT n FROM shard")}
            new = [(n, kind) for n, kind in shards if n not in adopted]
            db.executemany("INSERT INTO shard VALUES (?, ?, 'planned', 0)", new)
            for n, _ in new:
                db.executemany(_CHUNK_ROW, map(_chunk_row, graph.chunks(n)))
            if only is not None:
                return
            late = ((link.entity, link.name, link.target) for link in graph.late_links())
            db.executemany("INSERT OR IGNORE INTO late_link VALUES (?, ?, ?, 'planned')", late)

    def take_over(self, other: Path, shards: Collection[int]) -> None:
        """Takes over what another journal knows of these shards and of the entities in it; harmless when repeated."""
        numbers = orjson.dumps(sorted(shards)).decode()
        self._db.execute("ATTACH ? AS other", (str(other),))
        try:
            with change_tables(self._db, self.path) as db:
                for table, column in (("shard", "n"), ("chunk", "shard"), ("guard", "shard")):
                    db.execute(
                        f"INSERT OR REPLACE INTO {table} SELECT * FROM other.{table}"  # noqa: S608  # our own words
                        f" WHERE {column} IN (SELECT value FROM json_each(?))",
                        (numbers,),
                    )
                db.execute("INSERT OR REPLACE INTO entity SELECT * FROM other.entity")
        finally:
            self._db.execute("DETACH other")

    def lease(self, shard: int) -> int:
        """Makes the intents of all open chunks of a shard durable; returns the number of this attempt."""
        with change_tables(self._db, self.path) as db:
            # Invariant 1: one durable write for the whole lease, instead of one before each send.
            db.execute("UPDATE chunk SET state = 'intent' WHERE shard = ? AND state = 'planned'", (shard,))
            row = db.execute(
                "UPDATE shard SET state = 'leased', attempt = attempt + 1 WHERE n = ? RETURNING attempt", (shard,)
            ).fetchone()
        return int(row[0])

    def release(self, shard: int, *, is_done: bool) -> None:
        """Ends a lease. A shard is done only where every chunk is."""
        with change_tables(self._db, self.path) as db:
            db.execute("UPDATE shard SET state = ? WHERE n = ?", ("done" if is_done else "open", shard))

    def set_aside(self, shard: int, bundles: Iterable[BundleLeftOut]) -> None:
        """Sets aside what is open of a shard: its bundles are left out, its chunks wait for `reopen`."""
        with change_tables(self._db, self.path) as db:
            for bundle in bundles:
                self._record_one(db, shard, bundle)
            # Keys and times of sending stay: when it is taken up again, it is settled like any other chunk in doubt.
            db.execute(
                "UPDATE chunk SET state = 'set_aside' WHERE shard = ? AND state IN ('planned', 'intent', 'in_doubt')",
                (shard,),
            )
            db.execute("UPDATE shard SET state = 'done' WHERE n = ?", (shard,))

    def keep_time(self, clocks: Clocks) -> None:
        """Converts the times of sending to this boot's steady clock, by way of the archive's clock.

        Where the archive's clock is not known for both boots, a chunk counts as sent now, the latest it can be.
        """
        # Times of sending are kept by a steady clock, which starts anew with the machine. Example: sent at 5000 of the
        # last boot, when the archive's clock was 200 ahead; now it is 5100 ahead: 5000 + 200 - 5100 = 100 by this
        # boot's clock. Where that cannot be told, «now» is the safe guess: it waits too long rather than too short.
        now, archive_now = clocks.steady_s(), clocks.archive_s()
        clock_offset_s = None if archive_now is None else archive_now - now
        was = self.meta("archive_ahead_s")
        with change_tables(self._db, self.path) as db:
            if not clocks.boot or self.meta("boot") != clocks.boot:
                shift = float(was) - clock_offset_s if was and clock_offset_s is not None else None
                for table in _SENT:
                    db.execute(f"UPDATE {table} SET sent_at = coalesce(sent_at + ?, ?)" + _WAS_SENT, (shift, now))  # noqa: S608  # our own words
            # A time in the future would make every later settling wait for it.
            for table in _SENT:
                db.execute(f"UPDATE {table} SET sent_at = min(sent_at, ?)" + _WAS_SENT, (now,))  # noqa: S608  # our own words
            facts = {"boot": clocks.boot, "archive_ahead_s": "" if clock_offset_s is None else str(clock_offset_s)}
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", facts.items())

    def mark_all_in_doubt(self, at: float) -> int:
        """Marks the open chunks of all leased shards as in doubt, after a crash: they may have been sent until `at`.

        Returns how many chunks.
        """
        # A shard that is leased while nobody holds the run's lock was held by a process that is gone.
        leased = [row[0] for row in self._rows("SELECT n FROM shard WHERE state = 'leased'", ())]
        return sum(self.mark_in_doubt(shard, at) for shard in leased)

    def mark_in_doubt(self, shard: int, at: float) -> int:
        """Marks the open chunks of a lost worker's shard as in doubt: they may have been sent until `at`.

        Returns how many.
        """
        with change_tables(self._db, self.path) as db:
            cursor = db.execute(
                # The code stays where a send is on record; F431 marks chunks of which nobody knows whether they were
                # ever sent.
                "UPDATE chunk SET state = 'in_doubt', sent_at = ?, code = iif(sent_at IS NULL, ?, code)"
                " WHERE shard = ? AND state IN ('intent', 'in_doubt')",
                (at, _PERHAPS_SENT, shard),
            ).rowcount
            db.execute("UPDATE shard SET state = 'open' WHERE n = ?", (shard,))
        return cursor

    def tasks(self, shard: int) -> tuple[ChunkTask, ...]:
        """The chunks of a shard that have no outcome yet, in order; those that were ever sent are to be settled."""
        rows = self._rows(
            "SELECT key, first_unit, first_bundle, first_n, last_unit, last_bundle, last_n, sent_at, code FROM chunk"
            " WHERE shard = ? AND state IN ('planned', 'intent', 'in_doubt')"
            " ORDER BY first_unit, first_bundle, first_n",
            (shard,),
        )
        return tuple(
            ChunkTask(key, (fu, fb, fn), (lu, lb, ln), sent_at, surely_sent=code != _PERHAPS_SENT)
            for key, fu, fb, fn, lu, lb, ln, sent_at, code in rows
        )

    def open_shards(self) -> list[tuple[int, str]]:
        """The shards that are not done, in order: number and kind."""
        return [(n, kind) for n, kind in self._rows("SELECT n, kind FROM shard WHERE state != 'done' ORDER BY n", ())]

    def ids(self, numbers: Iterable[int]) -> dict[int, str]:
        """The archive's ids of entities, where they are known."""
        # One JSON parameter in place of thousands of `?`, of which SQLite allows only so many. CROSS JOIN keeps the
        # order of the tables: few numbers, each found in `entity` by its key.
        numbers_json = orjson.dumps(list(numbers)).decode()
        rows = self._rows(
            "SELECT n, entity.id FROM json_each(?) j CROSS JOIN entity ON entity.n = j.value WHERE entity.id != ''",
            (numbers_json,),
        )
        return dict(rows)

    def already_there(self, numbers: Iterable[int]) -> frozenset[int]:
        """Those of these entities that another run had put into the archive."""
        numbers_json = orjson.dumps(list(numbers)).decode()
        rows = self._rows(
            "SELECT n FROM json_each(?) j CROSS JOIN entity ON entity.n = j.value WHERE entity.state = 'already_there'",
            (numbers_json,),
        )
        return frozenset(row[0] for row in rows)

    def left_out_bundles(self) -> dict[int, tuple[str, str, dict[str, object]]]:
        """Bundles that were set aside or refused: state, code, data."""
        rows = self._rows("SELECT bundle, state, code, data FROM left_out ORDER BY bundle", ())
        return {bundle: (state, code, orjson.loads(data)) for bundle, state, code, data in rows}

    def left_out_of(self, bundle: int) -> str | None:
        """The code that a bundle was left out for; None where it was not."""
        rows = self._rows("SELECT code FROM left_out WHERE bundle = ?", (bundle,))
        return str(rows[0][0]) if rows else None

    def guard(self, shard: int) -> Guard | None:
        """The guard of a shard, as last known."""
        rows = self._rows("SELECT id, version FROM guard WHERE shard = ?", (shard,))
        return Guard(*rows[0]) if rows else None

    def forget_guard(self, shard: int) -> None:
        """Lets a shard's guard be found or made anew."""
        with change_tables(self._db, self.path) as db:
            db.execute("DELETE FROM guard WHERE shard = ?", (shard,))

    def keep_guard(self, shard: int, guard: Guard) -> None:
        """Remembers a shard's guard."""
        with change_tables(self._db, self.path) as db:
            db.execute("INSERT OR REPLACE INTO guard VALUES (?, ?, ?)", (shard, guard.id, guard.version))

    def record(self, shard: int, outcomes: Iterable[Outcome]) -> None:
        """Commits what a worker said, in one transaction."""
        with change_tables(self._db, self.path) as db:
            # One fsync for all that came together; a crash loses all of it or nothing, and what is lost is settled
            # again.
            for outcome in outcomes:
                self._record_one(db, shard, outcome)

    def losses(self) -> dict[str, int]:
        """How many shards were handed on after their worker was lost, and how many were set aside for it."""
        counts: dict[str, int] = dict(
            self._rows("SELECT name, count(*) FROM event WHERE name LIKE 'shard_%' GROUP BY name", ())
        )
        return {"handed_on": counts.get("shard_handed_on", 0), "set_aside": counts.get("shard_set_aside", 0)}

    def last_note_at(self, prefix: str) -> float | None:
        """When the last note was made whose name begins so, in seconds since 1970."""
        rows = self._rows("SELECT max(at) FROM event WHERE substr(name, 1, ?) = ?", (len(prefix), prefix))
        return None if rows[0][0] is None else float(rows[0][0])

    def first_note_at(self, prefix: str) -> float | None:
        """When the first note was made whose name begins so, in seconds since 1970."""
        rows = self._rows("SELECT min(at) FROM event WHERE substr(name, 1, ?) = ?", (len(prefix), prefix))
        return None if rows[0][0] is None else float(rows[0][0])

    def last_note(self, name: str) -> dict[str, object] | None:
        """What the last note of that name says; None if there is none."""
        rows = self._rows("SELECT data FROM event WHERE name = ? ORDER BY n DESC LIMIT 1", (name,))
        note = orjson.loads(rows[0][0]) if rows else None
        return note if isinstance(note, dict) else None

    def add_note(self, at: float, name: str, data: Mapping[str, object]) -> None:
        """Writes one line of the run's story."""
        with change_tables(self._db, self.path) as db:
            db.execute("INSERT INTO event (at, name, data) VALUES (?, ?, ?)", (at, name, orjson.dumps(data).decode()))

    def late_links(self) -> Iterator[tuple[int, str, int]]:
        """Links between units that are not made yet."""
        yield from self._rows(
            "SELECT entity, name, other FROM late_link WHERE state = 'planned' ORDER BY entity, name, other", ()
        )

    def reopen(self, graph: GraphStore, code: str | None = None) -> int:
        """Opens what was set aside or refused (all, or one fault code) for another try; returns how many bundles."""
        with change_tables(self._db, self.path) as db:
            condition, values = ("WHERE code = ?", (code,)) if code else ("", ())
            rows = db.execute(f"SELECT bundle, code FROM left_out {condition}", values).fetchall()  # noqa: S608  # our own words
            bundles = [row[0] for row in rows]
            for bundle, left_out_code in rows:
                if left_out_code == SHARD_SET_ASIDE:
                    continue
                # By its place in the order: its number alone is of its arrival, and may lie outside of its chunk's.
                place = (graph.entity(bundle).unit, bundle)
                db.execute("DELETE FROM left_out WHERE bundle = ?", (bundle,))
                db.execute(
                    # under another key: the anchor of the first time says nothing about the next
                    "UPDATE chunk SET key = key || '~', state = 'planned', sent_at = NULL"
                    " WHERE state IN ('done', 'refused')"
                    " AND (first_unit, first_bundle) <= (?, ?) AND (last_unit, last_bundle) >= (?, ?)",
                    (*place, *place),
                )
            if code in (None, SHARD_SET_ASIDE):
                db.execute("DELETE FROM left_out WHERE code = ?", (SHARD_SET_ASIDE,))
                # Under the same key, as what may have been sent: a commit that was late is found, not made again.
                db.execute(
                    "UPDATE chunk SET state = iif(sent_at IS NULL, 'planned', 'in_doubt') WHERE state = 'set_aside'"
                )
            db.execute(_OPEN_SHARDS)
            if bundles:
                db.execute("DELETE FROM meta WHERE name = 'closed'")  # what comes now is open
            statement = "UPDATE finding SET state = 'asked' WHERE state = 'open' AND ? IN ('', 'F314', 'F700')"
            db.execute(statement, (code or "",))
            db.execute(_OPEN_LINKS)
        return len(bundles)

    def findings(self, *states: str) -> list[ArchiveFinding]:
        """The findings that are neither repaired nor accepted (or are in these states), by kind and key."""
        wanted_states = states or ("open", "asked")
        placeholders = ",".join("?" * len(wanted_states))
        rows = self._rows(
            f"SELECT kind, key, entity, data FROM finding WHERE state IN ({placeholders}) ORDER BY kind, key",  # noqa: S608  # our own words
            wanted_states,
        )
        return [ArchiveFinding(kind, key, entity, orjson.loads(data)) for kind, key, entity, data in rows]

    def keep_findings(self, findings: Iterable[ArchiveFinding]) -> None:
        """Keeps findings; those accepted before stay accepted."""
        with change_tables(self._db, self.path) as db:
            for finding in findings:
                _keep_finding(db, finding)

    def settle(self, kind: str, key: str, state: str, at: float, author: str) -> bool:
        """Writes how a finding was settled, when and by whom; False if there is none that is open."""
        with change_tables(self._db, self.path) as db:
            cursor = db.execute(
                "UPDATE finding SET state = ?, at = ?, who = ?"
                " WHERE kind = ? AND key = ? AND state IN ('open', 'asked')",
                (state, at, author, kind, key),
            ).rowcount
            db.execute(
                "INSERT INTO event (at, name, data) SELECT ?, 'finding_settled', ? WHERE ?",
                (at, orjson.dumps({"kind": kind, "key": key, "state": state, "who": author}).decode(), cursor),
            )
        return bool(cursor)

    def explain(self, kind: str, key: str, why: str, code: str) -> None:
        """Keeps why a finding was not mended; nothing where it was."""
        with change_tables(self._db, self.path) as db:
            db.execute(
                "UPDATE finding SET data = json_set(data, '$.why', ?, '$.code', ?) WHERE kind = ? AND key = ?",
                (why, code, kind, key),
            )

    def reopen_lost(self, places: Iterable[tuple[int, int, int]]) -> None:
        """Forgets what is not in the archive any more, and opens its chunks for another try."""
        places = list(places)
        if not places:
            return
        with change_tables(self._db, self.path) as db:
            for place in places:
                n = place[2]
                db.execute("DELETE FROM entity WHERE n = ?", (n,))
                db.execute("DELETE FROM closed_entity WHERE n = ?", (n,))
                db.execute("UPDATE late_link SET state = 'planned' WHERE entity = ?1 OR other = ?1", (n,))
                db.execute(
                    # under another key, as in `reopen`: the anchor of the first time went with it, or says nothing now
                    "UPDATE chunk SET key = key || '~', state = 'planned', sent_at = NULL"
                    " WHERE state IN ('done', 'refused') AND (first_unit, first_bundle, first_n) <= (?, ?, ?)"
                    " AND (last_unit, last_bundle, last_n) >= (?, ?, ?)",
                    (*place, *place),
                )
            # The guard may be gone with them. It is found or made anew, but not while a chunk may still be on its way.
            db.execute(
                "DELETE FROM guard WHERE shard IN (SELECT shard FROM chunk WHERE state = 'planned') AND shard NOT IN"
                " (SELECT shard FROM chunk WHERE state IN ('intent', 'in_doubt'))"
            )
            db.execute(_OPEN_SHARDS)
            db.execute(_OPEN_LINKS)
            db.execute("DELETE FROM meta WHERE name = 'closed'")

    def keep_closed(self, entities: Iterable[int]) -> None:
        """The archive finalised these."""
        with change_tables(self._db, self.path) as db:
            db.executemany("INSERT OR IGNORE INTO closed_entity VALUES (?)", ((n,) for n in entities))

    def chunk_counts(self) -> dict[str, int]:
        """How many chunks are in which state."""
        return dict(self._rows("SELECT state, count(*) FROM chunk GROUP BY state", ()))

    def entity_counts(self) -> dict[str, int]:
        """How many entities are in which state."""
        return dict(self._rows("SELECT state, count(*) FROM entity GROUP BY state", ()))

    def uploaded_bytes(self) -> int:
        """The bytes of all files that stand in the archive through this run."""
        return int(self._rows("SELECT coalesce(sum(bytes), 0) FROM entity WHERE state = 'done'", ())[0][0])

    def _record_one(self, db: sqlite3.Connection, shard: int, outcome: Outcome) -> None:
        if isinstance(outcome, ChunkDone):
            rows = [
                (n, "done", id_, *outcome.files.get(n, (None, None, None))) for n, id_ in outcome.created_ids.items()
            ]
            rows += [(n, "already_there", id_, None, None, None) for n, id_ in outcome.existing_ids.items()]
            # Ids and state in the same transaction: a chunk is done only when all its ids are known (invariant 4).
            # REPLACE, for a settled chunk may be told once more.
            db.executemany("INSERT OR REPLACE INTO entity VALUES (?, ?, ?, ?, ?, ?)", rows)
            db.execute("UPDATE chunk SET state = 'done', code = NULL WHERE key = ?", (outcome.chunk,))
            if outcome.guard_version is not None:
                db.execute("UPDATE guard SET version = ? WHERE shard = ?", (outcome.guard_version, shard))
        elif isinstance(outcome, ChunkSent):
            # The state stays «intent»: if no outcome follows, `mark_in_doubt` finds it.
            db.execute("UPDATE chunk SET sent_at = ?, code = NULL WHERE key = ?", (outcome.at, outcome.chunk))
        elif isinstance(outcome, ChunkInDoubt):
            db.execute(
                "UPDATE chunk SET state = 'in_doubt', sent_at = ?, code = ? WHERE key = ?",
                (outcome.at, outcome.code, outcome.chunk),
            )
        elif isinstance(outcome, ChunkSplit):
            # The halves replace the chunk in one transaction, so that its bundles are never in two chunks, nor in none.
            # They inherit the intent: the worker goes on with them at once.
            db.execute("DELETE FROM chunk WHERE key = ?", (outcome.chunk,))
            db.executemany(
                _CHUNK_ROW,
                ((half.key, shard, i, "intent", *half.first, *half.last) for i, half in enumerate(outcome.halves)),
            )
        elif isinstance(outcome, BytesDiffer):
            data = {"ours": outcome.sent_sha256, "theirs": outcome.archive_sha256}
            _keep_finding(db, ArchiveFinding(CHECKSUM, outcome.key, outcome.entity, data))
        elif isinstance(outcome, LinksMade):
            db.executemany(
                "UPDATE late_link SET state = 'done' WHERE entity = ? AND name = ? AND other = ?", outcome.links
            )
        elif isinstance(outcome, BundleLeftOut):
            db.execute(
                "INSERT OR REPLACE INTO left_out VALUES (?, ?, ?, ?)",
                (outcome.bundle, outcome.state, outcome.code, orjson.dumps(outcome.data, default=str).decode()),
            )

    def _rows(self, statement: str, values: tuple[object, ...]) -> list[Row]:
        with translate_sqlite_errors(self.path):
            return self._db.execute(statement, values).fetchall()


_OPEN_SHARDS = (
    "UPDATE shard SET state = 'open'"
    # A shard that is leased was lost with its coordinator, and is still to be marked as in doubt.
    " WHERE state != 'leased' AND n IN (SELECT shard FROM chunk WHERE state IN ('planned', 'in_doubt'))"
)
_OPEN_LINKS = (
    "UPDATE shard SET state = 'open' WHERE kind = 'links' AND EXISTS (SELECT 1 FROM late_link WHERE state = 'planned')"
)
_CHUNK_ROW = (
    "INSERT INTO chunk (key, shard, place, state, first_unit, first_bundle, first_n, last_unit, last_bundle, last_n)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def _keep_finding(db: sqlite3.Connection, finding: ArchiveFinding) -> None:
    db.execute(
        "INSERT INTO finding (kind, key, entity, data, state) VALUES (?, ?, ?, ?, 'open') ON CONFLICT (kind, key)"
        " DO UPDATE SET data = excluded.data, state = iif(state = 'accepted', state, 'open')",
        (finding.kind, finding.key, finding.entity, orjson.dumps(finding.data, default=str).decode()),
    )


def _chunk_row(chunk: Chunk) -> tuple[object, ...]:
    return (chunk.key, chunk.shard, chunk.n, "planned", *chunk.first, *chunk.last)
