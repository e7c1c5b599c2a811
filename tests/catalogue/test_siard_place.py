"""A SIARD archive is shown as its database was: every row, its keys as links, its large values as documents."""

from __future__ import annotations

import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.catalogue.places.siard import SiardPlace
from noarkit.cli.main import main
from noarkit.errors import HostileInput
from tests.catalogue.looking import catalogued, every_entry

PICTURE = bytes(range(256)) * 5_000
ROWS = 400


def database(path: Path) -> Path:
    """Customers with a picture, and orders that refer to them: by number, and by the code, which is another key."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "CREATE TABLE customer (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, name TEXT, picture BLOB);"
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customer (id),"
            " code TEXT REFERENCES customer (code), made DATE);"
            "CREATE TABLE remark (text TEXT);"
        )
        db.executemany(
            "INSERT INTO customer VALUES (?,?,?,?)",
            [(n, f"C/{n}", f"Name <b>{n}</b>", PICTURE if n == 2 else None) for n in range(1, 6)],
        )
        db.executemany(
            "INSERT INTO orders VALUES (?,?,?,?)",
            [(n, n % 5 + 1 if n % 7 else None, f"C/{n % 5 + 1}", "2021-05-06") for n in range(1, ROWS + 1)],
        )
        db.execute("INSERT INTO remark VALUES ('æøå % / #')")
        db.commit()
    return path


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same as a SIARD archive."""
    monkeypatch.chdir(tmp_path)
    source = database(tmp_path / "shop.db")
    assert main(["convert", f"sqlite:///{source}", "--as", "siard", "-o", "shop.siard"], {}) == 0
    return tmp_path / "shop.siard"


def test_rows_are_those_of_the_database(archive: Path, tmp_path: Path) -> None:
    with catalogued(SiardPlace(archive), tmp_path) as catalogue, closing(sqlite3.connect(tmp_path / "shop.db")) as db:
        tables = {entry.title: entry for entry in every_entry(catalogue) if entry.type == "table"}
        assert set(tables) == {"customer", "orders", "remark"}
        shown = [
            (fields["id"], fields["customer"], fields["code"])
            for entry in every_entry(catalogue, tables["orders"].ref)
            for fields in (catalogue.card(entry.ref).fields,)
        ]
        kept = db.execute("SELECT CAST(id AS TEXT), CAST(customer AS TEXT), code FROM orders ORDER BY id").fetchall()
        assert shown == kept
        assert len(shown) == ROWS


def test_a_foreign_key_is_a_link_both_ways_by_whatever_columns(archive: Path, tmp_path: Path) -> None:
    with catalogued(SiardPlace(archive), tmp_path) as catalogue:
        orders = next(entry for entry in every_entry(catalogue) if entry.title == "orders" and entry.type == "table")
        first = catalogue.card(f"{orders.ref}/1")
        assert [link.entry.title if link.entry else None for link in first.links] == ["C/2 · Name <b>2</b>"] * 2
        seventh = catalogue.card(f"{orders.ref}/7")
        assert len(seventh.links) == 1  # one key is NULL
        customer = catalogue.card(first.links[0].ref)
        assert f"{orders.ref}/1" in {link.ref for link in customer.links_here}


def test_a_large_value_is_a_document_with_its_bytes(archive: Path, tmp_path: Path) -> None:
    with catalogued(SiardPlace(archive), tmp_path) as catalogue:
        row = next(entry for entry in every_entry(catalogue) if entry.documents)
        (document,) = catalogue.card(row.ref).documents
        with catalogue.open(document) as stream:
            assert stream.read() == PICTURE
            assert stream.still_the_same()


def test_a_table_has_its_columns_with_their_types(archive: Path, tmp_path: Path) -> None:
    with catalogued(SiardPlace(archive), tmp_path) as catalogue:
        table = next(entry for entry in every_entry(catalogue) if entry.title == "customer")
        columns = catalogue.card(table.ref).fields["columns"]
        assert isinstance(columns, list)
        types = {str(column["name"]): str(column["type"]) for column in columns if isinstance(column, dict)}
        assert types == {
            "id": "BIGINT",
            "code": "CHARACTER LARGE OBJECT",
            "name": "CHARACTER LARGE OBJECT",
            "picture": "BINARY LARGE OBJECT",
        }


def rewritten(archive: Path, target: Path, change: dict[bytes, bytes]) -> Path:
    """The same archive with other bytes in the rows of a table."""
    with zipfile.ZipFile(archive) as source, zipfile.ZipFile(target, "w") as out:
        for info in source.infolist():
            content = b"" if info.is_dir() else source.read(info)
            for old, new in change.items():
                content = content.replace(old, new)
            out.writestr(info, content)
    return target


def test_a_table_that_breaks_off_shows_what_stands_before_and_its_fault(archive: Path, tmp_path: Path) -> None:
    broken = rewritten(archive, tmp_path / "broken.siard", {b"<c1>200</c1>": b"<c1>200</c2>"})
    with catalogued(SiardPlace(broken), tmp_path) as catalogue:
        entries = list(every_entry(catalogue))
        assert [entry.fault for entry in entries if entry.fault] == ["F500"]
        assert sum(entry.type == "row" for entry in entries) >= 5


def test_a_document_type_in_a_table_is_refused(archive: Path, tmp_path: Path) -> None:
    hostile = rewritten(archive, tmp_path / "hostile.siard", {b"<table ": b"<!DOCTYPE a []><table "})
    with pytest.raises(HostileInput), catalogued(SiardPlace(hostile), tmp_path):
        pass
