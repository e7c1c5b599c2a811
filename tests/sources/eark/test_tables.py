"""A SIARD archive in a package is opened: its rows are records beside the archive itself and what describes it."""

from __future__ import annotations

import csv
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from lxml import etree

import noarkit
from noarkit.cli.exit_codes import ingest_exit_code
from noarkit.errors import PackageFault
from noarkit.events import ignore_event
from noarkit.forms.eark.source import EarkSource, find_eark
from noarkit.forms.finders import open_source, reopen
from noarkit.records import SourceRecord
from tests.sources.eark.foreign import submission
from tests.sources.landed import land, sha256

LETTER = b"%PDF-1.4 laks" + bytes(range(256)) * 40
SCHEMA = """CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE letter (id INTEGER PRIMARY KEY, person INTEGER REFERENCES person (id), title TEXT, scan BLOB);
INSERT INTO person VALUES (1, 'Kari Fjord'), (2, 'Ola Laks');"""


def archive(place: Path, schema: str = SCHEMA) -> bytes:
    """A SIARD archive of a small database."""
    with closing(sqlite3.connect(place / "base.db")) as database:
        database.executescript(schema)
        if "letter" in schema:
            database.execute("INSERT INTO letter VALUES (7, 2, 'Brev om laks', ?)", (LETTER,))
        database.commit()
    noarkit.convert(f"sqlite:///{place / 'base.db'}", place / "base.siard", form="siard")
    content = (place / "base.siard").read_bytes()
    (place / "base.siard").unlink()
    (place / "base.db").unlink()
    return content


def packed(place: Path, tail: str, data: dict[str, bytes]) -> Path:
    package = submission(place / "sip", data, "citssiard_v1_0")
    return Path(shutil.make_archive(str(package), tail.lstrip("."), place, "sip")) if tail else package


@pytest.mark.parametrize("tail", ["", ".zip", ".tar"])
def test_rows_and_their_documents_land_beside_the_archive(tmp_path: Path, tail: str) -> None:
    siard = archive(tmp_path)
    place = packed(tmp_path, tail, {"base.siard": siard, "les.txt": b"les"})
    found = land(place, tmp_path)
    assert ingest_exit_code(found.loaded) == 0 and found.proof.good
    files = [path for path in (tmp_path / "sip").rglob("*") if path.is_file()]
    assert found.sums() == {*(sha256(path.read_bytes()) for path in files), sha256(LETTER)}
    titles = set(found.values("Basisregistrering", "tittel"))
    assert {"Brev om laks", "base.siard", "les.txt"} <= titles
    with (tmp_path / "run" / "ids.csv").open(encoding="utf-8-sig", newline="") as file:
        keys = {row["key"] for row in csv.DictReader(file, delimiter=";")}
    alone = land(_file(tmp_path, siard), tmp_path / "alone")
    assert sum(alone.planned.records.values()) == 3
    assert found.planned.records == {**alone.planned.records, "mapped": alone.planned.records["mapped"] + len(files)}
    with (tmp_path / "alone" / "run" / "ids.csv").open(encoding="utf-8-sig", newline="") as file:
        assert {row["key"] for row in csv.DictReader(file, delimiter=";")} <= keys


def _file(place: Path, siard: bytes) -> Path:
    (place / "alone").mkdir()
    (place / "alone" / "base.siard").write_bytes(siard)
    return place / "alone" / "base.siard"


def test_the_rows_are_as_many_as_the_archive_itself_says(tmp_path: Path, reference: Path) -> None:
    siard = reference.parent / "samples" / "oais" / "siard" / "dbptk" / "example.siard"
    with zipfile.ZipFile(siard) as archive:
        metadata = etree.fromstring(archive.read("header/metadata.xml"))
    rows = sum(int(one.text or 0) for one in metadata.iterfind(".//{*}table/{*}rows"))
    place = packed(tmp_path, ".zip", {"example.siard": siard.read_bytes()})
    planned = noarkit.plan(place, tmp_path / "run")
    files = sum(not name.endswith("/") for name in zipfile.ZipFile(place).namelist())
    assert planned.records == {"mapped": rows + files}
    assert rows > 1_000


def test_a_plan_finds_the_tables_again_and_what_is_no_archive_is_told(tmp_path: Path) -> None:
    place = packed(tmp_path, "", {"base.siard": archive(tmp_path)})
    source = find_eark(str(place))
    assert isinstance(source, EarkSource)
    fitted = source.fitted({"kind": "eark", "siard": "representations/rep1/data/base.siard"})
    before = list(fitted.records(ignore_event))
    again = reopen(fitted.identity)
    assert list(again.records(ignore_event)) == before
    kinds = [item.kind for item in before if isinstance(item, SourceRecord)]
    assert (kinds.count("person"), kinds.count("letter")) == (2, 1)
    (place / "representations" / "rep1" / "data" / "base.siard").write_bytes(b"PK no archive")
    with pytest.raises(PackageFault):
        list(reopen(fitted.identity).records(ignore_event))


def test_several_archives_are_kept_whole_and_the_way_to_their_rows_is_told(tmp_path: Path) -> None:
    siard = archive(tmp_path)
    place = packed(tmp_path, "", {"one.siard": siard, "two.siard": siard})
    source = open_source(str(place))
    assert isinstance(source, EarkSource)
    found = [item for item in source.records(ignore_event) if isinstance(item, SourceRecord) and item.notes]
    assert [(item.key.rpartition("/")[2], item.notes[0].code) for item in found] == [
        ("one.siard", "W254"),
        ("two.siard", "W254"),
    ]
    assert "noarkit plan one.siard -o one-run" in str(found[0].notes[0].data)
    assert noarkit.plan(place, tmp_path / "run").records == {"mapped": 7}


def test_a_table_that_is_called_as_another_kind_of_record_is_not_mistaken_for_it(tmp_path: Path) -> None:
    siard = archive(tmp_path, "CREATE TABLE file (id INTEGER PRIMARY KEY); INSERT INTO file VALUES (1);")
    place = packed(tmp_path, "", {"base.siard": siard})
    planned = noarkit.plan(place, tmp_path / "run")
    assert planned.records == {"mapped": 6}
    found = [item for item in open_source(str(place)).records(ignore_event) if isinstance(item, SourceRecord)]
    assert [note.code for item in found for note in item.notes] == ["W254"]
