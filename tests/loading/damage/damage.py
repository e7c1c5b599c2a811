"""A damage: one way in which an archive, a source or a run can be wrong, with what it touches and what finds it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from tests.loading.damage.library import Library

Kind = Literal["archive", "store", "api", "source", "run"]
Step = Callable[[Library], None]
_KEY = re.compile(r"<([^<>]+)>")


@dataclass(frozen=True, slots=True)
class Damage:
    """`touched` is how many rows or files of which place a plain look at them says were changed; `code` is the finding
    that names it. `shown` tells whether an extract of the archive would contain something else."""

    name: str
    kind: Kind
    steps: tuple[Step, ...]
    touched: Mapping[str, int]
    code: str
    shown: bool = True

    def do(self, library: Library) -> None:
        """Does it to a copy of the library; the archive is stopped."""
        for step in self.steps:
            step(library)


def by_sql(name: str, code: str, touched: str, *steps: str | Step, shown: bool = True) -> Damage:
    """A damage by statements on the archive's own database. `<key>` in one is the archive's id of that entity;
    `touched` reads `table count, table count`."""
    made = tuple(statement(step) if isinstance(step, str) else step for step in steps)
    return Damage(name, "archive", made, counts(touched), code, shown)


def changed(name: str, code: str, table: str, key: str, assignment: str, *, shown: bool = True) -> Damage:
    """A damage to one row of the archive's database."""
    return by_sql(name, code, f"{table} 1", f"UPDATE o_{table} SET {assignment} WHERE id = <{key}>", shown=shown)


def removed(name: str, code: str, table: str, key: str, *, shown: bool = True) -> Damage:
    """A row that is gone from the archive's database."""
    return by_sql(name, code, f"{table} 1", f"DELETE FROM o_{table} WHERE id = <{key}>", shown=shown)


def added(name: str, code: str, table: str, key: str, *, shown: bool = True, **values: str) -> Damage:
    """A row that was added to the archive's database, like that of `key` but for some columns."""
    return by_sql(name, code, f"{table} 1", copied(table, key, **values), shown=shown)


def counts(touched: str) -> dict[str, int]:
    """`table 1, other 2` as a mapping."""
    pairs = (part.split() for part in touched.split(",") if part.strip())
    return {name: int(count) for name, count in pairs}


def statement(text: str) -> Step:
    """A statement on the archive's database."""

    def step(library: Library) -> None:
        with library.sql() as db:
            done = db.execute(_KEY.sub(lambda found: str(library.id(found[1])), text))
            assert done.rowcount != 0, f"nothing was changed: {text}"

    return step


def copied(table: str, key: str, **values: str) -> Step:
    """A new row like that of an entity; `values` are SQL expressions, `<key>` in them is an id. The new row's id is the
    highest of all plus one."""

    def step(library: Library) -> None:
        with library.sql() as db:
            columns = [row[1] for row in db.execute(f"PRAGMA table_info(o_{table})")]
            wanted = {name: _KEY.sub(lambda found: str(library.id(found[1])), text) for name, text in values.items()}
            wanted |= {"id": str(next_id(library)), "uuid": f"'{uuid.UUID(int=next_id(library), version=4)}'"}
            told = ", ".join(wanted.get(name, f'"{name}"') for name in columns)
            done = db.execute(f"INSERT INTO o_{table} SELECT {told} FROM o_{table} WHERE id = ?", (library.id(key),))
            assert done.rowcount == 1

    return step


def next_id(library: Library) -> int:
    """An id that nothing in the archive has."""
    with library.sql() as db:
        tables = [
            row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE name GLOB 'o_*' AND type = 'table'")
        ]
        return 1 + max(int(db.execute(f"SELECT coalesce(max(id), 0) FROM {name}").fetchone()[0]) for name in tables)


def swapped(table: str, column: str, one: str, other: str) -> Step:
    """Exchanges a column's values between two rows."""

    def step(library: Library) -> None:
        with library.sql() as db:
            ids = (library.id(one), library.id(other))
            values = [db.execute(f'SELECT "{column}" FROM o_{table} WHERE id = ?', (id_,)).fetchone()[0] for id_ in ids]
            assert values[0] != values[1], f"{column} is alike: nothing to swap"
            for id_, value in zip(ids, reversed(values), strict=True):
                db.execute(f'UPDATE o_{table} SET "{column}" = ? WHERE id = ?', (value, id_))

    return step
