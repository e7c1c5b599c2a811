"""The objects of an archive, asked for type by type in pages, in tables on disk that the tree is walked from."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from itertools import islice

import orjson

from noarkit.archive.administration import Administration
from noarkit.archive.optional import answer_or
from noarkit.archive.paging import objects, pages
from noarkit.archive.port import Archive
from noarkit.archive.values import Json, Order, Query, SavedObject
from noarkit.catalogue.places.noark_objects import DOCUMENT, FOLDERS, RECORDS, VERSION, family_of
from noarkit.errors import ArchiveNotFound, ArchiveRefused, NotAllowed
from noarkit.events import Event, Listener
from noarkit.extraction.changes import own_accounts
from noarkit.extraction.rows import natural
from noarkit.model.own_marks import MARKER_TITLE, ORIGIN_MARKS, OWN_SYSTEMS
from noarkit.safe.scratch import scratch

STRUCTURE = ("Arkiv", "Arkivdel", "Klassifikasjonssystem", "Klasse", FOLDERS, RECORDS)
PARTS = (
    *("Arkivskaper", "Sakspart", "Moetedeltaker", "Korrespondansepart", "Avskrivning", "Dokumentflyt", "Presedens"),
    *("Noekkelord", "Merknad", "NasjonalIdentifikator", "PersonIdentifikator", "Posisjon", "EksternId"),
)
PRECEDENT = "refPresedens"
_BY_ID: tuple[tuple[str, Order], ...] = (("id", "asc"),)
_PAGE = 500
_BATCH = 500
_LOGGED = ("UPDATE", "MOVE")
# of the links of an object, the first of these that it has says what it lies in
_PARENTS: Mapping[str, tuple[str, ...]] = {
    "Arkiv": (),
    "Arkivdel": ("refArkiv",),
    "Klassifikasjonssystem": (),
    "Klasse": ("refForelderKlasse", "refKlassifikasjonssystem"),
    FOLDERS: ("refForelderMappe", "refArkivdel"),
    RECORDS: ("refMappe", "refArkivdel"),
    DOCUMENT: ("refRegistrering",),
    VERSION: ("refDokument",),
}
_OWNERS = (
    *("refRegistrering", "refMappe", "refJournalpost", "refArkivnotat", "refSaksmappe", "refDokument"),
    *("refDokumentversjon", "refArkiv", "refKlasse"),
)
_TARGETS: Mapping[str, str] = {
    **{"refArkiv": "Arkiv", "refArkivdel": "Arkivdel", "refKlassifikasjonssystem": "Klassifikasjonssystem"},
    **{"refForelderKlasse": "Klasse", "refKlasse": "Klasse", "refForelderMappe": FOLDERS, "refMappe": FOLDERS},
    **{"refSaksmappe": FOLDERS, "refRegistrering": RECORDS, "refJournalpost": RECORDS, "refArkivnotat": RECORDS},
    **{"refDokument": DOCUMENT, "refDokumentversjon": VERSION},
}
# links that no object tells by itself: asked for at each object that has any
_MANY = (
    (FOLDERS, "refSekundaerKlasse", "Klasse", "refMappeSomSekundaer"),
    (RECORDS, "refSekundaerKlasse", "Klasse", "refRegistreringSomSekundaer"),
    (FOLDERS, "refKryssreferanseTilMappe", FOLDERS, "refKryssreferanseFraMappe"),
    (FOLDERS, "refKryssreferanseTilRegistrering", RECORDS, "refKryssreferanseFraMappe"),
    (RECORDS, "refKryssreferanseTilMappe", FOLDERS, "refKryssreferanseFraRegistrering"),
    (RECORDS, "refKryssreferanseTilRegistrering", RECORDS, "refKryssreferanseFraRegistrering"),
    ("Saksmappe", PRECEDENT, "Presedens", "refSaksmappe"),
    ("Journalpost", PRECEDENT, "Presedens", "refJournalpost"),
    ("Avskrivning", "refTilknyttetJournalpost", "Journalpost", "refTilknyttetAvskrivning"),
    ("Arkivdel", "refSekundaerKlassifikasjonssystem", "Klassifikasjonssystem", "refArkivdelSomSekundaer"),
    ("Arkivdel", "refArkivdelForloeper", "Arkivdel", "refArkivdelArvtaker"),
)
_TABLES = (
    "CREATE TABLE object (family TEXT, id TEXT, type TEXT, uuid TEXT, owner_family TEXT, owner TEXT, sort TEXT,"
    " data TEXT, PRIMARY KEY (family, id)) WITHOUT ROWID",
    "CREATE TABLE link (family TEXT, id TEXT, name TEXT, target TEXT)",
    "CREATE TABLE change (uuid TEXT, at TEXT, actor TEXT, field TEXT, before TEXT, after TEXT)",
)
_INDEXES = (
    "CREATE INDEX object_owner ON object (owner_family, owner, family)",
    "CREATE INDEX object_uuid ON object (uuid)",
    "CREATE INDEX link_source ON link (family, id)",
    "CREATE INDEX link_target ON link (target)",
    "CREATE INDEX change_uuid ON change (uuid, at)",
)


def fetch_objects(archive: Archive, emit: Listener) -> sqlite3.Connection:
    """Asks for all objects that the account may read, their further links and the change log, and gives the tables
    that they are kept in. Emits `fetched`. Raises faults of the archive."""
    db = scratch(16_384)
    for table in _TABLES:
        db.execute(table)
    db.execute("BEGIN")
    for kind in (*STRUCTURE, DOCUMENT, VERSION, *PARTS):
        for page in pages(archive, Query(kind, order=_BY_ID, limit=_PAGE), prefetch=True):
            rows = [_row(archived) for archived in page.objects if not _is_own(archived)]
            db.executemany("INSERT OR REPLACE INTO object VALUES (?,?,?,?,?,?,?,?)", rows)
            emit(Event("fetched", {"type": kind, "count": len(rows)}))
    for index in _INDEXES:
        db.execute(index)
    db.execute(
        "DELETE FROM object WHERE family = 'Klasse' AND owner_family = 'Klassifikasjonssystem' AND owner NOT IN"
        " (SELECT id FROM object WHERE family = 'Klassifikasjonssystem')"
    )
    _fetch_links(archive, db)
    _fetch_changes(archive, db)
    db.execute("COMMIT")
    db.execute("ANALYZE")
    return db


def last_revision(archive: Archive) -> int | None:
    """The number of the newest entry of the archive's change log; None where it does not tell its log as a whole."""
    return answer_or(None, lambda: _find_last_revision(archive), own_address=True)


