"""Every single change that is made: fields, links and rows of each type by SQL, stored files, fields by a call of
another account, external ids, code lists, logs. They follow from the archive's own tables, so that a field that is
added to the model is tampered with too."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from noarkit.archive.values import Action, Delete, FieldValue, Link, Save, bytes_to_upload
from noarkit.errors import ArchiveConflict, ArchiveNotFound, ArchiveRefused, NotAllowed
from noarkit.model import metamodel
from noarkit.server.schema import Column, schema
from tests.loading.tampering.bases import Base

Step = Callable[[Base], bool]
"""Tampers with a copy; False where the archive or its database refuses."""
_NEW_ID, _NEW_UUID = 999_000, "'0a1b2c3d-0000-4000-8000-000000000001'"
_KEPT_COLUMNS = ("id", "version", "type")


@dataclass(frozen=True, slots=True)
class Tampering:
    """One change: `kind` is the way, `type` and `name` what of which type."""

    kind: str
    type: str
    name: str
    step: Step

    @property
    def title(self) -> str:
        return f"{self.kind} {self.type}.{self.name}"


def tamperings(base: Base) -> list[Tampering]:
    """All changes that can be made to an archive, in a fixed order."""
    with base.sql() as db:
        made = [
            *_of_rows(base, db),
            *_of_pairs(base, db),
            *_of_files(base, db),
            *_of_keys(base, db),
            *_of_codes(db),
            *_of_logs(db),
            *_of_calls(base, db),
        ]
    titles = [tampering.title for tampering in made]
    assert len(set(titles)) == len(titles), sorted({title for title in titles if titles.count(title) > 1})
    return made


def _sql(statement: str, *values: object) -> Step:
    def step(base: Base) -> bool:
        try:
            with base.sql() as db:
                return db.execute(statement, values).rowcount != 0
        except sqlite3.IntegrityError:
            return False

    return step


# rows of objects


def _examples(base: Base, db: sqlite3.Connection) -> Iterator[tuple[str, str, int]]:
    """The table, type and id of one object of each type that the run has: the last, which no anchor hangs on."""
    by_type = {kind: id_ for id_, kind in sorted(base.ids.items())}
    for kind, id_ in sorted(by_type.items()):
        table = schema().tables[metamodel().types[kind].family].name
        if db.execute(f"SELECT 1 FROM {table} WHERE id = ?", (id_,)).fetchone():
            yield table, kind, id_


def _of_rows(base: Base, db: sqlite3.Connection) -> Iterator[Tampering]:
    for table, kind, id_ in _examples(base, db):
        columns = [column for column in _columns(table, kind) if column.name not in _KEPT_COLUMNS]
        for column in columns:
            old = db.execute(f'SELECT "{column.name}" FROM {table} WHERE id = ?', (id_,)).fetchone()[0]
            update = f'UPDATE {table} SET "{column.name}" = ? WHERE id = ?'
            new = _other_target(db, table, column.name, id_, old) if column.kind == "link" else _other(column, old)
            if new is not None:
                yield Tampering("link" if column.kind == "link" else "field", kind, column.name, _sql(update, new, id_))
            if old is not None:
                way = "unlinked" if column.kind == "link" else "emptied"
                yield Tampering(way, kind, column.name, _sql(update, None, id_))
        yield Tampering("deleted", kind, "", _sql(f"DELETE FROM {table} WHERE id = ?", id_))
        names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        copied = ", ".join({"id": str(_NEW_ID), "uuid": _NEW_UUID}.get(name, f'"{name}"') for name in names)
        yield Tampering(
            "doubled", kind, "", _sql(f"INSERT INTO {table} SELECT {copied} FROM {table} WHERE id = ?", id_)
        )


def _columns(table: str, kind: str) -> list[Column]:
    whole = next(each for each in schema().tables.values() if each.name == table)
    return [column for column in whole.columns.values() if kind in column.types]


def _other(column: Column, old: object) -> object:
    """Another value of the same kind; another code, where the field has codes."""
    match column.kind:
        case "number" | "timestamp" if isinstance(old, int | float):
            return old + 1000
        case "number" | "timestamp":
            return 7 if column.kind == "number" else 1_600_000_000_000
        case "boolean":
            return 0 if old else 1
        case "date":
            return "2019-03-04" if old != "2019-03-04" else "2019-03-05"
        case "object":
            return '{"a":{}}' if old is None else None
    if column.name == "uuid":
        return _NEW_UUID.strip("'")
    fields = (metamodel().types[kind].fields.get(column.name) for kind in column.types)
    field = next((field for field in fields if field is not None), None)
    codes = [code.code for code in metamodel().code_lists[field.code_list].codes] if field and field.code_list else []
    values = [*codes, *(field.values if field else ()), f"{old} forged"]
    return next(value for value in values if value != old)


def _other_target(db: sqlite3.Connection, table: str, column: str, id_: int, old: object) -> int | None:
    """What a link can lead to instead."""
    family = _family_of(table, column)
    if family is None:
        return None
    rows = db.execute(f"SELECT id FROM {schema().tables[family].name} ORDER BY id").fetchall()
    return next((int(row[0]) for row in rows if row[0] not in (old, id_)), None)


def _family_of(table: str, column: str) -> str | None:
    for (kind, _), link in schema().links.items():
        own_table = schema().tables[metamodel().types[kind].family].name
        if link.kind == "column" and (own_table, link.column) == (table, column):
            return link.other_family
    return None


def _of_pairs(base: Base, db: sqlite3.Connection) -> Iterator[Tampering]:
    for table, ends in sorted(_pairs().items()):
        name = table.removeprefix("p_")
        pair = db.execute(f"SELECT a, b FROM {table} ORDER BY a, b").fetchone()
        if pair is not None:
            yield Tampering("pair gone", "", name, _sql(f"DELETE FROM {table} WHERE a = ? AND b = ?", *pair))
        ids = [[row[0] for row in db.execute(f"SELECT id FROM {end}") if row[0] in base.ids] for end in ends]
        existing = set(db.execute(f"SELECT a, b FROM {table}").fetchall())
        new = next(((a, b) for a in ids[0] for b in ids[1] if a != b and (a, b) not in existing), None)
        if new is not None:
            yield Tampering("pair added", "", name, _sql(f"INSERT INTO {table} VALUES (?, ?)", *new))


def _pairs() -> dict[str, tuple[str, str]]:
    """The two tables that each pair table leads between."""
    ends: dict[str, dict[str, str]] = {}
    for (kind, _), link in schema().links.items():
        if link.kind == "pairs":
            mine = schema().tables[metamodel().types[kind].family].name
            pair = ends.setdefault(link.pair_table, {})
            pair[link.own_column], pair[link.other_column] = mine, schema().tables[link.other_family].name
    return {table: (pair["a"], pair["b"]) for table, pair in ends.items()}


# stored files


def _of_files(base: Base, db: sqlite3.Connection) -> Iterator[Tampering]:
    named = (
        "SELECT f.file_id, f.sha256 FROM o_dokumentversjon v JOIN stored_file f ON f.file_id = v.referanseDokumentfil"
        " WHERE f.size_bytes > 0 ORDER BY v.id"
    )
    files = [row for row in db.execute(named).fetchall()]
    for place, (file_id, sha256) in enumerate(files[:2]):
        other = files[1 - place][1]
        for name, change in _BYTES.items():
            yield Tampering("stored", f"file {place}", name, _stored(sha256, change))
        yield Tampering("stored", f"file {place}", "another file's bytes", _stored_of(sha256, other))
        for name, assignment in (
            ("other checksum", f"sha256 = '{other}'"),
            ("other size", "size_bytes = size_bytes + 1"),
        ):
            yield Tampering(
                "stored", f"row {place}", name, _sql(f"UPDATE stored_file SET {assignment} WHERE file_id = ?", file_id)
            )
        yield Tampering("stored", f"row {place}", "gone", _sql("DELETE FROM stored_file WHERE file_id = ?", file_id))


_BYTES: dict[str, Callable[[bytes], bytes | None]] = {
    "first byte": lambda content: bytes([content[0] ^ 1]) + content[1:],
    "last byte": lambda content: content[:-1] + bytes([content[-1] ^ 128]),
    "cut": lambda content: content[:-1],
    "longer": lambda content: content + b"\n",
    "emptied": lambda content: b"",
    "a page of HTML": lambda content: b"<html>"[: len(content)] + content[6:],
    "gone": lambda content: None,
}


def _stored(sha256: str, change: Callable[[bytes], bytes | None]) -> Step:
    def step(base: Base) -> bool:
        path = base.archive_folder / "files" / sha256[:2] / sha256
        content = change(path.read_bytes())
        path.chmod(0o600)
        path.unlink() if content is None else path.write_bytes(content)
        return True

    return step


def _stored_of(sha256: str, other: str) -> Step:
    def step(base: Base) -> bool:
        files = base.archive_folder / "files"
        target = files / sha256[:2] / sha256
        target.chmod(0o600)
        shutil.copyfile(files / other[:2] / other, target)
        return sha256 != other

    return step


# external ids


def _of_keys(base: Base, db: sqlite3.Connection) -> Iterator[Tampering]:
    row = "SELECT id, eksterntSystem, eksternID, refRegistrering FROM o_eksternid WHERE refRegistrering IS NOT NULL"
    keys = db.execute(f"{row} AND eksterntSystem != 'noarkit:chunk' ORDER BY id").fetchall()
    anchors = db.execute("SELECT id FROM o_eksternid WHERE eksterntSystem = 'noarkit:chunk' ORDER BY id").fetchall()
    id_, system, _, owner = keys[0]
    # a record may have several: moving a key from one of its own to another changes nothing
    other_id, _, other_key, other_owner = next(key for key in keys if key[3] != owner)
    update = "UPDATE o_eksternid SET {} WHERE id = ?"
    for name, assignment in (
        ("another key", "eksternID = 'forged'"),
        ("a key of another record", f"eksternID = (SELECT eksternID FROM o_eksternid WHERE id = {other_id})"),
        ("a key in capitals", "eksternID = upper(eksternID)"),
        ("a key with a blank", "eksternID = eksternID || ' '"),
        ("another system", "eksterntSystem = 'other'"),
        ("another record", f"refRegistrering = {other_owner}"),
        ("no record", "refRegistrering = NULL"),
    ):
        yield Tampering("key", "EksternId", name, _sql(update.format(assignment), id_))
    yield Tampering("key", "EksternId", "gone", _sql("DELETE FROM o_eksternid WHERE id = ?", id_))
    for name, its_system, its_key in (
        ("added of another system", "other", "x"),
        ("added of the same system", system, "nobody's"),
        ("added of another record", system, other_key),
    ):
        yield Tampering("key", "EksternId", name, _copied_key(id_, owner, its_system, its_key))
    if anchors:
        yield Tampering("anchor", "EksternId", "gone", _sql("DELETE FROM o_eksternid WHERE id = ?", anchors[0][0]))
        yield Tampering("anchor", "EksternId", "another text", _sql(update.format("eksternID = 'x'"), anchors[0][0]))


def _copied_key(like: int, owner: int, system: str, key: str) -> Step:
    def step(base: Base) -> bool:
        with base.sql() as db:
            names = [row[1] for row in db.execute("PRAGMA table_info(o_eksternid)")]
            values = {
                "id": str(_NEW_ID),
                "uuid": _NEW_UUID,
                "eksterntSystem": "?",
                "eksternID": "?",
                "refRegistrering": str(owner),
            }
            copied = ", ".join(values.get(name, f'"{name}"') for name in names)
            order = [name for name in names if name in ("eksterntSystem", "eksternID")]
            arguments = [system if name == "eksterntSystem" else key for name in order]
            db.execute(f"INSERT INTO o_eksternid SELECT {copied} FROM o_eksternid WHERE id = ?", (*arguments, like))
        return True

    return step


# code lists and logs


def _of_codes(db: sqlite3.Connection) -> Iterator[Tampering]:
    for (name,) in db.execute("SELECT DISTINCT list FROM code_value ORDER BY list").fetchall():
        code = db.execute("SELECT code FROM code_value WHERE list = ? ORDER BY code", (name,)).fetchone()[0]
        where = "WHERE list = ? AND code = ?"
        yield Tampering(
            "code", name, "another name", _sql(f"UPDATE code_value SET name = 'forged' {where}", name, code)
        )
        yield Tampering("code", name, "gone", _sql(f"DELETE FROM code_value {where}", name, code))
        insert = "INSERT INTO code_value (list, code, name) VALUES (?, 'X9', 'forged')"
        yield Tampering("code", name, "added", _sql(insert, name))


def _of_logs(db: sqlite3.Connection) -> Iterator[Tampering]:
    last = "(SELECT max(revision_id) FROM change_log WHERE revision_type = 'CREATE')"
    yield Tampering("log", "change_log", "gone", _sql(f"DELETE FROM change_log WHERE revision_id = {last}"))
    user = f"UPDATE change_log SET modified_by_user_id = 'other' WHERE revision_id = {last}"
    yield Tampering("log", "change_log", "another user", _sql(user))


# calls of another account


def _of_calls(base: Base, db: sqlite3.Connection) -> Iterator[Tampering]:
    for table, kind, id_ in _examples(base, db):
        columns = {column.name: column for column in _columns(table, kind)}
        for field in metamodel().types[kind].fields.values():
            if (
                field.save == "sm"
                or field.kind == "object"
                or field.name not in columns
                or field.name in (*_KEPT_COLUMNS, "referanseDokumentfil")
            ):
                continue
            old = db.execute(f'SELECT "{field.name}" FROM {table} WHERE id = ?', (id_,)).fetchone()[0]
            new = _wire(columns[field.name], _other(columns[field.name], old))
            yield Tampering("call", kind, field.name, _call(Save(kind, str(id_), {field.name: new})))
            if old is not None:
                yield Tampering("call emptied", kind, field.name, _call(Save(kind, str(id_), {field.name: None})))
        yield Tampering("call deleted", kind, "", _call(Delete(kind, str(id_))))
    yield from _additions(base)


def _wire(column: Column, value: object) -> FieldValue:
    if column.kind == "timestamp":
        return "2020-02-29T10:11:12.013Z"
    if column.kind == "boolean":
        return bool(value)
    if column.kind == "object":
        return None
    return value if isinstance(value, str | int | float) else None


def _additions(base: Base) -> Iterator[Tampering]:
    by_family = {metamodel().types[kind].family: str(id_) for id_, kind in sorted(base.ids.items())}
    series, folder, record = (by_family[name] for name in ("Arkivdel", "AbstraktMappe", "AbstraktRegistrering"))
    document = by_family["Dokument"]
    key = {"eksterntSystem": "another system", "eksternID": "1"}
    record_fields: dict[str, FieldValue] = {"tittel": "forged"}
    yield Tampering(
        "call added",
        "Mappe",
        "in a series",
        _call(Save("Mappe", "x", record_fields), Link("Mappe", "x", "refArkivdel", (series,))),
    )
    in_folder = (
        Save("Basisregistrering", "x", record_fields),
        Link("Basisregistrering", "x", "refMappe", (folder,)),
    )
    bearing = (Save("EksternId", "k", key), Link("EksternId", "k", "refRegistrering", ("x",)))
    yield Tampering("call added", "Basisregistrering", "in a folder", _call(*in_folder))
    yield Tampering("call added", "Basisregistrering", "with a key", _call(*in_folder, *bearing))
    yield Tampering("call added by the loader", "Basisregistrering", "in a folder", _call(*in_folder, account="admin"))
    yield Tampering(
        "call added by the loader", "Basisregistrering", "with a key", _call(*in_folder, *bearing, account="admin")
    )
    yield Tampering(
        "call added",
        "EksternId",
        "on a record",
        _call(Save("EksternId", "k", key), Link("EksternId", "k", "refRegistrering", (record,))),
    )
    for kind, fields in (("Noekkelord", {"verdi": "forged"}), ("Merknad", {"tekst": "forged", "merknadstype": "MER"})):
        more: dict[str, FieldValue] = dict(fields)
        yield Tampering(
            "call added",
            kind,
            "on a record",
            _call(Save(kind, "x", more), Link(kind, "x", "refRegistrering", (record,))),
        )
    yield Tampering("call added", "Dokumentversjon", "in a document", _new_file(None, document))
    version = by_family["Dokumentversjon"]
    yield Tampering("call", "Dokumentversjon", "referanseDokumentfil", _new_file(version, document))


def _call(*actions: Action, account: str = "other") -> Step:
    def step(base: Base) -> bool:
        return _carried_out(base, lambda archive: actions, account)

    return step


def _new_file(version: str | None, document: str) -> Step:
    """Another file for a version, or a version more."""

    def step(base: Base) -> bool:
        def actions(archive: object) -> Sequence[Action]:
            file_id = archive.upload(bytes_to_upload(b"forged", "forged.txt")).id  # type: ignore[attr-defined]  # an archive
            fields: dict[str, FieldValue] = {"referanseDokumentfil": file_id}
            if version is not None:
                return (Save("Dokumentversjon", version, fields),)
            fields |= {"variantformat": "P", "format": "txt"}
            return (Save("Dokumentversjon", "x", fields), Link("Dokumentversjon", "x", "refDokument", (document,)))

        return _carried_out(base, actions, "other")

    return step


def _carried_out(base: Base, actions: Callable[[object], Sequence[Action]], account: str) -> bool:
    with base.serving(account) as archive:
        try:
            archive.transaction(actions(archive))
        except (ArchiveRefused, ArchiveConflict, ArchiveNotFound, NotAllowed):
            return False
    return True
