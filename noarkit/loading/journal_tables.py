"""The tables of run.db, and what makes a journal of an older version one of this.

A column or a table is added, never changed: what an older journal does not know is unknown, and it still opens.
"""

from __future__ import annotations

from collections.abc import Mapping

JOURNAL_VERSION = 5

_FINDING = (
    "CREATE TABLE finding (kind TEXT NOT NULL, key TEXT NOT NULL, entity INTEGER, data TEXT NOT NULL,"
    " state TEXT NOT NULL, at REAL, who TEXT, PRIMARY KEY (kind, key)) WITHOUT ROWID"
)
_RETRACTION = (
    "CREATE TABLE retraction (n INTEGER PRIMARY KEY, type TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL,"
    " reason TEXT NOT NULL, detail TEXT NOT NULL, at REAL NOT NULL)"
)
# what the run finalised, entity by entity
_CLOSED = "CREATE TABLE closed_entity (n INTEGER PRIMARY KEY)"
# the file of a version that is about to be put in place of another: of an upload first, then of what links it
_MENDING = "CREATE TABLE mending (n INTEGER PRIMARY KEY, file TEXT, sha256 TEXT, bytes INTEGER, sent_at REAL)"
TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE shard (n INTEGER PRIMARY KEY, kind TEXT NOT NULL, state TEXT NOT NULL, attempt INTEGER NOT NULL)",
    "CREATE TABLE chunk (key TEXT PRIMARY KEY, shard INTEGER NOT NULL, place INTEGER NOT NULL, state TEXT NOT NULL,"
    " first_unit INTEGER, first_bundle INTEGER, first_n INTEGER,"
    " last_unit INTEGER, last_bundle INTEGER, last_n INTEGER, sent_at REAL, code TEXT) WITHOUT ROWID",
    "CREATE INDEX chunk_shard ON chunk (shard, first_unit, first_bundle, first_n)",
    "CREATE TABLE entity (n INTEGER PRIMARY KEY, state TEXT NOT NULL, id TEXT, file TEXT, sha256 TEXT, bytes INTEGER)",
    "CREATE TABLE left_out (bundle INTEGER PRIMARY KEY, state TEXT NOT NULL, code TEXT NOT NULL, data TEXT NOT NULL)",
    "CREATE TABLE guard (shard INTEGER PRIMARY KEY, id TEXT NOT NULL, version TEXT NOT NULL)",
    "CREATE TABLE late_link (entity INTEGER NOT NULL, name TEXT NOT NULL, other INTEGER NOT NULL, state TEXT NOT NULL,"
    " PRIMARY KEY (entity, name, other)) WITHOUT ROWID",
    "CREATE TABLE event (n INTEGER PRIMARY KEY, at REAL NOT NULL, name TEXT NOT NULL, data TEXT NOT NULL)",
    _FINDING,
    _RETRACTION,
    _CLOSED,
    _MENDING,
)
# Invariant 1: an intent that the disk has not kept would let a chunk be sent twice after a power cut. NORMAL, usual
# with WAL, may lose the last transactions.
PRAGMAS = ("journal_mode = WAL", "synchronous = FULL")
# In a folder that several machines share: WAL needs memory that they do not share.
SHARED_PRAGMAS = ("journal_mode = DELETE", "synchronous = FULL")
UPGRADES: Mapping[int, tuple[str, ...]] = {
    1: (_FINDING,),
    2: (_RETRACTION,),
    # a run that was closed whole had closed all it made, but for what is listed as not closed
    3: (
        _CLOSED,
        "INSERT INTO closed_entity SELECT n FROM entity WHERE state = 'done' AND EXISTS (SELECT 1 FROM meta"
        " WHERE name = 'objects_closed' AND value = (SELECT CAST(count(*) AS TEXT) FROM entity WHERE state = 'done'))"
        " AND id NOT IN (SELECT substr(key, instr(key, ' ') + 1) FROM finding WHERE kind = 'not-closed'"
        " AND state != 'mended')",
    ),
    4: (_MENDING,),
}
