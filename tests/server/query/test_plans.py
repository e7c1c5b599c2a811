"""Lookups that integrations make are answered by indexes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from noarkit.server import schema
from noarkit.server.query.compile import compile_query
from noarkit.server.query.paths import MAY_READ
from noarkit.server.query.patterns import watch_patterns
from noarkit.server.query.request import read_request
from noarkit.server.settings import Settings


@pytest.fixture(scope="module")
def tables() -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(":memory:", isolation_level=None)
    for statement in schema.statements():
        db.execute(statement)
    db.create_function(MAY_READ, 2, lambda family, object_id: True)
    watch_patterns(db, lambda: None)
    yield db
    db.close()


@pytest.mark.parametrize("checks_rights", [False, True])
@pytest.mark.parametrize(
    ("type_name", "query"),
    [
        ("Saksmappe", "mappeIdent = @x"),
        ("Saksmappe", "mappeIdent %= @x"),
        ("Saksmappe", "mappeIdent %= @like"),
        ("Saksmappe", "saksaar = @n && sakssekvensnummer = @n"),
        ("Journalpost", "registreringsIdent = @x"),
        ("Basisregistrering", "refMappe.id = @n"),
        ("AbstraktRegistrering", "id = @n || id = @m"),
        ("AbstraktMappe", "refEksternId.eksternID = @x && refEksternId.eksterntSystem = @y"),
        (
            "Journalpost",
            "refEksternId.eksterntSystem = @y && (refEksternId.eksternID = @x || refEksternId.eksternID = @y)",
        ),
        ("Dokumentversjon", "refDokument.refRegistrering.refMappe.id = @n"),
        ("Klasse", "refMappeSomSekundaer.id = @n"),
        ("Saksmappe", "refSekundaerKlasse.klasseIdent = @x"),
        ("Klassifikasjonssystem", "refArkivdelSomSekundaer.id = @n"),
    ],
)
def test_no_table_is_read_whole(tables: sqlite3.Connection, type_name: str, query: str, checks_rights: bool) -> None:
    parameters = {"@x": "2021/1", "@y": "system", "@like": "2021/%", "@n": 7, "@m": 8}
    body = {"type": type_name, "limit": 500, "query": query, "parameters": parameters}
    settings = Settings()
    statement = compile_query(read_request(body, settings), settings, checks_rights=checks_rights)
    steps = [str(row[3]) for row in tables.execute("EXPLAIN QUERY PLAN " + statement.sql, statement.operands)]
    assert steps
    assert not [step for step in steps if step.startswith("SCAN")]
