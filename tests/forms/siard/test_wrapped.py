"""An archive that was unpacked and zipped again has a folder around it, and is still read as the archive it is."""

from __future__ import annotations

import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.forms.recognition import detect_form
from noarkit.forms.siard.read.archive import open_siard
from noarkit.forms.siard.rules.run import validate_siard
from noarkit.forms.validation import validate

ROWS = [(1, "Brev", b"\x00\xff" * 3000), (2, "Svar", b""), (3, None, None)]


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive of three rows, one with a large value of its own."""
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("saker.db")) as db:
        db.execute("CREATE TABLE sak (id INTEGER PRIMARY KEY, tittel TEXT, innhold BLOB)")
        db.executemany("INSERT INTO sak VALUES (?, ?, ?)", ROWS)
        db.commit()
    assert main(["convert", "sqlite:///saker.db", "--as", "siard", "-o", "saker.siard"], {}) == 0
    return tmp_path / "saker.siard"


def zipped_again(archive: Path, above: str, *more: str) -> Path:
    """The same files below a folder, as who unpacks and zips it makes them, with others beside."""
    again = archive.with_name("igjen.zip")
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(again, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(above + name, old.read(name))
        for name in more:
            new.writestr(name, b"les meg")
    return again


def test_it_is_known_for_what_it_is_and_the_folder_is_told(archive: Path) -> None:
    again = zipped_again(archive, "uttrekk 2020/")
    assert detect_form(again).form == "siard"
    told = [(one.rule.code, one.places[0].file) for one in validate(again).outcomes if one.rule.level == "error"]
    assert ("SIARD-P_4.2-1", "uttrekk 2020/") in told
    assert {code for code, _ in told} <= {"SIARD-P_4.2-1", "SIARD-M_5.1-1-11"}


def test_every_row_and_large_value_of_it_is_read(archive: Path) -> None:
    again = zipped_again(archive, "uttrekk/")
    with open_siard(again) as siard:
        ((schema, table),) = siard.archive.tables()
        assert sum(len(batch) for batch in siard.rows(schema, table)) == len(ROWS)
    # its message digest is over the bytes of the first ZIP: whether anything was changed since, nobody can say
    assert main(["convert", str(again), "--as", "sqlite", "-o", "ut.db"], {}) == 4
    assert main(["convert", str(again), "--as", "sqlite", "-o", "ut.db", "--despite-damage"], {}) == 3
    with closing(sqlite3.connect("ut.db")) as db:
        assert db.execute("SELECT id, tittel, innhold FROM sak ORDER BY id").fetchall() == ROWS


@pytest.mark.parametrize("beside", ["lesmeg.txt", "annet/lesmeg.txt"])
def test_with_anything_beside_the_folder_it_is_files_so_that_nothing_is_passed_over(archive: Path, beside: str) -> None:
    again = zipped_again(archive, "uttrekk/", beside)
    assert detect_form(again).form == "plain"


def test_an_archive_as_it_should_be_has_no_folder_around_it(archive: Path) -> None:
    assert validate_siard(archive).codes.isdisjoint({"SIARD-P_4.2-1"})
