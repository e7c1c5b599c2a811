"""One change at random, anywhere in an archive below what a run made: by SQL, in the store of files, or by a call.

What the archive sets itself, and the plan does not tell, nobody can know but the archive: it is not changed here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from unicodedata import normalize

from noarkit.archive.values import Action, Delete, FieldValue, Link, Save, Unlink
from noarkit.errors import ArchiveConflict, ArchiveNotFound, ArchiveRefused, NotAllowed
from noarkit.loading.verification.expectation import SET_BY_ARCHIVE
from noarkit.model import metamodel
from noarkit.server.schema import Column, schema
from tests.loading.damage.library import Library

Row = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Change:
    """What was changed, in words that a person can do it again by; `done` is False where the archive refused it."""

    what: str
    done: bool = True


class Changing:
    """Changes one thing of a library, chosen by `rng`; `planned` are the fields that the plan tells, by id."""

    def __init__(self, library: Library, rng: Random) -> None:
        self._library = library
        self._rng = rng
        self._planned = library.planned

    def change(self) -> Change:
        """Does it."""
        ways = [*[self._update] * 3, self._link, self._delete, self._insert, self._pair]
        ways += [self._stored, self._stored_file, *[self._call] * 2]
        try:
            return self._rng.choice(ways)()
        except sqlite3.IntegrityError as fault:
            return Change(f"the database itself refuses it: {fault}", done=False)

    # -- by SQL

    def _update(self) -> Change:
        with self._library.sql() as db:
            table, id_ = self._rng.choice(self._rows(db))
            type_name, column = self._column(db, table, id_)
            if column is None:
                return Change(f"{table} {id_} has nothing to change", done=False)
            old = db.execute(f'SELECT "{column.name}" FROM {table} WHERE id = ?', (id_,)).fetchone()[0]
            new = self._value(db, table, column, old)
            if new == old:
                return Change("the same again", done=False)
            db.execute(f'UPDATE {table} SET "{column.name}" = ? WHERE id = ?', (new, id_))
        return Change(f"{type_name} {id_} {column.name}: {old!r} → {new!r}")

    def _link(self) -> Change:
        with self._library.sql() as db:
            table, id_ = self._rng.choice(self._rows(db))
            columns = [one for one in self._columns(table, self._type(db, table, id_)) if one.kind == "link"]
            if not columns:
                return Change(f"{table} {id_} has no links", done=False)
            column = self._rng.choice(columns)
            old = db.execute(f'SELECT "{column.name}" FROM {table} WHERE id = ?', (id_,)).fetchone()[0]
            targets = self._targets(db, table, column.name)
            new = self._rng.choice([None, 999_999, *targets, *targets])
            if new in (old, id_):
                return Change("the same again", done=False)
            db.execute(f'UPDATE {table} SET "{column.name}" = ? WHERE id = ?', (new, id_))
        return Change(f"{table} {id_} {column.name}: {old} → {new}")

    def _delete(self) -> Change:
        with self._library.sql() as db:
            table, id_ = self._rng.choice(self._rows(db))
            db.execute(f"DELETE FROM {table} WHERE id = ?", (id_,))
        return Change(f"{table} {id_} deleted")

    def _insert(self) -> Change:
        """A row like another: it hangs where that one hangs, or elsewhere below the run's own folders."""
        with self._library.sql() as db:
            table, id_ = self._rng.choice([row for row in self._rows(db) if row[0] in _BELOW])
            if table == "o_abstraktmappe" and not self._value_of(db, table, id_, "refForelderMappe"):
                return Change("a folder of a series: another run may have made it", done=False)
            names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            told = ", ".join({"id": "999000", "uuid": "'another'"}.get(name, f'"{name}"') for name in names)
            db.execute(f"INSERT INTO {table} SELECT {told} FROM {table} WHERE id = ?", (id_,))
        return Change(f"{table} {id_} is there twice")

    def _pair(self) -> Change:
        with self._library.sql() as db:
            table = self._rng.choice(sorted(_PAIRS))
            pairs = db.execute(f"SELECT a, b FROM {table} ORDER BY a, b").fetchall()
            if pairs and self._rng.random() < 0.5:
                gone = self._rng.choice(pairs)
                db.execute(f"DELETE FROM {table} WHERE a = ? AND b = ?", gone)
                return Change(f"{table} {gone} is gone")
            ends = [
                [row[0] for row in db.execute(f"SELECT id FROM {name} ORDER BY id") if row[0] in self._planned]
                for name in _PAIRS[table]
            ]
            if not all(ends):
                return Change("nothing to link", done=False)
            new = (self._rng.choice(ends[0]), self._rng.choice(ends[1]))
            if new in pairs or new[0] == new[1]:
                return Change("the same again", done=False)
            db.execute(f"INSERT INTO {table} VALUES (?, ?)", new)
        return Change(f"{table} {new} added")

    def _stored(self) -> Change:
        with self._library.sql() as db:
            rows = db.execute("SELECT file_id, sha256, size_bytes FROM stored_file ORDER BY file_id").fetchall()
            file_id, sha256, size = self._rng.choice(rows)
            way = self._rng.choice(("gone", "other", "size"))
            if way == "gone":
                db.execute("DELETE FROM stored_file WHERE file_id = ?", (file_id,))
            elif way == "size":
                db.execute("UPDATE stored_file SET size_bytes = size_bytes + 1 WHERE file_id = ?", (file_id,))
            else:
                other = self._rng.choice(rows)[1]
                if other == sha256:
                    return Change("the same again", done=False)
                db.execute("UPDATE stored_file SET sha256 = ? WHERE file_id = ?", (other, file_id))
        return Change(f"stored file {file_id} of {size} bytes: {way}")

    # -- in the store

    def _stored_file(self) -> Change:
        paths = sorted((self._library.archive_folder / "files").glob("??/*"))
        path, other = self._rng.sample(paths, 2)
        content = path.read_bytes()
        way = self._rng.choice(("flip", "cut", "longer", "gone", "other"))
        if way == "gone":
            path.unlink()
        elif way == "other":
            path.write_bytes(other.read_bytes())
        elif way == "longer":
            path.write_bytes(content + self._rng.randbytes(1 + self._rng.randrange(9)))
        elif not content:
            return Change("nothing in it", done=False)
        elif way == "cut":
            path.write_bytes(content[: self._rng.randrange(len(content))])
        else:
            place = self._rng.randrange(len(content))
            path.write_bytes(
                content[:place] + bytes([content[place] ^ (1 << self._rng.randrange(8))]) + content[place + 1 :]
            )
        return Change(f"file {path.name[:8]} of {len(content)} bytes: {way}")

    # -- by a call

    def _call(self) -> Change:
        with self._library.sql() as db:
            table, id_ = self._rng.choice(self._rows(db))
            type_name = self._type(db, table, id_)
            actions = list(self._actions(db, table, id_, type_name))
        if not actions:
            return Change("nothing to call for", done=False)
        with self._library.serving() as archive:
            try:
                archive.transaction(actions)
            except (ArchiveRefused, ArchiveConflict, ArchiveNotFound, NotAllowed):
                return Change(f"refused: {actions}", done=False)
        return Change(f"call: {actions}")

    def _actions(self, db: sqlite3.Connection, table: str, id_: int, type_name: str) -> Iterator[Action]:
        way = self._rng.choice(("save", "save", "delete", "link", "unlink", "child"))
        me = str(id_)
        if way == "save":
            fields = metamodel().types[type_name].fields
            names = [one.name for one in self._columns(table, type_name) if one.name in fields]
            names = [name for name in names if fields[name].save != "sm" and self._may_change(id_, name)]
            if names:
                name = self._rng.choice(names)
                yield Save(type_name, me, {name: self._wire_value(type_name, name)})
        elif way == "delete":
            yield Delete(type_name, me)
        elif way == "child":
            kind, link = self._rng.choice((("Merknad", "tekst"), ("Noekkelord", "verdi")))
            reference = {"o_abstraktmappe": "refMappe", "o_abstraktregistrering": "refRegistrering"}.get(table)
            if reference:
                yield Save(kind, "x", {link: "more", **({"merknadstype": "MER"} if kind == "Merknad" else {})})
                yield Link(kind, "x", reference, (me,))
        else:
            columns = [one for one in self._columns(table, type_name) if one.kind == "link"]
            if columns:
                column = self._rng.choice(columns)
                old = self._value_of(db, table, id_, column.name)
                targets = self._targets(db, table, column.name)
                if old is not None:
                    yield Unlink(type_name, me, column.name, (str(old),))
                if way == "link" and targets:
                    yield Link(type_name, me, column.name, (str(self._rng.choice(targets)),))

    # -- choosing

    def _rows(self, db: sqlite3.Connection) -> Sequence[Row]:
        """Every object that the run made, and the keys on them."""
        found = [
            (table.name, id_)
            for table in schema().tables.values()
            for (id_,) in db.execute(f"SELECT id FROM {table.name} ORDER BY id")
            if id_ in self._planned
        ]
        return found

    def _type(self, db: sqlite3.Connection, table: str, id_: int) -> str:
        return str(self._value_of(db, table, id_, "type"))

    @staticmethod
    def _value_of(db: sqlite3.Connection, table: str, id_: int, column: str) -> object:
        return db.execute(f'SELECT "{column}" FROM {table} WHERE id = ?', (id_,)).fetchone()[0]

    @staticmethod
    def _columns(table: str, type_name: str) -> list[Column]:
        whole = next(one for one in schema().tables.values() if one.name == table)
        return [one for one in whole.columns.values() if type_name in one.types and one.name not in ("id", "version")]

    def _column(self, db: sqlite3.Connection, table: str, id_: int) -> tuple[str, Column | None]:
        type_name = self._type(db, table, id_)
        columns = [
            one for one in self._columns(table, type_name) if one.kind != "link" and self._may_change(id_, one.name)
        ]
        return type_name, self._rng.choice(columns) if columns else None

    def _may_change(self, id_: int, name: str) -> bool:
        """Whether the plan tells the field, or could have."""
        type_name, fields = self._planned[id_]
        field = metamodel().types[type_name].fields.get(name)
        if name in ("type", *_MADE_OF_BYTES, *fields):
            return True
        return field is not None and field.save == "x" and name not in SET_BY_ARCHIVE

    def _targets(self, db: sqlite3.Connection, table: str, column: str) -> list[int]:
        targets = {
            link.other_family
            for (type_name, _), link in schema().links.items()
            if link.kind == "column" and link.column == column and schema().model.family(type_name) in _family(table)
        }
        names = [schema().tables[family].name for family in sorted(targets)]
        return [row[0] for name in names for row in db.execute(f"SELECT id FROM {name} ORDER BY id")]

    def _value(self, db: sqlite3.Connection, table: str, column: Column, old: object) -> object:
        if column.name == "type":
            return self._rng.choice([name for one in _family(table) for name in schema().model.concrete(one)])
        others = [
            row[0] for row in db.execute(f'SELECT DISTINCT "{column.name}" FROM {table} ORDER BY 1') if row[0] != old
        ]
        choices: list[object] = [None, *others]
        if isinstance(old, str):
            choices += ["", f"{old} ", old.upper(), normalize("NFD", old), old[:-1], f"{old}x"]
        elif isinstance(old, int):
            choices += [old + 1, old - 1, old + 1000, old + 86_400_000, 0]
        elif column.kind in ("string", "object"):
            choices += ["something"]
        elif column.kind in ("number", "boolean", "timestamp"):
            choices += [1, 1_600_000_000_000]
        else:
            choices += ["2020-02-29"]
        return self._rng.choice(choices)

    def _wire_value(self, type_name: str, name: str) -> FieldValue:
        field = metamodel().types[type_name].fields[name]
        if field.code_list:
            codes = [code.code for code in metamodel().code_lists[field.code_list].codes]
            return self._rng.choice([*codes, None])
        match field.kind:
            case "number":
                return self._rng.choice((1, 7, None))
            case "boolean":
                return self._rng.choice((True, False))
            case "date":
                return self._rng.choice(("2020-02-29", None))
            case "timestamp":
                return self._rng.choice(("2020-02-29T10:11:12.013Z", None))
            case "object":
                return None
        return self._rng.choice((*field.values, "something", None))


# what a version says of its file follows from the bytes, and the plan tells those
_MADE_OF_BYTES = frozenset({"sjekksum", "sjekksumAlgoritme", "filstoerrelse"})
_ABOVE = frozenset({"o_arkiv", "o_arkivdel", "o_klassifikasjonssystem", "o_klasse", "o_arkivskaper", "o_presedens"})
_BELOW = frozenset(table.name for table in schema().tables.values()) - _ABOVE


def _family(table: str) -> set[str]:
    return {family for family, one in schema().tables.items() if one.name == table}


def _pairs() -> dict[str, tuple[str, str]]:
    """The two tables that each pair table leads between: that of its column a, that of b."""
    found: dict[str, dict[str, str]] = {}
    for (type_name, _), link in schema().links.items():
        if link.kind == "pairs":
            mine = schema().tables[schema().model.family(type_name)].name
            ends = found.setdefault(link.pair_table, {})
            ends[link.own_column], ends[link.other_column] = mine, schema().tables[link.other_family].name
    return {table: (ends["a"], ends["b"]) for table, ends in found.items()}


_PAIRS = _pairs()
