"""Stored rows as wire objects, and what screening withholds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import orjson
import pytest

from noarkit.model import metamodel
from noarkit.server import schema
from noarkit.server.rendering import columns, fetch, find_screened, is_open, render, render_all, render_values
from noarkit.server.values import Stored


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    opened = sqlite3.connect(":memory:", isolation_level=None)
    for statement in schema.statements():
        opened.execute(statement)
    yield opened
    opened.close()


def put(db: sqlite3.Connection, type_name: str, object_id: int, **values: object) -> None:
    row = {"id": object_id, "type": type_name, "version": 1, "uuid": f"u{object_id}", **values}
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    table = schema.table_name(metamodel().family(type_name))
    db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(row.values()))


def test_rows_hold_the_columns_of_the_family_in_schema_order(db: sqlite3.Connection) -> None:
    assert columns("Arkiv").startswith('"id", "type", "version", ')
    assert columns("Arkiv", "o").startswith('o."id", o."type", ')
    for family, table in schema.schema().tables.items():
        assert columns(family).count(",") == len(table.columns) - 1
        db.execute(f"SELECT {columns(family)} FROM {table.name}")


def test_values_are_told_in_their_wire_form(db: sqlite3.Connection) -> None:
    put(db, "Korrespondansepart", 3, erPerson=0, opprettetDato=-1, refRegistrering=9)
    (told,) = render_all(db, "Korrespondansepart", fetch(db, "Korrespondansepart", [3]))
    assert told["fields"] == {"uuid": "u3", "erPerson": False, "opprettetDato": "1969-12-31T23:59:59.999Z"}
    assert told["links"] == {"refRegistrering": 9}


def test_rows_come_in_the_order_asked_for_and_only_where_they_exist(db: sqlite3.Connection) -> None:
    for number in (1, 2, 3):
        put(db, "Arkiv", number)
    assert [row[0] for row in fetch(db, "Arkiv", [3, 7, 1])] == [3, 1]


def test_what_only_newer_clients_know_can_be_left_out(db: sqlite3.Connection) -> None:
    put(db, "Basisregistrering", 1, mottattDato=0, publisereSkjermedeOffentligeDokumenter=1, tittel="T")
    rows = fetch(db, "AbstraktRegistrering", [1])
    newer, older = (render_all(db, "AbstraktRegistrering", rows, newer=each)[0]["fields"] for each in (True, False))
    assert isinstance(newer, dict)
    assert set(newer) == {"uuid", "mottattDato", "publisereSkjermedeOffentligeDokumenter", "tittel"}
    assert older == {"uuid": "u1", "tittel": "T"}


def test_screening_reaches_all_that_is_below(db: sqlite3.Connection) -> None:
    put(db, "Arkivdel", 1, skjerming="UO")
    put(db, "Mappe", 2, refArkivdel=1)
    put(db, "Mappe", 3, refForelderMappe=2)
    put(db, "Basisregistrering", 4, refMappe=3)
    put(db, "Dokument", 5, refRegistrering=4)
    put(db, "Dokumentversjon", 6, refDokument=5)
    put(db, "EksternId", 7, refDokumentversjon=6)
    put(db, "Merknad", 8, refDokument=5)
    put(db, "Mappe", 9)
    families = ("AbstraktMappe", "AbstraktRegistrering", "Dokument", "Dokumentversjon", "EksternId", "Merknad")
    reached = [find_screened(db, family, range(1, 10)) for family in families]
    assert [set(each) for each in reached] == [{2, 3}, {4}, {5}, {6}, {7}, {8}]


def test_a_screened_class_reaches_its_subclasses_and_what_they_classify_first(db: sqlite3.Connection) -> None:
    put(db, "Klasse", 1, skjerming="UO")
    put(db, "Klasse", 2, refForelderKlasse=1)
    put(db, "Saksmappe", 3, refPrimaerKlasse=2)
    put(db, "Saksmappe", 4)
    db.execute("INSERT INTO p_abstraktmappe_refsekundaerklasse_klasse_refmappesomsekundaer VALUES (4, 2)")
    assert find_screened(db, "AbstraktMappe", [3, 4]) == {3}
    assert find_screened(db, "Klasse", [1, 2]) == {1, 2}


def test_rings_of_parents_end(db: sqlite3.Connection) -> None:
    put(db, "Mappe", 1, refForelderMappe=2)
    put(db, "Mappe", 2, refForelderMappe=1)
    assert find_screened(db, "AbstraktMappe", [1, 2]) == frozenset()
    db.execute("UPDATE o_abstraktmappe SET skjerming = 'UO' WHERE id = 1")
    assert find_screened(db, "AbstraktMappe", [1, 2]) == {1, 2}


def test_no_field_that_names_a_person_stays_open() -> None:
    fields = [field for each in metamodel().types.values() for field in each.fields.values()]
    told = {field.name for field in fields if is_open(field)}
    persons = (
        "tittel",
        "beskrivelse",
        "Navn",
        "navn",
        "Av",
        "AvBrukerIdent",
        "foedselsnummer",
        "dnummer",
        "verdi",
        "tekst",
    )
    assert not {name for name in told if name.endswith(persons)}
    assert told >= {"uuid", "mappeIdent", "offentligTittel", "skjerming", "saksaar", "opprettetDato", "journalposttype"}


def test_an_object_has_string_ids_number_links_and_no_nulls() -> None:
    row: dict[str, Stored] = {
        "id": 938,
        "type": "Dokumentversjon",
        "version": 8,
        "uuid": "u",
        "opprettetDato": 1704161045678,
        "kryptertDokument": 0,
        "formatDetaljer": None,
        "refDokument": 937,
    }
    assert render_values("Dokumentversjon", row) == {
        "type": "Dokumentversjon",
        "id": "938",
        "version": "8",
        "fields": {"uuid": "u", "opprettetDato": "2024-01-02T02:04:05.678Z", "kryptertDokument": False},
        "links": {"refDokument": 937},
    }


def test_a_precedent_shows_its_title_under_both_names() -> None:
    shown = render_values("Presedens", {"id": 1, "version": 1, "title": "Om gjerder"})
    assert shown["fields"] == {"title": "Om gjerder", "tittel": "Om gjerder"}
    assert shown["links"] == {}


def test_newer_names_can_be_hidden() -> None:
    row: dict[str, Stored] = {"id": 1, "version": 1, "tittel": "t", "avsluttetAv": "a"}
    assert render_values("Arkivdel", row, newer=False)["fields"] == {"tittel": "t"}
    assert render_values("Arkivdel", row)["fields"] == {"tittel": "t", "avsluttetAv": "a"}


def test_values_and_rows_are_told_alike(db: sqlite3.Connection) -> None:
    values: dict[str, Stored] = {"id": 4, "type": "Presedens", "version": 2, "uuid": "u4", "title": "T"}
    put(db, "Presedens", 4, version=2, title="T", opprettetDato=0)
    (row,) = fetch(db, "Presedens", [4])
    told = render_values("Presedens", values | {"opprettetDato": 0})
    assert orjson.dumps(render(row)) == orjson.dumps(told)
