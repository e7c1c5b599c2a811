"""A register of cases: its rows on disk, the folder that each was joined with, and what was left over on both sides.

    register = CaseRegister(rows, rules, form)
    register.join("Saker/2014/2014-0007 Høring", "2014/7", "Høring")    ->   {"tittel": "Høring", …}
    register.unjoined()                                                 ->   the rows without a folder
    register.account()                                                  ->   how many of what, and which

A row is joined by its case number, as year and number, so that `2014/7` is `2014-0007`. A folder without a number is
joined by its name: as it stands, then whatever its letters' case, accents and signs. A number that the register does
not have is not guessed at by a title: whoever reads the account decides. Each row has one folder; of two rows with one
number the first has it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from noarkit.errors import ItemMalformed
from noarkit.recipes.recipe_model import RegisterRules
from noarkit.records import Oddity, RegisterAccount
from noarkit.safe.scratch import scratch
from noarkit.sources.files.case_names import CaseForm, CaseName, number_in

Row = Mapping[str, object]
MOST_LISTED = 10_000
"""So many rows and folders of each kind are named; all are counted."""
TITLE, PROPERTY = "tittel", "eiendom"
"""The names that recipes have for the columns of titles and of properties."""
_UNJOINED = "folder IS NULL AND repeats IS NULL AND (ident != '' OR NOT ?)"
"""Where rows are joined by number, one without is a sum or a remark, and no case."""
_ROWS = "ident != '' OR folder NOTNULL OR NOT ?"
_NOT_LETTERS = re.compile(r"[\W_]+")


class RegisterRow(NamedTuple):
    """A row without a folder: the case number in it, if there is one, its name, and its values."""

    case: CaseName | None
    name: str
    row: Row


class CaseRegister:
    """The rows of one register. Raises `ItemMalformed` where it has no such column."""

    def __init__(self, rows: Iterable[tuple[int, Row]], rules: RegisterRules, form: CaseForm | None) -> None:
        self._rules = rules
        self._form = form
        self._by_number = rules.joins == "case.number"
        self._place: str | None = None
        self._row: dict[str, object] = {}
        self._db = scratch()
        self._fill(rows)

    def close(self) -> None:
        """Forgets the rows."""
        self._db.close()

    def join(self, place: str, ident: str, title: str) -> dict[str, object]:
        """The row of the folder at a `place`, whose name says a number (`2014/7`, or nothing) and a title; nothing
        where there is none."""
        if place != self._place:
            self._place, self._row = place, self._look_up(place, ident, title)
        return self._row

    def number_of(self, row: Row) -> CaseName | None:
        """The case number that a row has; None for no row, and for one without."""
        return number_in(str(row.get(self._rules.column) or ""), self._form) if row and self._by_number else None

    def unjoined(self) -> Iterator[RegisterRow]:
        """The rows that no folder has, but for those that repeat another's number."""
        query = f"SELECT ident, name, data FROM rows WHERE {_UNJOINED} ORDER BY number"  # noqa: S608
        for ident, name, data in self._db.execute(query, (self._by_number,)):
            yield RegisterRow(number_in(ident) if ident else None, name, json.loads(data))

    def account(self) -> RegisterAccount:
        """What was joined, and what was left over."""
        ways = dict(self._db.execute("SELECT way, count(*) FROM rows WHERE folder IS NOT NULL GROUP BY way"))
        counts = dict(self._db.execute("SELECT kind, count(*) FROM oddities GROUP BY kind"))
        query = (
            "SELECT kind, row, folder, in_register, in_folder FROM"
            " (SELECT *, row_number() OVER (PARTITION BY kind ORDER BY row, folder) AS n FROM oddities)"
            " WHERE n <= ? ORDER BY kind, row, folder"
        )
        return RegisterAccount(
            is_of="case",
            rows=self._db.execute(f"SELECT count(*) FROM rows WHERE {_ROWS}", (self._by_number,)).fetchone()[0],  # noqa: S608
            by_number=ways.get("number", 0),
            by_name=ways.get("name", 0),
            rows_left=counts.get("row-left", 0),
            places_left=counts.get("place-left", 0),
            twice=counts.get("twice", 0),
            same_number=counts.get("same-number", 0),
            no_number=counts.get("no-number", 0),
            titles=counts.get("title", 0),
            oddities=tuple(Oddity(*row) for row in self._db.execute(query, (MOST_LISTED,))),
        )

    def settle(self) -> None:
        """Counts the rows that no folder had. Called when all folders have been seen."""
        unjoined_rows = (
            f"SELECT 'row-left', number, '', coalesce(nullif(ident, ''), name), '' FROM rows WHERE {_UNJOINED}"  # noqa: S608
        )
        self._db.execute(f"INSERT INTO oddities {unjoined_rows}", (self._by_number,))
        if self._by_number:
            self._db.execute(
                "INSERT INTO oddities SELECT 'no-number', number, '', name, '' FROM rows"
                " WHERE folder IS NULL AND ident = ''"
            )

    def _fill(self, rows: Iterable[tuple[int, Row]]) -> None:
        self._db.executescript(
            """
            CREATE TABLE rows (number INTEGER PRIMARY KEY, ident TEXT, name TEXT, folded TEXT, data TEXT,
                               folder TEXT, way TEXT, repeats INTEGER);
            CREATE TABLE folders (place TEXT PRIMARY KEY, row INTEGER);
            CREATE TABLE oddities (kind TEXT, row INTEGER, folder TEXT, in_register TEXT, in_folder TEXT);
            """
        )
        self._db.execute("BEGIN")
        self._db.executemany(
            "INSERT INTO rows (number, ident, name, folded, data) VALUES (?, ?, ?, ?, ?)", self._table_rows(rows)
        )
        self._db.execute("CREATE INDEX by_ident ON rows (ident)")
        self._db.execute("CREATE INDEX by_folded ON rows (folded)")
        self._db.execute(
            "UPDATE rows SET repeats = (SELECT min(b.number) FROM rows b WHERE b.ident = rows.ident)"
            " WHERE ident != '' AND number > (SELECT min(b.number) FROM rows b WHERE b.ident = rows.ident)"
        )
        self._db.execute("INSERT INTO oddities SELECT 'twice', number, '', ident, '' FROM rows WHERE repeats NOTNULL")
        self._db.execute("COMMIT")

    def _table_rows(self, rows: Iterable[tuple[int, Row]]) -> Iterator[tuple[int, str, str, str, str]]:
        rules, checked = self._rules, False
        for number, row in rows:
            if not checked:
                missing = next(
                    (column for column in (rules.column, *rules.columns.values()) if column not in row), None
                )
                if missing is not None:
                    raise ItemMalformed(key=rules.place, why=f"no column {missing}")
                checked = True
            joined_cell = str(row.get(rules.column) or "").strip()
            values = {**row, **{name: row.get(column) for name, column in rules.columns.items()}}
            case = number_in(joined_cell, self._form) if self._by_number else None
            name = joined_cell if rules.joins == "folder.name" else str(values.get(TITLE) or "")
            yield number, case.ident if case else "", name.strip(), folded(name), json.dumps(values)

    def _look_up(self, place: str, ident: str, title: str) -> dict[str, object]:
        db = self._db
        joined_row = db.execute("SELECT row FROM folders WHERE place = ?", (place,)).fetchone()
        if joined_row is None:
            row, join_way = self._find_row(place, ident)
            db.execute("INSERT INTO folders VALUES (?, ?)", (place, row))
            if row is not None:
                db.execute("UPDATE rows SET folder = ?, way = ? WHERE number = ?", (place, join_way, row))
            self._note_oddity(place, ident or title, title, row, "same-number" if join_way == "taken" else "place-left")
            joined_row = (row,)
        if joined_row[0] is None:
            return {}
        data: dict[str, object] = json.loads(
            db.execute("SELECT data FROM rows WHERE number = ?", (joined_row[0],)).fetchone()[0]
        )
        return data

    def _find_row(self, place: str, ident: str) -> tuple[int | None, str]:
        free = "folder IS NULL AND repeats IS NULL"
        if ident and self._by_number:
            hit = self._db.execute(
                "SELECT number, folder FROM rows WHERE repeats IS NULL AND ident = ?", (ident,)
            ).fetchone()
            if hit is None:
                return None, ""
            return (hit[0], "number") if hit[1] is None else (None, "taken")
        name = place.rpartition("/")[2]
        for column, value in (("name", name), ("folded", folded(name))):
            hits = self._db.execute(
                f"SELECT number FROM rows WHERE {free} AND {column} = ? AND {column} != '' LIMIT 2",  # noqa: S608
                (value,),
            ).fetchall()
            if len(hits) == 1:
                return hits[0][0], "name"
        return None, ""

    def _note_oddity(self, place: str, name: str, title: str, row: int | None, missing: str) -> None:
        if row is None:
            self._add_oddity(missing, None, place, "", name)
            return
        data = json.loads(self._db.execute("SELECT data FROM rows WHERE number = ?", (row,)).fetchone()[0])
        stated_title = str(data.get(TITLE) or "")
        if stated_title and folded(stated_title) != folded(title):
            self._add_oddity("title", row, place, stated_title, title)

    def _add_oddity(self, *values: object) -> None:
        self._db.execute("INSERT INTO oddities VALUES (?, ?, ?, ?, ?)", values)


def folded(name: str) -> str:
    """A name without case, accents and signs.

    >>> folded("Høring – om  VEG.") == folded("høring om veg")
    True
    """
    plain = unicodedata.normalize("NFKD", name).casefold()
    return _NOT_LETTERS.sub(" ", "".join(sign for sign in plain if not unicodedata.combining(sign))).strip()