def _find_last_revision(archive: Archive) -> int:
    low, step = 0, 1
    while (entry := _entry_after(archive, low + step - 1)) is not None:
        low, step = _revision(entry), step * 2
    high = low + step
    while low + 1 < high:
        middle = (low + high) // 2
        entry = _entry_after(archive, middle - 1)
        low, high = (low, middle) if entry is None else (_revision(entry), high)
    return low


def _entry_after(archive: Archive, revision: int) -> Mapping[str, Json] | None:
    return next(Administration(archive).exported_changes(after=revision, page_size=1), None)


def _revision(entry: Mapping[str, Json]) -> int:
    return int(str(entry.get("revisionId", 0)))


def _row(archived: SavedObject) -> tuple[object, ...]:
    family = family_of(archived.type)
    names = _PARENTS.get(family, _OWNERS)
    owner = next((name for name in names if name in archived.links), None)
    data = orjson.dumps({"f": archived.fields, "l": archived.links}).decode()
    return (
        *(family, archived.id, archived.type, str(archived.fields.get("uuid", ""))),
        *(None if owner is None else _TARGETS[owner], None if owner is None else archived.links[owner]),
        *(_sort(archived), data),
    )


def _sort(archived: SavedObject) -> str:
    fields = archived.fields
    for year, number in (("saksaar", "sakssekvensnummer"), ("journalaar", "journalsekvensnummer")):
        if isinstance(fields.get(year), int) and isinstance(fields.get(number), int):
            return f"{fields[year]:04d}/{fields[number]:010d}"
    for name in ("klasseIdent", "mappeIdent", "registreringsIdent", "dokumentnummer", "versjonsnummer"):
        if fields.get(name) is not None:
            return natural(str(fields[name]))
    return natural(archived.id)


def _is_own(archived: SavedObject) -> bool:
    """True for what our own loads leave behind for themselves."""
    if archived.type == "EksternId":
        system = str(archived.fields.get("eksterntSystem", ""))
        return system.startswith(OWN_SYSTEMS) and system not in ORIGIN_MARKS.values()
    return archived.type == "Klassifikasjonssystem" and archived.fields.get("tittel") == MARKER_TITLE


def _fetch_links(archive: Archive, db: sqlite3.Connection) -> None:
    for family, name, target, inverse in _MANY:
        sources = Query(family, f"{name} != @none", {"@none": None}, order=_BY_ID)
        for source in objects(archive, sources):
            number = int(source.id) if source.id.isdigit() else source.id
            ends = objects(archive, Query(target, f"{inverse}.id = @i", {"@i": number}, order=_BY_ID))
            rows = [(family_of(source.type), source.id, name, str(end.fields.get("uuid", ""))) for end in ends]
            db.executemany("INSERT INTO link VALUES (?,?,?,?)", rows)


def _fetch_changes(archive: Archive, db: sqlite3.Connection) -> None:
    """What others than our own loads changed, where the account may read the change log."""
    try:
        own_ids = own_accounts(archive)
        entries = _entries(archive, db, own_ids)
        while batch := list(islice(entries, _BATCH)):
            db.executemany("INSERT INTO change VALUES (?,?,?,?,?,?)", [_change(entry) for entry in batch])
    except (NotAllowed, ArchiveNotFound, ArchiveRefused):
        return  # an account that may not read the log sees no history


def _entries(archive: Archive, db: sqlite3.Connection, own_ids: frozenset[str]) -> Iterator[Mapping[str, Json]]:
    def fonds_ids() -> list[str]:
        return [str(fonds) for (fonds,) in db.execute("SELECT id FROM object WHERE family = 'Arkiv'")]

    for entry in Administration(archive).changes_of_all(fonds_ids, kinds=_LOGGED, not_by=sorted(own_ids)):
        if entry.get("revisionType") in _LOGGED and entry.get("modifiedByUserId") not in own_ids:
            yield entry


def _change(entry: Mapping[str, Json]) -> tuple[str, ...]:
    field = str(entry.get("modifiedField") or "")
    before, after = (_value(entry.get(name), field) for name in ("oldValue", "newValue"))
    if entry.get("revisionType") == "MOVE":
        field = "parent"
        before, after = (_value(entry.get(name), "systemId") for name in ("previousParent", "currentParent"))
    facts = (str(entry.get(name) or "") for name in ("systemId", "modifiedDate", "modifiedBy"))
    return (*facts, field, before, after)


def _value(value: Json, member: str) -> str:
    inner = value.get(member) if isinstance(value, dict) else value
    if inner is None:
        return ""
    return inner if isinstance(inner, str) else orjson.dumps(inner).decode()
