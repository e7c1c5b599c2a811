"""What a plan notes of the columns of its source: exactly the cases and letters that it is so of, and no others."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import noarkit

RECIPE = """
[source]
kind = "database"
tables = ["sak", "brev"]
[target]
external_system = "x"
model = 3
close = true
[target.arkivskaper]
fields = { arkivskaperIdent = "u", arkivskaperNavn = "U" }
[target.arkiv]
fields = { tittel = "A" }
[target.arkivdel]
fields = { tittel = "D" }
[dates]
case = "span"
open = "close"
[defaults.Saksmappe]
administrativEnhet = "ADM"
[[map]]
for = "sak"
type = "Saksmappe"
[map.fields]
tittel = "= record.tittel"
mappeID = "= record.ident"
saksaar = "= record.aar"
sakssekvensnummer = "= record.nr"
avsluttetDato = "= record.avsluttet | default(none)"
[[map]]
for = "brev"
type = "Journalpost"
[map.fields]
tittel = "= record.tittel"
registreringsDato = "= record.brevdato"
journalposttype = "= record.retning"
[[map.parties]]
fields = { korrespondanseparttype = "= record.rolle", korrespondansepartNavn = "N" }
[map.parent]
key = "= record.sak.row_key"
type = "Saksmappe"
"""
CASES = (
    # the number as a whole, its year, its number, the day that it was closed
    (1, "2012/1", 2012, 1, "2012-05-01"),
    (2, "2012/2", 2012, 9, "2012-05-01"),  # another number
    (3, "2011/3", 2012, 3, None),  # another year, and open
    (4, "Kommunen", 2012, 4, "2012-05-01"),  # no number at all
    (5, "2012/5", 2012, 5, None),  # open
)
LETTERS = (
    # direction, role of the one party
    (1, 1, "I", "EA"),
    (2, 1, "I", "IM"),  # came in from nobody
    (3, 2, "U", "EM"),
    (4, 2, "U", "IA"),  # went out to nobody
    (5, 3, "N", "IA"),
)


def notes_of(folder: Path, recipe: str = RECIPE) -> dict[str, list[str]]:
    """The keys of the records with each note; what a note of no record is about."""
    with closing(sqlite3.connect(folder / "base.db")) as db:
        db.execute(
            "CREATE TABLE sak (id INTEGER PRIMARY KEY, ident TEXT, aar INTEGER, nr INTEGER, avsluttet TEXT,"
            " tittel TEXT)"
        )
        db.execute(
            "CREATE TABLE brev (id INTEGER PRIMARY KEY, sak_id INTEGER REFERENCES sak (id), retning TEXT, rolle TEXT,"
            " brevdato TEXT, tittel TEXT, dokumentnr INTEGER)"
        )
        db.executemany("INSERT INTO sak VALUES (?, ?, ?, ?, ?, 'Sak')", CASES)
        db.executemany("INSERT INTO brev VALUES (?, ?, ?, ?, '2012-03-04', 'Brev', 1)", LETTERS)
        db.commit()
    (folder / "r.toml").write_text(recipe)
    noarkit.plan(f"sqlite:///{folder / 'base.db'}", recipe=folder / "r.toml", run=folder / "run")
    notes: dict[str, list[str]] = {}
    with closing(sqlite3.connect(folder / "run" / "graph.db")) as db:
        rows = db.execute(
            "SELECT note.code, record.key, note.data FROM note LEFT JOIN record ON record.n = note.record ORDER BY 1, 2"
        )
        for code, key, text in rows:
            notes.setdefault(code, []).append(key or json.loads(text).get("what", ""))
    return notes


def test_each_note_is_of_the_cases_and_letters_that_it_is_so_of(tmp_path: Path) -> None:
    notes = notes_of(tmp_path)
    assert notes["W264"] == ["sak:2", "sak:3"]
    assert notes["W263"] == ["brev:2", "brev:4"]
    assert notes["W262"] == ["sak:3", "sak:5"]
    assert notes["W261"] == ["brev.dokumentnr"]


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ('saksaar = "= record.aar"\nsakssekvensnummer = "= record.nr"\n', "sak.nr"),
        ('avsluttetDato = "= record.avsluttet | default(none)"\n', "sak.avsluttet"),
    ],
)
def test_a_column_that_no_rule_uses_is_noted_until_somebody_says_what_it_is(
    tmp_path: Path, line: str, column: str
) -> None:
    without = RECIPE.replace(line, "")
    (tmp_path / "a").mkdir()
    assert column in notes_of(tmp_path / "a", without)["W261"]
    (tmp_path / "b").mkdir()
    told = f'[columns]\n"{column}" = "only-text"\n"brev.dokumentnr" = "only-text"\n[[map]]\nfor = "sak"'
    assert column not in notes_of(tmp_path / "b", without.replace('[[map]]\nfor = "sak"', told, 1)).get("W261", [])
