"""The full-text index: one FTS5 entry per object, with the fields that are searched by default.

Nothing is indexed while objects are written. Before a search, `catch_up` follows the change log from its last position,
in batches so that writers get their turn in between; everything committed before a search is therefore found by it.

Fields that stay readable on a screened object are in the open columns, all others in the closed columns.
"""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

import orjson

from noarkit.server.calling import Call
from noarkit.server.query.request import number_member, object_member, text_member
from noarkit.server.rendering import OPEN_TEXTS
from noarkit.server.schema import table_name
from noarkit.server.service import Service
from noarkit.server.wire import Answer, Refusal

TEXT = "tekst"
OPEN = ("open1", "open2")
CLOSED = ("closed1", "closed2", "closed3", "closed4")
COLUMNS = (*OPEN, *CLOSED)
SEARCHED: Mapping[str, tuple[str, ...]] = {
    "Klasse": ("klasseIdent", "tittel"),
    "AbstraktMappe": ("mappeIdent", "tittel", "offentligTittel", "saksansvarlig"),
    "Sakspart": ("sakspartNavn", "kontaktperson"),
    "AbstraktRegistrering": ("registreringsIdent", "tittel", "offentligTittel"),
    "Korrespondansepart": ("korrespondansepartNavn", "epostadresse", "kontaktperson", "foedselsnummer"),
    "Dokument": ("tittel", "beskrivelse"),
    "Dokumentversjon": (TEXT,),
    "Noekkelord": ("verdi",),
    "Arkivdel": ("tittel",),
}
_BATCH = 2000


def tables() -> Iterator[str]:
    """The statements that create the tables of the index."""
    yield "CREATE TABLE fulltext_position (revision INTEGER NOT NULL)"
    yield "INSERT INTO fulltext_position VALUES (0)"
    yield "CREATE TABLE fulltext_text (id INTEGER PRIMARY KEY, text TEXT NOT NULL)"
    yield (
        f"CREATE VIRTUAL TABLE fulltext_entry USING fts5 (family UNINDEXED, {', '.join(COLUMNS)},"
        ' tokenize="unicode61 remove_diacritics 0")'
    )


def places(family: str) -> dict[str, str]:
    """The index column of each searched field of a family."""
    free = {True: iter(OPEN), False: iter(CLOSED)}
    return {name: next(free[name in OPEN_TEXTS]) for name in SEARCHED[family]}


def catch_up(service: Service) -> int:
    """Indexes all that was committed before; says how many changes that were."""
    followed = 0
    while True:
        with service.db.snapshot() as db:
            if not _pending(db):
                return followed
        with service.db.transaction() as db:
            followed += _follow(db)


def set_text(call: Call) -> Answer:
    """POST /full-text/set: the text of a document version, or none."""
    members = object_member(call.body, "the body")
    version_id = number_member(members, "dokumentversjonId", None)
    text = text_member(members, "tekst", "")
    rights = call.caller.rights
    with call.service.db.transaction() as db:
        row = db.execute("SELECT 1 FROM o_dokumentversjon WHERE id = ?", (version_id,)).fetchone()
        if row is None or not rights.may_read(db, "Dokumentversjon", version_id):
            raise Refusal(404, f"Dokumentversjon {version_id} does not exist.")
        if not rights.may_change(db, "Update", "Dokumentversjon", version_id):
            raise Refusal(403, f"Setting the text of Dokumentversjon {version_id} needs the permission Update.")
        # an empty text says that there is none, and goes before what its file holds, too
        db.execute("INSERT OR REPLACE INTO fulltext_text VALUES (?, ?)", (version_id, text))
        index(db, [version_id])
    return Answer()


def _pending(db: sqlite3.Connection) -> bool:
    newest = db.execute("SELECT MAX(revision_id) FROM change_log").fetchone()[0]
    return newest is not None and newest > _position(db)


def _position(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT revision FROM fulltext_position").fetchone()[0])


def _follow(db: sqlite3.Connection) -> int:
    """Indexes the next batch of changes."""
    rows = db.execute(
        "SELECT revision_id, object_id FROM change_log WHERE revision_id > ? ORDER BY revision_id LIMIT ?",
        (_position(db), _BATCH),
    ).fetchall()
    if rows:
        index(db, list({int(row[1]) for row in rows if row[1] is not None}))
        db.execute("UPDATE fulltext_position SET revision = ?", (rows[-1][0],))
    return len(rows)


def index(db: sqlite3.Connection, ids: Sequence[int]) -> None:
    """Replaces the entries of some objects; what no longer exists or has no words loses its own."""
    ids_json = orjson.dumps(ids).decode()
    db.executemany("DELETE FROM fulltext_entry WHERE rowid = ?", ((object_id,) for object_id in ids))
    for family in SEARCHED:
        db.executemany(
            f"INSERT INTO fulltext_entry (family, rowid, {', '.join(COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608  # our own names
            _entries(family, db.execute(_SOURCES[family], (ids_json,)).fetchall()),
        )
    is_gone_sql = "id IN (SELECT value FROM json_each(?)) AND id NOT IN (SELECT id FROM o_dokumentversjon)"
    for table in ("fulltext_text", "fulltext_read"):
        db.execute(f"DELETE FROM {table} WHERE {is_gone_sql}", (ids_json,))  # noqa: S608  # our own names


def _entries(family: str, rows: Iterable[Sequence[object]]) -> Iterator[tuple[object, ...]]:
    order = [COLUMNS.index(column) for column in places(family).values()]
    for object_id, *values in rows:
        cells: list[str | None] = [None] * len(COLUMNS)
        for place, value in zip(order, values, strict=True):
            cells[place] = unicodedata.normalize("NFC", str(value)) if value is not None else None
        if any(cells):
            yield family, object_id, *cells


def _source(family: str) -> str:
    if family == "Dokumentversjon":
        return (
            "SELECT v.id, COALESCE(told.text, found.text) FROM o_dokumentversjon v"
            " LEFT JOIN fulltext_text told ON told.id = v.id LEFT JOIN fulltext_read found ON found.id = v.id"
            " WHERE v.id IN (SELECT value FROM json_each(?))"
        )
    columns = ", ".join(["id", *(f'"{name}"' for name in SEARCHED[family])])
    return f"SELECT {columns} FROM {table_name(family)} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608  # names of the metamodel


_SOURCES: Mapping[str, str] = {family: _source(family) for family in SEARCHED}
