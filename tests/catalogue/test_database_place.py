"""A database shows every row as the server itself tells it, with what its foreign keys lead to."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

import noarkit
from noarkit.api.browsing import open_catalogue
from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.store import is_current
from noarkit.settings import Settings, read_settings
from tests.catalogue.looking import every_entry
from tests.sources.database.conftest import FAMILIES, made
from tests.sources.database.sample import Sample


def settings(home: Path) -> Settings:
    """Settings of a user whose cache lies in a folder of the test."""
    return read_settings(environment={"HOME": str(home)})


@pytest.fixture(params=FAMILIES, scope="module")
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sample]:
    """The sample database on SQLite, PostgreSQL and MariaDB."""
    family = str(request.param)
    yield from made(family, tmp_path_factory.mktemp(family), "_browsed")


@pytest.fixture(scope="module")
def catalogue(sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogue]:
    """Its catalogue."""
    with open_catalogue(sample.url, settings=settings(tmp_path_factory.mktemp("home"))) as opened:
        yield opened


def test_every_row_of_every_table_is_an_item(sample: Sample, catalogue: Catalogue) -> None:
    shown = {
        table.title: sum(1 for _ in every_entry(catalogue, table.ref))
        for schema in catalogue.children()
        for table in catalogue.children(schema.ref)
        if table.status != "view"
    }
    with sample.owner() as connection:
        inspector = sa.inspect(connection)
        quote = connection.dialect.identifier_preparer.quote
        counted = {
            name: connection.exec_driver_sql(f"SELECT count(*) FROM {quote(name).replace('%', '%%')}").scalar()
            for name in inspector.get_table_names()
        }
    assert len(counted) >= 12
    assert shown == counted


def test_a_row_is_a_case_page_with_what_refers_to_it(sample: Sample, catalogue: Catalogue) -> None:
    with sample.owner() as connection:
        query = "SELECT count(*) FROM brev WHERE sak_aar = 2024 AND sak_nr = 1"
        letters = connection.exec_driver_sql(query).scalar()
    assert letters
    card = catalogue.card("sak:2024,1")
    targets = {link.entry.ref.partition(":")[0] for link in card.links if link.entry is not None}
    assert {"sakstype", "saksbehandler", "person"} <= targets
    assert len([link for link in card.links_here if link.ref.startswith("brev:")]) == letters


def test_documents_in_columns_come_out_byte_for_byte(sample: Sample, catalogue: Catalogue, tmp_path: Path) -> None:
    expected = {ref: content for ref, content in sample.documents.items() if ref.endswith("#innhold")}
    assert len(expected) > 5
    for at, (ref, content) in enumerate(expected.items()):
        noarkit.get(catalogue, ref, tmp_path / str(at))
        assert (tmp_path / str(at)).read_bytes() == content


def test_a_value_that_is_not_there_is_shown_as_that(tmp_path: Path) -> None:
    database = tmp_path / "t.db"
    with closing(sqlite3.connect(database)) as db:
        db.executescript("CREATE TABLE a (id INTEGER PRIMARY KEY, navn TEXT); INSERT INTO a VALUES (1, NULL);")
    with open_catalogue(database) as opened:
        assert opened.card("a:1").fields == {"id": 1, "navn": None}


def test_a_key_that_is_not_the_primary_one_leads_to_its_row(tmp_path: Path) -> None:
    database = tmp_path / "t.db"
    with closing(sqlite3.connect(database)) as db:
        db.executescript(
            "CREATE TABLE sak (id INTEGER PRIMARY KEY, kode TEXT UNIQUE);"
            "CREATE TABLE brev (id INTEGER PRIMARY KEY, sak_kode TEXT REFERENCES sak (kode));"
            "INSERT INTO sak VALUES (7, 'A,%'), (8, 'B'); INSERT INTO brev VALUES (1, 'A,%'), (2, NULL);"
        )
    with open_catalogue(database) as opened:
        assert [link.ref for link in opened.card("brev:1").links] == ["sak:7"]
        assert opened.card("brev:2").links == ()
        assert [link.ref for link in opened.card("sak:7").links_here] == ["brev:1"]


def test_a_table_without_rows_and_a_view_are_told(tmp_path: Path) -> None:
    database = tmp_path / "t.db"
    with closing(sqlite3.connect(database)) as db:
        db.executescript("CREATE TABLE tom (id INTEGER PRIMARY KEY); CREATE VIEW syn AS SELECT id FROM tom;")
    with open_catalogue(database) as opened:
        assert opened.entry("table:tom").children == 0
        assert opened.entry("table:syn").status == "view"


def test_a_row_that_was_added_makes_the_catalogue_old(tmp_path: Path) -> None:
    database = tmp_path / "t.db"
    with closing(sqlite3.connect(database)) as db:
        db.executescript("CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (1);")
    with open_catalogue(database) as opened:
        assert is_current(opened.path, opened.place.identity)
        assert opened.path.parent == tmp_path
    with closing(sqlite3.connect(database)) as db, db:
        db.execute("INSERT INTO a VALUES (2)")
    with open_catalogue(database) as again:
        assert again.entry("a:2").ident == "2"
