"""Names with quotes in them: a key, a unique key and a foreign key over them are what they are, in every database."""

from __future__ import annotations

import re
import sqlite3
import zipfile
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.events import ignore_event
from noarkit.forms.finders import open_source
from noarkit.forms.validation import validate
from noarkit.records import SourceRecord
from tests.sources.database.sample import Sample, engine, quoted

CASE, LETTER, NUMBER, TEXT = 'sa`k"en', "bre`v", 'n`u"mmer', "t`ekst"


@pytest.fixture
def odd(sample: Sample) -> Sample:
    """A database in which two tables more have quotes in all their names."""
    case, letter, number, text = (quoted(sample.family, name) for name in (CASE, LETTER, NUMBER, TEXT))
    with engine(sample.url).begin() as db:
        db.exec_driver_sql(f"CREATE TABLE {case} ({number} integer PRIMARY KEY, {text} varchar(20) NOT NULL UNIQUE)")
        db.exec_driver_sql(
            f"CREATE TABLE {letter} (id integer PRIMARY KEY, {number} integer NOT NULL,"
            f" FOREIGN KEY ({number}) REFERENCES {case} ({number}))"
        )
        db.exec_driver_sql(f"INSERT INTO {case} VALUES (1, 'en'), (2, 'to')")
        db.exec_driver_sql(f"INSERT INTO {letter} VALUES (7, 2)")
    return sample


def test_rows_of_tables_with_quotes_in_their_names_are_read_by_their_keys(odd: Sample) -> None:
    found = [item for item in open_source(odd.url).records(ignore_event) if isinstance(item, SourceRecord)]
    told = {item.kind: item.fields for item in found if item.kind in (CASE, LETTER)}
    assert set(told) == {CASE, LETTER}
    assert sum(item.kind == CASE for item in found) == 2
    (letter,) = (item for item in found if item.kind == LETTER)
    assert letter.fields["id"] == 7


def test_they_come_through_siard_and_back(odd: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(odd.place)
    siard = tmp_path / "ut.siard"
    assert main(["convert", odd.url, "--as", "siard", "-o", str(siard)], {"HOME": str(tmp_path)}) in (0, 3)
    report = validate(siard)
    assert [(one.rule.code, one.places[:2]) for one in report.outcomes if one.rule.level == "error"] == []
    with zipfile.ZipFile(siard) as packed:
        metadata = packed.read("header/metadata.xml").decode("utf-8")
    assert f"<column>{TEXT}</column></candidateKey>" in re.sub(r">\s+<", "><", metadata)
    assert main(["convert", str(siard), "--as", "sqlite", "-o", str(tmp_path / "ut.db")], {}) in (0, 3)
    back = sqlite3.connect(tmp_path / "ut.db")
    name = CASE.replace('"', '""')
    assert back.execute(f'SELECT * FROM "{name}" ORDER BY 1').fetchall() == [(1, "en"), (2, "to")]
    keys = back.execute('SELECT "table", "from", "to" FROM pragma_foreign_key_list(?)', (LETTER,)).fetchall()
    assert keys == [(CASE, NUMBER, NUMBER)]
    back.close()
