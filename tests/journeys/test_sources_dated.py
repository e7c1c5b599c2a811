"""Packages and databases with records of years ago: what is made of them bears the days of those, not of the load."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeGuard

import pytest
from lxml import etree

import noarkit
from noarkit.cli.main import main
from noarkit.events import ignore_event
from noarkit.forms.bagit.source.source import BagSource
from noarkit.records import SourceRecord
from noarkit.settings import read_settings

pytestmark = pytest.mark.usefixtures("one_archive")

N = "{http://www.arkivverket.no/standarder/noark5/arkivstruktur}"
YEARS = (2014, 2015, 2016)
CLERKS = {3: "Kari Nes"}
DATES = ("opprettetDato", "avsluttetDato", "arkivertDato", "tilknyttetDato", "saksdato", "dokumentetsDato")


def make_files(root: Path) -> Path:
    """Folders of years, with files that were last changed in these."""
    for year in YEARS:
        folder = root / f"Sak {year}"
        folder.mkdir(parents=True)
        for month in (3, 9):
            path = folder / f"Brev {month}.txt"
            path.write_text(f"Brev fra {month}/{year}")
            when = datetime(year, month, 5, 10, tzinfo=UTC).timestamp()
            os.utime(path, (when, when))
    return root


def make_database(path: Path) -> Path:
    """Cases and their letters, with days in columns."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "CREATE TABLE sak (id INTEGER PRIMARY KEY, tittel TEXT);"
            "CREATE TABLE brev (id INTEGER PRIMARY KEY, sak_id INTEGER REFERENCES sak, tittel TEXT, dato DATE,"
            " opprettet_av TEXT, innhold BLOB);"
        )
        for year in YEARS:
            db.execute("INSERT INTO sak VALUES (?, ?)", (year, f"Sak {year}"))
            for month in (3, 9):
                row = (
                    year * 10 + month,
                    year,
                    f"Brev {month}",
                    f"{year}-{month:02}-05",
                    CLERKS.get(month),
                    b"%PDF-1.4",
                )
                db.execute("INSERT INTO brev VALUES (?, ?, ?, ?, ?, ?)", row)
        db.commit()
    return path


@pytest.mark.parametrize("kind", ["eark-sip", "dias-aip", "bagit", "database"])
def test_all_that_is_made_bears_the_days_of_its_records(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if kind == "database":
        make_database(Path("source"))
    else:
        make_files(Path("files"))
        assert main(["convert", "files", "--as", kind, "-o", "source"], {}) == 0
    assert main(["ingest", "source", "-o", "run"], {}) in (0, 3)
    assert main(["extract", "-o", "package"], {}) == 3
    tree = etree.parse("package/arkivstruktur.xml").getroot()
    for folder in [found for found in tree.iter(f"{N}mappe") if found.findtext(f"{N}tittel") == "Pakkebeskrivelse"]:
        series = folder.getparent()
        assert series is not None
        series.remove(folder)  # what the package says of itself is younger than its records
    days = [(name, str(found.text)) for name in DATES for found in tree.iter(f"{N}{name}")]
    assert not [day for day in days if int(day[1][:4]) not in YEARS]
    assert {name for name, _ in days} >= {"opprettetDato", "avsluttetDato", "arkivertDato"}
    records = Counter(str(found.findtext(f"{N}opprettetDato"))[:7] for found in tree.iter(f"{N}registrering"))
    assert all(records[f"{year}-{month:02}"] for year in YEARS for month in (3, 9))
    for unit in (next(tree.iter(f"{N}arkiv")), next(tree.iter(f"{N}arkivdel"))):
        first, last = (str(unit.findtext(f"{N}{name}"))[:10] for name in ("opprettetDato", "avsluttetDato"))
        assert (first, last) == ("2014-03-05", "2016-09-05")


def test_who_made_a_row_is_who_its_column_names_and_else_its_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_database(Path("saker.db"))
    assert main(["ingest", "saker.db", "-o", "run"], {}) in (0, 3)
    assert main(["extract", "-o", "package"], {}) == 3
    tree = etree.parse("package/arkivstruktur.xml").getroot()
    made_by = Counter(
        (str(found.findtext(f"{N}tittel"))[:6], str(found.findtext(f"{N}opprettetAv")))
        for found in tree.iter(f"{N}registrering")
    )
    system = "saker (sqlite)"
    assert made_by == {("Brev 3", "Kari Nes"): 3, ("Brev 9", system): 3, ("Sak 20", system): 3}
    closed_by = {str(found.text) for name in ("avsluttetAv", "arkivertAv") for found in tree.iter(f"{N}{name}")}
    assert closed_by == {system}


def test_a_plan_of_another_day_does_not_change_what_the_series_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_files(Path("files"))
    runs = {"first": 1_790_000_000.0, "second": 1_799_000_000.0}
    for name, now_s in runs.items():
        settings = replace(read_settings(environment={}), now_s=partial(float, now_s))
        noarkit.plan("files", name, settings=settings)
    told = []
    for name in runs:
        with closing(sqlite3.connect(f"{name}/graph.db")) as db:
            told += [text for (text,) in db.execute("SELECT fields FROM entity WHERE type = 'Arkivdel'")]
        assert main(["ingest", name], {}) == 0
        assert main(["verify", name, "--depth", "bytes"], {}) == 0
    assert told[0] != told[1]
    assert main(["extract", "-o", "package"], {}) == 3
    (series,) = etree.parse("package/arkivstruktur.xml").iter(f"{N}arkivdel")
    assert "etter en plan av 21.09.2026; datoer etter filtid." in str(series.findtext(f"{N}beskrivelse"))


def test_a_series_that_somebody_describes_keeps_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    recipe = noarkit.open_source(str(make_files(Path("files")))).default_recipe()
    line = 'fields = { tittel = "Filer: files" }'
    assert recipe.count(line) == 1
    Path("recipe.toml").write_text(recipe.replace(line, f'{line[:-2]}, beskrivelse = "Vår egen" }}'))
    assert main(["plan", "files", "--recipe", "recipe.toml", "-o", "run"], {}) == 0
    with closing(sqlite3.connect("run/graph.db")) as db:
        (told,) = (json.loads(text) for (text,) in db.execute("SELECT fields FROM entity WHERE type = 'Arkivdel'"))
    assert told["beskrivelse"] == "Vår egen"


def test_a_bag_that_was_copied_since_does_not_date_its_files_by_the_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_files(Path("files"))
    assert main(["convert", "files", "--as", "bagit", "-o", "bag"], {}) == 0
    shutil.copytree("bag", "copied", copy_function=shutil.copy)  # every file has the time of now
    records = {item.key: item.fields for item in BagSource(Path("copied")).records(ignore_event) if is_file(item)}
    assert len(records) == 6
    assert {fields["date"] for fields in records.values()} == {None}
    kept = [item.fields["date"] for item in BagSource(Path("bag")).records(ignore_event) if is_file(item)]
    assert sorted(str(day)[:4] for day in kept) == ["2014", "2014", "2015", "2015", "2016", "2016"]


def is_file(item: object) -> TypeGuard[SourceRecord]:
    """True for a record of a file."""
    return isinstance(item, SourceRecord) and item.kind == "file"
